"""Sums of expressions of the columns: exact, and bounded by what the schema says.

g(row) = (v_1, ..., v_L),   value of expression k = unit_k v_k   with unit_k public and v_k whole   (terms.py)

One row adds to figure k at most B_k = max(|low_k|, |high_k|), from interval arithmetic on public bounds; a row with a
label that is not listed adds nothing to what reads that column. A number in cells counts as the middle of its cell, as
everywhere: sums are exact for the numbers on the grid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.blocks import Block, NoisySum
from murmure.core.domain import Categories, Integers, Interval
from murmure.core.errors import InvalidParameter, shorten
from murmure.core.schema import Schema
from murmure.core.types import LIMIT, Array
from murmure.statistics.base.statistic import CuratorStatistic
from murmure.statistics.estimates.sums_estimate import SumsEstimate
from murmure.statistics.expressions.exact_summation import ExactSummation
from murmure.statistics.expressions.parser import columns_in, read_expression
from murmure.statistics.expressions.terms import Term, Terms

MAX_INT64_ROWS = 1 << 32  # sums of int64 hold so many rows; where they could not, Python's integers are added up
MOST_EXPRESSIONS = 1 << 16


@dataclass(frozen=True)
class Sums(CuratorStatistic):
    """Exact sums: `Sums(schema, ("age", "age * stay", "(smoker == 'yes') * stay"))`.

    Expressions: numbers, columns, + - * **, comparisons, and or not, min, max, abs. Columns that none of them reads are
    dropped from the domain.
    """

    domain: Schema
    expressions: tuple[str, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Schema):
            raise InvalidParameter(
                f"Sums.domain must be a Schema, got {shorten(self.domain)}.",
                hint='Sums(Schema({"age": Integers(0, 120)}), ("age", "age ** 2"))',
            )
        if not isinstance(self.expressions, tuple | list) or not self.expressions:
            raise InvalidParameter(
                f"Sums.expressions must be a tuple of expressions, got {shorten(self.expressions)}.",
                hint='Sums(schema, ("age", "age * stay")); one alone is ("age",)',
            )
        if len(self.expressions) > MOST_EXPRESSIONS:
            raise InvalidParameter(f"Sums takes at most {MOST_EXPRESSIONS} expressions, got {len(self.expressions)}.")
        said = tuple(e.strip() if isinstance(e, str) else e for e in self.expressions)
        object.__setattr__(self, "expressions", said)
        terms = Terms(self.domain)
        numbers = tuple(read_expression(text, terms) for text in said)
        seen: set[str] = set()
        for text, number in zip(said, numbers, strict=True):
            if text in seen:
                raise InvalidParameter(f"Sums.expressions names {shorten(text)} twice.", hint="each sum is asked once")
            if terms[number].max_abs == 0:
                raise InvalidParameter(
                    f"expression {shorten(text, 100)} is 0, whatever a row holds.", hint="leave it out"
                )
            seen.add(text)
        # the columns that are read: nobody has to hold, or to show, the others
        read = columns_in(terms, numbers) or self.domain.private[:1]
        terms.schema = Schema({name: self.domain.about[name] for name in read})
        object.__setattr__(self, "domain", terms.schema)
        vars(self)["_terms"], vars(self)["_numbers"] = terms, numbers

    @cached_property
    def _summing(self) -> ExactSummation:
        return ExactSummation(vars(self)["_terms"], vars(self)["_numbers"], self.wide)

    @cached_property
    def figures(self) -> tuple[Term, ...]:
        """Of every expression its unit, and the bounds of what one row adds in that unit."""
        terms: Terms = vars(self)["_terms"]
        return tuple(terms[number] for number in vars(self)["_numbers"])

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
        return len(self.expressions)

    @cached_property
    def largest(self) -> int:
        return max(term.max_abs for term in self.figures)

    @property
    def wide(self) -> bool:
        """Whether sums may pass 2**63 - 1: tallies are then arrays of Python's integers."""
        return self.largest > LIMIT // MAX_INT64_ROWS

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        out = []
        for text, term in zip(self.expressions, self.figures, strict=True):
            # an exchanged row may be one that adds nothing, so a whole row at least
            apart = max(term.max_abs, term.high - term.low)
            out.append(Block(text, 1, term.max_abs, term.max_abs**2, 1.0, apart, apart**2))
        return tuple(out)

    def in_words(self) -> str:
        """The question, as a ledger and a release say it."""
        if self.width < 4:
            return f"Sum{'s' * (self.width > 1)} of {', '.join(self.expressions)}"
        names = self.domain.private
        return f"{self.width} sums of {', '.join(names) if len(names) < 4 else f'{len(names)} columns'}"

    # -- rows ---------------------------------------------------------------------------------------------------------

    def lift(self, x: Sequence[Array]) -> NDArray[Any]:
        return self._summing.rows(x)

    def tally(self, x: Sequence[Array]) -> NDArray[Any]:
        return self._summing.total(x)

    # -- what is read -------------------------------------------------------------------------------------------------

    def interpret(self, noisy: NoisySum) -> SumsEstimate:
        return self._summed([int(v) for v in noisy.sum], noisy.laws, None)

    def interpret_exact(self, total: Sequence[int] | NDArray[Any], n: int) -> SumsEstimate:
        """The exact sums of n rows, from whole numbers however large."""
        return self._summed([int(v) for v in total], (None,) * self.width, n)

    def _summed(self, whole: list[int], laws: tuple[Any, ...], n: int | None) -> SumsEstimate:
        grid = tuple(name for name in self.domain.private if isinstance(self.domain[name], Interval))
        return SumsEstimate.of(self.expressions, tuple(whole), self.units, laws, n, grid)

    def reference(self, x: Sequence[Array]) -> NDArray[np.float64]:
        return np.asarray(self.lift(x).sum(axis=0) * np.array([float(unit) for unit in self.units]), np.float64)


_HOSPITAL = Schema({"age": Integers(0, 99), "stay": Integers(-2, 30), "smoker": Categories(["no", "yes"])})
_DOSES = Schema({"dose": Interval(0.5, 2.5, cells=8), "change": Interval(-0.3, 0.1, cells=5), "ward": Categories(3)})

EXAMPLES = (
    Sums(_HOSPITAL, ("1", "age", "stay", "age * stay", "stay ** 2", "stay * stay * stay", "(smoker == 'yes') * age")),
    Sums(_HOSPITAL, ("age", "age * age", "stay", "stay * age", "stay * stay", "max(age, 50) - 0.5", "18 <= age < 65")),
    Sums(_DOSES, ("dose", "dose * change", "change / 3", "ward != 1", "abs(change)", "not (ward == 2 and dose > 1)")),
)
