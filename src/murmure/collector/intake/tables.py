"""The tables of reports.db. Reports are added and never changed; a tally can be made again from them."""

from __future__ import annotations

VERSION = "1"

TABLES: dict[str, dict[str, tuple[str, str]]] = {
    "meta": {
        "key": ("TEXT PRIMARY KEY", "what is said about the file itself"),
        "value": (
            "TEXT NOT NULL",
            "version: that of these tables; folded: all of the log before this position is here",
        ),
    },
    "reports": {
        "number": ("INTEGER PRIMARY KEY", "1, 2, 3, ... in the order of arrival, without gaps"),
        "survey": ("INTEGER NOT NULL", "the number of the survey"),
        "wave": ("INTEGER NOT NULL", "1, 2, ...; which time the people were asked"),
        "hour": ("INTEGER NOT NULL", "hours since 1970 at arrival; never a finer time"),
        "token": ("BLOB NOT NULL", "16 bytes: the keyed hash of what the link or device sent, never that itself"),
        "report": ("BLOB NOT NULL", "the randomised report, as compact JSON"),
    },
    "tallies": {
        "survey": ("INTEGER NOT NULL", "the number of the survey"),
        "wave": ("INTEGER NOT NULL", "its wave"),
        "n": ("INTEGER NOT NULL", "how many reports were added up"),
        "sum": ("BLOB NOT NULL", "their sum: int64, little endian"),
        "version": ("INTEGER NOT NULL", "the number of the last report in it"),
    },
}
INDEXES = (
    'CREATE INDEX "reports_of" ON "reports" ("survey", "wave")',  # SQLite adds the number, so it is in order
    'CREATE UNIQUE INDEX "tallies_of" ON "tallies" ("survey", "wave")',
)
