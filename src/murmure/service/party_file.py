"""A party's file of SQLite: transactions that are on the disk when they end, and secrets that do not outlive them.

journal_mode PERSIST: SQLite copies the pages that it is about to change to a journal beside the file, old secrets too.
The journal stays, so that it can be overwritten; deleted, it would lie unnamed on the disk. synchronous EXTRA as in
the ledger: what was committed before a message left is there after a power cut. (What a disk or a backup keeps of
overwritten blocks is beyond any program.)
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from murmure.core.errors import MurmureError
from murmure.service.coordinator_store import sync_folder
from murmure.service.party_tables import INDEXES, TABLES, VERSION, create
from murmure.service.refusals import StoreFailed

PATIENCE = 60  # seconds that a transaction waits for those of other studies
Run = Callable[..., list[tuple[Any, ...]]]


class PartyFile:
    """One file, for its owner only."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self.journal = self.path.with_name(self.path.name + "-journal")

    def create(self) -> None:
        """Whole, or not at all: made under another name, and then linked."""
        part = self.path.with_name(f".{self.path.name}.{os.getpid()}.part")
        with self._said():
            try:
                os.close(os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
                with self._transaction(part, "IMMEDIATE") as run:
                    for table in TABLES:
                        run(create(table))
                    for index in INDEXES:
                        run(index)
                    run("INSERT INTO meta VALUES ('version', ?)", VERSION)
                _name(part, self.path)
                sync_folder(self.path.parent)
            finally:
                part.unlink(missing_ok=True)
                part.with_name(part.name + "-journal").unlink(missing_ok=True)

    def look(self) -> None:
        """Refuse what is damaged, of another version, or open to others."""
        with self._said():
            if not self.path.is_file():
                raise _failed(self.path, "there is no such file", "murmure party init makes it")
            if os.name == "posix" and self.path.stat().st_mode & 0o077:
                raise _failed(self.path, "others may read it", f"chmod 600 {self.path.name}")
        with self.reading() as run:
            if run("PRAGMA quick_check(1)") != [("ok",)]:
                raise _failed(self.path, "the file is damaged", "restore it from a copy")
            found = run("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'meta'")
            version = run("SELECT value FROM meta WHERE key = 'version'") if found else []
            if version != [(VERSION,)]:
                raise _failed(self.path, f"it is no party's file of version {VERSION}", "name another folder")

    @contextmanager
    def reading(self) -> Iterator[Run]:
        with self._said(), self._transaction(self.path, "DEFERRED") as run:
            yield run

    @contextmanager
    def writing(self) -> Iterator[Run]:
        """Alone from its first read on: no other study can release a cohort between a check and its record."""
        with self._said(), self._transaction(self.path, "IMMEDIATE") as run:
            yield run

    def wipe(self) -> None:
        """Zeros over the journal, where pages with erased secrets were copied to; nobody writes to it meanwhile."""
        with self._said(), self._transaction(self.path, "EXCLUSIVE"), suppress(FileNotFoundError):
            handle = os.open(self.journal, os.O_WRONLY)
            try:
                os.write(handle, bytes(os.fstat(handle).st_size))
                os.fsync(handle)
            finally:
                os.close(handle)

    @contextmanager
    def _transaction(self, path: Path, kind: str) -> Iterator[Run]:
        address = f"{path.as_uri()}?mode=rw"  # opening never makes a file
        with closing(sqlite3.connect(address, uri=True, timeout=PATIENCE, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = PERSIST")
            connection.execute("PRAGMA synchronous = EXTRA")
            connection.execute("PRAGMA secure_delete = ON")  # freed places in the file are overwritten with zeros
            connection.execute(f"BEGIN {kind}")

            def run(sql: str, *values: Any) -> list[tuple[Any, ...]]:
                return connection.execute(sql, values).fetchall()

            try:
                yield run
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):  # closing rolls back as well
                    connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _said(self) -> Iterator[None]:
        try:
            yield
        except MurmureError:
            raise
        except FileExistsError:
            raise _failed(self.path, "there is one already", "name another folder") from None
        except (sqlite3.Error, OSError) as error:
            why = os.strerror(error.errno).lower() if isinstance(error, OSError) and error.errno else str(error)
            raise _failed(self.path, why, "nothing was sent that is not in it; repair the cause, then go on") from None


def _name(part: Path, path: Path) -> None:
    """Give a file its name, unless there is one of that name."""
    try:
        os.link(part, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if path.exists():
            raise FileExistsError from None
        os.rename(part, path)


def _failed(path: Path, why: str, hint: str) -> StoreFailed:
    return StoreFailed(f"the party's file {str(path)!r} cannot be used: {why}.", hint=hint)
