"""Splitting: every attribute is randomised with its share of the budget, and all of them are reported.

    P[y | x] = prod_i P_i[y_i | x_i],     epsilon_i = epsilon w_i / sum w,    sum_i epsilon_i <= epsilon.

(SPL in Arcolezi et al., CIKM 2021.) `Plain` is the same law with the choices of a sanitised table: bounded reports for
numbers, generalised randomised response for categories, so that every cell of the table looks like an answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from murmure.core.catalogue_entries import RecordEntry, SolutionForm
from murmure.core.domain import Categories, Dates, Integers, Interval
from murmure.core.fixed import positive_epsilon, split_budget, times_up
from murmure.core.schema import Schema
from murmure.laws.records import Joint
from murmure.local.base.oracle_choice import Oracle, build_parts, check_choices, check_smallest_share
from murmure.local.base.record_mechanism import RecordMechanism


class Splitting(RecordMechanism):
    """What SPL and Plain share."""

    oracle: Oracle
    numeric: str
    weights: tuple[float, ...] | None
    numbers = False  # whether numbers with few values go through `numeric` too

    def __post_init__(self) -> None:
        self._check()
        check_choices(self)

    @classmethod
    def per_column(cls, domain: Schema, epsilon_per_column: float, **options: Any) -> Any:
        """The same epsilon for every column, as in the lecture; the total is the number of columns times it."""
        each = positive_epsilon(cls.__name__, epsilon_per_column, "epsilon_per_column")
        return cls(domain, times_up(each, len(domain.private)), **options)  # type: ignore[call-arg]

    @cached_property
    def epsilons(self) -> tuple[float, ...]:
        """The share of each column."""
        shares = tuple(split_budget(self.epsilon, self.weights or (1.0,) * len(self.columns)))
        check_smallest_share(self, shares)
        return shares

    @cached_property
    def parts(self) -> tuple[Any, ...]:
        return build_parts(self.domain, self.epsilons, self.oracle, self.numeric, numbers=self.numbers)

    @cached_property
    def channel(self) -> Joint:
        return Joint(tuple(part.channel for part in self.parts))


@dataclass(frozen=True)
class SPL(Splitting):
    """Every attribute at its share of epsilon. weights: unequal shares, one per private column, or by name."""

    domain: Schema
    epsilon: float
    oracle: Oracle = "adaptive"
    numeric: str = "Hybrid"
    weights: tuple[float, ...] | None = None

    entry = RecordEntry(
        order=20,
        color="#b3261e",
        sentence="every column is randomised with its share of the budget, and all of them are reported.",
        solutions=(SolutionForm("spl", ("weights", "oracle", "numeric")),),
    )


@dataclass(frozen=True)
class Plain(Splitting):
    """A sanitised table: numbers stay numbers within their bounds, categories stay categories."""

    domain: Schema
    epsilon: float
    oracle: Oracle = "GRR"
    numeric: str = "BoundedLaplace"
    weights: tuple[float, ...] | None = None

    numbers = True
    entry = RecordEntry(
        order=30,
        color="#4c566a",
        sentence="every column is randomised with its share of the budget; numbers stay numbers within their bounds.",
        solutions=(SolutionForm("plain", ("weights", "oracle", "numeric")),),
    )


_SMALL = Schema({"smoker": Categories(["no", "yes"]), "region": Categories(3)})
_MIXED = Schema({"age": Integers(0, 4), "sick": Categories([False, True]), "income": Interval(0.0, 10.0, cells=6)})

EXAMPLES = (
    SPL(_SMALL, 1.0),
    SPL(_SMALL, 2.0, oracle="OUE", weights=(3.0, 1.0)),
    SPL(Schema({"a": Categories(2), "b": Categories(2), "c": Categories(3)}), 3.0, oracle="GRR"),
    SPL(_MIXED, 4.0, oracle=("SubsetSelection", "GRR", "Piecewise")),
    Plain(_MIXED, 3.0),
    Plain(_SMALL, 0.5, numeric="Window"),
    SPL(Schema({"born": Dates("1999", "2001", "year"), "smoker": Categories(["no", "yes"])}), 2.0),
)
