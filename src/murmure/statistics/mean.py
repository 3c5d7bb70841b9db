"""The mean of a number.

g(x) = (1, u, 2 u^2 - r^2)  with  u = 2 code - r in [-r, r],  r = size - 1;   finish: middle + step/2 * sum u / sum 1.

Numbers are centred on the middle of their public range, which halves what one row can add; so are the squares, which
are for the sampling error alone (and are kept to 30 bits). Protected: noisy sum over noisy count, never over n.

Weights. The noise of S / N has variance (r^2/e1^2 + mean^2/e0^2) 2/n^2, least at e0 : e1 = (mean/r)^(2/3) : 1. With
mean = r / sqrt 8 (anywhere in the range alike would be r / sqrt 3, in its middle half r / sqrt 12) it is 1 : 2, and
within 9 % of the best for all of these. A tenth goes to the squares: without them the sampling error would have to be
the largest there is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.blocks import Block, Noisy
from murmure.core.domain import Decimals, Integers, Interval, few_values
from murmure.core.errors import InvalidParameter, shorten
from murmure.core.estimate import CodeReading, Estimate
from murmure.core.noisy_reading import MeanReading, Moments, recalled
from murmure.core.share_means import mean_of
from murmure.core.types import Affine, Array, Ints, NoAffine
from murmure.statistics.shared import DENSE, counts_of, people, stand_in

CHUNK = 1 << 16
COUNT, SUM, SQUARE = 3.0, 6.0, 1.0  # weights


def need_number(owner: str, domain: object) -> None:
    if not isinstance(domain, Integers | Interval | Decimals):
        raise InvalidParameter(
            f"{owner}.domain must be Integers, Interval or Decimals, got {shorten(domain)}.",
            hint=f"categories have no {owner.lower()}; ask for their Histogram",
        )
    few_values(f"{owner}.domain", domain)


def shift_of(r: int) -> int:
    """Squares of large numbers lose their last bits: one row adds at most 2**30, and sums do not pass 2**63."""
    return max(0, 2 * r.bit_length() - 30)


def moment_blocks(r: int, count: float = COUNT, total: float = SUM, square: float = SQUARE) -> tuple[Block, ...]:
    """Count, centred sum, centred squares. Exchanging a row for another moves no count (one is the least there is)."""
    least, most = (2 * (r % 2) - r * r) >> shift_of(r), (r * r) >> shift_of(r)  # u is as odd or even as r
    far, apart = max(abs(least), most), max(1, most - least)
    return (
        Block("count", 1, 1, 1, count, 1, 1),
        Block("sum", 1, r, r * r, total, 2 * r, 4 * r * r),
        Block("square", 1, far, far**2, square, apart, apart**2),
    )


def lift_moments(x: Array, size: int) -> Ints:
    r = size - 1
    u = 2 * np.asarray(x).astype(np.int64) - r
    return np.stack([np.ones_like(u), u, (2 * u * u - r * r) >> shift_of(r)], axis=-1)


def moments_from_counts(counts: Ints) -> Ints:
    """From how often each code occurs, in the last axis."""
    return np.asarray(counts @ lift_moments(np.arange(counts.shape[-1]), counts.shape[-1]))


def tally_moments(x: Array, size: int) -> Ints:
    if size <= DENSE:
        return moments_from_counts(counts_of(x, size))
    out, r = np.zeros(3, np.int64), size - 1
    for a in range(0, len(x), CHUNK):
        u = 2 * x[a : a + CHUNK].astype(np.int64) - r
        out += np.array([len(u), u.sum(), ((2 * u * u - r * r) >> shift_of(r)).sum()], np.int64)
    return out


def moments_of(domain: Integers | Interval | Decimals, noisy: Noisy) -> Moments:
    low, step, rounding = domain.scale()
    r, noisy = domain.size - 1, recalled(noisy)
    n, s, q = (int(noisy[name][0]) for name in ("count", "sum", "square"))
    laws = (noisy.law("count"), noisy.law("sum"), noisy.law("square"))
    return Moments(n, s, q, laws, r, low + step * r / 2, step / 2, rounding, 1 << shift_of(r))


@dataclass(frozen=True)
class Mean:
    """The mean of Integers or of an Interval's grid."""

    domain: Integers | Interval | Decimals

    def __post_init__(self) -> None:
        need_number("Mean", self.domain)

    width = 3

    @property
    def largest(self) -> int:
        return max(block.l1 for block in self.blocks)

    @property
    def blocks(self) -> tuple[Block, ...]:
        return moment_blocks(self.domain.size - 1)

    def encode(self, column: Any) -> Array:
        return self.domain.encode(column)

    def stand(self, column: Any) -> Array:
        return stand_in(self.domain, column)

    def lift(self, x: Array) -> Ints:
        return lift_moments(x, self.domain.size)

    def tally(self, x: Array) -> Ints:
        return tally_moments(x, self.domain.size)

    def from_counts(self, counts: Ints) -> Ints:
        return moments_from_counts(counts)

    def read(self, noisy: Noisy) -> Estimate:
        m = moments_of(self.domain, noisy)
        mean = np.array([m.middle + m.half * m.u])
        return Estimate(["mean"], mean, people(m.count), "value", MeanReading(m), noisy=not m.exact)

    def clear(self, total: Ints, n: int) -> Estimate:
        low, step, rounding = self.domain.scale()
        r = self.domain.size - 1
        _, s, q = (int(t) for t in total)
        if cut := shift_of(r):
            q = (q << cut) + (n << cut) // 2  # half of what each square can have lost
        codes = (s + n * r) // 2  # u = 2 code - r, so both divisions are exact where nothing was lost
        squares = ((q + n * r * r) // 2 + 2 * r * s + n * r * r) // 4
        mean, square = codes / n, squares / n
        reading = CodeReading(mean, square, n, (0.0, 0.0, 0.0), r, low, step, rounding)
        return Estimate(["mean"], np.array([low + step * mean]), n, "value", reading)

    def reads(self, affine: Affine | NoAffine) -> str | None:
        return affine.reason if isinstance(affine, NoAffine) else None

    def finish(self, estimate: Estimate) -> Estimate:
        if estimate.unit == "value":
            return estimate
        return mean_of(estimate, self.domain.numbers(), self.domain.scale()[2])

    def reference(self, x: Array) -> NDArray[np.float64]:
        return np.array([self.domain.numbers()[x].mean()])


EXAMPLES = (Mean(Integers(-5, 20)), Mean(Interval(0.0, 3.0, cells=300)), Mean(Integers(0, 1)))
