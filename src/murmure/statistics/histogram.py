"""How many people hold each value.

g(x) = the indicator of x,   finish: shares of n.

Protected: one block. A row is in one cell, so it adds 1 in all, however many cells there are (parallel composition).
The shares are those of the noisy sum of the cells, never of n.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.blocks import Block, NoisySum
from murmure.core.counts import check_counts, room_for_cells
from murmure.core.domain import Categories, Domain, Integers, check_few_values
from murmure.core.errors import InvalidParameter, shorten
from murmure.core.estimates.estimate import CellEstimator, Estimate
from murmure.core.estimates.noisy_estimators import TOO_NOISY, ShareEstimator, with_cached_laws
from murmure.core.types import Affine, Array, Ints, NoAffine
from murmure.statistics.base.statistic import counts_of, encode_lenient, one_hot, people_count


def no_cross(f: NDArray[np.float64]) -> NDArray[np.float64]:
    """An exact sum has no noise to share between cells."""
    return np.zeros((len(f), len(f)))


def one_hot_block(width: int, weight: float = 1.0) -> Block:
    """Of one-hot cells: exchanging a row empties one and fills another, which is 2 in L1 and 2 squared in L2."""
    return Block("cells", width, 1, 1, weight, 2, 2)


def share_estimate(labels: list[str], noisy: NoisySum) -> Estimate:
    """Of protected one-hot cells."""
    noisy = with_cached_laws(noisy)
    law = noisy.law("cells")
    reading = ShareEstimator(noisy["cells"], law)
    enough = reading.divides(0.95)
    found = reading.shares if enough else np.full(len(labels), np.nan)
    why = None if enough else TOO_NOISY
    return Estimate(labels, found, people_count(reading.total), "share", reading, why, noisy=law is not None)


@dataclass(frozen=True)
class Histogram:
    """Shares of every value of a domain."""

    domain: Domain

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Domain):
            raise InvalidParameter(
                f"Histogram.domain must be Categories, Integers, Interval or Decimals, got {shorten(self.domain)}.",
                hint="put labels in Categories([...]), numbers in Integers(low, high) or Interval(low, high)",
            )
        check_few_values("Histogram.domain", self.domain)
        room_for_cells("Histogram", self.domain.size)

    largest = 1
    takes_nobody = True

    @property
    def width(self) -> int:
        return self.domain.size

    @property
    def blocks(self) -> tuple[Block, ...]:
        return (one_hot_block(self.width),)

    def encode(self, column: Any) -> Array:
        return self.domain.encode(column)

    def encode_lenient(self, column: Any) -> Array:
        return encode_lenient(self.domain, column)

    def lift(self, x: Array) -> Ints:
        return one_hot(x, self.width)

    def tally(self, x: Array) -> Ints:
        return counts_of(x, self.width)

    def from_counts(self, counts: Ints) -> Ints:
        """The sums, from how often each value occurs, nobody's too (in the last axis)."""
        return counts[..., :-1]

    def interpret(self, noisy: NoisySum) -> Estimate:
        return share_estimate(list(self.domain.labels()), noisy)

    def interpret_exact(self, total: Ints, n: int) -> Estimate:
        total = check_counts("Histogram", total, n, self.width, 1)
        reading = CellEstimator(total, n, np.ones(self.width), np.zeros(self.width), no_cross, one_each=True)
        return Estimate(self.domain.labels(), reading.raw, n, "share", reading)

    def why_unanswerable(self, affine: Affine | NoAffine) -> str | None:
        """Why this map cannot answer the question, or None."""
        if isinstance(affine, NoAffine):
            return affine.reason
        return None if affine.of == "cells" else "its reports give a mean, not the share of every value"

    def finish(self, estimate: Estimate) -> Estimate:
        return estimate

    def reference(self, x: Array) -> NDArray[np.float64]:
        return np.array([np.mean(x == v) for v in range(self.width)])


EXAMPLES = (Histogram(Categories(["no", "yes"])), Histogram(Integers(3, 9)))
