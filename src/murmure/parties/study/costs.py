"""What noisy sums cost the rows of a party, over all of its studies.

Each study keeps what it promises; the same rows that answer another one pay again. Epsilons add up, and so do rhos,
turned into an epsilon at a delta once, at the end (certify/accounting.py). Sums add up only where they protect the
same: the same relation, the same unit, as many rows of a person.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from murmure.core.blocks import Cost
from murmure.plan.guarantees import REPORTED_DELTA

if TYPE_CHECKING:
    from murmure.parties.study.document import Study
    from murmure.plan.plan import Plan


@dataclass(frozen=True)
class ProtectedUnit:
    """What must look alike: costs add up only where all of it agrees."""

    relation: str
    unit: str
    rows: int  # of one person, at most

    def __str__(self) -> str:
        one = "one row" if self.unit == "row" else f"one {self.unit} with up to {self.rows} rows"
        return f"{one} ({self.relation})"


@dataclass(frozen=True)
class StudyCharge:
    """One noisy question of one study, and what it costs."""

    study: str  # its digest
    name: str
    round: int
    columns: tuple[str, ...]
    cost: Cost
    protects: ProtectedUnit


def columns_of(plan: Plan) -> tuple[str, ...]:
    """All that is read of a row."""
    unit = () if plan.unit == "row" else (plan.unit,)
    return (*(plan.step.columns or ()), *unit)


def charges_of(study: Study) -> list[StudyCharge]:
    """Of every round with noise, however small; an exact one has no cost that could be added.

    Of a model those of all rounds that it may take, each as its first.
    """
    foreseen = [question.plan for question in study.questions for _ in range(question.rounds)]
    return [charge_of(study, number, plan) for number, plan in enumerate(foreseen, 1) if plan.curator is not None]


def charge_of(study: Study, round: int, plan: Plan) -> StudyCharge:
    """What one round with noise costs."""
    return StudyCharge(
        study.digest.hex(),
        study.name,
        round,
        tuple(sorted(columns_of(plan))),
        plan.bound.cost,
        ProtectedUnit(plan.relation, plan.unit, int(plan.rows_per_person)),
    )


def charges_on_columns(charges: Iterable[StudyCharge], columns: Iterable[str]) -> list[StudyCharge]:
    """Those that read one of these columns."""
    wanted = {*columns}
    return [one for one in charges if wanted & {*one.columns}]


def total_cost(charges: Iterable[StudyCharge]) -> Cost:
    from murmure.certify.accounting import sequential

    return sequential(one.cost for one in charges)


def epsilon_and_delta(cost: Cost, delta: float = REPORTED_DELTA) -> tuple[float, float]:
    """The smaller epsilon of the two that hold, and its delta: 0 where the pure one is the smaller."""
    from murmure.certify.accounting import epsilon_at

    epsilon = epsilon_at(cost, delta)
    return (epsilon, delta) if epsilon < cost.epsilon else (cost.epsilon, 0.0)


def cost_in_words(cost: Cost, delta: float = REPORTED_DELTA) -> str:
    epsilon, at = epsilon_and_delta(cost, delta)
    return f"epsilon = {_up(epsilon):g}" + (f" at delta = {at:g}" if at else "")


def _up(epsilon: float) -> float:
    """To four decimals, never below."""
    return math.ceil(epsilon * 10**4 - 1e-6) / 10**4 if math.isfinite(epsilon) else epsilon


def study_cost_in_words(study: Study) -> str | None:
    """What the noisy questions of a study cost together, where there are several."""
    own = charges_of(study)
    return cost_in_words(total_cost(own)) if len(own) > 1 else None


@dataclass(frozen=True)
class ColumnSpending:
    """What noisy questions that read one column (None: any) and protect the same have cost so far."""

    column: str | None
    protects: ProtectedUnit
    charges: tuple[StudyCharge, ...]

    def to_text(self) -> str:
        studies = len({one.study for one in self.charges})
        of = "columns of any name, if all were of the same people" if self.column is None else f"column {self.column}"
        many = "1 noisy study" if studies == 1 else f"{studies} noisy studies"
        return f"paid so far, {of}: {cost_in_words(total_cost(self.charges))} in {many}, for {self.protects}"

    def to_dict(self) -> dict[str, Any]:
        cost = total_cost(self.charges)
        epsilon, delta = epsilon_and_delta(cost)
        return {
            "column": self.column,
            "relation": self.protects.relation,
            "unit": self.protects.unit,
            "rows_per_person": self.protects.rows,
            "studies": len({one.study for one in self.charges}),
            "epsilon": "inf" if math.isinf(epsilon) else epsilon,
            "delta": delta,
            "pure_epsilon": "inf" if math.isinf(cost.epsilon) else cost.epsilon,
            "rho": "inf" if math.isinf(cost.rho) else cost.rho,
        }


def spending_by_column(charges: Sequence[StudyCharge]) -> list[ColumnSpending]:
    """Column by column; and over all columns, where that is more than each of them."""
    out = []
    for protects in dict.fromkeys(one.protects for one in charges):
        alike = [one for one in charges if one.protects == protects]
        columns = sorted({name for one in alike for name in one.columns})
        out += [ColumnSpending(name, protects, tuple(charges_on_columns(alike, [name]))) for name in columns]
        if all(len(charges_on_columns(alike, [name])) < len(alike) for name in columns):
            out.append(ColumnSpending(None, protects, tuple(alike)))
    return out
