"""Inside one transaction of a party's file: what was heard, what will be said, what is let go, and what is erased."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from murmure.core.blocks import Cost
from murmure.core.errors import MurmureError
from murmure.parties.party.refusals import StoreFailed
from murmure.parties.party.sqlite_file import Run
from murmure.parties.study.cohort_guard import SumRequest
from murmure.parties.study.costs import ProtectedUnit, StudyCharge, epsilon_and_delta

CohortRule = Literal["columns", "question"]
ERASE = "UPDATE {table} SET {column} = zeroblob(length({column})) WHERE study = ? AND round = ?"


@dataclass(frozen=True)
class PartyTransaction:
    """Inside a transaction: what was heard, what will be said, and what is let go."""

    run: Run = field(repr=False)
    study: bytes
    round: int

    def heard(self, number: int, message: bytes) -> None:
        self.run(
            "INSERT INTO heard VALUES (?, ?, ?, ?, ?)", self.study, number, self.round, message, digest_of(message)
        )

    def sent(self, kind: str, message: bytes) -> None:
        """To be sent when the transaction is over. There is one message of a kind in a round, for ever."""
        found = self.run(
            "SELECT digest FROM sent WHERE study = ? AND round = ? AND kind = ?", self.study, self.round, kind
        )
        if not found:
            values = (self.study, self.round, kind, message, digest_of(message), 0, now())
            self.run(f"INSERT INTO sent VALUES ({', '.join('?' * len(values))})", *values)
        elif found[0][0] != digest_of(message):
            raise StoreFailed(
                f"a second {kind} message of round {self.round} differs from the first: it would undo the masks.",
                hint="nothing was sent; the party's file is that of another time, or damaged",
            )

    def acknowledged(self, kind: str) -> None:
        self.run(
            "UPDATE sent SET acknowledged = 1 WHERE study = ? AND round = ? AND kind = ?", self.study, self.round, kind
        )

    def before(self, asked: SumRequest, guard: CohortRule) -> list[tuple[frozenset[str], int]]:
        """Cohorts let go earlier that this one can be subtracted from, and how many colluders each study feared.

        Those of exact sums of a column that is asked for again, the number of rows being one (or of the very same
        sum, by the laxer rule).
        """
        column, wanted = ("columns", asked.columns) if guard == "columns" else ("questions", asked.questions)
        rows = self.run(
            f"SELECT {column}, members, colluders FROM cohorts WHERE exact = 1 AND NOT (study = ? AND round = ?) "
            "ORDER BY rowid",
            self.study,
            self.round,
        )
        return [
            (frozenset(json.loads(members)), int(colluders))
            for held, members, colluders in rows
            if {*wanted} & {*json.loads(held)}
        ]

    def exact_sums(self, columns: Collection[str]) -> tuple[int, list[str]]:
        """How many exact sums of one of these columns left, or may have, in other studies; and their names."""
        rows = self.run(
            "SELECT s.name, c.columns, c.sums FROM cohorts c JOIN studies s ON s.digest = c.study "
            "WHERE c.exact = 1 AND c.study <> ? ORDER BY c.rowid",
            self.study,
        )
        found = [(name, int(sums)) for name, held, sums in rows if {*columns} & {*json.loads(held)}]
        return sum(sums for _, sums in found), list(dict.fromkeys(name for name, _ in found))

    def release(self, asked: SumRequest, members: frozenset[str], certain: bool = True) -> None:
        """Written with the message that lets the sum go: neither is there without the other.

        certain: with the reveal, over these members; else with the vector: the sum may be out, over these or fewer.
        """
        self.run("DELETE FROM cohorts WHERE study = ? AND round = ? AND certain = 0", self.study, self.round)
        self.run(
            "INSERT INTO cohorts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            self.study,
            self.round,
            json.dumps(sorted(asked.questions)),
            json.dumps(sorted(asked.columns)),
            int(asked.exact),
            asked.colluders,
            json.dumps(sorted(members)),
            int(certain),
            asked.sums,
            now(),
        )

    def names(self) -> dict[str, str]:
        """Whoever was on the roster of a study that was joined: the digits of its key, and its name there."""
        from murmure.parties.study.document import Study

        out: dict[str, str] = {}
        for (signed,) in self.run("SELECT signed FROM studies ORDER BY rowid"):
            with suppress(MurmureError):  # of another release: its names are not worth an error
                out |= {card.key.hex(): card.name for card in Study.open(signed).roster}
        return out

    def charge(self, charge: StudyCharge) -> None:
        """Written with the vector: once that has left, the others can unmask the noisy sum without this party."""
        cost, protects = charge.cost, charge.protects
        values = (
            self.study,
            self.round,
            json.dumps(sorted(charge.columns)),
            cost.epsilon,
            cost.rho,
            *epsilon_and_delta(cost),
            protects.relation,
            protects.unit,
            protects.rows,
            now(),
        )
        self.run(f"INSERT INTO charges VALUES ({', '.join('?' * len(values))})", *values)

    def charges(self) -> list[StudyCharge]:
        return charges(self.run)

    def finish(self, result: list[int], cohort: tuple[int, ...], last: bool) -> None:
        """The sum is here: the secrets of the round go in the same transaction."""
        self.run(
            "UPDATE rounds SET result = ?, cohort = ? WHERE study = ? AND round = ?",
            json.dumps([int(v) for v in result]),
            json.dumps(list(cohort)),
            self.study,
            self.round,
        )
        erase(self.run, self.study, self.round)
        if last:
            self.over()

    def over(self) -> None:
        """Of the study: this round was its last."""
        ((name, state),) = self.run("SELECT name, state FROM studies WHERE digest = ?", self.study)
        if state != "done":
            self.run("UPDATE studies SET state = 'done' WHERE digest = ?", self.study)
            decide(self.run, self.study, name, "finished", f"round {self.round} was the last")


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def digest_of(message: bytes) -> bytes:
    return hashlib.sha256(message).digest()


def charges(run: Run) -> list[StudyCharge]:
    """What noisy sums have cost, in the order of paying."""
    rows = run(
        "SELECT hex(c.study), s.name, c.round, c.columns, c.epsilon, c.rho, c.relation, c.unit, c.rows FROM charges c "
        "JOIN studies s ON s.digest = c.study ORDER BY c.rowid"
    )
    return [
        StudyCharge(
            study.lower(),
            name,
            number,
            tuple(json.loads(columns)),
            Cost(epsilon, rho),
            ProtectedUnit(relation, unit, most),
        )
        for study, name, number, columns, epsilon, rho, relation, unit, most in rows
    ]


def decide(run: Run, digest: bytes, name: str, decision: str, why: str) -> None:
    run(
        "INSERT INTO decisions (study, name, decision, why, at) VALUES (?, ?, ?, ?, ?)",
        digest,
        name,
        decision,
        why,
        now(),
    )


def erase(run: Run, study: bytes, number: int) -> None:
    """Overwritten in place, then let go (and zeroed by secure_delete)."""
    for table, column in (("rounds", "seed"), ("heard", "message"), ("sent", "message")):
        run(ERASE.format(table=table, column=column), study, number)
        run(f"UPDATE {table} SET {column} = NULL WHERE study = ? AND round = ?", study, number)
