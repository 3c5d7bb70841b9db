"""The tables of a party's file. What is secret in them is marked, and erased when its round is over."""

from __future__ import annotations

VERSION = "2"

TABLES: dict[str, dict[str, tuple[str, str]]] = {
    "meta": {
        "key": ("TEXT PRIMARY KEY", "what is said about the file itself"),
        "value": ("TEXT NOT NULL", "its value; version: that of these tables"),
    },
    "coordinators": {
        "url": ("TEXT PRIMARY KEY", "where a coordinator was first met"),
        "name": ("TEXT NOT NULL", "the name on its card"),
        "key": ("BLOB NOT NULL", "its public key, pinned then: no other is taken under this address"),
        "at": ("TEXT NOT NULL", "when, in UTC"),
    },
    "parties": {
        "name": ("TEXT PRIMARY KEY", "of a party on a roster of a study that was joined; capitals and the like aside"),
        "key": ("BLOB NOT NULL", "its public key, pinned then: another one is taken only if somebody says so"),
        "study": ("BLOB NOT NULL", "the digest of the study that brought this key"),
        "at": ("TEXT NOT NULL", "when, in UTC"),
    },
    "studies": {
        "digest": ("BLOB PRIMARY KEY", "of the study, as signed"),
        "url": ("TEXT NOT NULL", "where it was joined"),
        "name": ("TEXT NOT NULL", "what it is called"),
        "signed": ("BLOB NOT NULL", "the study with its coordinator's signature, as it came"),
        "rows": ("BLOB NOT NULL", "HMAC of the own sums under a key of this party: tells other rows from the same"),
        "state": ("TEXT NOT NULL", "joined, done, failed"),
        "reason": ("TEXT", "failed: the name of the error, and what it said"),
        "at": ("TEXT NOT NULL", "when it was joined, in UTC"),
    },
    "rounds": {
        "study": ("BLOB NOT NULL", "its digest"),
        "round": ("INTEGER NOT NULL", "1, 2, 3, ..."),
        "seed": ("BLOB", "SECRET: all that this party draws follows from it; null when the round is over"),
        "result": ("TEXT", "the sums of the round over all survivors, as JSON"),
        "cohort": ("TEXT", "whose sums they are: places on the roster, as JSON"),
    },
    "heard": {
        "study": ("BLOB NOT NULL", "its digest"),
        "number": ("INTEGER NOT NULL", "1, 2, 3, ... over all rounds, as the coordinator counts"),
        "round": ("INTEGER NOT NULL", "the round that it belongs to"),
        "message": ("BLOB", "SECRET (shares of others' keys, sealed): as it came; null when the round is over"),
        "digest": ("BLOB NOT NULL", "SHA-256 of the message"),
    },
    "sent": {
        "study": ("BLOB NOT NULL", "its digest"),
        "round": ("INTEGER NOT NULL", "the round that it belongs to"),
        "kind": ("TEXT NOT NULL", "keys, shares, opened, masked, agree, reveal, refuse"),
        "message": ("BLOB", "SECRET (reveal: shares of others' keys): as it leaves; null when the round is over"),
        "digest": ("BLOB NOT NULL", "SHA-256 of the message"),
        "acknowledged": ("INTEGER NOT NULL", "1 when the coordinator has it"),
        "at": ("TEXT NOT NULL", "when it was written here, which is before it left; in UTC"),
    },
    "cohorts": {
        "study": ("BLOB NOT NULL", "its digest"),
        "round": ("INTEGER NOT NULL", "the round whose sum this party let go"),
        "questions": ("TEXT NOT NULL", "a digest of every sum that was asked for, whoever was asked; as JSON"),
        "columns": ("TEXT NOT NULL", "what it tells of: columns, and of exact sums the number of rows; as JSON"),
        "exact": ("INTEGER NOT NULL", "1 without noise that hides a row: such sums can be subtracted from one another"),
        "colluders": ("INTEGER NOT NULL", "so many parties at most that the study guards against"),
        "members": ("TEXT NOT NULL", "the public keys of all whose sums are in it, as JSON"),
        "certain": ("INTEGER NOT NULL", "0 when the vector left and no more is known: the sum may be out"),
        "sums": ("INTEGER NOT NULL", "exact sums, counted by what they can carry; 0 with noise that hides a row"),
        "at": ("TEXT NOT NULL", "when, in UTC"),
    },
    "charges": {
        "study": ("BLOB NOT NULL", "its digest"),
        "round": ("INTEGER NOT NULL", "the round with noise; charged with the vector, which others can unmask alone"),
        "columns": ("TEXT NOT NULL", "the columns that it read, as JSON"),
        "epsilon": ("REAL NOT NULL", "pure epsilon; Inf where none holds"),
        "rho": ("REAL NOT NULL", "of zero-concentrated privacy"),
        "said_epsilon": ("REAL NOT NULL", "what that comes to, by itself, as the smaller epsilon of the two"),
        "said_delta": ("REAL NOT NULL", "at this delta; 0 where it is the pure one"),
        "relation": ("TEXT NOT NULL", "which two tables must look alike: add/remove or replace"),
        "unit": ("TEXT NOT NULL", "row, or the column that tells people apart"),
        "rows": ("INTEGER NOT NULL", "rows of one person, at most"),
        "at": ("TEXT NOT NULL", "when, in UTC"),
    },
    "decisions": {
        "number": ("INTEGER PRIMARY KEY", "in the order of deciding"),
        "study": ("BLOB NOT NULL", "the digest of the study"),
        "name": ("TEXT NOT NULL", "what it is called"),
        "decision": ("TEXT NOT NULL", "approved, declined, not told (of a no), refused, ended, finished, or a new key"),
        "why": ("TEXT NOT NULL", "by whom or by which rule"),
        "at": ("TEXT NOT NULL", "when, in UTC"),
    },
}
INDEXES = (
    "CREATE UNIQUE INDEX rounds_place ON rounds (study, round)",
    "CREATE UNIQUE INDEX heard_place ON heard (study, number)",
    "CREATE UNIQUE INDEX sent_place ON sent (study, round, kind)",
    "CREATE UNIQUE INDEX cohorts_place ON cohorts (study, round)",
    "CREATE UNIQUE INDEX charges_place ON charges (study, round)",
)
