"""The ledger beside sanitised tables: durable, locked, and never short of a charge."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from murmure.ledger.charge_file import NAME, ChargeFile, sum_up

from murmure.core.errors import CannotWrite, InvalidParameter, MurmureError
from murmure.ledger import charge_file

ONE = {"record": 1.0, "attribute": 0.5, "person": 1.0}


@pytest.fixture
def ledger(tmp_path: Path) -> ChargeFile:
    (tmp_path / "out").mkdir()
    return ChargeFile(tmp_path / "out" / NAME)


def people(folder: Path, name: str = "people.csv", rows: int = 3) -> Path:
    path = folder / name
    path.write_text("smoker\n" + "no\nyes\n" * rows)
    return path


def python(code: str, *args: Any, wait: bool = True) -> Any:
    command = [sys.executable, "-c", code, *map(str, args)]
    if not wait:
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


# ---- who pays


def test_charges_add_up(ledger: ChargeFile, tmp_path: Path) -> None:
    """The same file pays again; so do a copy under another name and new content at the same path; others do not."""
    mine, other = people(tmp_path), people(tmp_path, "others.csv", 4)
    copy = tmp_path / "copy.csv"
    shutil.copy(mine, copy)
    first, second, third = (ledger.charge([path], ONE) for path in (mine, copy, other))
    people(tmp_path, rows=9)
    fourth = ledger.charge([mine], {**ONE, "person": 2.5})

    assert [p.number for p in (first, second, third, fourth)] == [1, 2, 3, 4]
    assert [p.charges for p in (first, second, third)] == [(1.0,), (1.0, 1.0), (1.0,)]
    assert fourth.charges == (1.0, 2.5)  # the path of the first, no longer the content of the second
    assert fourth.total == 3.5


def test_several_files_pay_for_the_worst(ledger: ChargeFile, tmp_path: Path) -> None:
    a, b = people(tmp_path, "a.csv"), people(tmp_path, "b.csv", 5)
    ledger.charge([b], ONE)
    paid = ledger.charge([a, b], ONE)

    assert (paid.name, paid.charges) == ("b.csv", (1.0, 1.0))


def test_the_sum_is_never_rounded_down() -> None:
    assert sum_up([0.1] * 10) >= 1 and sum_up([0.1] * 10) == np.nextafter(1.0, 2)
    assert sum_up([1.0, float("inf")]) == float("inf")


def test_no_value_of_anybody(ledger: ChargeFile, tmp_path: Path) -> None:
    """Neither values nor a hash that can be tried: the fingerprint is keyed, and the key stands elsewhere."""
    mine = people(tmp_path)
    ledger.charge([mine], ONE, rows=6)
    text = ledger.path.read_text()
    (entry,) = ledger.entries()

    assert "yes" not in text
    assert entry["people"][0]["fingerprint"] == charge_file.fingerprint(mine, ledger.key_path.read_bytes())
    assert ledger.key_path.read_bytes().hex() not in text
    assert {stat & 0o777 for stat in (ledger.path.stat().st_mode, ledger.key_path.stat().st_mode)} == {0o600}
    elsewhere = ChargeFile(tmp_path / NAME)
    elsewhere.charge([mine], ONE)
    assert elsewhere.entries()[0]["people"][0]["fingerprint"] != entry["people"][0]["fingerprint"]


def test_fingerprints_of_large_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """First, middle, last block and the whole footer count; what is read does not grow with the file."""
    monkeypatch.setattr(charge_file, "BLOCK_BYTES", 1 << 12)
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({f"c{i}": np.random.default_rng(i).integers(0, 1 << 60, 2000) for i in range(60)}), path)
    data, key = bytearray(path.read_bytes()), bytes(32)
    footer = int.from_bytes(data[-8:-4], "little") + 8
    plain = charge_file.fingerprint(path, key)

    assert footer > charge_file.BLOCK_BYTES
    for place in (10, len(data) // 2, len(data) - footer + 5, len(data) - 20):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        assert charge_file.fingerprint(path, key) != plain
    path.write_bytes(data + b"\0")
    assert charge_file.fingerprint(path, key) != plain
    sparse = tmp_path / "sparse.csv"
    with sparse.open("wb") as file:
        file.truncate(1 << 40)
    assert len(charge_file.fingerprint(sparse, key)) == 32


# ---- damage


def test_a_damaged_ledger_is_refused(ledger: ChargeFile, tmp_path: Path) -> None:
    for _ in range(3):
        ledger.charge([people(tmp_path)], ONE)
    good = ledger.path.read_bytes()
    lines = good.splitlines(keepends=True)
    cheaper = good.replace(b'"person": 1.0', b'"person": 0.5', 1)
    bad = {
        "a number changed": cheaper,
        "a line lost": lines[0] + lines[2],
        "lines swapped": lines[1] + lines[0] + lines[2],
        "the first line lost": lines[1] + lines[2],
        "garbage between": lines[0] + b"xx\n" + lines[1],
        "an empty line": lines[0] + b"\n" + lines[1],
        "no ledger at all": b"smoker\nno\n",
        "one line of something else": b"smoker",
        "another JSON": b'{"a": 1}\n',
    }
    for what, data in bad.items():
        ledger.path.write_bytes(data)
        with pytest.raises(InvalidParameter, match="is damaged: line"):
            ledger.check()
        with pytest.raises(InvalidParameter):
            ledger.charge([people(tmp_path)], ONE)
        assert ledger.path.read_bytes() == data, what
    ledger.path.write_bytes(good.replace(b'"murmure-ledger": 1', b'"murmure-ledger": 2'))
    with pytest.raises(InvalidParameter, match="version 2"):
        ledger.check()
    ledger.path.write_bytes(good)
    ledger.key_path.write_bytes(b"short")
    with pytest.raises(InvalidParameter, match="not the key"):
        ledger.check()


@pytest.mark.parametrize("kept", [0, 1, 2])
def test_a_line_that_a_crash_cut_short(ledger: ChargeFile, tmp_path: Path, kept: int) -> None:
    """At any byte: the charges before it stay, and the next one takes its place."""
    mine = people(tmp_path)
    for _ in range(kept + 1):
        ledger.charge([mine], ONE)
    good = ledger.path.read_bytes()
    start = sum(map(len, good.splitlines(keepends=True)[:kept]))
    for cut in (start + 1, start + 10, start + 40, len(good) - 2):
        ledger.path.write_bytes(good[:cut])
        ledger.check()
        assert len(ledger.entries()) == kept
        assert len(ledger.charge([mine], ONE).charges) == kept + 1
    ledger.path.write_bytes(good[:-1])  # an editor took the newline
    assert len(ledger.charge([mine], ONE).charges) == kept + 2


def test_a_ledger_that_cannot_be_written(ledger: ChargeFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CannotWrite, match="no folder"):
        ChargeFile(tmp_path / "nowhere" / NAME).check()
    with pytest.raises(CannotWrite, match="is a directory"):
        ChargeFile(tmp_path / "out").check()
    mine = people(tmp_path)
    ledger.charge([mine], ONE)
    before = ledger.path.read_bytes()
    real = os.open

    def read_only(path: Any, flags: int, *rest: Any) -> int:
        if flags & (os.O_RDWR | os.O_WRONLY) and str(path).endswith(NAME):
            raise OSError(errno.EROFS, "read-only file system")
        return real(path, flags, *rest)

    monkeypatch.setattr(os, "open", read_only)
    with pytest.raises(CannotWrite, match="read-only"):
        ledger.check()
    monkeypatch.undo()

    def full(handle: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(CannotWrite, match="no space left"):
        ledger.charge([mine], ONE)
    monkeypatch.undo()
    assert ledger.path.read_bytes() == before


def test_a_file_that_is_gone(ledger: ChargeFile, tmp_path: Path) -> None:
    with pytest.raises(MurmureError, match="cannot read"):
        ledger.charge([tmp_path / "gone.csv"], ONE)
    assert ledger.entries() == []


# ---- processes

CHARGE = """
import sys
from pathlib import Path
from murmure.ledger.charge_file import ChargeFile
ledger = ChargeFile(Path(sys.argv[1]))
for _ in range(int(sys.argv[3])):
    ledger.charge([Path(sys.argv[2])], {"person": 1.0})
"""


def test_processes_wait_for_one_another(ledger: ChargeFile, tmp_path: Path) -> None:
    """Also for the key, which the first of them makes."""
    mine = people(tmp_path)
    running = [python(CHARGE, ledger.path, mine, 15, wait=False) for _ in range(4)]
    errors = [process.communicate(timeout=60)[1] for process in running]

    assert [p.returncode for p in running] == [0] * 4, errors
    assert [entry["number"] for entry in ledger.entries()] == list(range(1, 61))
    assert len(ledger.charge([mine], ONE).charges) == 61
    assert len({entry["people"][0]["fingerprint"] for entry in ledger.entries()}) == 1


KILLED = """
import os, signal, sys
from pathlib import Path
from murmure.ledger.charge_file import ChargeFile
place, write, sync = sys.argv[3], os.write, os.fsync
def die(*_): os.kill(os.getpid(), signal.SIGKILL)
if place == "half":
    def half(handle, data):
        if len(data) > 100:
            write(handle, data[: len(data) // 2]); die()
        return write(handle, data)
    os.write = half
elif place == "key":
    os.replace = die
elif place == "sync":
    os.fsync = lambda handle: die() if os.lseek(handle, 0, os.SEEK_CUR) > 100 else sync(handle)
ChargeFile(Path(sys.argv[1])).charge([Path(sys.argv[2])], {"person": 1.0})
"""


@pytest.mark.parametrize(("place", "left"), [("half", 1), ("key", 1), ("sync", 2)])
def test_kill_9_while_charging(ledger: ChargeFile, tmp_path: Path, place: str, left: int) -> None:
    """The ledger can be used at once, and holds every charge that may have been acted upon."""
    mine = people(tmp_path)
    ledger.charge([mine], ONE)
    if place == "key":
        ledger.key_path.unlink()
    done = python(KILLED, ledger.path, mine, place)

    assert done.returncode == -9
    ledger.check()
    assert len(ledger.entries()) == left
    assert len(ledger.charge([mine], ONE).charges) == left + 1
    assert {p.name for p in ledger.path.parent.iterdir()} == {NAME, f".{NAME}.key"}


def test_entries_are_json_lines(ledger: ChargeFile, tmp_path: Path) -> None:
    ledger.charge([people(tmp_path)], {**ONE, "person": float("inf")}, rows=3, seeded=True)
    (line,) = ledger.path.read_text().splitlines()

    assert json.loads(line) == ledger.entries()[0]
    assert json.loads(line)["epsilon"]["person"] == "inf"
