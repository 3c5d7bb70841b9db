"""A ledger in one file, by SQLite: when a transaction has ended, everything is in the one file and on the disk.

Who writes is alone from before the first read (core/sqlite_files.py), so no other process can charge between the check
of a budget and the charge.
"""

from __future__ import annotations

import os
from pathlib import Path

from murmure.core.errors import InvalidParameter, LedgerFailed, Phrase, shorten
from murmure.core.sqlite_files import (
    Damaged,
    FileProblem,
    HasTriggers,
    NotAFile,
    OtherProgram,
    SQLiteFile,
    table_statements,
)
from murmure.ledger.store import PATIENCE, ledger_failed
from murmure.ledger.tables import INDEXES, META, TABLES, VERSION
from murmure.ledger.words import system_reason

DAMAGED = Phrase("restore it from a backup; without it, what these people have paid is forgotten")
HINTS: dict[type[FileProblem], str] = {
    NotAFile: Phrase("name another ledger"),
    Damaged: DAMAGED,
    OtherProgram: Phrase("name another file for the ledger"),
    HasTriggers: Phrase("remove them"),
}


class SQLite(SQLiteFile):
    """One file, and beside it the key of its fingerprints."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.name = str(path)
        if "\0" in self.name:
            raise InvalidParameter("no file can be called {name}.", name=shorten(self.name))
        # absolute: the working directory may change later
        super().__init__(Path(path).absolute(), table_statements(TABLES, INDEXES), META, self._ledger_error)
        real = Path(os.path.realpath(self.path))
        self.key_path = real.with_name(f".{real.name}.key")  # beside the file itself, by whichever link it was named

    def create(self) -> None:
        with self.errors():
            if not self.path.parent.is_dir():
                raise ledger_failed(
                    self.name,
                    Phrase("there is no folder {parent!r}", parent=str(self.path.parent)),
                    Phrase("create the folder first"),
                )
        self.make_whole({"version": VERSION})

    def _ledger_error(self, error: Exception) -> LedgerFailed:
        return ledger_failed(self.name, *_why(error))


def _why(error: Exception) -> tuple[str, str | None]:
    text = str(error)
    if isinstance(error, FileProblem):
        return error.args[0], HINTS[type(error)]
    if isinstance(error, OSError):
        return system_reason(error), Phrase("name another ledger")
    if "locked" in text or "busy" in text:
        return Phrase("other processes have held it for {patience} s", patience=PATIENCE), Phrase("try again")
    if "malformed" in text:
        return Phrase("the file is damaged"), DAMAGED
    if "not a database" in text:
        return Phrase("the file is not a ledger, or it is damaged"), DAMAGED
    if "readonly" in text:
        return Phrase("it cannot be written to"), Phrase("ask its owner, or name another ledger")
    if "unable to open" in text:
        return Phrase("it cannot be opened"), Phrase("check that the file and its folder can be read and written")
    if "full" in text:
        return Phrase("the disk is full"), Phrase("free some space, then try again")
    return text, None
