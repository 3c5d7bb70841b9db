"""The mean of a number.

g(x) = (code, code**2),   finish: low + step * (sum of codes) / n.  (The square is for the sampling error.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.domain import Integers, Interval
from murmure.core.errors import InvalidParameter, shorten
from murmure.core.estimate import CodeReading, Estimate, mean_of
from murmure.core.types import Affine, Array, Ints, NoAffine

BLOCK = 1 << 16


@dataclass(frozen=True)
class Mean:
    """The mean of Integers or of an Interval's grid."""

    domain: Integers | Interval

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Integers | Interval):
            raise InvalidParameter(
                f"Mean.domain must be Integers or Interval, got {shorten(self.domain)}.",
                hint="categories have no mean; ask for their Histogram",
            )

    width = 2

    @property
    def largest(self) -> int:
        return (self.domain.size - 1) ** 2

    def encode(self, column: Any) -> Array:
        return self.domain.encode(column)

    def lift(self, x: Array) -> Ints:
        x = x.astype(np.int64)
        return np.stack([x, x * x], axis=1)

    def tally(self, x: Array) -> Ints:
        out = np.zeros(2, np.int64)
        for a in range(0, len(x), BLOCK):
            part = x[a : a + BLOCK].astype(np.int64)
            out += (part.sum(), part @ part)
        return out

    def clear(self, total: Ints, n: int) -> Estimate:
        low, step, rounding = self.domain.scale()
        mean, square = (float(t) / n for t in total)
        reading = CodeReading(mean, square, n, (0.0, 0.0, 0.0), self.domain.size - 1, low, step, rounding)
        return Estimate(["mean"], np.array([low + step * mean]), n, "value", reading)

    def reads(self, affine: Affine | NoAffine) -> str | None:
        return affine.reason if isinstance(affine, NoAffine) else None

    def finish(self, estimate: Estimate) -> Estimate:
        if estimate.unit == "value":
            return estimate
        return mean_of(estimate, self.domain.numbers(), self.domain.scale()[2])

    def reference(self, x: Array) -> NDArray[np.float64]:
        return np.array([self.domain.numbers()[x].mean()])


EXAMPLES = (Mean(Integers(-5, 20)), Mean(Interval(0.0, 3.0, cells=300)))
