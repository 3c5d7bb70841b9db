"""A party's file of SQLite: transactions that are on the disk when they end, and secrets that do not outlive them.

journal_mode PERSIST: SQLite copies the pages that it is about to change to a journal beside the file, old secrets too.
The journal stays, so that it can be overwritten; deleted, it would lie unnamed on the disk. (What a disk or a backup
keeps of overwritten blocks is beyond any program.)
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from murmure.core.errors import Phrase
from murmure.core.sqlite_files import Damaged, NotAFile, OtherProgram, SQLiteFile, table_statements, why
from murmure.parties.party.refusals import StoreFailed
from murmure.parties.party.tables import INDEXES, TABLES, VERSION

# secure_delete: freed places in the file are overwritten with zeros
PRAGMAS = ("journal_mode = PERSIST", "secure_delete = ON")


class PartyFile(SQLiteFile):
    """One file, for its owner only."""

    def __init__(self, path: Path) -> None:
        super().__init__(path.absolute(), table_statements(TABLES, INDEXES), "meta", self._store_error, PRAGMAS)

    @property
    def journal(self) -> Path:
        return self.path.with_name(self.path.name + "-journal")

    def create(self) -> None:
        self.make_whole({"version": VERSION}, exist_ok=False)

    def check_intact(self) -> None:
        """Refuse what is damaged, of another version, or open to others."""
        super().check_intact()
        with self.errors():
            if os.name == "posix" and self.path.stat().st_mode & 0o077:
                raise self._unusable(Phrase("other users can read it"), Phrase("chmod 600 {name}", name=self.path.name))
        self.check_pages()
        with self.reading() as run:
            if self.facts(run).get("version") != VERSION:
                raise OtherProgram
        self._wipe_leftover()

    def _wipe_leftover(self) -> None:
        """The journal of a process that was killed between the end of a round and `wipe`."""
        with self.errors(), suppress(FileNotFoundError):
            # Where nothing can be written, whoever can write wipes it.
            if any(self.journal.read_bytes()) and os.access(self.journal, os.W_OK):
                self.wipe()

    def wipe(self) -> None:
        """Overwrite the journal, to which pages with secrets were copied, with zeros; nobody writes to it meanwhile."""
        with self.transaction("EXCLUSIVE"), suppress(FileNotFoundError):
            handle = os.open(self.journal, os.O_WRONLY)
            try:
                os.write(handle, bytes(os.fstat(handle).st_size))
                os.fsync(handle)
            finally:
                os.close(handle)

    def _store_error(self, error: Exception) -> StoreFailed:
        if isinstance(error, FileExistsError):
            return self._unusable(Phrase("there is one already"), Phrase("name another folder"))
        if isinstance(error, NotAFile):
            return self._unusable(Phrase("there is no such file"), Phrase("murmure party init makes it"))
        if isinstance(error, OtherProgram):
            return self._unusable(
                Phrase("it is not a party's file of version {version}", version=VERSION), Phrase("name another folder")
            )
        if isinstance(error, Damaged):
            return self._unusable(Phrase("the file is damaged"), Phrase("restore it from a copy"))
        return self._unusable(why(error), Phrase("everything that was sent is in it; fix the cause, then go on"))

    def _unusable(self, reason: str, hint: str) -> StoreFailed:
        return StoreFailed(
            "the party's file {path!r} cannot be used: {reason}.", hint=hint, path=str(self.path), reason=reason
        )
