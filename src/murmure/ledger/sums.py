"""What the entries of one data set add up to: the budget in force, what is spent, what is left.

An `AccountState` follows from the entries, one after the other, and is kept beside them: a charge reads the state and
not the entries, so that the ten-thousandth costs what the first did. Every entry holds the checksum of the state after
it. Sums are exact fractions, rounded up once, when they are read: the order of charges changes nothing.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from murmure.certify.accounting import covers, epsilon_at, parallel, rho_within, sequential
from murmure.core.blocks import Cost
from murmure.core.fixed import float_down, float_up
from murmure.core.types import Relation
from murmure.ledger.currency import ROW, Currency
from murmure.ledger.entries import Entry, Part

Exact = Fraction | float  # a float only where it is infinite
EVERYBODY: Part = ("", "")


@dataclass(frozen=True)
class Budget:
    """The most that all charges to these people may add up to: (epsilon, delta)-privacy under `relation`."""

    epsilon: float
    delta: float
    relation: Relation
    unit: str = ROW  # what is protected: a row, or the people that this column tells apart

    @property
    def currency(self) -> Currency:
        return Currency(self.relation, self.unit)

    def to_dict(self) -> dict[str, Any]:
        """For JSON; the unit is said beside it, with the account."""
        return {"epsilon": self.epsilon, "delta": self.delta, "relation": self.relation}


@dataclass(frozen=True)
class Spent:
    """What people have paid: (epsilon, delta)-privacy holds for everything that was released so far."""

    epsilon: float  # at delta: the smaller of pure, and of what rho comes to
    delta: float  # of the budget
    pure: float  # the pure epsilons, added up; inf if a charge had none
    rho: float  # the rhos, added up
    charges: int


@dataclass(frozen=True)
class Remaining:
    """What may still be charged to all the people: a cost of at most this epsilon, or of at most this rho."""

    epsilon: float
    rho: float

    def __str__(self) -> str:
        return f"epsilon {self.epsilon!r}" + (f", or rho {self.rho!r}" if self.rho else "")


@dataclass(frozen=True)
class ExactCost:
    """Costs added up without rounding."""

    epsilon: Exact = Fraction(0)
    rho: Exact = Fraction(0)

    def plus(self, cost: Cost) -> ExactCost:
        return ExactCost(_add(self.epsilon, cost.epsilon), _add(self.rho, cost.rho))

    def times(self, steps: int) -> ExactCost:
        return ExactCost(self.epsilon * steps, self.rho * steps**2)

    def rounded_up(self) -> Cost:
        return Cost(*(float_up(v) if isinstance(v, Fraction) else v for v in (self.epsilon, self.rho)))


@dataclass(frozen=True)
class AccountState:
    """What the entries of one data set add up to."""

    dataset: str
    currency: Currency | None = None  # that of the budget, or of the first charge
    budget: Budget | None = None
    totals: Mapping[Part, ExactCost] = field(default_factory=dict)  # by part of a partition, or EVERYBODY
    charges: int = 0

    def after(self, entry: Entry) -> AccountState:
        """The state after one more entry, whose cost is in the currency of the account."""
        if entry.kind == "budget":
            budget = Budget(entry.epsilon, entry.delta or 0.0, entry.relation, entry.unit or ROW)
            return replace(self.converted(budget.currency), budget=budget)
        part = EVERYBODY if entry.partition is None else (entry.partition, entry.part or "")
        totals = {**self.totals, part: self.totals.get(part, ExactCost()).plus(entry.cost)}
        currency = self.currency or Currency(entry.relation, entry.unit or ROW)
        return replace(self, currency=currency, totals=totals, charges=self.charges + 1)

    def converted(self, currency: Currency) -> AccountState:
        """The same charges, counted in another currency."""
        steps = 1 if self.currency is None or not self.charges else self.currency.steps_to(currency)
        assert steps is not None, "refused before"
        totals = dict(self.totals)
        if self.currency is not None and self.currency.unit != currency.unit:
            # A row may move its person from one part to another: a part of the people is not a part of the rows.
            totals = {EVERYBODY: ExactCost().plus(self.total())}
        return replace(self, currency=currency, totals={part: cost.times(steps) for part, cost in totals.items()})

    def total(self, more: Cost | None = None, part: Part | None = None) -> Cost:
        """All charges, and one more. Those to everybody add up; of each partition, the part that paid most counts (two
        parts under replace).
        """
        costs = {known: exact.rounded_up() for known, exact in self.totals.items()}
        if more is not None:
            where = part or EVERYBODY
            costs[where] = self.totals.get(where, ExactCost()).plus(more).rounded_up()
        partitions: dict[str, list[Cost]] = {}
        for known, cost in costs.items():
            if known != EVERYBODY:
                partitions.setdefault(known[0], []).append(cost)
        relation = self.currency.relation if self.currency else "replace"
        worst = [parallel(labels, relation) for labels in partitions.values()]
        return sequential([costs.get(EVERYBODY, Cost(0.0, 0.0)), *worst])

    def spent(self) -> Spent:
        delta, total = self.budget.delta if self.budget else 0.0, self.total()
        epsilon = epsilon_at(total, delta)
        if self.budget is not None and covers(self.budget.epsilon, delta, total):
            epsilon = min(epsilon, self.budget.epsilon)  # two roundings of the same bound
        return Spent(epsilon, delta, total.epsilon, total.rho, self.charges)

    def left(self) -> Remaining:
        """Nothing without a budget."""
        if self.budget is None:
            return Remaining(0.0, 0.0)
        total = self.total()
        return Remaining(
            _difference_down(self.budget.epsilon, total.epsilon),
            _difference_down(rho_within(self.budget.epsilon, self.budget.delta), total.rho),
        )

    # -- as text, for the table of accounts

    def to_json(self) -> str:
        budget = self.budget and [repr(self.budget.epsilon), repr(self.budget.delta)]
        totals = [[*part, str(cost.epsilon), str(cost.rho)] for part, cost in sorted(self.totals.items())]
        currency = self.currency and [self.currency.relation, self.currency.unit]
        fields = {"charges": self.charges, "currency": currency, "budget": budget, "totals": totals}
        return json.dumps(fields, sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_json(cls, dataset: str, text: str) -> AccountState:
        """ValueError, TypeError or KeyError where somebody wrote other text."""
        fields = json.loads(text)
        currency = Currency(*fields["currency"]) if fields["currency"] else None
        budget = None
        if fields["budget"] and currency is not None:
            epsilon, delta = map(float, fields["budget"])
            budget = Budget(epsilon, delta, currency.relation, currency.unit)
        totals = {
            (partition, part): ExactCost(_exact(pure), _exact(rho)) for partition, part, pure, rho in fields["totals"]
        }
        return cls(dataset, currency, budget, totals, int(fields["charges"]))


def state_checksum(dataset: str, text: str) -> str:
    return hashlib.sha256(f"{dataset}\n{text}".encode()).hexdigest()


def _add(total: Exact, value: float) -> Exact:
    return math.inf if math.inf in (total, value) else total + Fraction(value)


def _exact(text: str) -> Exact:
    value = math.inf if text == "inf" else Fraction(text)
    if value < 0:
        raise ValueError("a sum of costs is not negative")
    return value


def _difference_down(whole: float, part: float) -> float:
    """whole - part, rounded down, at least 0."""
    if part >= whole:
        return 0.0
    return float_down(Fraction(whole) - Fraction(part))
