"""One transaction of a party's file: what was received, what will be sent, what is released, and what is erased."""

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
from murmure.core.sqlite_files import Run
from murmure.parties.party.refusals import StoreFailed
from murmure.parties.study.cohort_guard import SumRequest
from murmure.parties.study.costs import ProtectedUnit, StudyCharge, epsilon_and_delta

CohortRule = Literal["columns", "question"]
ERASE = "UPDATE {table} SET {column} = zeroblob(length({column})) WHERE study = ? AND round = ?"


@dataclass(frozen=True)
class PartyTransaction:
    """Writes about one round of one study, all inside the same transaction."""

    run: Run = field(repr=False)
    study: bytes
    round: int

    def record_received(self, number: int, message: bytes) -> None:
        self.run(
            "INSERT INTO heard VALUES (?, ?, ?, ?, ?)", self.study, number, self.round, message, digest_of(message)
        )

    def record_sent(self, kind: str, message: bytes) -> None:
        """A message to send after the transaction. A round has one message of each kind, and never another."""
        digests = self.run(
            "SELECT digest FROM sent WHERE study = ? AND round = ? AND kind = ?", self.study, self.round, kind
        )
        if not digests:
            values = (self.study, self.round, kind, message, digest_of(message), 0, now())
            self.run(f"INSERT INTO sent VALUES ({', '.join('?' * len(values))})", *values)
        elif digests[0][0] != digest_of(message):
            raise StoreFailed(
                "a second {kind} message of round {round} differs from the first: it would remove the masks.",
                hint="nothing was sent; the party's file comes from another time, or is damaged",
                kind=kind,
                round=self.round,
            )

    def record_acknowledged(self, kind: str) -> None:
        self.run(
            "UPDATE sent SET acknowledged = 1 WHERE study = ? AND round = ? AND kind = ?", self.study, self.round, kind
        )

    def earlier_cohorts(self, request: SumRequest, guard: CohortRule) -> list[tuple[frozenset[str], int]]:
        """Earlier cohorts that this one can be subtracted from, each with the number of colluders of its study.

        These are the cohorts of exact sums of a column that is asked for again, the number of rows being one (or, by
        the laxer rule, of exactly the same sum).
        """
        column, wanted = ("columns", request.columns) if guard == "columns" else ("questions", request.questions)
        rows = self.run(
            f"SELECT {column}, members, colluders FROM cohorts WHERE exact = 1 AND NOT (study = ? AND round = ?) "
            "ORDER BY rowid",
            self.study,
            self.round,
        )
        return [
            (frozenset(json.loads(members)), int(colluders))
            for stored, members, colluders in rows
            if {*wanted} & {*json.loads(stored)}
        ]

    def exact_sums(self, columns: Collection[str]) -> tuple[int, list[str]]:
        """How many exact sums of these columns left in other studies, or may have; and the names of those studies."""
        rows = self.run(
            "SELECT s.name, c.columns, c.sums FROM cohorts c JOIN studies s ON s.digest = c.study "
            "WHERE c.exact = 1 AND c.study <> ? ORDER BY c.rowid",
            self.study,
        )
        counts = [(name, int(sums)) for name, stored, sums in rows if {*columns} & {*json.loads(stored)}]
        return sum(sums for _, sums in counts), list(dict.fromkeys(name for name, _ in counts))

    def record_release(self, request: SumRequest, members: frozenset[str], certain: bool = True) -> None:
        """Written in the same transaction as the message that releases the sum: neither exists without the other.

        certain: with the reveal, over these members. Else with the vector: the sum may be out, over these or fewer.
        """
        self.run("DELETE FROM cohorts WHERE study = ? AND round = ? AND certain = 0", self.study, self.round)
        self.run(
            "INSERT INTO cohorts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            self.study,
            self.round,
            json.dumps(sorted(request.questions)),
            json.dumps(sorted(request.columns)),
            int(request.exact),
            request.colluders,
            json.dumps(sorted(members)),
            int(certain),
            request.sums,
            now(),
        )

    def known_names(self) -> dict[str, str]:
        """All parties on the rosters of studies that were joined: the digits of each key, and its name."""
        from murmure.parties.study.document import Study

        out: dict[str, str] = {}
        for (signed,) in self.run("SELECT signed FROM studies ORDER BY rowid"):
            with suppress(MurmureError):  # signed by another release of the software: its names are not worth an error
                out |= {card.key.hex(): card.name for card in Study.open(signed).roster}
        return out

    def record_charge(self, charge: StudyCharge) -> None:
        """Charged with the vector: once that has left, the others can unmask the noisy sum without this party."""
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

    def finish_round(self, result: list[int], cohort: tuple[int, ...], is_last: bool) -> None:
        """Store the sum, and erase the secrets of the round in the same transaction."""
        self.run(
            "UPDATE rounds SET result = ?, cohort = ? WHERE study = ? AND round = ?",
            json.dumps([int(v) for v in result]),
            json.dumps(list(cohort)),
            self.study,
            self.round,
        )
        erase(self.run, self.study, self.round)
        if is_last:
            self.finish_study()

    def finish_study(self) -> None:
        """This round was the last of the study."""
        ((name, state),) = self.run("SELECT name, state FROM studies WHERE digest = ?", self.study)
        if state != "done":
            self.run("UPDATE studies SET state = 'done' WHERE digest = ?", self.study)
            record_decision(self.run, self.study, name, "finished", f"round {self.round} was the last")


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def digest_of(message: bytes) -> bytes:
    return hashlib.sha256(message).digest()


def read_charges(run: Run) -> list[StudyCharge]:
    """What noisy sums have cost, in the order of payment."""
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
            ProtectedUnit(relation, unit, rows_per_person),
        )
        for study, name, number, columns, epsilon, rho, relation, unit, rows_per_person in rows
    ]


def record_decision(run: Run, digest: bytes, name: str, decision: str, why: str) -> None:
    run(
        "INSERT INTO decisions (study, name, decision, why, at) VALUES (?, ?, ?, ?, ?)",
        digest,
        name,
        decision,
        why,
        now(),
    )


def erase(run: Run, study: bytes, round: int) -> None:
    """Overwrite the secrets in place, then set them to NULL (secure_delete zeroes what is freed)."""
    for table, column in (("rounds", "seed"), ("heard", "message"), ("sent", "message")):
        run(ERASE.format(table=table, column=column), study, round)
        run(f"UPDATE {table} SET {column} = NULL WHERE study = ? AND round = ?", study, round)
