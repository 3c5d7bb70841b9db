"""The variance of a number.

g(x) = (1, u, 2 u^2 - r^2)  as for a mean;   finish: (step/2)^2 [ (Q/N + r^2)/2 - (S/N)^2 ],  N, S, Q the three sums.

It is the variance among the people (divided by N, not N - 1). Weights: the delta method's noise is
2/n^2 [ 1/(4 e2^2) + 4 m^2/e1^2 + (2 m^2 - q/2)^2/e0^2 ] in units of r, least where every share is the cube root of its
coefficient; with a mean of r / sqrt 8 and a standard deviation of 0.4 r that is 3 : 4 : 3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from murmure.core.blocks import Block, NoisySum
from murmure.core.domain import Integers, Interval
from murmure.core.estimates.estimate import Estimate
from murmure.core.estimates.noisy_estimators import TOO_NOISY, VarianceEstimator, with_cached_laws
from murmure.core.types import Array, Ints
from murmure.statistics.base.left_out_rows import counts_left_out, left_out_field, left_out_of
from murmure.statistics.base.statistic import CuratorStatistic, people_count
from murmure.statistics.mean import (
    Number,
    lift_moments,
    moment_blocks,
    moments_from_counts,
    moments_of,
    need_number,
    tally_moments,
)


@dataclass(frozen=True)
class Variance(CuratorStatistic):
    """The variance of Integers or of an Interval's grid."""

    domain: Number
    left_out: bool = left_out_field()  # also count the rows without a number; a curator's plan says so by itself

    def __post_init__(self) -> None:
        need_number("Variance", self.domain)

    takes_nobody = True

    @property
    def width(self) -> int:
        return 3 + counts_left_out(self)

    @property
    def largest(self) -> int:
        return max(block.l1 for block in self.blocks)

    @property
    def blocks(self) -> tuple[Block, ...]:
        return moment_blocks(self.domain.size - 1, counts_left_out(self), 3.0, 4.0, 3.0)

    def lift(self, x: Array) -> Ints:
        return lift_moments(x, self.domain.size, counts_left_out(self))

    def tally(self, x: Array) -> Ints:
        return tally_moments(x, self.domain.size, counts_left_out(self))

    def from_counts(self, counts: Ints) -> Ints:
        return moments_from_counts(counts, counts_left_out(self))

    def interpret(self, noisy: NoisySum) -> Estimate:
        noisy = with_cached_laws(noisy)
        m = moments_of(self.domain, noisy)
        reading = VarianceEstimator(m)
        value, reason = (m.half**2 * m.spread, None) if reading.divides(0.95) else (np.nan, TOO_NOISY)
        return Estimate(
            ["variance"],
            np.array([value]),
            people_count(m.count),
            "value",
            reading,
            reason,
            noisy=not m.exact,
            left_out=left_out_of(noisy) if counts_left_out(self) else None,
        )

    def reference(self, x: Array) -> NDArray[np.float64]:
        return np.array([self.domain.numbers()[x].var()])


EXAMPLES = (
    Variance(Integers(-5, 20)),
    Variance(Interval(0.0, 3.0, cells=300)),
    Variance(Integers(-5, 20), left_out=True),
)
