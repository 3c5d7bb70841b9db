"""Skellam noise, nothing rounded: the difference of two Poisson numbers of one rational mean.

    P[z] = e**-v I(|z|, v),      v = 2 mean = the variance, I = the modified Bessel function of the first kind.

Skellam numbers add up to Skellam numbers, and their means add up: shares are exact for any number of parties.

What moving it costs. Let V = -ln P, let V(z+1) - 2 V(z) + V(z-1) <= kappa for all z, and let (1) hold with lambda:

    sum over z of P[z]**(1-u) P[z+1]**u <= e**(-lambda u (1-u) / 2),     0 <= u <= 1.                            (1)

Then for every real alpha > 1 and every whole move d

    D_alpha <= alpha kappa d**2 / 2 + (kappa - lambda) |d| / 2.                                                  (2)

Entries are independent, so their divergences add up: d**2 becomes D2, the sum of squares, and |d| becomes D1, and

    rho = (kappa D2 + (kappa - lambda) D1) / 2.                                                                  (3)

Proof of (2). kappa x**2 / 2 - V(x) is convex on the whole numbers; continued by straight lines it is convex, and z - d
is the mean of z, (alpha - 1) times, and of z - alpha d, once. So with W = kappa x**2 / 2 minus the continued function,
alpha V(z-d) >= (alpha-1) V(z) + W(z - alpha d) - kappa alpha (alpha-1) d**2 / 2. Sum e**(-alpha V(z-d) + (alpha-1)
V(z)) over z: W(n+u) = (1-u) V(n) + u V(n+1) - kappa u (1-u) / 2, so by (1) e**-W(z - alpha d) sums to at most
e**((kappa - lambda) u (1-u) / 2), where u or 1 - u is the fraction of alpha d; and u (1-u) <= (alpha-1) |d|.

kappa = -ln(1 - (v + 1/4) / v**2) will do for v >= 4. Proof. I(z-1) I(z+1) / I(z)**2 = 1 - g/v**2, where g = v y',
y = v I'(z)/I(z), v y' = v**2 + z**2 - y**2 (Bessel's equation), and so v g' = 2 v**2 - 2 y g; primes are derivatives in
v. For z >= 1: G = v**2 / sqrt(A), A = v**2 + z**2 - 1/4, lies above g near v = 0, where g is v**2 / (z+1); and where
g = G, v G' - v g' has the sign of (1 - c)(2 sqrt(A) - (3 - c)/4) > 0, c = v**2 / A < 1: so g never gets past G, and
g/v**2 <= 1 / sqrt(v**2 + 3/4) < 1/v. For z = 0: G = v + 1/4 lies above g at v = 4 (4.25 against 4.07), and where
g = G, v G' - v g' has the sign of 2 v**3 - 3.75 v**2 - 0.75 v - 1/16, positive from v = 2.1 on.

lambda = 4 l tanh(l), l = arsinh(1 / (2 sqrt(v))), will do, for any two laws P and Q of variance v with means 1 apart.
Proof. x**u = sin(pi u)/pi times the integral over s > 0 of s**(u-1) x / (x+s), so 1 - sum of P**(1-u) Q**u is an
integral, with positive weights, of X(t) = sum of (P-Q)**2 / M over the mixtures M = (1-t) P + t Q. By Cauchy and
Schwarz X(t) >= 1 / (variance of M) = 1 / (v + t(1-t)), with equality for all t if P and Q are mirror images on two
points, for which the sum is cosh((1-2u) l) / cosh(l); and ln cosh(l) - ln cosh(w l) >= (1 - w**2) l tanh(l) / 2, as
tanh(x)/x falls.

kappa is 1/v (1 + 3/(4v) + ...), lambda is 1/v (1 - 1/(6v) + ...). Agarwal, Kairouz and Liu (NeurIPS 2021) have, for
whole alpha only, alpha D2 / (2v) + min(((2 alpha - 1) D2 + 6 D1) / (4 v**2), 3 D1 / (2v)).
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
from murmure.laws.noise.poisson import PoissonLaw

MIN_VARIANCE = 4  # the variance from which kappa is known
SUMMED = 1_000_000  # variances up to here are added up one by one
LISTED = 2000  # variances up to here by ratios of Bessel functions; beyond, by Debye's expansion, right to 1e-13


def kappa(variance: Fraction) -> decimal.Decimal:
    """A bound of the second differences of -ln P, rounded up."""
    if variance < MIN_VARIANCE:
        raise InvalidParameter(
            "the cost of Skellam noise is known only for a variance of at least {min_variance}, got {got:.3g}.",
            min_variance=MIN_VARIANCE,
            got=float(variance),
        )
    return _kappa(variance)


@exactly
def _kappa(variance: Fraction) -> decimal.Decimal:
    x = (variance + Fraction(1, 4)) / variance**2
    if x < Fraction(1, 10**9):
        # -ln(1 - x) <= x + x**2 / 2 / (1 - x), without the digits that 1 - x would lose
        exact = x + x**2 / 2 / (1 - x)
        return decimal.Decimal(exact.numerator) / exact.denominator * (1 + decimal.Decimal("1e-78"))
    left = 1 - x
    return -(decimal.Decimal(left.numerator) / left.denominator).ln() + decimal.Decimal("1e-77")


@exactly
def lam(variance: Fraction) -> decimal.Decimal:
    """lambda of (1), rounded down; tanh(l) = 1 / sqrt(1 + 4 v)."""
    v = decimal.Decimal(variance.numerator) / variance.denominator
    y = 1 / (2 * v.sqrt())
    arsinh = (y + (1 + y * y).sqrt()).ln() - decimal.Decimal("1e-78")
    return 4 * arsinh / (1 + 4 * v).sqrt() * (1 - decimal.Decimal("1e-77"))


@exactly
def skellam_rho(variance: Fraction, d1: int, d2: int) -> Fraction:
    """The cost of moving by d1 in L1 and d2 in squares, at all real orders: (3), rounded up in the 70th digit."""
    k = kappa(variance)
    return Fraction((k * d2 + (k - lam(variance)) * d1) / 2 * (1 + decimal.Decimal("1e-70")))


@dataclass(frozen=True)
class SkellamLaw(BatchedNoise):
    mean: Fraction  # of each of the two Poisson numbers

    def __post_init__(self) -> None:
        _ = self._poisson  # a mean that cannot be drawn is refused here

    @property
    def _poisson(self) -> PoissonLaw:
        return PoissonLaw(self.mean)

    @property
    def variance(self) -> float:
        return float(2 * self.mean)

    @property
    def kappa(self) -> decimal.Decimal:
        return kappa(2 * self.mean)

    @property
    def lam(self) -> decimal.Decimal:
        return lam(2 * self.mean)

    # the law, by floats

    @cached_property
    def _logs(self) -> Floats:
        """ln P[z] for z = 0, 1, ...: I(z-1) = I(z+1) + 2 z/v I(z), downward, where errors fall."""
        v = self.variance
        reach = int(40 * math.sqrt(v)) + 60
        ratio, logs = 0.0, np.zeros(reach + 1)
        for z in range(reach + 30, 0, -1):
            ratio = 1 / (ratio + 2 * z / v)
            if z <= reach:
                logs[z] = math.log(ratio)
        logs = np.cumsum(logs)
        return np.asarray(logs - math.log(2 * np.exp(logs[1:]).sum() + 1))

    @cached_property
    def _beyond(self) -> Floats:
        reach = int(40 * math.sqrt(self.variance)) + 60
        probs = np.exp(self.log_prob(np.arange(reach, 0, -1)))
        return 2 * np.append(np.cumsum(probs)[::-1], 0.0)

    def log_prob(self, z: Any) -> Floats:
        m = np.abs(np.asarray(z, np.float64))
        if 2 * self.mean > LISTED:
            return self._debye(m)
        logs = self._logs
        inside = logs[np.minimum(m, len(logs) - 1).astype(np.int64)]
        return np.where(m < len(logs), inside, self._debye(np.maximum(m, len(logs))))

    def _debye(self, m: Floats) -> Floats:
        """ln I(m, v) - v for a large hypot(m, v): Abramowitz, Stegun 9.7.7; u_k(p) / m**k has no pole at m = 0."""
        v = self.variance
        s = np.hypot(m, v)
        p = (m / s) ** 2
        more = (
            (3 - 5 * p) / (24 * s)
            + (81 - 462 * p + 385 * p**2) / (1152 * s**2)
            + (30375 - 369603 * p + 765765 * p**2 - 425425 * p**3) / (414720 * s**3)
        )
        return np.asarray(m * (m / (s + v) - np.arcsinh(m / v)) - np.log(2 * math.pi * s) / 2 + np.log1p(more))

    def prob(self, z: int) -> decimal.Decimal:
        """To a dozen digits."""
        return decimal.Decimal(float(self.log_prob(z))).exp()

    def beyond(self, m: int) -> float:
        """P[|Z| > m]; where it is wide by the normal law at m + 1/2, with the fourth moment, right to 1/v**2."""
        v = self.variance
        if v <= SUMMED:
            return float(self._beyond[min(m, len(self._beyond) - 1)])
        x = (m + 0.5) / math.sqrt(v)
        density = math.exp(-x * x / 2) / math.sqrt(2 * math.pi)
        return max(0.0, math.erfc(x / math.sqrt(2)) + density * (x**3 - 4 * x) / (12 * v))

    def integers(self) -> dict[str, Any]:
        return {"law": "skellam", "mean": str(self.mean)}

    # the sampler

    def batch(self, n: int, stream: Stream) -> Ints:
        both = self._poisson.batch(2 * n, stream)
        return np.asarray(both[:n] - both[n:])
