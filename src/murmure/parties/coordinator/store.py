"""What a coordinator has received and done, in one file of SQLite: a log that is only appended to.

The state machines are pure, so the log is the state: reading it from its start gives the same machines, with the same
bytes for every party. journal_mode DELETE and synchronous EXTRA as in ledger/sqlite.py: what was acknowledged is on the
disk. No secret of any party is in it: masked vectors, sealed shares, and those shares that every survivor chose to
reveal, which open the sum and nothing else.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from murmure.core.errors import MurmureError, Phrase
from murmure.core.sqlite_files import connect, create_table_sql, rename_if_free, sync_folder, transaction
from murmure.parties.coordinator.errors import LogFailed
from murmure.parties.coordinator.progress import Progress

VERSION = "1"
OPEN_FILES_SECONDS = 15.0  # that a write waits for the process to close other files
META, EVENTS, RESULTS = "murmure_meta", "murmure_events", "murmure_results"
Tables = dict[str, dict[str, tuple[str, str]]]

TABLES: Tables = {
    META: {
        "key": ("TEXT PRIMARY KEY", "what is said about this file, and how the study stands"),
        "value": (
            "TEXT NOT NULL",
            "version: of these tables; study: its digest; standing: as JSON, for other processes",
        ),
    },
    EVENTS: {
        "number": ("INTEGER PRIMARY KEY", "1, 2, 3, ... in the order of writing, without gaps"),
        "at": ("TEXT NOT NULL", "when, in UTC"),
        "round": ("INTEGER NOT NULL", "1, 2, 3, ...: which of the study's questions"),
        "kind": ("TEXT NOT NULL", "message: accepted; close: the stage was closed; end: the study was ended"),
        "message": ("BLOB", "message: the envelope as it came, signed by its sender; end: the reason, as UTF-8"),
    },
    RESULTS: {
        "round": ("INTEGER PRIMARY KEY", "1, 2, 3, ..."),
        "at": ("TEXT NOT NULL", "when, in UTC"),
        "cohort": ("TEXT NOT NULL", "the parties in the sum: their places in the roster, as JSON"),
        "sums": ("TEXT NOT NULL", "the sums over them, exact integers, as JSON"),
    },
}


@dataclass(frozen=True)
class Event:
    """One line of the log."""

    round: int
    kind: str
    message: bytes = field(default=b"", repr=False)


@dataclass(frozen=True)
class RoundResult:
    """The result of a round."""

    round: int
    cohort: tuple[int, ...]
    sums: tuple[int, ...] = field(repr=False)


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class CoordinatorStore:
    """The log of one study. One process writes it, through one connection; others may read."""

    def __init__(self, path: Path, study: bytes) -> None:
        self.path, self.study = path.absolute(), study
        with sqlite_errors(self.path):
            if not self.path.exists():
                create_file(self.path, TABLES, {"version": VERSION, "study": study.hex()})
            # The broker's worker thread writes, and the main thread opens and closes.
            self._connection = connect(self.path, check_same_thread=False)
            weakref.finalize(self, self._connection.close)  # a store that is dropped leaves no open file
        self._lock = threading.Lock()
        try:
            self._check_intact()
        except BaseException:
            self.close()
            raise

    def _check_intact(self) -> None:
        with sqlite_errors(self.path):
            check_database(self._connection, self.path)
            meta = dict(self._connection.execute(f'SELECT "key", "value" FROM "{META}"'))
            if meta.get("version") != VERSION:
                raise log_failed(
                    self.path,
                    Phrase(
                        "its version is {meta!r}, this software reads {version}",
                        meta=meta.get("version"),
                        version=VERSION,
                    ),
                )
            if meta.get("study") != self.study.hex():
                raise log_failed(
                    self.path,
                    Phrase("it holds what was said in another study"),
                    Phrase("name the folder of this study"),
                )
            last, count = self._connection.execute(f'SELECT MAX("number"), COUNT(*) FROM "{EVENTS}"').fetchone()
            if (last or 0) != count:
                raise log_failed(self.path, Phrase("some of its events are missing"), Phrase("restore it from a copy"))
            self._next = count + 1

    def close(self) -> None:
        self._connection.close()

    def events(self) -> Iterator[Event]:
        """All events from the first; one at a time, since vectors may be long."""
        with sqlite_errors(self.path):
            rows = self._connection.execute(f'SELECT "round", "kind", "message" FROM "{EVENTS}" ORDER BY "number"')
            for round, kind, message in rows:
                yield Event(round, kind, message or b"")

    def append(self, events: Sequence[Event], progress: dict[str, Any], result: RoundResult | None = None) -> None:
        """All of them or none; on the disk when this returns."""
        with sqlite_errors(self.path), self._lock:
            gives_up_at = time.monotonic() + OPEN_FILES_SECONDS
            while True:
                try:
                    return self._append(events, progress, result)
                except sqlite3.OperationalError as error:
                    # Too many open files: wait, since connections of strangers are closed soon.
                    if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_CANTOPEN or time.monotonic() > gives_up_at:
                        raise
                time.sleep(0.1)

    def _append(self, events: Sequence[Event], progress: dict[str, Any], result: RoundResult | None) -> None:
        at = now()
        with transaction(self._connection):
            for number, event in enumerate(events, self._next):
                self._connection.execute(
                    f'INSERT INTO "{EVENTS}" VALUES (?, ?, ?, ?, ?)',
                    (number, at, event.round, event.kind, event.message),
                )
            self._connection.execute(
                f'INSERT INTO "{META}" VALUES (?, ?) ON CONFLICT ("key") DO UPDATE SET "value" = excluded."value"',
                ("standing", json.dumps(progress)),
            )
            if result is not None:
                values = (result.round, at, json.dumps(result.cohort), json.dumps(result.sums))
                self._connection.execute(f'INSERT INTO "{RESULTS}" VALUES (?, ?, ?, ?)', values)
        self._next += len(events)


def read_progress(path: Path, study: bytes) -> tuple[dict[str, Any] | None, list[RoundResult]]:
    """The progress by the file, for a process that does not serve the study; None: it never ran."""
    if not path.exists():
        return None, []
    with sqlite_errors(path), closing(connect(path)) as connection, transaction(connection, "DEFERRED"):
        meta = dict(connection.execute(f'SELECT "key", "value" FROM "{META}"'))
        if meta.get("version") != VERSION or meta.get("study") != study.hex():
            raise log_failed(
                path, Phrase("it is of another study, or of another version"), Phrase("name the folder of this study")
            )
        rows = connection.execute(f'SELECT "round", "cohort", "sums" FROM "{RESULTS}" ORDER BY "round"').fetchall()
    try:
        results = [
            RoundResult(round, tuple(json.loads(cohort)), tuple(json.loads(sums))) for round, cohort, sums in rows
        ]
        progress = json.loads(meta["standing"]) if "standing" in meta else None
        if progress is not None:
            Progress.from_dict(progress)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise log_failed(
            path, Phrase("how the study stands cannot be read in it"), Phrase("restore it from a copy")
        ) from None
    return progress, results


# -- SQLite files of a coordinator ------------------------------------------------------------------------------------


def create_file(path: Path, tables: Tables, meta: dict[str, str]) -> None:
    """Make it under another name and then link it: a file that a crash cut short never has this name."""
    part = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}.part")
    try:
        part.unlink(missing_ok=True)
        os.close(os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        with closing(connect(part)) as connection, transaction(connection):
            for table, columns in tables.items():
                connection.execute(create_table_sql(table, columns))
            connection.executemany(f'INSERT INTO "{META}" VALUES (?, ?)', list(meta.items()))
        with suppress(FileExistsError):  # another process was first: its file is as good
            rename_if_free(part, path)
        sync_folder(path.parent)
    finally:
        part.unlink(missing_ok=True)


def check_database(connection: sqlite3.Connection, path: Path) -> None:
    report = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if report != "ok":
        raise log_failed(
            path, Phrase("the file is damaged ({report})", report=report), Phrase("restore it from a copy")
        )
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (META,)).fetchone():
        raise log_failed(path, Phrase("it is a database of another program"))


@contextmanager
def sqlite_errors(path: Path) -> Iterator[None]:
    """Turn errors of SQLite and of the system into LogFailed."""
    try:
        yield
    except MurmureError:
        raise
    except (sqlite3.Error, OSError) as error:
        why = os.strerror(error.errno).lower() if isinstance(error, OSError) and error.errno else str(error)
        raise log_failed(path, why) from None


def log_failed(path: Path, why: str, hint: str | None = None) -> LogFailed:
    return LogFailed("{path!r} cannot be used: {why}.", hint=hint, path=str(path), why=" ".join(why.split()))
