"""What colluders make of the sums of a regression: less their rows, the sums over the few rows that are not theirs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from murmure.attacks.base.table_rows import TableRows
from murmure.attacks.parties.sums_of_rows.integer_rows import ColumnBounds
from murmure.central.discrete_laplace import DiscreteLaplace
from murmure.core.errors import InvalidParameter, MurmureError, shorten
from murmure.core.random import Random
from murmure.core.types import Floats, Ints
from murmure.econometrics.design.from_formula import design_from_formula
from murmure.econometrics.fit import COARSE_BITS
from murmure.plan.disclosure_rules import DisclosureRules
from murmure.plan.plan import Plan
from murmure.run.run import run
from murmure.statistics.exact.cross_products import CrossProducts
from murmure.statistics.sums import Sums


@dataclass(frozen=True)
class RegressionSums:
    """The sums that a least-squares regression asks for, and the rows that they are over."""

    rows: TableRows
    formula: str

    def __post_init__(self) -> None:
        if not self.formula.partition("~")[2].strip():
            raise InvalidParameter(
                "reconstruction: nothing is on the right of ~ in the regression {formula}.",
                hint='"stay ~ age", or "stay ~ 1" for the constant alone',
                formula=shorten(self.formula, 100),
            )
        if "1" not in self.factors:
            raise InvalidParameter(
                "reconstruction: the regression {formula} has no intercept; the attack starts from its sums.",
                hint="leave out '0 +' and '- 1'",
                formula=shorten(self.formula, 100),
            )

    @cached_property
    def factors(self) -> tuple[str, ...]:
        """The columns of the regression and its outcome, the constant first."""
        design = design_from_formula("reconstruction", self.formula, None, self.rows.schema, None)
        return tuple(sorted((*design.terms, design.outcome), key=lambda factor: factor != "1"))

    @cached_property
    def question(self) -> CrossProducts:
        return CrossProducts(self.rows.schema, self.factors)

    @cached_property
    def _terms(self) -> Sums:
        return Sums(self.rows.schema, self.factors)

    @cached_property
    def bounds(self) -> list[ColumnBounds]:
        """Of every factor, in whole units."""
        return [ColumnBounds(term.low, term.high) for term in self._terms.figures]

    @cached_property
    def values(self) -> Ints:
        """Of every row all factors, in whole units."""
        names = self.rows.schema.private
        codes = tuple(self.rows.codes[names.index(name)] for name in self._terms.domain)
        return np.asarray(self._terms.lift(codes), np.int64)

    def honest_gram(self, honest: Ints) -> Ints:
        """Exact sums over all rows, less those that the colluders hold."""
        estimate = run(Plan(self.question), self.rows.table).estimate
        return self._in_units(estimate.matrix) - self._colluders_gram(honest)

    def _in_units(self, matrix: Any) -> Ints:
        units = [term.unit for term in self._terms.figures]
        return np.array(
            [[int(v / (units[a] * units[b])) for b, v in enumerate(line)] for a, line in enumerate(matrix)], np.int64
        )

    def _colluders_gram(self, honest: Ints) -> Ints:
        theirs = np.delete(self.values, honest, axis=0)
        return np.asarray(theirs.T @ theirs)

    def noisy_sums(self, honest: Ints, epsilon: float, rng: Random) -> tuple[Floats, Floats]:
        """Of every factor the noisy sum over the honest rows, and its standard deviation, in whole units."""
        plan = Plan(self.question.coarse(COARSE_BITS), curator=DiscreteLaplace(epsilon))
        estimate = run(plan, self.rows.table, rng=rng).estimate
        units = np.array([float(term.unit) for term in self._terms.figures])
        total = np.array([float(v) for v in estimate.matrix[0]]) / units
        return total - self._colluders_gram(honest)[0], np.sqrt(np.array(estimate.noise[0])) / units

    def refused(self, m: int) -> bool:
        """Whether the rules for exact sums between parties refuse this, where an honest party has m rows."""
        others = len(self.rows) - m
        try:
            DisclosureRules().check(Plan(self.question), [m, others // 2, others - others // 2])
        except MurmureError:
            return True
        return False

    def least_ambiguity(self, m: int) -> float:
        """log2 of how many sets of m rows fit the same sums on average, at least: there are more sets than sums."""
        size = math.prod(bound.high - bound.low + 1 for bound in self.bounds)
        size = min(size, math.prod(self.rows.schema[name].size for name in self._terms.domain))
        sets = (math.lgamma(size + m) - math.lgamma(size) - math.lgamma(m + 1)) / math.log(2)
        return sets - sum(math.log2(m * (term.high - term.low) + 1) for term in self.question.figures)
