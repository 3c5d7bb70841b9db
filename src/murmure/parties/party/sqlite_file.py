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

from murmure.core.errors import MurmureError, Phrase
from murmure.core.sqlite_files import connect, create_table_sql, rename_if_free, sync_folder, transaction
from murmure.parties.party.refusals import StoreFailed
from murmure.parties.party.tables import INDEXES, TABLES, VERSION

Run = Callable[..., list[tuple[Any, ...]]]


class PartyFile:
    """One file, for its owner only."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self.journal = self.path.with_name(self.path.name + "-journal")

    def create(self) -> None:
        """Whole, or not at all: made under another name, and then linked."""
        part = self.path.with_name(f".{self.path.name}.{os.getpid()}.part")
        with self._store_errors():
            try:
                os.close(os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
                with self._transaction(part, "IMMEDIATE") as run:
                    for table, columns in TABLES.items():
                        run(create_table_sql(table, columns))
                    for index in INDEXES:
                        run(index)
                    run("INSERT INTO meta VALUES ('version', ?)", VERSION)
                rename_if_free(part, self.path)
                sync_folder(self.path.parent)
            finally:
                part.unlink(missing_ok=True)
                part.with_name(part.name + "-journal").unlink(missing_ok=True)

    def check_intact(self) -> None:
        """Refuse what is damaged, of another version, or open to others."""
        with self._store_errors():
            if not self.path.is_file():
                raise _failed(self.path, Phrase("there is no such file"), Phrase("murmure party init makes it"))
            if os.name == "posix" and self.path.stat().st_mode & 0o077:
                raise _failed(self.path, Phrase("others may read it"), Phrase("chmod 600 {name}", name=self.path.name))
        with self.reading() as run:
            if run("PRAGMA quick_check(1)") != [("ok",)]:
                raise _failed(self.path, Phrase("the file is damaged"), Phrase("restore it from a copy"))
            has_meta = run("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'meta'")
            version = run("SELECT value FROM meta WHERE key = 'version'") if has_meta else []
            if version != [(VERSION,)]:
                raise _failed(
                    self.path,
                    Phrase("it is no party's file of version {version}", version=VERSION),
                    Phrase("name another folder"),
                )
        self._wipe_leftover()

    def _wipe_leftover(self) -> None:
        """The journal of a process that was killed between the end of a round and `wipe`."""
        with self._store_errors(), suppress(FileNotFoundError):
            if not any(self.journal.read_bytes()):
                return
            self.wipe()

    @contextmanager
    def reading(self) -> Iterator[Run]:
        with self._store_errors(), self._transaction(self.path, "DEFERRED") as run:
            yield run

    @contextmanager
    def writing(self) -> Iterator[Run]:
        """Locked from the first read on: no other study can release a cohort between a check and its record."""
        with self._store_errors(), self._transaction(self.path, "IMMEDIATE") as run:
            yield run

    def wipe(self) -> None:
        """Overwrite the journal, to which pages with secrets were copied, with zeros; nobody writes to it meanwhile."""
        with self._store_errors(), self._transaction(self.path, "EXCLUSIVE"), suppress(FileNotFoundError):
            handle = os.open(self.journal, os.O_WRONLY)
            try:
                os.write(handle, bytes(os.fstat(handle).st_size))
                os.fsync(handle)
            finally:
                os.close(handle)

    @contextmanager
    def _transaction(self, path: Path, kind: str) -> Iterator[Run]:
        # secure_delete: freed places in the file are overwritten with zeros
        pragmas = ("journal_mode = PERSIST", "secure_delete = ON")
        with closing(connect(path, *pragmas)) as connection, transaction(connection, kind):
            yield lambda sql, *values: connection.execute(sql, values).fetchall()

    @contextmanager
    def _store_errors(self) -> Iterator[None]:
        try:
            yield
        except MurmureError:
            raise
        except FileExistsError:
            raise _failed(self.path, Phrase("there is one already"), Phrase("name another folder")) from None
        except (sqlite3.Error, OSError) as error:
            why = os.strerror(error.errno).lower() if isinstance(error, OSError) and error.errno else str(error)
            raise _failed(
                self.path, why, Phrase("nothing was sent that is not in it; repair the cause, then go on")
            ) from None


def _failed(path: Path, why: str, hint: str) -> StoreFailed:
    return StoreFailed("the party's file {path!r} cannot be used: {why}.", hint=hint, path=str(path), why=why)
