"""SQLite files: a transaction is on the disk when it ends, or it never happened.

Opening never creates a file: files are completed under another name and then renamed, so that one truncated by a crash
is never taken for ours. synchronous EXTRA: the folder's entry is on the disk too.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

PATIENCE = 60  # seconds that a transaction waits for other processes
Columns = Mapping[str, tuple[str, str]]  # by name: the type, and what it holds


def connect(path: Path, *pragmas: str, check_same_thread: bool = True) -> sqlite3.Connection:
    """mode=rw: opening never creates a file. A read-only file is opened for reading."""
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
    except BaseException:
        with suppress(sqlite3.Error):  # closing rolls back as well
            connection.execute("ROLLBACK")
        raise


def create_table_sql(table: str, columns: Columns) -> str:
    """CREATE TABLE with a comment for every column: SQLite stores the text."""
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
