"""What the files of the folder tell about people: randomised reports, keyed tokens, hours, and nothing else."""

from __future__ import annotations

import hashlib
import hmac
import sqlite3
import struct
from contextlib import closing
from pathlib import Path

from tests.collector.intake.intakes import HOUR, open_intake, send

from murmure.collector.intake.arrival import Arrival
from murmure.collector.intake.frames import decode
from murmure.collector.intake.segments import HEADER
from murmure.collector.intake.tables import TABLES

RAW = "9f8e7d6c5b4a39281706f5e4d3c2b1a0"
KEYED = hmac.new(b"key of the service", b"abcdefghijkl|1|" + RAW.encode(), "sha256").digest()[:16]
SECONDS = HOUR * 3600 + 1234.5  # what the clock of these tests says


def times(seconds: float) -> list[bytes]:
    """A time as programs write it: seconds to nanoseconds as integers, floats, and text."""
    numbers = [int(seconds * factor) for factor in (1, 10**3, 10**6, 10**9)]
    found = [struct.pack(form, number) for form in ("<Q", ">Q") for number in numbers]
    found += [struct.pack(form, numbers[0]) for form in ("<I", ">I")]
    found += [struct.pack(form, seconds) for form in ("<d", ">d")]
    return [*found, numbers[1].to_bytes(6, "big"), b"%d" % numbers[0]]  # six bytes: as SQLite stores milliseconds


def contents(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.iterdir()))


def test_files_hold_neither_the_raw_token_nor_a_time_finer_than_the_hour(tmp_path: Path) -> None:
    """Before and after folding, while the intake runs and after it was closed."""
    intake = open_intake(tmp_path)
    moments = []
    for k in range(5):
        send(intake, Arrival(1, 1, KEYED[:-1] + bytes([k]), b"[1,0]"))
        moments.append(contents(tmp_path))
    intake.flush()
    moments.append(contents(tmp_path))
    intake.close()
    moments.append(contents(tmp_path))

    for data in moments:
        assert KEYED[:-1] in data and struct.pack("<I", HOUR) in data  # these are what is looked for
        assert bytes.fromhex(RAW) not in data and RAW.encode() not in data
        assert [time for time in times(SECONDS) if time in data] == []


def test_the_search_for_times_finds_them() -> None:
    """A mutant: each form of the time is found in a file that has it."""
    for form in times(SECONDS):
        assert [time for time in times(SECONDS) if time in b"abc" + form + b"def"] != []


def test_a_frame_is_what_the_docstring_says(tmp_path: Path) -> None:
    """34 bytes beside the report: nothing else has a place in it."""
    intake = open_intake(tmp_path)
    send(intake, Arrival(7, 3, KEYED, b"[1,0]"))
    (path,) = tmp_path.glob("reports-*.log")
    data = path.read_bytes()[HEADER.size :]
    intake.close()

    assert len(data) == 8 + 26 + 5
    assert decode(data, HEADER.size) == ([(7, 3, HOUR, KEYED, b"[1,0]")], len(data))


def test_columns_of_the_database_are_those_that_are_described(tmp_path: Path) -> None:
    open_intake(tmp_path).close()
    with closing(sqlite3.connect(tmp_path / "reports.db")) as connection:
        columns = {
            table: [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
            for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        }
        texts = [text for (text,) in connection.execute("SELECT sql FROM sqlite_master WHERE type = 'table'")]

    assert columns == {table: list(described) for table, described in TABLES.items()}
    assert all(comment in "".join(texts) for described in TABLES.values() for _, comment in described.values())


def test_files_are_for_their_owner_only(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    intake = open_intake(folder)
    send(intake, Arrival(1, 1, hashlib.sha256(b"x").digest()[:16], b"1"))
    intake.flush()

    assert [path.name for path in [folder, *folder.iterdir()] if path.stat().st_mode & 0o077] == []
    intake.close()
