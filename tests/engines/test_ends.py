"""Whatever stops a reading in the middle, the process ends with its own exit code: no thread is left to abort it."""

from __future__ import annotations

import gc
import gzip
import os
import subprocess
import sys
import textwrap
import threading
import time
import weakref
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import murmure as mu
from murmure.core.errors import MurmureError
from murmure.engines.sources import arrow_threads, csv_files
from murmure.engines.sources.arrow_threads import AheadReader, LentFile
from murmure.engines.sources.tables import open_table

SCHEMA = mu.Schema({"age": mu.Integers(18, 99), "dose": mu.Integers(0, 9), "ill": mu.Categories(["no", "yes"])})
ROWS = 4000
# Blocks of 4 KB make a small file a long one, and every read but the first takes a while: pyarrow's thread is inside
# Python, or about to be, whenever the main thread stops.
SLOW = """
import os, signal, sys, time
from murmure.engines.sources import csv_files
csv_files.BLOCK = 1 << 12
reads, interrupt = [], False
for kind in (csv_files.CsvBytes, csv_files.LenientCsvBytes):
    def slowly(self, size=-1, read=kind.read):
        reads.append(size)
        if len(reads) == 4 and interrupt:
            os.kill(os.getpid(), signal.SIGINT)
        if self.bytes:
            time.sleep(0.03)
        return read(self, size)
    kind.read = slowly
"""
INTERRUPT = """
interrupt = True
"""
COMMAND = """
import sys
from murmure.cli import main
main(sys.argv[1:])
"""
# One batch is read, and what reads the next ones is still there when the interpreter ends.
KEPT = """
from murmure.engines.sources.tables import open_table
batches = open_table(sys.argv[1], rows=100, lenient={lenient}).batches()
assert next(batches).num_rows == 100
raise SystemExit({code})
"""


def ends(code: str, *args: Any, folder: Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, args)],
        capture_output=True, text=True, timeout=120, cwd=folder, env=env, check=False,
    )  # fmt: skip


def table(bad: int | None) -> list[tuple[Any, Any, Any]]:
    rows: list[tuple[Any, Any, Any]] = [(20 + i % 50, i % 9, ("no", "yes")[i % 2]) for i in range(ROWS)]
    if bad is not None:
        rows[bad] = ("x", 1, "no")
    return rows


def write(path: Path, bad: int | None = None) -> Path:
    text = "age,dose,ill\n" + "".join(f"{a},{d},{i}\n" for a, d, i in table(bad))
    data = gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode()
    path.write_bytes(data)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "schema.toml").write_text(SCHEMA.to_toml())
    return tmp_path


STRICT = {
    "check": "schema check schema.toml {data}",
    "sanitize": "sanitize {data} --schema schema.toml --epsilon 1 -o out.parquet",
    "ols": "ols dose~age {data} --schema schema.toml",
}
LENIENT = {
    "query": "query mean {data} --column age --schema schema.toml --epsilon 1 --budget 3",
    "train": "train naive-bayes {data} --schema schema.toml --target ill --epsilon 1 --budget 3 -o m.json",
}


def filled(command: str, data: Path) -> list[str]:
    return command.format(data=data.name).split()


@pytest.mark.parametrize("bad", [50, 1500])  # in the first block, where opening fails, and in a later one
@pytest.mark.parametrize(("command", "name"), [*((name, "d.csv") for name in STRICT), ("check", "d.csv.gz")])
def test_a_bad_cell_ends_a_command_with_its_exit_code(folder: Path, command: str, name: str, bad: int) -> None:
    data = write(folder / name, bad)
    ran = ends(SLOW + COMMAND, *filled(STRICT[command], data), folder=folder)

    assert ran.returncode == 2, ran.stderr
    assert "'x'" in ran.stderr + ran.stdout  # check goes on to the last row, and prints what it found
    assert "terminate" not in ran.stderr and "Fatal" not in ran.stderr


@pytest.mark.parametrize("command", [*STRICT, *LENIENT])
def test_ctrl_c_ends_a_command_without_an_abort(folder: Path, command: str) -> None:
    data = write(folder / "d.csv")
    ran = ends(SLOW + INTERRUPT + COMMAND, *filled({**STRICT, **LENIENT}[command], data), folder=folder)

    assert ran.returncode in (1, 130), (ran.returncode, ran.stderr)
    assert "terminate" not in ran.stderr and "Fatal" not in ran.stderr


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize("name", ["d.csv", "d.csv.gz", "d.parquet", "d.arrow"])
@pytest.mark.parametrize("code", [0, 7])
def test_a_reader_that_is_still_open_ends_with_the_interpreter(
    folder: Path, name: str, lenient: bool, code: int
) -> None:
    """A generator at the level of the module is never closed by anybody."""
    data = folder / name
    if name.startswith("d.csv"):
        write(data)
    else:
        whole = pa.table(dict(zip(SCHEMA, map(list, zip(*table(None), strict=True)), strict=True)))
        if name.endswith("parquet"):
            pq.write_table(whole, data, row_group_size=500)
        else:
            pyarrow.feather.write_feather(whole, data, chunksize=500)
    ran = ends(SLOW + KEPT.format(lenient=lenient, code=code), data, folder=folder)

    assert ran.returncode == code, ran.stderr
    assert ran.stderr == ""


@pytest.mark.slow
def test_three_hundred_runs_after_a_bad_cell_end_alike(folder: Path) -> None:
    """Nothing is slowed down here; of files of this size 0.5.0 aborted four times in five."""
    data = folder / "d.csv"
    data.write_text("age,dose,ill\n" + "20,1,no\n" * 50 + "x,1,no\n" + "30,2,yes\n" * 2_000_000)
    codes = [ends(COMMAND, *filled(STRICT["check"], data), folder=folder).returncode for _ in range(300)]

    assert codes == [2] * 300


# -- the reader itself ------------------------------------------------------------------------------------------------


class SlowFile:
    """Forty reads of one row each."""

    def __init__(self) -> None:
        self.left, self.closed, self.inside = 40, False, 0

    def read(self, size: int = -1) -> bytes:
        assert not self.closed
        self.inside += 1
        time.sleep(0.02)
        self.inside -= 1
        self.left -= 1
        return b"age\n1\n" if self.left == 39 else b"1\n" if self.left > 0 else b""

    def close(self) -> None:
        assert self.inside == 0, "closed under the hands of a thread"
        self.closed = True


def opened(lent: LentFile) -> Any:
    import pyarrow.csv as pc

    return pc.open_csv(pa.PythonFile(lent, "r"), read_options=pc.ReadOptions(block_size=1 << 10))


def test_closing_waits_for_the_threads_and_then_closes_the_file() -> None:
    file = SlowFile()
    with AheadReader(file, opened) as reader:
        next(iter(reader))

    assert not reader.lent  # no thread holds it, or a block of it: none will call Python again
    assert file.closed and file.left > 20  # and the rest was not read
    assert reader not in arrow_threads._unclosed


def test_closing_waits_for_blocks_too() -> None:
    """pyarrow drops a block of bytes on a thread of its own, and asks for the interpreter to do so."""
    file = SlowFile()
    reader = AheadReader(file, opened)
    block = LentFile(file).read(9)
    reader._lent.append(weakref.ref(block))
    timer = threading.Timer(0.3, block_dropped := [block].clear)
    del block
    timer.start()
    began = time.monotonic()
    reader.close()

    assert 0.2 < time.monotonic() - began < 5 and not reader.lent
    timer.join()
    del block_dropped


@pytest.mark.parametrize("when", [0, 1, 3])
def test_an_error_of_the_file_or_of_opening_it_lets_go_as_well(when: int) -> None:
    """Errors keep the frames that they passed through; nothing in them may keep what pyarrow was lent."""

    class Failing(SlowFile):
        def read(self, size: int = -1) -> bytes:
            if 40 - self.left >= when:
                raise MurmureError("no further")
            return super().read(size)

    file, began = Failing(), time.monotonic()
    with pytest.raises(MurmureError, match="no further") as caught, AheadReader(file, opened) as reader:
        list(reader)

    assert file.closed and time.monotonic() - began < 5
    assert caught.value.__traceback__ is not None
    # type, not isinstance: that asks a dead proxy for its class
    assert not any(type(one) is LentFile and one.file is file for one in gc.get_objects())


def test_a_forked_process_does_not_wait_for_threads_that_it_does_not_have(monkeypatch: pytest.MonkeyPatch) -> None:
    file = SlowFile()
    reader = AheadReader(file, opened)
    process = os.getpid()
    monkeypatch.setattr(arrow_threads.os, "getpid", lambda: process + 1)
    kept, reader._reader = reader._reader, None
    began = time.monotonic()
    for_ever = LentFile(file)
    reader._lent = for_ever.lent
    file.close = lambda: None  # type: ignore[method-assign]
    reader.close()

    assert time.monotonic() - began < 1
    assert reader.lent
    del kept, for_ever


@pytest.mark.parametrize("lenient", [False, True])
def test_what_is_read_is_the_same_rows(folder: Path, lenient: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_files, "BLOCK", 1 << 12)
    kinds = {"age": "integer", "dose": "integer", "ill": "text"}
    found = open_table(write(folder / "d.csv"), kinds=kinds, lenient=lenient)
    whole = pa.Table.from_batches(list(found.batches()), schema=found.schema).to_pylist()

    assert [tuple(row.values()) for row in whole] == table(None)
