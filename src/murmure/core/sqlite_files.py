"""A file of SQLite as it is treated here: what a transaction wrote is on the disk when it ends, or was never there.

Files are opened and never made by opening; they are made whole under another name and then given theirs, so that one
that a crash cut short is never taken for ours. synchronous EXTRA: the folder's entry is on the disk too.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

PATIENCE = 60  # seconds that a transaction waits for those of other processes
Columns = Mapping[str, tuple[str, str]]  # by name: the type, and what it holds


def connect(path: Path, *pragmas: str, check_same_thread: bool = True) -> sqlite3.Connection:
    """mode=rw: opening never makes a file. A file that may not be written is opened for reading."""
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
    except BaseException:  # no database, or damaged
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


def commented(table: str, columns: Columns) -> str:
    """CREATE TABLE with its comments: SQLite keeps the text."""
    end = list(columns)[-1]
    lines = [
        f'  "{name}" {kind}{"" if name == end else ","}  -- {comment}' for name, (kind, comment) in columns.items()
    ]
    return f'CREATE TABLE "{table}" (\n' + "\n".join(lines) + "\n)"


def give_name(part: Path, path: Path) -> None:
    """Give a file its name, unless there is one of that name."""
    try:
        os.link(part, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if path.exists():
            raise FileExistsError from None
        os.rename(part, path)


def sync_folder(folder: Path) -> None:
    with suppress(OSError):  # some systems know no such thing
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
