"""A ledger in one file, by SQLite.

journal_mode DELETE and synchronous EXTRA: when a transaction has ended, everything is in the one file and on the disk,
and so is the folder's entry. (WAL would be quicker, but the last charges would be in a second file, and a copy of the
first file alone would lack them.) BEGIN IMMEDIATE takes the lock before the first read, so no other process can
charge between the check of a budget and the charge.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from murmure.core.errors import InvalidParameter, MurmureError, shorten
from murmure.core.sqlite_files import connect, rename_if_free, sync_folder, transaction
from murmure.ledger.store import PATIENCE, Run, ledger_failed
from murmure.ledger.tables import INDEXES, META, TABLES, VERSION, create_sql, insert
from murmure.ledger.words import system_reason

DAMAGED = "restore it from a copy; putting it aside forgets what these people have paid"
MIN_FILE_BYTES = 512  # the smallest page of SQLite


class SQLite:
    """One file; made whole under another name and then linked, so that an empty file is never a ledger."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.name = str(path)
        if "\0" in self.name:
            raise InvalidParameter(f"no file can be called {shorten(self.name)}.")
        self.path = Path(path).absolute()  # absolute: the working directory may change later
        real = Path(os.path.realpath(self.path))
        self.key_path = real.with_name(f".{real.name}.key")  # beside the file itself, by whichever link it was named

    def exists(self) -> bool:
        with self._system_errors():
            return self.path.exists() or self.path.is_symlink()

    def check_intact(self) -> None:
        with self._system_errors():
            if not self.path.is_file():
                raise ledger_failed(self.name, "it is not a file", "name another ledger")
            if self.path.stat().st_size < MIN_FILE_BYTES:
                raise ledger_failed(self.name, "the file is empty or cut short", DAMAGED)
        with self.reading() as run:
            ((pages,),), ((size,),) = run("PRAGMA page_count"), run("PRAGMA page_size")
            if self.path.stat().st_size < pages * size:  # SQLite takes a missing part of a page for zeros
                raise ledger_failed(self.name, "the file is cut short", DAMAGED)
            if not run("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", META):
                raise ledger_failed(
                    self.name, "it is a database of another program", "name another file for the ledger"
                )
            if run("SELECT 1 FROM sqlite_master WHERE type NOT IN ('table', 'index')"):
                raise ledger_failed(self.name, "it has triggers or views, which could undo a charge", "remove them")

    def check_pages(self) -> None:
        with self.reading() as run:
            report = [text for (text,) in run("PRAGMA quick_check(1)")]
            if report != ["ok"]:
                raise ledger_failed(self.name, f"the file is damaged ({report[0]})", DAMAGED)

    def create(self) -> None:
        part = self.path.with_name(f".{self.path.name}.{os.getpid()}.{threading.get_ident()}.part")
        with self._system_errors():
            if not self.path.parent.is_dir():
                raise ledger_failed(self.name, f"there is no folder {str(self.path.parent)!r}", "make the folder first")
            try:
                part.unlink(missing_ok=True)
                os.close(os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
                with self._transaction(part, "IMMEDIATE") as run:
                    for table in TABLES:
                        run(create_sql(table))
                    for index in INDEXES:
                        run(index)
                    run(insert(META), "version", VERSION)
                with suppress(FileExistsError):  # another process was first: its ledger is as good
                    rename_if_free(part, self.path)
                sync_folder(self.path.parent)
            finally:
                part.unlink(missing_ok=True)

    @contextmanager
    def reading(self) -> Iterator[Run]:
        with self._system_errors(), self._transaction(self.path, "DEFERRED") as run:
            yield run

    @contextmanager
    def writing(self) -> Iterator[Run]:
        with self._system_errors(), self._transaction(self.path, "IMMEDIATE") as run:
            yield run

    @contextmanager
    def _transaction(self, path: Path, kind: str) -> Iterator[Run]:
        with closing(connect(path)) as connection, transaction(connection, kind):
            yield lambda sql, *values: connection.execute(sql, values).fetchall()

    @contextmanager
    def _system_errors(self) -> Iterator[None]:
        try:
            yield
        except MurmureError:
            raise
        except (sqlite3.Error, OSError, UnicodeError) as error:
            raise ledger_failed(self.name, *_why(error)) from None


def _why(error: Exception) -> tuple[str, str | None]:
    if isinstance(error, OSError):
        return system_reason(error), "name another ledger"
    text = str(error)
    if "locked" in text or "busy" in text:
        return f"other processes have held it for {PATIENCE} s", "try again"
    if "malformed" in text:
        return "the file is damaged", DAMAGED
    if "not a database" in text:
        return "the file is not a ledger, or it is damaged", DAMAGED
    if "readonly" in text:
        return "it may not be written", "ask its owner, or name another ledger"
    if "unable to open" in text:
        return "it cannot be opened", "look whether the file and its folder may be read and written"
    if "full" in text:
        return "the disk is full", "make room, then try again"
    return text, None
