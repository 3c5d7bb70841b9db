"""The discrete Gaussian law itself, nothing rounded, for sigma**2 = t p / q.

    P[z] = e**(-z**2 / (2 sigma**2)) / sum over y of e**(-y**2 / (2 sigma**2)).

Canonne, Kamath, Steinke, NeurIPS 2020, Algorithm 3: discrete Laplace noise Y of scale t, kept with probability
e**(-g), g = (|Y| - sigma**2/t)**2 / (2 sigma**2). With m = sigma**2/t = p/q this is g = x**2 / (A p), x = |q |Y| - p|,
A = 2 t q: too large for 64 bits, so it is split. With x = a p + b and x = c A + d,

    g = x a / A  +  c b / p  +  (d / A) (b / p),

whole parts are that number of coins of probability 1/e, and the last term is a product of two coins. (Any t near sigma
works.)
"""

from __future__ import annotations

import decimal
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from murmure.core.errors import InvalidParameter
from murmure.core.fixed import exactly
from murmure.core.types import Floats, Ints, Mask
from murmure.laws.noise.coins import BatchedNoise, Stream, all_flips, first_accepted, flips, product_flips
from murmure.laws.noise.laplace import DiscreteLaplaceLaw

MAX_SIGMA = 1 << 44  # x a stays below 2**63 unless V > 500 coins of probability 1/e say yes in a row
MIN_SIGMA2 = Fraction(1, 64)  # the noise is 0 except for 3 in 10**14, and the cost does not grow any more
FINE = 1 << 31  # p is about that or more, so that sigma**2 differs from the requested one by less than 2**-30 of it
SUMMED = 60.0  # sigma below which sums over the law are added up one by one


@dataclass(frozen=True)
class DiscreteGaussianLaw(BatchedNoise):
    t: int
    p: int
    q: int

    @classmethod
    def at_least(cls, sigma2: Fraction) -> DiscreteGaussianLaw:
        """The law of the least sigma**2 on its grid that is not below `sigma2`."""
        if sigma2 > MAX_SIGMA**2:
            raise InvalidParameter(
                "discrete Gaussian noise of sigma = {sqrt:.3g} was asked for; up to 2**44 can be drawn.",
                hint="a larger budget, fewer rows for each person, or a coarser grid of the statistic",
                sqrt=math.sqrt(sigma2),
            )
        sigma2 = max(sigma2, MIN_SIGMA2)
        # Any t gives the exact law; just above sigma most proposals are kept.
        t = math.isqrt(math.floor(sigma2)) + 1
        q = max(1, math.floor(FINE * t / sigma2))
        return cls(t, math.ceil(sigma2 * q / t), q)

    def __post_init__(self) -> None:
        if not (self.t > 0 and self.p > 0 and 0 < self.q <= 64 * FINE and self.t <= MAX_SIGMA + 1):
            raise InvalidParameter("{value!r} is not a discrete Gaussian that can be drawn.", value=self)

    @property
    def sigma2(self) -> Fraction:
        return Fraction(self.t * self.p, self.q)

    def rho(self, squared: int) -> Fraction:
        """The cost of moving by `squared` (the sum of squared shifts): Theorem 4 there, for vectors by composition."""
        return squared / (2 * self.sigma2)

    # the law

    @cached_property
    def _terms(self) -> Floats:
        """e**(-z**2 / 2 sigma**2) for z = 0, 1, ... until nothing is left; for small sigma."""
        reach = int(40 * math.sqrt(self.sigma2)) + 2
        return np.exp(-(np.arange(reach, dtype=float) ** 2) / (2 * float(self.sigma2)))

    @cached_property
    def _small(self) -> bool:
        return self.sigma2 < SUMMED**2

    @cached_property
    def _norm(self) -> float:
        """The sum over all integers; for large sigma it is sigma sqrt(2 pi), up to e**(-2 pi**2 sigma**2)."""
        return float(2 * self._terms[1:].sum() + 1) if self._small else math.sqrt(2 * math.pi * float(self.sigma2))

    @exactly
    def prob(self, z: int) -> decimal.Decimal:
        """To a dozen digits: the denominator is a float."""
        exponent = -decimal.Decimal(z * z * self.q) / (2 * self.t * self.p)
        return exponent.exp() / decimal.Decimal(self._norm)

    def log_prob(self, z: Any) -> Floats:
        return np.asarray(-(np.asarray(z, np.float64) ** 2) / (2 * float(self.sigma2)) - math.log(self._norm))

    @cached_property
    def variance(self) -> float:
        if not self._small:
            return float(self.sigma2)
        return float(2 * (self._terms * np.arange(len(self._terms), dtype=float) ** 2).sum() / self._norm)

    def beyond(self, m: int) -> float:
        """P[|Z| > m]; for large sigma by the normal law at m + 1/2, right to 1 part in sigma**2."""
        if self._small:
            return float(2 * self._terms[m + 1 :].sum() / self._norm)
        return math.erfc((m + 0.5) / math.sqrt(2 * float(self.sigma2)))

    def integers(self) -> dict[str, Any]:
        return {"law": "discrete gaussian", "t": str(self.t), "p": str(self.p), "q": str(self.q)}

    # the sampler

    def batch(self, n: int, stream: Stream) -> Ints:
        laplace = DiscreteLaplaceLaw(1, self.t)
        chance = self._norm * math.tanh(0.5 / self.t) * math.exp(-float(self.sigma2) / (2 * self.t**2))

        def attempt(m: int) -> Ints:
            y = laplace.batch(m, stream)
            return stream.pick(y, self._kept(np.abs(y), stream))

        return first_accepted(n, chance, attempt)

    def _kept(self, y: Ints, stream: Stream) -> Mask:
        A, p = 2 * self.t * self.q, self.p
        x = np.abs(self.q * y - p)
        a, b = np.divmod(x, p)
        c, d = np.divmod(x, A)
        whole1, part1 = np.divmod(x * a, A)
        whole2, part2 = np.divmod(c * b, p)
        out = all_flips(whole1 + whole2, stream)
        for num, den in ((part1, A), (part2, p)):
            live = np.flatnonzero(out & (num > 0))
            out[live] = flips(num[live].view(np.uint64), den, len(live), stream)
        live = np.flatnonzero(out & (d > 0) & (b > 0))
        out[live] = product_flips(d[live].view(np.uint64), A, b[live].view(np.uint64), p, stream)
        return out
