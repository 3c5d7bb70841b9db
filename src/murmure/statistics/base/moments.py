"""The first two moments of a number, as whole sums.

    g(x) = (1, u, 2 u^2 - r^2)  with  u = 2 code - r in [-r, r],  r = size - 1

Numbers are centred on the middle of their public range, which halves what one row can add; so are the squares (kept to
30 bits). A row without a number is left out of all three, and counted beside the others (left_out_rows.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from murmure.core.blocks import Block, NoisySum
from murmure.core.dates import NO_MEAN_OF_DATES
from murmure.core.domain import Dates, Decimals, Integers, Interval, check_few_values
from murmure.core.errors import InvalidParameter, shorten
from murmure.core.estimates.estimate import Estimate
from murmure.core.estimates.noisy_estimators import NoisyMoments
from murmure.core.types import Array, CountsLeftOut, FromCounts, Ints
from murmure.statistics.base.left_out_rows import counts_block, counts_left_out, left_out_field, lift_count
from murmure.statistics.base.statistic import DENSE, ProtectableStatistic, counts_with_nobody

Number = Integers | Interval | Decimals

CHUNK = 1 << 16


def check_number(owner: str, domain: object) -> None:
    if not isinstance(domain, Integers | Interval | Decimals):
        raise InvalidParameter(
            "{owner}.domain must be Integers, Interval or Decimals, got {got}.",
            hint=NO_MEAN_OF_DATES
            if isinstance(domain, Dates)
            else "categories have no {owner_2}; ask for their Histogram",
            owner=owner,
            got=shorten(domain),
            owner_2=owner.lower(),
        )
    check_few_values(f"{owner}.domain", domain)


def square_shift(r: int) -> int:
    """Squares of large numbers lose their last bits: one row adds at most 2**30, and sums do not pass 2**63."""
    return max(0, 2 * r.bit_length() - 30)


def moments_of(domain: Number, noisy: NoisySum) -> NoisyMoments:
    low, step, rounding = domain.scale()
    r = domain.size - 1
    n, s, q = (int(noisy[name][0]) for name in ("count", "sum", "square"))
    laws = (noisy.law("count"), noisy.law("sum"), noisy.law("square"))
    return NoisyMoments(n, s, q, laws, r, low + step * r / 2, step / 2, rounding, 1 << square_shift(r))


@dataclass(frozen=True)
class NumberStatistic(ProtectableStatistic[Estimate], CountsLeftOut, FromCounts):
    """A question about one number, whose sums follow from how often each code occurs."""

    domain: Number
    left_out: bool = left_out_field()  # also count the rows without a number; a curator's plan sets it

    handles_nobody = True
    width: ClassVar[Any]  # a property of every question

    def __post_init__(self) -> None:
        check_number(type(self).__name__, self.domain)

    def lift(self, x: Array) -> Ints:
        raise NotImplementedError

    def tally(self, x: Array) -> Ints:
        if self.domain.size <= DENSE:
            return self.from_counts(counts_with_nobody(x, self.domain.size))
        chunks = (self.lift(x[a : a + CHUNK]).sum(axis=0) for a in range(0, len(x), CHUNK))
        return np.asarray(sum(chunks, np.zeros(self.width, np.int64)))

    def from_counts(self, counts: Ints) -> Ints:
        """The sums, from how often each code occurs; nobody's count is the last one (in the last axis)."""
        return np.asarray(counts @ self.lift(np.arange(self.domain.size + 1)))


@dataclass(frozen=True)
class MomentsStatistic(NumberStatistic):
    """A question that the moments of one number answer. budget_shares: of the count, the sum and the squares."""

    budget_shares: ClassVar[tuple[float, float, float]]

    @property
    def width(self) -> int:
        return 3 + counts_left_out(self)

    @property
    def largest(self) -> int:
        return max(block.l1 for block in self.blocks)

    @property
    def blocks(self) -> tuple[Block, ...]:
        r, (count, total, square) = self.domain.size - 1, self.budget_shares
        low, high = (2 * (r % 2) - r * r) >> square_shift(r), (r * r) >> square_shift(r)  # u is as odd or even as r
        far, apart = max(abs(low), high), max(1, high - low)
        return (
            counts_block(counts_left_out(self), count),
            Block("sum", 1, r, r * r, total, 2 * r, 4 * r * r),
            Block("square", 1, far, far**2, square, apart, apart**2),
        )

    def lift(self, x: Array) -> Ints:
        size, r, x = self.domain.size, self.domain.size - 1, np.asarray(x).astype(np.int64)
        here = x < size
        u = (2 * x - r) * here
        squares = ((2 * u * u - r * r) >> square_shift(r)) * here
        return np.stack([*lift_count(x, size, counts_left_out(self)), u, squares], axis=-1)
