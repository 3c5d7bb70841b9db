"""Where a ledger is stored. A store runs SQL in transactions and explains errors; it knows nothing about budgets."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from murmure.core.errors import InvalidParameter, LedgerFailed, Phrase, shorten
from murmure.core.sqlite_files import PATIENCE as PATIENCE  # that a charge waits for others to finish theirs

OLD_CHARGES = b'{"murmure-ledger"'  # how a file of charges of murmure 0.5 begins (old_charges.py)
Run = Callable[..., list[tuple[Any, ...]]]  # run(sql with ?, *values) -> rows


class Store(Protocol):
    """One connection for every transaction: threads, forks and restarts of a server cannot break it."""

    @property
    def name(self) -> str: ...  # for messages; without a password
    @property
    def key_path(self) -> Path: ...  # the file with the key of its fingerprints
    def exists(self) -> bool: ...  # whether there is a ledger, or something else in its place
    def create(self) -> None: ...  # all tables or none; no error if another process was first
    def check_intact(self) -> None: ...  # refuse what is no ledger, or cut short; at the same cost for any length
    def check_pages(self) -> None: ...  # refuse what is damaged anywhere; reads all of it
    def reading(self) -> AbstractContextManager[Run]: ...  # all reads see the same moment
    def writing(self) -> AbstractContextManager[Run]: ...  # exclusive; on the disk when it ends, undone by an error


def open_store(where: str | os.PathLike[str]) -> Store:
    """A file of SQLite, or postgresql://user@host/database."""
    if isinstance(where, str) and where.startswith(("postgresql://", "postgres://")):
        from murmure.ledger.postgres import Postgres

        return Postgres(where)
    text = os.fspath(where)
    if re.match(r"postgres(ql)?:", text) or re.search(r"\b(ssl)?passw(or)?d\s*=", text):
        raise InvalidParameter(  # without quoting it: there may be a password in it
            "the address of the ledger cannot be read.", hint="write postgresql://user@host:5432/database"
        )
    if isinstance(where, str) and "://" in where:
        kind = where.split("://")[0]
        raise InvalidParameter(
            "a ledger is a file or a database postgresql://..., got {got}://...",
            hint='Ledger("murmure-ledger.db"), or Ledger("postgresql://user@host/database")',
            got=shorten(kind),
        )
    from murmure.ledger.sqlite import SQLite

    _refuse_old_charges(where)
    return SQLite(where)


def _refuse_old_charges(where: str | os.PathLike[str]) -> None:
    try:
        with open(where, "rb") as file:
            old = file.read(len(OLD_CHARGES)) == OLD_CHARGES
    except (OSError, ValueError):
        return  # the store says what is wrong with it
    if old:
        raise ledger_failed(
            os.fspath(where),
            Phrase("it is a file of charges of murmure 0.5"),
            Phrase("take them over into a ledger, once: murmure ledger import {fspath}", fspath=os.fspath(where)),
        )


def ledger_failed(name: str, why: object, hint: str | None = None) -> LedgerFailed:
    text = " ".join(str(why).split()).rstrip(".")
    return LedgerFailed(
        "the ledger {name!r} cannot be used: {text}. Nothing was charged, and nothing may be released.",
        hint=hint,
        name=name,
        text=text,
    )
