"""The tables of the collector: surveys, analysts, sessions, and how many reports were refused and why.

Reports are not here but in the intake's own file, which is written thousands of times a second. No address, no name of
a respondent and no time finer than the hour is stored.
"""

from __future__ import annotations

from pathlib import Path

from murmure.collector.service.errors import CollectorFailed
from murmure.collector.service.keys import ServiceKey
from murmure.core.errors import MurmureError
from murmure.core.sqlite_files import Columns, SQLiteFile, table_statements, why

DATABASE_FILE = "collector.db"
FORMAT = "1"
KEY_FACT = "service key"
TABLES: dict[str, Columns] = {
    "meta": {
        "key": ("TEXT PRIMARY KEY", "format: the version of these tables; service key: the fingerprint of its secret"),
        "value": ("TEXT NOT NULL", "as text"),
    },
    "analysts": {
        "number": ("INTEGER PRIMARY KEY AUTOINCREMENT", "in the order in which they were added; never given twice"),
        "name": ("TEXT NOT NULL UNIQUE", "what they sign in with"),
        "password": ("TEXT NOT NULL", "argon2id, with its salt and settings"),
    },
    "sessions": {
        "digest": ("BLOB PRIMARY KEY", "keyed digest of the cookie, which is stored nowhere"),
        "analyst": ("INTEGER NOT NULL", "whose session it is"),
        "expires": ("INTEGER NOT NULL", "hours since 1970"),
    },
    "surveys": {
        "number": ("INTEGER PRIMARY KEY AUTOINCREMENT", "what reports call it; never given twice"),
        "id": ("TEXT NOT NULL UNIQUE", "what links call it"),
        "owner": ("INTEGER NOT NULL", "the analyst"),
        "state": ("TEXT NOT NULL", "draft, open, closed or published"),
        "wave": ("INTEGER NOT NULL", "the one that is asked now, from 1 on"),
        "document": ("TEXT NOT NULL", "the survey as JSON; never changes once it is open"),
        "plan": ("TEXT", "Plan.to_json of the moment at which it was opened"),
        "invitations": ("INTEGER NOT NULL", "how many one-time links were given out"),
        "coins": ("INTEGER NOT NULL", "how many tokens were registered on an open link, to get public coins"),
        "opened": ("INTEGER", "hours since 1970"),
        "closed": ("INTEGER", "hours since 1970"),
    },
    "refusals": {
        "survey": ("INTEGER NOT NULL", "the number of the survey; 0: none that exists"),
        "reason": ("TEXT NOT NULL", "the code of the refusal"),
        "count": ("INTEGER NOT NULL", "how many reports were refused so"),
    },
}
INDEXES = ('CREATE UNIQUE INDEX "refusals_by_reason" ON "refusals" ("survey", "reason")',)


class CollectorFile(SQLiteFile):
    """`collector.db` of one folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            folder.absolute() / DATABASE_FILE,
            table_statements(TABLES, INDEXES),
            "meta",
            self._error,
            ("secure_delete = ON",),  # what was deleted (a session, a password, a draft) is overwritten
        )

    def make(self, key: ServiceKey) -> None:
        """With its tables, for this secret."""
        self.make_whole({"format": FORMAT, KEY_FACT: key.fingerprint})

    def _error(self, error: Exception) -> MurmureError:
        return CollectorFailed(
            "the surveys in {path!r} cannot be read or written: {why}.",
            hint="is there space on the disk, and does the folder belong to the user who serves it?",
            path=str(self.path),
            why=why(error),
        )

    def check(self, key: ServiceKey) -> None:
        """Refuse a file of another release, and one that was made with another secret."""
        self.check_intact()
        with self.reading() as run:
            facts = self.facts(run)
        found = facts.get("format")
        if found != FORMAT:
            raise CollectorFailed(
                "the surveys in {path!r} have format {got!r}, this release reads {wanted!r}.",
                hint="serve the folder with the release of murmure that made it",
                path=str(self.path),
                got=found,
                wanted=FORMAT,
            )
        if facts.get(KEY_FACT) != key.fingerprint:
            raise CollectorFailed(
                "the key of the folder {folder!r} is not the one that its surveys were made with.",
                hint="restore all files of the folder from the same backup",
                folder=str(self.path.parent),
            )
