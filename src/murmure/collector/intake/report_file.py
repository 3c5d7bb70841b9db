"""reports.db: a file of SQLite in WAL mode, so that people read results while reports are folded in.

(The other files of SQLite here avoid WAL, because a copy of the file alone would forget the last transactions. A copy
of this folder needs the log as well, so it is made while the collector is stopped; then there is one file.)
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from murmure.collector.intake.errors import IntakeFailed, LogDamaged
from murmure.collector.intake.tables import INDEXES, TABLES, VERSION
from murmure.core.errors import Phrase
from murmure.core.sqlite_files import NotAFile, SQLiteFile, table_statements, why

NAME = "reports.db"


class ReportFile(SQLiteFile):
    """One file. A transaction that ended survives a loss of power (synchronous FULL)."""

    def __init__(self, folder: Path) -> None:
        pragmas = ("journal_mode = WAL", "synchronous = FULL")
        super().__init__(
            (folder / NAME).absolute(), table_statements(TABLES, INDEXES), "meta", self._file_error, pragmas
        )

    def open(self, log_exists: bool) -> None:
        """Check the file, or make it; a log that continues a file which is gone is refused."""
        if not self.exists():
            if log_exists:
                raise self._file_error(NotAFile(Phrase("it is missing, though there is a log that continues it")))
            self.make_whole({"version": VERSION, "folded": "0"})
        # What a killed process left in the second file is taken over, so that the length of the first is right.
        with self.errors(), closing(self.connect()) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        self.check_intact()
        with self.reading() as run:
            version = self.facts(run).get("version")
        if version != VERSION:
            raise LogDamaged(
                "{file!r} was written by another version of Murmure (format {got}; this one reads {wanted}).",
                hint="start the collector with the version of Murmure that wrote it",
                file=str(self.path),
                got=version,
                wanted=VERSION,
            )

    def _file_error(self, error: Exception) -> IntakeFailed:
        return LogDamaged(
            "cannot use the file of reports {file!r}: {why}.",
            hint="check the disk, its free space and the permissions; restore a damaged file from a copy of the folder",
            file=str(self.path),
            why=why(error),
        )


def insert_statement(rows: int) -> str:
    """One step of SQLite for many rows: each step lets other threads of Python in, and waits for them."""
    return 'INSERT INTO "reports" ("survey", "wave", "hour", "token", "report") VALUES ' + ", ".join(
        ["(?, ?, ?, ?, ?)"] * rows
    )


def insert_sizes(connection: sqlite3.Connection) -> list[int]:
    """Rows of one statement, largest first."""
    limit = connection.getlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER) // 5
    return [rows for rows in (1024, 128, 16, 1) if rows <= limit]
