"""The rows of a ledger: entries, each with the checksum of the one before, and the noisy answers they paid for."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from murmure.core.blocks import Cost
from murmure.core.types import Relation
from murmure.ledger.tables import COLUMNS, FIRST_COLUMNS

Part = tuple[str, str]  # the name of a public partition of the people, and the label of one part


@dataclass(frozen=True)
class Entry:
    """One row: a charge, or a budget that was set. Its fields are the columns of the table."""

    number: int
    at: str
    kind: Literal["charge", "budget"]
    who: str
    dataset: str
    relation: Relation
    epsilon: float
    rho: float | None = None
    delta: float | None = None
    partition: str | None = None
    part: str | None = None
    fingerprint: str | None = None
    plan: str | None = None
    about: str | None = None
    seeded: bool | None = None
    certificate: Mapping[str, Any] | None = field(default=None, repr=False)
    answers: str | None = field(default=None, repr=False)
    unit: str | None = None
    asked: Mapping[str, Any] | None = field(default=None, repr=False)
    state: str | None = field(default=None, repr=False)
    previous: str = field(default="", repr=False)

    @property
    def cost(self) -> Cost:
        assert self.rho is not None
        return Cost(self.epsilon, self.rho)

    def to_row(self) -> tuple[Any, ...]:
        """Its columns in the table, with the checksum."""
        fields = {name: getattr(self, name) for name in COLUMNS[:-1]}
        # As text: two databases must give the same bytes to the checksum.
        for name in ("epsilon", "rho", "delta"):
            fields[name] = None if fields[name] is None else repr(float(fields[name]))
        fields["seeded"] = None if self.seeded is None else int(self.seeded)
        for name in ("certificate", "asked"):
            fields[name] = None if fields[name] is None else _json(fields[name])
        return (*fields.values(), row_checksum(fields))

    @classmethod
    def from_row(cls, row: Sequence[Any]) -> Entry | None:
        """From a whole row with its checksum; None if it was changed."""
        fields = dict(zip(COLUMNS, row, strict=True))
        try:
            if fields.pop("check") != row_checksum(fields):
                return None
            for name in ("epsilon", "rho", "delta"):
                fields[name] = None if fields[name] is None else float(fields[name])
            fields["seeded"] = None if fields["seeded"] is None else bool(fields["seeded"])
            for name in ("certificate", "asked"):
                fields[name] = None if fields[name] is None else json.loads(fields[name])
            if fields["kind"] == "charge" and not (fields["epsilon"] >= 0 and fields["rho"] >= 0):
                return None
        except (ValueError, TypeError, RecursionError):  # somebody wrote other values, and a checksum that fits them
            return None
        return cls(**fields)

    def to_dict(self) -> dict[str, Any]:
        """For JSON: the fields that are not None; an infinite epsilon as text."""
        fields = {name: getattr(self, name) for name in COLUMNS[:-1] if name not in ("previous", "state")}
        fields["epsilon"] = "inf" if self.epsilon == float("inf") else self.epsilon
        fields["rho"] = "inf" if self.rho == float("inf") else self.rho
        return {name: value for name, value in fields.items() if value is not None}


def row_checksum(fields: Mapping[str, Any]) -> str:
    """The checksum of a row: it covers the checksum of the row before, and so all rows before.

    Rows of version 1 have no state: their checksum is of the columns that there were.
    """
    columns = FIRST_COLUMNS if fields["state"] is None else COLUMNS
    return hashlib.sha256(_json([fields[name] for name in columns if name != "check"]).encode("ascii")).hexdigest()


@dataclass(frozen=True)
class LedgerAnswers(Sequence[dict[str, Any]]):
    """What a charge paid for, in the order of asking: {"question": digest, "answer": [noisy integers]}."""

    number: int  # of the charge
    at: str
    seeded: bool
    items: tuple[dict[str, Any], ...] = field(repr=False)
    charge: Any = field(default=None, repr=False, compare=False)  # what was paid, if an account was asked

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, i: Any) -> Any:
        return self.items[i]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.items)


def answer_rows(answers: Sequence[Mapping[str, Any]]) -> list[tuple[int, str, str]]:
    """place, question, answer: the noisy integers and nothing else."""
    out = []
    for place, answer in enumerate(answers):
        whole = [int(v) for v in answer["answer"]]
        assert whole == list(answer["answer"]), "answers are whole numbers"
        out.append((place, str(answer["question"]), json.dumps(whole, separators=(",", ":"))))
    return out


def answers_checksum(rows: Sequence[tuple[Any, ...]]) -> str:
    out = hashlib.sha256()
    for place, question, answer in rows:
        inner = hashlib.sha256(str(answer).encode("utf-8")).hexdigest()
        out.update(_json([place, str(question), inner]).encode("ascii"))
    return out.hexdigest()


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
