"""Where a ledger stands. A store runs SQL in transactions and says what went wrong; it knows nothing of budgets."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from murmure.core.errors import InvalidParameter, LedgerFailed, shorten
from murmure.core.sqlite_files import PATIENCE as PATIENCE  # that a charge waits for others to finish theirs

Run = Callable[..., list[tuple[Any, ...]]]  # run(sql with ?, *values) -> rows


class Store(Protocol):
    """A connection for every transaction: there is nothing for threads, forks or a restarted server to spoil."""

    @property
    def name(self) -> str: ...  # for messages; without a password
    @property
    def key(self) -> Path: ...  # where the key of its fingerprints stands
    def exists(self) -> bool: ...  # whether there is a ledger, or something that stands in its place
    def create(self) -> None: ...  # all tables or none; no error if another process was first
    def look(self) -> None: ...  # refuse what is damaged
    def reading(self) -> AbstractContextManager[Run]: ...  # all reads see the same moment
    def writing(self) -> AbstractContextManager[Run]: ...  # alone; on the disk when it ends, and nothing on an error


def open_store(where: str | os.PathLike[str]) -> Store:
    """A file of SQLite, or postgresql://user@host/database."""
    if isinstance(where, str) and where.startswith(("postgresql://", "postgres://")):
        from murmure.ledger.postgres import Postgres

        return Postgres(where)
    if isinstance(where, str) and (where.startswith(("postgresql:", "postgres:")) or "password=" in where):
        raise InvalidParameter(  # without a word of it: there may be a password in it
            "the address of the ledger cannot be read.", hint="write postgresql://user@host:5432/database"
        )
    if isinstance(where, str) and "://" in where:
        kind = where.split("://")[0]
        raise InvalidParameter(
            f"a ledger is a file or a database postgresql://..., got {shorten(kind)}://...",
            hint='Ledger("murmure-ledger.db"), or Ledger("postgresql://user@host/database")',
        )
    from murmure.ledger.sqlite import SQLite

    return SQLite(where)


def ledger_failed(name: str, why: object, hint: str | None = None) -> LedgerFailed:
    text = " ".join(str(why).split()).rstrip(".")
    return LedgerFailed(
        f"the ledger {name!r} cannot be used: {text}. Nothing was charged, and nothing may be released.", hint=hint
    )
