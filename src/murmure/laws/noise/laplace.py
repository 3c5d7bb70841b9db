"""The discrete Laplace law itself, nothing rounded, for a rational rate s/t.

    P[z] = (1 - a) / (1 + a) a**|z|,     a = e**(-s/t).

Canonne, Kamath, Steinke, NeurIPS 2020, Algorithm 2, all in whole numbers below 2**63: U uniform below t is kept with
probability e**(-U/t); V counts coins of probability 1/e; |z| = (U + t V) // s; a fair sign, and "minus zero" is drawn
again. Moving one draw by d costs s/t |d| exactly, so a vector that moves by D in L1 costs D s/t.
"""

from __future__ import annotations

import decimal
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from murmure.core.errors import InvalidParameter
from murmure.core.fixed import exactly
from murmure.core.types import Floats, Ints
from murmure.laws.noise.coins import MAX_DENOMINATOR, BatchedNoise, Stream, first_accepted, flips, runs, uniforms

MAX_RATE = Fraction(1 << 10)


@dataclass(frozen=True)
class DiscreteLaplaceLaw(BatchedNoise):
    s: int
    t: int

    def __post_init__(self) -> None:
        if not (0 < self.t <= MAX_DENOMINATOR and 0 < self.s < 1 << 62):
            raise InvalidParameter(
                "discrete Laplace noise of scale {number:.3g} was asked for; up to 2**52 can be drawn.",
                hint="a larger epsilon, fewer rows for each person, or a coarser grid of the statistic",
                number=self.t / self.s if self.s else math.inf,
            )

    @property
    def rate(self) -> Fraction:
        return Fraction(self.s, self.t)

    def loss(self, moves: int, entries: int) -> Fraction:
        """The exact cost of shifting by `moves` in L1: the sum over entries of rate |d|."""
        return moves * self.rate

    @exactly
    def prob(self, z: int) -> decimal.Decimal:
        """To 78 digits."""
        a = (-decimal.Decimal(self.s) / self.t).exp()
        return (1 - a) / (1 + a) * (-decimal.Decimal(self.s) * abs(z) / self.t).exp()

    def log_prob(self, z: Any) -> Floats:
        rate = self.s / self.t
        return np.asarray(math.log(math.tanh(rate / 2)) - rate * np.abs(np.asarray(z, np.float64)))

    @property
    def variance(self) -> float:
        """2a / (1-a)**2 = 1 / (2 sinh(rate/2)**2)."""
        half = self.s / self.t / 2
        return 0.5 / math.sinh(half) ** 2 if half < 300 else 0.0

    @exactly
    def beyond(self, m: int) -> decimal.Decimal:
        """P[|Z| > m] = 2 a**(m+1) / (1+a)."""
        rate = decimal.Decimal(self.s) / self.t
        return 2 * (-rate * (m + 1)).exp() / (1 + (-rate).exp())

    @exactly
    def quantile(self, tail: float) -> int:
        rate = decimal.Decimal(self.s) / self.t
        m = int(-(decimal.Decimal(tail) * (1 + (-rate).exp()) / 2).ln() / rate) - 2
        m = max(0, m)
        while self.beyond(m) > decimal.Decimal(tail):
            m += 1
        return m

    def integers(self) -> dict[str, Any]:
        return {"law": "discrete laplace", "s": str(self.s), "t": str(self.t)}

    def batch(self, n: int, stream: Stream) -> Ints:
        kept = math.expm1(-1) / (self.t * math.expm1(-1 / self.t))  # the mean of e**(-U/t)
        not_minus_zero = (1 + math.exp(-self.s / self.t)) / 2
        return first_accepted(n, kept * not_minus_zero, lambda m: self._attempt(m, stream))

    def _attempt(self, m: int, stream: Stream) -> Ints:
        u = uniforms(self.t, m, stream)  # twice U, and the sign
        u = stream.pick(u, flips((u >> 1).view(np.uint64), self.t, m, stream))
        z = (u >> 1) + self.t * runs(len(u), stream)
        if self.s > 1:
            z //= self.s
        minus = u & 1
        return stream.pick((z ^ -minus) + minus, (z > 0) | (minus == 0))


def at_rate(rate: Fraction) -> DiscreteLaplaceLaw:
    """The exact law of this rate, or of one just below that fits: s = 2**k, t = ceil(s / rate), off by 1 in t."""
    rate = min(rate, MAX_RATE)
    if rate.denominator <= MAX_DENOMINATOR and rate.numerator < 1 << 62:
        return DiscreteLaplaceLaw(rate.numerator, rate.denominator)
    k = (rate * MAX_DENOMINATOR).__floor__().bit_length() - 1  # 2**k <= rate * MAX_DENOMINATOR, so t is at most that
    return DiscreteLaplaceLaw(1 << max(k, 0), math.ceil((1 << max(k, 0)) / rate))
