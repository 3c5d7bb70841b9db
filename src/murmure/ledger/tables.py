"""The tables of a ledger, written once for both databases. Entries and answers are added, and never changed.

What the entries of a data set add up to is kept in the table of accounts, and can be made again from the entries.
Version 1 (murmure 0.5) had no accounts, and its entries no unit, no state and no cost before conversion; the first
write adds them (upgrade.py). Numbers with a fraction are kept as text: the shortest that reads back as the same float,
or "inf".
"""

from __future__ import annotations

from murmure.core.sqlite_files import create_table_sql

VERSION, FIRST_VERSION = "2", "1"
META, ENTRIES, ANSWERS, ACCOUNTS = "murmure_meta", "murmure_entries", "murmure_answers", "murmure_accounts"

TABLES: dict[str, dict[str, tuple[str, str]]] = {
    META: {
        "key": ("TEXT PRIMARY KEY", "what is said about the ledger itself"),
        "value": (
            "TEXT NOT NULL",
            "its value; version: that of these tables; verified: the last entry that was checked; imported and the "
            "check of a line of murmure-ledger.jsonl: it was taken over",
        ),
    },
    ENTRIES: {
        "number": ("BIGINT PRIMARY KEY", "1, 2, 3, ... in the order of writing, without gaps"),
        "at": ("TEXT NOT NULL", "when, in UTC"),
        "kind": ("TEXT NOT NULL", "charge, or budget: a budget was set"),
        "who": ("TEXT NOT NULL", "who asked, or set the budget"),
        "dataset": ("TEXT NOT NULL", "the name of the people who pay"),
        "relation": ("TEXT NOT NULL", "which two data sets must look alike: add/remove or replace"),
        "epsilon": ("TEXT NOT NULL", "charge: its pure epsilon, inf if it has none; budget: the most at delta"),
        "rho": ("TEXT", "charge: its rho of zero-concentrated privacy"),
        "delta": ("TEXT", "budget: its delta"),
        "partition": ("TEXT", "charge: the public partition of the people, if a part of them paid"),
        "part": ("TEXT", "charge: the part that paid"),
        "fingerprint": ("TEXT", "charge: what the data were recognised by, if they were"),
        "plan": ("TEXT", "charge: the digest of the plan"),
        "about": ("TEXT", "charge: the plan in words"),
        "seeded": ("BIGINT", "charge: 1 if the noise came from a seed, which protects nobody"),
        "certificate": ("TEXT", "charge: what was promised, as JSON"),
        "answers": ("TEXT", "charge: SHA-256 of the noisy answers that it paid for"),
        "unit": ("TEXT", "what is protected: row, or the column that tells people apart; empty in version 1"),
        "asked": ("TEXT", "charge: its cost, relation and unit before they were converted, as JSON, if they were"),
        "state": ("TEXT", "SHA-256 of what the account adds up to after this entry; empty in version 1"),
        "previous": ("TEXT NOT NULL", "the check of the entry before; empty in the first"),
        "check": ("TEXT NOT NULL", "SHA-256 of all the columns before this one"),
    },
    ANSWERS: {
        "entry": ("BIGINT NOT NULL", "the number of the charge that paid for it"),
        "place": ("BIGINT NOT NULL", "0, 1, 2, ... in the order of asking"),
        "question": ("TEXT NOT NULL", "the digest of the question"),
        "answer": ("TEXT NOT NULL", "the noisy integers that were released, as JSON; never a true sum"),
    },
    ACCOUNTS: {
        "dataset": ("TEXT PRIMARY KEY", "the name of the people who pay"),
        "entry": ("BIGINT NOT NULL", "the number of their last entry"),
        "state": ("TEXT NOT NULL", "currency, budget and exact sums after that entry, as JSON"),
    },
}
COLUMNS = tuple(TABLES[ENTRIES])
NEW_COLUMNS = ("unit", "asked", "state")  # of version 2
FIRST_COLUMNS = tuple(name for name in COLUMNS if name not in NEW_COLUMNS)
FIRST_TABLES = (META, ENTRIES, ANSWERS)
FIRST_INDEXES = (f'CREATE UNIQUE INDEX "{ANSWERS}_entry" ON "{ANSWERS}" ("entry", "place")',)
NEW_INDEXES = (
    f'CREATE INDEX "{ENTRIES}_dataset" ON "{ENTRIES}" ("dataset", "number")',
    f'CREATE INDEX "{ENTRIES}_fingerprint" ON "{ENTRIES}" ("fingerprint", "dataset", "plan")',
)
INDEXES = (*FIRST_INDEXES, *NEW_INDEXES)


def create_sql(table: str) -> str:
    """For both databases; the comments are there for a person who looks at the tables."""
    return create_table_sql(table, TABLES[table])


def quoted_columns(columns: tuple[str, ...]) -> str:
    """Their names, in quotation marks: some are words of SQL."""
    return ", ".join(f'"{name}"' for name in columns)


def insert(table: str) -> str:
    columns = tuple(TABLES[table])
    return f'INSERT INTO "{table}" ({quoted_columns(columns)}) VALUES ({", ".join("?" * len(columns))})'
