"""What the entries of one data set add up to: the budget in force, what is spent, what is left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from murmure.certify.accounting import covers, epsilon_at, parallel, rho_within, sequential
from murmure.core.blocks import Cost
from murmure.core.fixed import float_down
from murmure.core.types import Relation
from murmure.ledger.entries import Entry, Part

Charge = tuple[Cost, Part | None]


@dataclass(frozen=True)
class Budget:
    """The most that all charges to these people may add up to: (epsilon, delta)-privacy under `relation`."""

    epsilon: float
    delta: float
    relation: Relation


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


def budget_of(entries: Sequence[Entry]) -> Budget | None:
    budgets = [entry for entry in entries if entry.kind == "budget"]
    return Budget(budgets[-1].epsilon, budgets[-1].delta or 0.0, budgets[-1].relation) if budgets else None


def charges_of(entries: Sequence[Entry]) -> list[Charge]:
    return [
        (entry.cost, None if entry.partition is None else (entry.partition, entry.part or ""))
        for entry in entries
        if entry.kind == "charge"
    ]


def total_of(charges: Sequence[Charge], relation: Relation) -> Cost:
    """The charges to all people add up; of each partition, the part that paid most counts (two parts under replace)."""
    everybody = [cost for cost, part in charges if part is None]
    parts: dict[str, dict[str, list[Cost]]] = {}
    for cost, part in charges:
        if part is not None:
            parts.setdefault(part[0], {}).setdefault(part[1], []).append(cost)
    worst = [parallel([sequential(costs) for costs in labels.values()], relation) for labels in parts.values()]
    return sequential([*everybody, *worst])


def spent_of(entries: Sequence[Entry]) -> Spent:
    budget, charges = budget_of(entries), charges_of(entries)
    delta = budget.delta if budget else 0.0
    total = total_of(charges, budget.relation if budget else "replace")
    epsilon = epsilon_at(total, delta)
    if budget is not None and covers(budget.epsilon, delta, total):
        epsilon = min(epsilon, budget.epsilon)  # two roundings of the same bound
    return Spent(epsilon, delta, total.epsilon, total.rho, len(charges))


def remaining_of(budget: Budget | None, entries: Sequence[Entry]) -> Remaining:
    if budget is None:
        return Remaining(0.0, 0.0)
    total = total_of(charges_of(entries), budget.relation)
    return Remaining(
        _difference_down(budget.epsilon, total.epsilon),
        _difference_down(rho_within(budget.epsilon, budget.delta), total.rho),
    )


def _difference_down(whole: float, part: float) -> float:
    """whole - part, rounded down, at least 0."""
    if part >= whole:
        return 0.0
    return float_down(Fraction(whole) - Fraction(part))
