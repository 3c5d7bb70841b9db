"""What a coordinator has received and done, in one file of SQLite: a log that is only appended to.

The state machines are pure, so the log is the state: reading it from its start gives the same machines, with the same
bytes for every party. What was acknowledged is on the disk (core/sqlite_files.py). No secret of any party is in it:
masked vectors, sealed shares, and those shares that every survivor chose to reveal; they open the sum, nothing else.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from murmure.core.errors import Phrase
from murmure.core.sqlite_files import Damaged, Run, SQLiteFile, table_statements, transaction, why
from murmure.parties.coordinator.errors import LogFailed
from murmure.parties.coordinator.progress import StudyProgress
from murmure.parties.study.earlier_protocol import is_earlier

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
        self._file = _file(self.path)
        if not self._file.exists():
            self._file.make_whole({"version": VERSION, "study": study.hex()})
        self._check_intact()
        # The broker's worker thread writes, and the main thread opens and closes.
        self._connection = self._file.connect()
        weakref.finalize(self, self._connection.close)  # a store that is dropped leaves no open file
        self._lock = threading.Lock()

    def _check_intact(self) -> None:
        self._file.check_intact()
        self._file.check_pages()
        with self._file.reading() as run:
            facts = self._file.facts(run)
            check_version(self.path, facts, VERSION)
            if facts.get("study") != self.study.hex():
                raise log_failed(
                    self.path,
                    Phrase("it holds the messages of another study"),
                    Phrase("name the folder of this study"),
                )
            ((last, count),) = run(f'SELECT MAX("number"), COUNT(*) FROM "{EVENTS}"')
            if (last or 0) != count:
                raise log_failed(self.path, Phrase("some of its events are missing"), Phrase("restore it from a copy"))
            if _began_earlier(run):
                raise log_failed(
                    self.path,
                    Phrase("the study began under a protocol older than murmure 0.6, and cannot go on"),
                    Phrase(
                        "murmure study result shows what it released; to ask again, create a study under another name"
                    ),
                )
            self._next = count + 1

    def close(self) -> None:
        self._connection.close()

    def events(self) -> Iterator[Event]:
        """All events from the first; one at a time, since vectors may be long."""
        with self._file.errors():
            rows = self._connection.execute(f'SELECT "round", "kind", "message" FROM "{EVENTS}" ORDER BY "number"')
            for round, kind, message in rows:
                yield Event(round, kind, message or b"")

    def append(self, events: Sequence[Event], progress: dict[str, Any], result: RoundResult | None = None) -> None:
        """All of them or none; on the disk when this returns."""
        with self._file.errors(), self._lock:
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
    file = _file(path)
    with file.reading() as run:
        facts = file.facts(run)
        if facts.get("version") != VERSION or facts.get("study") != study.hex():
            raise log_failed(
                path, Phrase("it is of another study, or of another version"), Phrase("name the folder of this study")
            )
        rows = run(f'SELECT "round", "cohort", "sums" FROM "{RESULTS}" ORDER BY "round"')
    try:
        results = [
            RoundResult(round, tuple(json.loads(cohort)), tuple(json.loads(sums))) for round, cohort, sums in rows
        ]
        progress = json.loads(facts["standing"]) if "standing" in facts else None
        if progress is not None:
            StudyProgress.from_dict(progress)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise log_failed(
            path, Phrase("the state of the study cannot be read from it"), Phrase("restore it from a copy")
        ) from None
    return progress, results


def ran_earlier(path: Path) -> bool:
    """Whether the study of this log ran under an earlier protocol."""
    if not path.exists():
        return False
    with _file(path).reading() as run:
        return _began_earlier(run)


def _began_earlier(run: Run) -> bool:
    first = run(f'SELECT "message" FROM "{EVENTS}" WHERE "kind" = ? ORDER BY "number" LIMIT 1', "message")
    return bool(first) and is_earlier(first[0][0])


# -- SQLite files of a coordinator ------------------------------------------------------------------------------------


def _file(path: Path) -> SQLiteFile:
    return coordinator_file(path, TABLES)


def coordinator_file(path: Path, tables: Tables) -> SQLiteFile:
    """A file of a coordinator's folder."""

    def failed(error: Exception) -> LogFailed:
        return log_failed(path, why(error), Phrase("restore it from a copy") if isinstance(error, Damaged) else None)

    return SQLiteFile(path, table_statements(tables), META, failed)


def check_version(path: Path, facts: dict[str, str], version: str) -> None:
    if facts.get("version") != version:
        raise log_failed(
            path,
            Phrase(
                "its version is {facts!r}, this software reads {version}", facts=facts.get("version"), version=version
            ),
        )


def log_failed(path: Path, why: str, hint: str | None = None) -> LogFailed:
    return LogFailed("{path!r} cannot be used: {why}.", hint=hint, path=str(path), why=" ".join(why.split()))
