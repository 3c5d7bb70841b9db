"""Rules that exact sums between parties must keep: those of a study, applied to parties in one process.

    sums asked so far  <=  rows / 3                     nearly as many sums as rows can be solved for the rows
    conditions         judged by statistics/conditions/minimum_cell.py, with the fewest rows of any table

A study knows beforehand how many rows each party brings at least; in one process the tables are at hand, and their
numbers of rows are counted. The person who runs it has all rows anyway. The way out is rows_are_public=True.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.plan.plan import Plan
from murmure.secure.cohorts import check_ratio
from murmure.secure.errors import CohortRefused
from murmure.statistics.conditions.conditions import Conditions, conditions_of
from murmure.statistics.conditions.disclosure import MAX_HIDING_EPSILON, disclosure_counts, reader_epsilon
from murmure.statistics.conditions.minimum_cell import MINIMUM_CELL, first_problem
from murmure.statistics.conditions.refusals import refusal
from murmure.statistics.exact.function_sums import FunctionSums

RATIO = Fraction(1, 3)
# The fields of FunctionSums that stay the same from round to round: all but the coefficients.
ROUNDS = ("domain", "function", "inputs", "settings")


def check_minimum_cell(owner: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InvalidParameter(
            "{owner}.minimum_cell must be a whole number of at least 1, got {got}.",
            hint="5 is usual; at 1 a sum over a single row may be released",
            owner=owner,
            got=shorten(value),
        )


@dataclass
class DisclosureRules:
    """The rules for one run, and what it asked so far. epsilon: of all its answers together; None: as plans say."""

    rows_are_public: bool = False
    minimum_cell: int = MINIMUM_CELL
    epsilon: float | None = None
    model: Any = field(default=None, repr=False)  # whose later rounds are judged with the first
    _sums: int = field(default=0, init=False)
    _known: list[list[Any]] = field(default_factory=list, init=False, repr=False)
    _asked: list[tuple[int, Conditions]] = field(default_factory=list, init=False, repr=False)

    def check(self, plan: Plan, rows: Sequence[int]) -> None:
        """Refuses this plan, or lets it be added up. rows: of each table that is there."""
        if self.rows_are_public or self._is_hidden(plan):
            return
        self._sums += sum(disclosure_counts(plan.statistic))
        try:
            check_ratio(self._sums, sum(rows), RATIO)
        except CohortRefused as error:
            fewer = error.hint
            if not self._takes_noise:
                fewer = Phrase("at most {floor:_} sums, or more rows", floor=error.fields["floor"])
            raise CohortRefused(
                error.message, hint="{fewer}; or rows_are_public=True, if everybody may see them", fewer=fewer
            ) from None
        if self.minimum_cell > 1:
            self._check_conditions(plan, min(rows))

    @property
    def _takes_noise(self) -> bool:
        return self.model is None or self.model.noise_refusal is None

    def _is_hidden(self, plan: Plan) -> bool:
        """Whether noise hides a row: that of this plan, and of all answers together."""
        if plan.curator is None and plan.person is None:
            return False
        return reader_epsilon(plan) <= MAX_HIDING_EPSILON and (
            self.epsilon is None or self.epsilon <= MAX_HIDING_EPSILON
        )

    def _check_conditions(self, plan: Plan, rows: int) -> None:
        finest = None if self.model is None else self.model.finest_cells
        if isinstance(plan.statistic, FunctionSums):
            asked = [getattr(plan.statistic, name) for name in ROUNDS]
            if asked in self._known:  # the same at other coefficients
                return
            self._known.append(asked)
        self._asked.append((len(self._asked) + 1, conditions_of(plan.statistic, (), finest)))
        problem = first_problem(self._asked, rows, self.minimum_cell)
        if problem is not None:
            way_out = Phrase(
                "or minimum_cell=1, if a sum over one row may be released; rows_are_public=True, if the rows "
                "themselves may"
            )
            raise refusal(problem, plan.describe(), way_out, self._takes_noise)
