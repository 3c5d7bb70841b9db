"""What a coordinator has heard and done, in one file of SQLite: a log that is only ever appended to.

The state machines are pure, so the log is the state: whoever reads it from its start has the same machines, and they
have the same bytes for every party. journal_mode DELETE and synchronous EXTRA as in ledger/sqlite.py: what was
acknowledged is on the disk. No secret of any party is in it: masked vectors, sealed shares, and those shares that every
survivor chose to reveal, which open the sum and nothing else.
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

from murmure.core.errors import MurmureError
from murmure.core.sqlite_files import connect, create_table_sql, rename_if_free, sync_folder, transaction
from murmure.parties.coordinator.errors import LogFailed
from murmure.parties.coordinator.progress import Progress

VERSION = "1"
FILES_AGAIN = 15.0  # seconds in which a file may become free
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
    """What a round gave."""

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
            self._connection = connect(self.path, check_same_thread=False)
            weakref.finalize(self, self._connection.close)  # whoever drops it leaves no open file
        self._lock = threading.Lock()
        try:
            self._look()
        except BaseException:
            self.close()
            raise

    def _look(self) -> None:
        with sqlite_errors(self.path):
            check_file(self._connection, self.path)
            meta = dict(self._connection.execute(f'SELECT "key", "value" FROM "{META}"'))
            if meta.get("version") != VERSION:
                raise log_failed(self.path, f"its version is {meta.get('version')!r}, this software reads {VERSION}")
            if meta.get("study") != self.study.hex():
                raise log_failed(self.path, "it holds what was said in another study", "name the folder of this study")
            last, many = self._connection.execute(f'SELECT MAX("number"), COUNT(*) FROM "{EVENTS}"').fetchone()
            if (last or 0) != many:
                raise log_failed(self.path, "some of its events are missing", "restore it from a copy")
            self._next = many + 1

    def close(self) -> None:
        self._connection.close()

    def events(self) -> Iterator[Event]:
        """From the first; one at a time, since vectors may be long."""
        with sqlite_errors(self.path):
            rows = self._connection.execute(f'SELECT "round", "kind", "message" FROM "{EVENTS}" ORDER BY "number"')
            for round, kind, message in rows:
                yield Event(round, kind, message or b"")

    def append(self, events: Sequence[Event], standing: dict[str, Any], result: RoundResult | None = None) -> None:
        """All of them or none; on the disk when this returns."""
        with sqlite_errors(self.path), self._lock:
            until = time.monotonic() + FILES_AGAIN
            while True:
                try:
                    return self._append(events, standing, result)
                except sqlite3.OperationalError as error:  # too many open files: those of strangers are closed soon
                    if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_CANTOPEN or time.monotonic() > until:
                        raise
                time.sleep(0.1)

    def _append(self, events: Sequence[Event], standing: dict[str, Any], result: RoundResult | None) -> None:
        at = now()
        with transaction(self._connection):
            for number, event in enumerate(events, self._next):
                self._connection.execute(
                    f'INSERT INTO "{EVENTS}" VALUES (?, ?, ?, ?, ?)',
                    (number, at, event.round, event.kind, event.message),
                )
            self._connection.execute(
                f'INSERT INTO "{META}" VALUES (?, ?) ON CONFLICT ("key") DO UPDATE SET "value" = excluded."value"',
                ("standing", json.dumps(standing)),
            )
            if result is not None:
                held = (result.round, at, json.dumps(result.cohort), json.dumps(result.sums))
                self._connection.execute(f'INSERT INTO "{RESULTS}" VALUES (?, ?, ?, ?)', held)
        self._next += len(events)


def read_progress(path: Path, study: bytes) -> tuple[dict[str, Any] | None, list[RoundResult]]:
    """How the study stands by its file, for a process that does not serve it; None: it never ran."""
    if not path.exists():
        return None, []
    with sqlite_errors(path), closing(connect(path)) as connection, transaction(connection, "DEFERRED"):
        meta = dict(connection.execute(f'SELECT "key", "value" FROM "{META}"'))
        if meta.get("version") != VERSION or meta.get("study") != study.hex():
            raise log_failed(path, "it is of another study, or of another version", "name the folder of this study")
        rows = connection.execute(f'SELECT "round", "cohort", "sums" FROM "{RESULTS}" ORDER BY "round"').fetchall()
    try:
        held = [RoundResult(round, tuple(json.loads(cohort)), tuple(json.loads(sums))) for round, cohort, sums in rows]
        standing = json.loads(meta["standing"]) if "standing" in meta else None
        if standing is not None:
            Progress.from_dict(standing)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise log_failed(path, "how the study stands cannot be read in it", "restore it from a copy") from None
    return standing, held


# -- SQLite, as it is treated here ------------------------------------------------------------------------------------


def create_file(path: Path, tables: Tables, meta: dict[str, str]) -> None:
    """Made whole under another name and then linked, so that a file cut short by a crash is never taken for ours."""
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


def check_file(connection: sqlite3.Connection, path: Path) -> None:
    found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if found != "ok":
        raise log_failed(path, f"the file is damaged ({found})", "restore it from a copy")
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (META,)).fetchone():
        raise log_failed(path, "it is a database of another program")


@contextmanager
def sqlite_errors(path: Path) -> Iterator[None]:
    """Whatever SQLite or the system says, in our words."""
    try:
        yield
    except MurmureError:
        raise
    except (sqlite3.Error, OSError) as error:
        why = os.strerror(error.errno).lower() if isinstance(error, OSError) and error.errno else str(error)
        raise log_failed(path, why) from None


def log_failed(path: Path, why: str, hint: str | None = None) -> LogFailed:
    return LogFailed(f"{str(path)!r} cannot be used: {' '.join(why.split())}.", hint=hint)
