"""The law of a sum of independent shares of noise: what a masked sum of several parties carries.

Polya shares add up to Polya noise and Skellam shares to Skellam noise, exactly. Discrete Gaussians do not quite: for
shares of variance s2 = sigma**2 >= 1/4 the sum S of n of them is near the discrete Gaussian W of variance n s2,

    |ln P[S = z] - ln P[W = z]| <= gap(s2, n) = 5 sum over k = 1 .. n-1 of e**(-2 pi**2 s2 k/(k+1))   for every z

(Kairouz, Liu, Steinke, ICML 2021, Theorem 9 and what follows it; tau there is twice this gap). Proof: P[W_k + X = z] is
P[W_(k+1) = z], times a constant, times the sum over x of e**(-(x-u)**2 / (2 c)), c = s2 k/(k+1), u = z k/(k+1). By
Poisson summation that sum varies by a factor of (1+y)/(1-y) at most, y = 2 (q + q**4 + ...), q = e**(-2 pi**2 c), and
its logarithm is at most 5 q for c >= 1/8; and adding X to both of two laws takes them no further apart.
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
from murmure.core.types import Floats, Ints
from murmure.laws.noise.coins import BatchedNoise, Stream
from murmure.laws.noise.gaussian import SUMMED, DiscreteGaussianLaw
from murmure.laws.noise.laplace import DiscreteLaplaceLaw
from murmure.laws.noise.polya import PolyaLaw
from murmure.laws.noise.skellam import SkellamLaw

ShareLaw = PolyaLaw | SkellamLaw | DiscreteGaussianLaw

MIN_SHARE_SIGMA2 = Fraction(1, 4)  # sigma**2 of one Gaussian share
TERMS = 24  # of the gap, one by one; the others are no larger than the last
TWO_PI_SQUARED = decimal.Decimal("19.7392088021787")  # rounded down


@exactly
def gap(sigma2: Fraction, count: int) -> decimal.Decimal:
    """How far the logarithms are apart, rounded up."""
    if sigma2 < MIN_SHARE_SIGMA2:
        raise InvalidParameter(
            "the gap of Gaussian shares is known only for sigma**2 >= 1/4, got {got:.3g}.", got=float(sigma2)
        )

    def term(k: int) -> decimal.Decimal:
        x = sigma2 * k / (k + 1)
        return (-TWO_PI_SQUARED * x.numerator / x.denominator).exp()

    out = sum((term(k) for k in range(1, min(count, TERMS + 1))), decimal.Decimal(0))
    if count > TERMS + 1:
        out += (count - 1 - TERMS) * term(TERMS + 1)  # terms fall
    return 5 * out * (1 + decimal.Decimal("1e-60"))


@dataclass(frozen=True)
class GaussianSum(BatchedNoise):
    """The sum of `count` discrete Gaussians; its probabilities by convolution where it is narrow."""

    share: DiscreteGaussianLaw
    count: int

    @property
    def variance(self) -> float:
        return self.count * self.share.variance

    @property
    def _small(self) -> bool:
        return self.variance < SUMMED**2

    @cached_property
    def _probs(self) -> Floats:
        """P[0], P[1], ..."""
        reach = int(38 * math.sqrt(self.variance)) + 2
        one, out, left = np.exp(self.share.log_prob(np.arange(-reach, reach + 1))), np.ones(1), self.count
        while left:
            if left & 1:
                out = _middle(np.convolve(out, one), reach)
            left >>= 1
            one = _middle(np.convolve(one, one), reach) if left else one
        return np.asarray(out[len(out) // 2 :] / out.sum())

    def log_prob(self, z: Any) -> Floats:
        m = np.abs(np.asarray(z, np.float64))
        wide = -(m**2) / (2 * self.variance) - math.log(2 * math.pi * self.variance) / 2
        if not self._small:
            return np.asarray(wide)
        probs = self._probs[np.minimum(m, len(self._probs) - 1).astype(np.int64)]
        known = (m < len(self._probs)) & (probs > 1e-290)
        return np.where(known, np.log(np.where(known, probs, 1.0)), wide)

    def prob(self, z: int) -> decimal.Decimal:
        """To a dozen digits where the law is added up."""
        return decimal.Decimal(float(self.log_prob(z))).exp()

    def beyond(self, m: int) -> float:
        """P[|Z| > m]; where it is wide by the normal law at m + 1/2."""
        if self._small:
            return float(2 * self._probs[m + 1 :].sum())
        return math.erfc((m + 0.5) / math.sqrt(2 * self.variance))

    def integers(self) -> dict[str, Any]:
        return {**self.share.integers(), "law": "sum of discrete gaussians", "count": self.count}

    def batch(self, n: int, stream: Stream) -> Ints:
        out = np.zeros(n, np.int64)
        for _ in range(self.count):
            out += self.share.batch(n, stream)
        return out


def _middle(probs: Floats, reach: int) -> Floats:
    spare = max(0, len(probs) // 2 - reach)
    return probs[spare : len(probs) - spare]


SumLaw = ShareLaw | DiscreteLaplaceLaw | GaussianSum


def sum_of(share: ShareLaw, count: int) -> SumLaw:
    """The law of the sum of `count` independent shares."""
    if isinstance(share, PolyaLaw):
        r = share.r * count
        return share.whole if r == 1 else PolyaLaw(share.s, share.t, r)
    if isinstance(share, SkellamLaw):
        return SkellamLaw(share.mean * count)
    return share if count == 1 else GaussianSum(share, count)
