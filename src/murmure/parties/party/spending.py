"""What noisy sums have cost the rows of a party, over all of its studies.

Each study keeps what it promises; but the same rows that answer another study pay again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from murmure.parties.study.costs import ProtectedUnit, StudyCharge, cost_in_words, epsilon_and_delta, total_cost
from murmure.show.phrase import Phrase, Plural, Quoted


def charges_on_columns(charges: Iterable[StudyCharge], columns: Iterable[str]) -> list[StudyCharge]:
    """Those that read one of these columns."""
    names = {*columns}
    return [charge for charge in charges if names & {*charge.columns}]


@dataclass(frozen=True)
class ColumnSpending:
    """What noisy questions that read one column (None: any) and protect the same have cost so far."""

    column: str | None
    protects: ProtectedUnit
    charges: tuple[StudyCharge, ...]

    def in_words(self) -> Phrase:
        fields: dict[str, Any] = {"cost": cost_in_words(total_cost(self.charges)), "protects": self.protects.in_words()}
        studies = len({charge.study for charge in self.charges})
        if self.column is None:
            return Plural(
                "Paid so far, for all columns together, if all rows were of the same people: {cost} in {n} noisy study "
                "(protects {protects})",
                "Paid so far, for all columns together, if all rows were of the same people: {cost} in {n} noisy "
                "studies (protects {protects})",
                n=studies,
                **fields,
            )
        return Plural(
            "Paid so far, for column {column}: {cost} in {n} noisy study (protects {protects})",
            "Paid so far, for column {column}: {cost} in {n} noisy studies (protects {protects})",
            n=studies,
            column=Quoted(self.column),
            **fields,
        )

    def to_dict(self) -> dict[str, Any]:
        cost = total_cost(self.charges)
        epsilon, delta = epsilon_and_delta(cost)
        return {
            "column": self.column,
            "relation": self.protects.relation,
            "unit": self.protects.unit,
            "rows_per_person": self.protects.rows,
            "studies": len({charge.study for charge in self.charges}),
            "epsilon": "inf" if math.isinf(epsilon) else epsilon,
            "delta": delta,
            "pure_epsilon": "inf" if math.isinf(cost.epsilon) else cost.epsilon,
            "rho": "inf" if math.isinf(cost.rho) else cost.rho,
        }


def spending_by_column(charges: Sequence[StudyCharge]) -> list[ColumnSpending]:
    """Column by column; and over all columns, where that is more than each of them."""
    out = []
    for protects in dict.fromkeys(charge.protects for charge in charges):
        alike = [charge for charge in charges if charge.protects == protects]
        columns = sorted({name for charge in alike for name in charge.columns})
        out += [ColumnSpending(name, protects, tuple(charges_on_columns(alike, [name]))) for name in columns]
        if all(len(charges_on_columns(alike, [name])) < len(alike) for name in columns):
            out.append(ColumnSpending(None, protects, tuple(alike)))
    return out
