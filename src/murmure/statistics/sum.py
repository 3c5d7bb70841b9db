"""The sum of a number.

g(x) = (1, v)  with v the value in whole grid units: the number itself for Integers, steps for
Decimals, half cells for an Interval. A row without a number adds nothing, and is counted beside the others.

Not centred: centring would bring the count's noise back, times the middle of the range. One row adds at most
max(|low|, |high|). A tenth of the budget goes to the count, which says how much rounding to the grid can have moved the
sum, and gives back what the lower bound is off its grid (at most a quarter of a cell a row).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from murmure.core.blocks import Block, NoisySum
from murmure.core.catalogue_entries import QueryForm, StatisticEntry
from murmure.core.domain import Decimals, Integers, Interval
from murmure.core.estimates.estimate import Estimate
from murmure.core.estimates.noisy_estimators import SumEstimator, with_cached_laws
from murmure.core.types import Array, Ints
from murmure.statistics.base.left_out_rows import counts_block, counts_left_out, left_out_of, lift_count
from murmure.statistics.base.moments import NumberStatistic
from murmure.statistics.base.statistic import people_count


@dataclass(frozen=True)
class Sum(NumberStatistic):
    """The sum of Integers, of Decimals or of an Interval's grid.

    >>> import murmure as mu
    >>> plan = mu.Plan(mu.Sum(mu.Interval(0, 5000)), curator=mu.DiscreteLaplace(epsilon=1.0))
    >>> print(mu.run(plan, [120.5, 80.25, 410.0] * 300, rng=mu.Random.seeded(7)).estimate)
            value       low      high
    sum   180,063   161,207   198,920
    <BLANKLINE>
    about 879 people; 95% intervals by exact inversion of the noise (every figure under which such noise
      is not rare), for these people (fixed population)
    Rows left out (their number is missing or not in the schema): about 8 (0 to 38)
    """

    entry = StatisticEntry(
        order=30,
        query=QueryForm("sum", numbers=True),
        study="the sum of {columns}, and how many rows there are",
        title="Sum of {column}",
        sentence="The sum of {column}",
        bare="Sum",
    )

    @property
    def width(self) -> int:
        return 2 + counts_left_out(self)

    @cached_property
    def _grid(self) -> tuple[int, int, float, float]:
        """v = first + times * code;  value = unit * v + rest."""
        if isinstance(self.domain, Integers):
            return self.domain.low, 1, 1.0, 0.0
        if isinstance(self.domain, Decimals):
            step, near = float(self.domain.step), abs(self.domain.first) < 1 << 52
            return (self.domain.first, 1, step, 0.0) if near else (0, 1, step, float(self.domain.low))
        low = Fraction(self.domain.low)
        unit = (Fraction(self.domain.high) - low) / (2 * self.domain.cells)
        first = round(low / unit)
        return first + 1, 2, float(unit), float(low - first * unit)

    @property
    def _ends(self) -> tuple[int, int]:
        first, times, _, _ = self._grid
        return first, first + times * (self.domain.size - 1)

    @property
    def largest(self) -> int:
        return max(abs(end) for end in self._ends)

    @property
    def blocks(self) -> tuple[Block, ...]:
        most, (low, high) = self.largest, self._ends
        return (
            counts_block(counts_left_out(self), 1.0),
            # An exchanged row moves it by high - low, but a row can also come or go where rows that cannot be read are
            # left out; so never less than one row.
            Block("sum", 1, most, most**2, 9.0, max(most, high - low), max(most, high - low) ** 2),
        )

    def lift(self, x: Array) -> Ints:
        (first, times, _, _), x = self._grid, np.asarray(x).astype(np.int64)
        v = (first + times * x) * (x < self.domain.size)
        return np.stack([*lift_count(x, self.domain.size, counts_left_out(self)), v], axis=-1)

    def interpret(self, noisy: NoisySum) -> Estimate:
        noisy = with_cached_laws(noisy)
        _, _, unit, rest = self._grid
        count, total = int(noisy["count"][0]), int(noisy["sum"][0])
        value = unit * total + rest * count
        laws = (noisy.law("count"), noisy.law("sum"))
        low, step, rounding = self.domain.scale()
        high = low + step * (self.domain.size - 1)
        estimator = SumEstimator(value, count, laws, unit, rest, low, high, rounding)
        exact = laws == (None, None)
        return Estimate(
            ["sum"],
            np.array([value]),
            people_count(count),
            "value",
            estimator,
            noisy=not exact,
            left_out=left_out_of(noisy) if counts_left_out(self) else None,
        )

    def reference(self, x: Array) -> NDArray[np.float64]:
        return np.array([self.domain.numbers()[x].sum()])


EXAMPLES = (
    Sum(Integers(-5, 20)),
    Sum(Interval(0.0, 3.0, cells=300)),
    Sum(Interval(0.1, 0.7, cells=9)),
    Sum(Integers(-5, 20), left_out=True),
)
