"""Durable files of SQLite: a transaction is on the disk when it ends, or it never happened.

A file is made whole under another name and then linked, so that one cut short by a crash is never taken for ours; of
several processes that make it at once, the first wins. Opening never creates one. synchronous EXTRA: the folder's entry
is on the disk too. (WAL would be quicker, but the last transactions would be in a second file, and a copy of the first
alone would forget them.) On a read-only file system a file can be read.

Whoever owns a file says which tables it has, and turns what goes wrong into an error of its own (`failed`).
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from murmure.core.errors import MurmureError, Phrase

PATIENCE = 60  # seconds that a transaction waits for other processes
MIN_FILE_BYTES = 512  # the smallest page of SQLite
Columns = Mapping[str, tuple[str, str]]  # by name: the type, and what it holds
Run = Callable[..., list[tuple[Any, ...]]]  # run(sql with ?, *values) -> rows


class FileProblem(Exception):
    """Why a file is not usable, though SQLite reads it. Owners turn it into an error of their own."""


class NotAFile(FileProblem):
    """There is none, or it is a folder."""


class Damaged(FileProblem):
    """Cut short, or overwritten in part."""


class OtherProgram(FileProblem):
    """A database without the table that ours begin with."""


class HasTriggers(FileProblem):
    """Triggers or views, which could undo what is written."""


class SQLiteFile:
    """One file. `failed` turns an error of SQLite, of the system, or a FileProblem into the owner's own.

    statements: the SQL that makes its tables (see `table_statements`); meta: the table of keys and values among them.
    """

    def __init__(
        self,
        path: Path,
        statements: Sequence[str],
        meta: str,
        failed: Callable[[Exception], MurmureError],
        pragmas: Sequence[str] = (),
    ) -> None:
        self.path, self._statements, self._meta = path, statements, meta
        self._failed, self._pragmas = failed, pragmas

    def exists(self) -> bool:
        with self.errors():
            return self.path.exists() or self.path.is_symlink()

    def make_whole(self, facts: Mapping[str, str], exist_ok: bool = True) -> None:
        """All tables and these facts, or nothing. exist_ok: another process may be first, its file is as good."""
        part = self.path.with_name(f".{self.path.name}.{os.getpid()}.{threading.get_ident()}.part")
        with self.errors():
            try:
                part.unlink(missing_ok=True)
                os.close(os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
                with closing(connect(part, *self._pragmas)) as connection, transaction(connection):
                    for statement in self._statements:
                        connection.execute(statement)
                    connection.executemany(f'INSERT INTO "{self._meta}" VALUES (?, ?)', list(facts.items()))
                try:
                    rename_if_free(part, self.path)
                except FileExistsError:
                    if not exist_ok:
                        raise
                sync_folder(self.path.parent)
            finally:
                part.unlink(missing_ok=True)
                part.with_name(f"{part.name}-journal").unlink(missing_ok=True)

    def check_intact(self) -> None:
        """Refuse what is not ours, or cut short; at the same cost however long the file is."""
        with self.errors():
            if not self.path.is_file():
                raise NotAFile(Phrase("it is not a file"))
            if self.path.stat().st_size < MIN_FILE_BYTES:
                raise Damaged(Phrase("the file is empty or cut short"))
        with self.reading() as run:
            ((pages,),), ((size,),) = run("PRAGMA page_count"), run("PRAGMA page_size")
            if self.path.stat().st_size < pages * size:  # SQLite takes a missing part of a page for zeros
                raise Damaged(Phrase("the file is cut short"))
            if not run("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", self._meta):
                raise OtherProgram(Phrase("it is a database of another program"))
            if run("SELECT 1 FROM sqlite_master WHERE type NOT IN ('table', 'index')"):
                raise HasTriggers(Phrase("it has triggers or views, which could undo what is written"))

    def check_pages(self) -> None:
        """Refuse what is damaged anywhere: all of it is read."""
        with self.reading() as run:
            report = run("PRAGMA quick_check(1)")
            if report != [("ok",)]:
                raise Damaged(Phrase("the file is damaged ({report})", report=report[0][0]))

    def facts(self, run: Run) -> dict[str, str]:
        """What the file says about itself."""
        return dict(run(f'SELECT "key", "value" FROM "{self._meta}"'))

    @contextmanager
    def reading(self) -> Iterator[Run]:
        """All reads see the same moment."""
        with self.transaction("DEFERRED") as run:
            yield run

    @contextmanager
    def writing(self) -> Iterator[Run]:
        """Locked from the first read on: nobody writes between a check and what is recorded after it."""
        with self.transaction("IMMEDIATE") as run:
            yield run

    @contextmanager
    def transaction(self, kind: str) -> Iterator[Run]:
        """A connection for every transaction: threads, forks and restarts cannot break it."""
        with self.errors(), closing(connect(self.path, *self._pragmas)) as connection, transaction(connection, kind):
            yield lambda sql, *values: connection.execute(sql, values).fetchall()

    def connect(self) -> sqlite3.Connection:
        """For an owner that keeps a connection, and gives it to threads one after the other."""
        with self.errors():
            return connect(self.path, *self._pragmas, check_same_thread=False)

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turn what goes wrong inside into the owner's own error."""
        try:
            yield
        except MurmureError:
            raise
        except (sqlite3.Error, OSError, UnicodeError, FileProblem) as error:
            raise self._failed(error) from None


def connect(path: Path, *pragmas: str, check_same_thread: bool = True) -> sqlite3.Connection:
    """mode=rw: opening never creates a file, and one that may not be written is opened for reading."""
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw",
        uri=True,
        timeout=PATIENCE,
        isolation_level=None,
        check_same_thread=check_same_thread,
    )
    try:
        for pragma in ("synchronous = EXTRA", *pragmas):
            connection.execute(f"PRAGMA {pragma}")
    except BaseException:  # not a database, or damaged
        connection.close()
        raise
    return connection


@contextmanager
def transaction(connection: sqlite3.Connection, kind: str = "IMMEDIATE") -> Iterator[None]:
    connection.execute(f"BEGIN {kind}")
    try:
        yield
        connection.execute("COMMIT")
    # BaseException: a KeyboardInterrupt in the middle must not leave the transaction open.
    except BaseException:
        with suppress(sqlite3.Error):  # closing rolls back as well
            connection.execute("ROLLBACK")
        raise


def why(error: Exception) -> str:
    """In words: what the system, SQLite or a FileProblem says."""
    return os.strerror(error.errno).lower() if isinstance(error, OSError) and error.errno else str(error)


def table_statements(tables: Mapping[str, Columns], indexes: Iterable[str] = ()) -> tuple[str, ...]:
    """The SQL that makes tables, with a comment for every column: SQLite stores the text."""
    return (*(create_table_sql(table, columns) for table, columns in tables.items()), *indexes)


def create_table_sql(table: str, columns: Columns) -> str:
    last = list(columns)[-1]
    lines = [
        f'  "{name}" {kind}{"" if name == last else ","}  -- {comment}' for name, (kind, comment) in columns.items()
    ]
    return f'CREATE TABLE "{table}" (\n' + "\n".join(lines) + "\n)"


def rename_if_free(part: Path, path: Path) -> None:
    """Rename a file, unless a file of that name exists."""
    try:
        os.link(part, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if path.exists():
            raise FileExistsError from None
        os.rename(part, path)


def sync_folder(folder: Path) -> None:
    with suppress(OSError):  # some systems cannot open a folder
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
