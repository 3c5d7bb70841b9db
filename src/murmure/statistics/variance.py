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

from murmure.core.blocks import Block, Noisy
from murmure.core.domain import Decimals, Integers, Interval
from murmure.core.estimate import Estimate
from murmure.core.noisy_reading import VarianceReading
from murmure.core.types import Array, Ints
from murmure.statistics.mean import (
    lift_moments,
    moment_blocks,
    moments_from_counts,
    moments_of,
    need_number,
    tally_moments,
)
from murmure.statistics.shared import Curated, people


@dataclass(frozen=True)
class Variance(Curated):
    """The variance of Integers or of an Interval's grid."""

    domain: Integers | Interval | Decimals

    def __post_init__(self) -> None:
        need_number("Variance", self.domain)

    width = 3

    @property
    def largest(self) -> int:
        return max(block.l1 for block in self.blocks)

    @property
    def blocks(self) -> tuple[Block, ...]:
        return moment_blocks(self.domain.size - 1, 3.0, 4.0, 3.0)

    def lift(self, x: Array) -> Ints:
        return lift_moments(x, self.domain.size)

    def tally(self, x: Array) -> Ints:
        return tally_moments(x, self.domain.size)

    def from_counts(self, counts: Ints) -> Ints:
        return moments_from_counts(counts)

    def read(self, noisy: Noisy) -> Estimate:
        m = moments_of(self.domain, noisy)
        value = np.array([m.half**2 * m.spread])
        return Estimate(["variance"], value, people(m.count), "value", VarianceReading(m), noisy=not m.exact)

    def reference(self, x: Array) -> NDArray[np.float64]:
        return np.array([self.domain.numbers()[x].var()])


EXAMPLES = (Variance(Integers(-5, 20)), Variance(Interval(0.0, 3.0, cells=300)))
