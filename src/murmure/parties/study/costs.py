"""What the noisy questions of a study cost the rows that answer them.

Epsilons add up, and so do rhos, turned into an epsilon at a delta once, at the end (certify/accounting.py). Costs add
up only where they protect the same: the same relation, the same unit, as many rows of a person.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from murmure.core.blocks import Cost
from murmure.plan.guarantees import REPORTED_DELTA
from murmure.show.phrase import Exact, Phrase, Quoted

if TYPE_CHECKING:
    from murmure.parties.study.document import Study
    from murmure.plan.plan import Plan


@dataclass(frozen=True)
class ProtectedUnit:
    """What must look alike: costs add up only where all of it agrees."""

    relation: str
    unit: str
    rows: int  # of one person, at most

    @classmethod
    def of(cls, plan: Plan) -> ProtectedUnit:
        return cls(plan.relation, plan.unit, int(plan.rows_per_person))

    def in_words(self) -> Phrase:
        who = Phrase("one row")
        if self.unit != "row":
            who = Phrase("all rows of one {unit}, up to {rows:,}", unit=Quoted(self.unit), rows=self.rows)
        if self.relation == "add/remove":
            return Phrase("{who}, in the data or not", who=who)
        return Phrase("{who}, with any values", who=who)


@dataclass(frozen=True)
class StudyCharge:
    """One noisy question of one study, and what it costs."""

    study: str  # its digest
    name: str
    round: int
    columns: tuple[str, ...]
    cost: Cost
    protects: ProtectedUnit


def charges_of(study: Study) -> list[StudyCharge]:
    """Of every round with noise, however small; an exact one has no cost that could be added.

    Of a model those of all rounds that it may take, each as its first.
    """
    plans = [question.plan for question in study.questions for _ in range(question.rounds)]
    return [charge_of(study, number, plan) for number, plan in enumerate(plans, 1) if plan.curator is not None]


def charge_of(study: Study, round: int, plan: Plan) -> StudyCharge:
    """What one round with noise costs."""
    unit = () if plan.unit == "row" else (plan.unit,)
    return StudyCharge(
        study.digest.hex(),
        study.name,
        round,
        tuple(sorted((*(plan.step.columns or ()), *unit))),
        plan.bound.cost,
        ProtectedUnit.of(plan),
    )


def total_cost(charges: Iterable[StudyCharge]) -> Cost:
    from murmure.certify.accounting import sequential

    return sequential(charge.cost for charge in charges)


def epsilon_and_delta(cost: Cost, delta: float = REPORTED_DELTA) -> tuple[float, float]:
    """The smaller epsilon of the two that hold, and its delta: 0 where the pure one is the smaller."""
    from murmure.certify.accounting import epsilon_at

    epsilon = epsilon_at(cost, delta)
    return (epsilon, delta) if epsilon < cost.epsilon else (cost.epsilon, 0.0)


def cost_in_words(cost: Cost, delta: float = REPORTED_DELTA) -> Phrase:
    epsilon, at = epsilon_and_delta(cost, delta)
    if math.isinf(epsilon):
        return Phrase("more than any epsilon")
    if at:
        return Phrase("epsilon = {epsilon} at delta = {delta:g}", epsilon=Exact(round_up(epsilon)), delta=at)
    return Phrase("epsilon = {epsilon}", epsilon=Exact(round_up(epsilon)))


def round_up(epsilon: float) -> Fraction:
    """To four decimals, never below; what floating point added in the tenth decimal does not count."""
    return Fraction(math.ceil(epsilon * 10**4 - 1e-6), 10**4)


def study_cost_in_words(study: Study) -> Phrase | None:
    """What the noisy questions of a study cost together, where there are several."""
    charges = charges_of(study)
    return cost_in_words(total_cost(charges)) if len(charges) > 1 else None
