"""The mean of a number.

g(x) = (1, u, 2 u^2 - r^2)  with  u = 2 code - r in [-r, r],  r = size - 1;   finish: middle + step/2 * sum u / sum 1.
A row without a number is left out of all three, and counted beside the others (left_out.py).

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

from murmure.core.blocks import Block, NoisySum
from murmure.core.domain import Decimals, Integers, Interval, check_few_values
from murmure.core.errors import InvalidParameter, shorten
from murmure.core.estimates.estimate import CodeEstimator, Estimate
from murmure.core.estimates.noisy_estimators import TOO_NOISY, MeanEstimator, NoisyMoments, with_cached_laws
from murmure.core.estimates.share_means import mean_of
from murmure.core.types import Affine, Array, Ints, NoAffine
from murmure.statistics.base.left_out_rows import count_block, counts_left_out, left_out_field, left_out_of, lift_count
from murmure.statistics.base.statistic import DENSE, counts_with_nobody, encode_lenient, people_count

Number = Integers | Interval | Decimals

CHUNK = 1 << 16
COUNT, SUM, SQUARE = 3.0, 6.0, 1.0  # weights


def need_number(owner: str, domain: object) -> None:
    if not isinstance(domain, Integers | Interval | Decimals):
        raise InvalidParameter(
            f"{owner}.domain must be Integers, Interval or Decimals, got {shorten(domain)}.",
            hint=f"categories have no {owner.lower()}; ask for their Histogram",
        )
    check_few_values(f"{owner}.domain", domain)


def shift_of(r: int) -> int:
    """Squares of large numbers lose their last bits: one row adds at most 2**30, and sums do not pass 2**63."""
    return max(0, 2 * r.bit_length() - 30)


def moment_blocks(
    r: int, both: bool, count: float = COUNT, total: float = SUM, square: float = SQUARE
) -> tuple[Block, ...]:
    """Count (both: and that of rows that are left out), centred sum, centred squares."""
    least, most = (2 * (r % 2) - r * r) >> shift_of(r), (r * r) >> shift_of(r)  # u is as odd or even as r
    far, apart = max(abs(least), most), max(1, most - least)
    return (
        count_block(both, count),
        Block("sum", 1, r, r * r, total, 2 * r, 4 * r * r),
        Block("square", 1, far, far**2, square, apart, apart**2),
    )


def lift_moments(x: Array, size: int, both: bool) -> Ints:
    r, x = size - 1, np.asarray(x).astype(np.int64)
    here = x < size
    u = (2 * x - r) * here
    return np.stack([*lift_count(x, size, both), u, ((2 * u * u - r * r) >> shift_of(r)) * here], axis=-1)


def moments_from_counts(counts: Ints, both: bool) -> Ints:
    """From how often each code occurs, nobody's last, in the last axis."""
    size = counts.shape[-1] - 1
    return np.asarray(counts @ lift_moments(np.arange(size + 1), size, both))


def tally_moments(x: Array, size: int, both: bool) -> Ints:
    if size <= DENSE:
        return moments_from_counts(counts_with_nobody(x, size), both)
    out = np.zeros(3 + both, np.int64)
    for a in range(0, len(x), CHUNK):
        out += lift_moments(x[a : a + CHUNK], size, both).sum(axis=0)
    return out


def moments_of(domain: Number, noisy: NoisySum) -> NoisyMoments:
    low, step, rounding = domain.scale()
    r = domain.size - 1
    n, s, q = (int(noisy[name][0]) for name in ("count", "sum", "square"))
    laws = (noisy.law("count"), noisy.law("sum"), noisy.law("square"))
    return NoisyMoments(n, s, q, laws, r, low + step * r / 2, step / 2, rounding, 1 << shift_of(r))


@dataclass(frozen=True)
class Mean:
    """The mean of Integers or of an Interval's grid."""

    domain: Number
    left_out: bool = left_out_field()  # also count the rows without a number; a curator's plan says so by itself

    def __post_init__(self) -> None:
        need_number("Mean", self.domain)

    takes_nobody = True

    @property
    def width(self) -> int:
        return 3 + counts_left_out(self)

    @property
    def largest(self) -> int:
        return max(block.l1 for block in self.blocks)

    @property
    def blocks(self) -> tuple[Block, ...]:
        return moment_blocks(self.domain.size - 1, counts_left_out(self))

    def encode(self, column: Any) -> Array:
        return self.domain.encode(column)

    def encode_lenient(self, column: Any) -> Array:
        return encode_lenient(self.domain, column)

    def lift(self, x: Array) -> Ints:
        return lift_moments(x, self.domain.size, counts_left_out(self))

    def tally(self, x: Array) -> Ints:
        return tally_moments(x, self.domain.size, counts_left_out(self))

    def from_counts(self, counts: Ints) -> Ints:
        return moments_from_counts(counts, counts_left_out(self))

    def interpret(self, noisy: NoisySum) -> Estimate:
        noisy = with_cached_laws(noisy)
        m = moments_of(self.domain, noisy)
        mean = np.array([m.middle + m.half * m.u]) if m.divides(0.95) else np.array([np.nan])
        return Estimate(
            ["mean"],
            mean,
            people_count(m.count),
            "value",
            MeanEstimator(m),
            None if m.divides(0.95) else TOO_NOISY,
            noisy=not m.exact,
            left_out=left_out_of(noisy) if counts_left_out(self) else None,
        )

    def interpret_exact(self, total: Ints, n: int) -> Estimate:
        low, step, rounding = self.domain.scale()
        r = self.domain.size - 1
        s, q = (int(t) for t in total[-2:])
        if cut := shift_of(r):
            q = (q << cut) + (n << cut) // 2  # half of what each square can have lost
        codes = (s + n * r) // 2  # u = 2 code - r, so both divisions are exact where nothing was lost
        squares = ((q + n * r * r) // 2 + 2 * r * s + n * r * r) // 4
        mean, square = codes / n, squares / n
        reading = CodeEstimator(mean, square, n, (0.0, 0.0, 0.0), r, low, step, rounding)
        return Estimate(["mean"], np.array([low + step * mean]), n, "value", reading)

    def why_unanswerable(self, affine: Affine | NoAffine) -> str | None:
        return affine.reason if isinstance(affine, NoAffine) else None

    def finish(self, estimate: Estimate) -> Estimate:
        if estimate.unit == "value":
            return estimate
        return mean_of(estimate, self.domain.numbers(), self.domain.scale()[2])

    def reference(self, x: Array) -> NDArray[np.float64]:
        return np.array([self.domain.numbers()[x].mean()])


EXAMPLES = (
    Mean(Integers(-5, 20)),
    Mean(Interval(0.0, 3.0, cells=300)),
    Mean(Integers(0, 1)),
    Mean(Integers(-5, 20), left_out=True),
    Mean(Integers(0, 1), left_out=True),
    Mean(Integers(0, 9, absent=3), left_out=True),
)
