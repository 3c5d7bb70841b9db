"""How many people hold each value.

g(x) = the indicator of x,   finish: shares of n.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.domain import Categories, Domain, Integers
from murmure.core.errors import InvalidParameter, shorten
from murmure.core.estimate import CellReading, Estimate
from murmure.core.types import Affine, Array, Ints, NoAffine
from murmure.laws.counting import histogram


def no_cross(f: NDArray[np.float64]) -> NDArray[np.float64]:
    """An exact sum has no noise to share between cells."""
    return np.zeros((len(f), len(f)))


@dataclass(frozen=True)
class Histogram:
    """Shares of every value of a domain."""

    domain: Domain

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Domain):
            raise InvalidParameter(
                f"Histogram.domain must be Categories, Integers or Interval, got {shorten(self.domain)}.",
                hint="put labels in Categories([...]), numbers in Integers(low, high) or Interval(low, high)",
            )

    largest = 1

    @property
    def width(self) -> int:
        return self.domain.size

    def encode(self, column: Any) -> Array:
        return self.domain.encode(column)

    def lift(self, x: Array) -> Ints:
        return (x[:, None] == np.arange(self.width)).astype(np.int64)

    def tally(self, x: Array) -> Ints:
        return histogram(x, self.width)

    def clear(self, total: Ints, n: int) -> Estimate:
        reading = CellReading(total, n, np.ones(self.width), np.zeros(self.width), no_cross)
        return Estimate(self.domain.labels(), reading.raw, n, "share", reading)

    def reads(self, affine: Affine | NoAffine) -> str | None:
        """Why this map cannot answer the question, or None."""
        if isinstance(affine, NoAffine):
            return affine.reason
        return None if affine.of == "cells" else "its reports give a mean, not the share of every value"

    def finish(self, estimate: Estimate) -> Estimate:
        return estimate

    def reference(self, x: Array) -> NDArray[np.float64]:
        return np.array([np.mean(x == v) for v in range(self.width)])


EXAMPLES = (Histogram(Categories(["no", "yes"])), Histogram(Integers(3, 9)))
