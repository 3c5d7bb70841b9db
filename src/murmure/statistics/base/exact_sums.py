"""Statistics whose figures are terms: sums of whole numbers in public units, exact and bounded by the schema.

value of figure k = unit_k v_k   with unit_k public and v_k whole   (expressions/terms.py)
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.blocks import NoisySum
from murmure.core.schema import Schema
from murmure.core.types import MAX_SUM, Answer, Array, Floats, Protectable
from murmure.statistics.base.statistic import CuratorStatistic
from murmure.statistics.expressions.exact_summation import ExactSummation
from murmure.statistics.expressions.parser import columns_in
from murmure.statistics.expressions.terms import Term, Terms

MAX_INT64_ROWS = 1 << 32  # an int64 sum holds this many rows; where it could not, Python's integers are added up


class TermsStatistic(CuratorStatistic[Answer]):
    """A statistic of expressions. terms: all of their terms. wanted: the numbers of those that are summed."""

    # Not dataclass fields: they follow from the expressions, and are neither compared nor persisted.
    domain: Schema
    terms: Terms
    wanted: tuple[int, ...]

    def _set_terms(self, terms: Terms, wanted: Sequence[int]) -> None:
        vars(self)["terms"], vars(self)["wanted"] = terms, tuple(wanted)

    def _keep_columns_read(self, terms: Terms, numbers: Sequence[int]) -> None:
        """Drop the columns that no term reads: a holder of rows then need not have them, or show them."""
        names = columns_in(terms, numbers) or self.domain.private[:1]
        terms.schema = self.domain.with_columns({name: self.domain.column_specs[name] for name in names})
        object.__setattr__(self, "domain", terms.schema)


class ExactSums(TermsStatistic[Answer], Protectable[Answer]):
    """Every figure is the sum of one term over the rows."""

    _factor_pairs: Any = None  # of every figure, two terms whose product it is; None: they are found

    @cached_property
    def figures(self) -> tuple[Term, ...]:
        """Of every figure its unit, and the bounds of what one row adds in that unit."""
        return tuple(self.terms[number] for number in self.wanted)

    @property
    def bounds(self) -> list[tuple[Fraction, Fraction]]:
        """What one row adds to every sum, at least and at most."""
        return [(term.unit * term.low, term.unit * term.high) for term in self.figures]

    @property
    def units(self) -> tuple[Fraction, ...]:
        """What one step of each integer sum is worth."""
        return tuple(term.unit for term in self.figures)

    @property
    def width(self) -> int:
        return len(self.wanted)

    @cached_property
    def largest(self) -> int:
        return max(term.max_abs for term in self.figures)

    @property
    def wide(self) -> bool:
        """Whether sums may pass 2**63 - 1: tallies are then arrays of Python's integers."""
        return self.largest > MAX_SUM // MAX_INT64_ROWS

    @cached_property
    def _summation(self) -> ExactSummation:
        return ExactSummation(self.terms, self.wanted, self.wide, self._factor_pairs)

    def encode(self, rows: Any) -> Any:
        return self.domain.encode_in_blocks(rows)

    def lift(self, x: Sequence[Array]) -> NDArray[Any]:
        return self._summation.rows(x)

    def tally(self, x: Sequence[Array]) -> NDArray[Any]:
        return self._summation.total(x)

    def interpret(self, noisy: NoisySum) -> Answer:
        laws = tuple(law for block, _, law in noisy for _ in range(block.width))
        return self._estimate([int(v) for v in noisy.sum], laws, None)

    def interpret_exact(self, total: Sequence[int] | NDArray[Any], n: int) -> Answer:
        """The exact sums of n rows, from whole numbers however large."""
        return self._estimate([int(v) for v in total], (None,) * self.width, n)

    def _estimate(self, integers: list[int], laws: tuple[Any, ...], n: int | None) -> Answer:
        raise NotImplementedError

    def reference(self, x: Sequence[Array]) -> Floats:
        sums = self.lift(x).astype(object).sum(axis=0)
        return np.array([float(v * unit) for v, unit in zip(sums, self.units, strict=True)])
