"""Polya noise, nothing rounded: the difference of two negative binomial numbers, the share of discrete Laplace noise.

    E[w**Z] = ((1 - a)**2 / ((1 - a w)(1 - a/w)))**r,      a = e**(-s/t),     r = 1/h for one of h parties.

At r = 1 this is the discrete Laplace law, and generating functions multiply: h shares of r = 1/h add up to it, exactly.

A negative binomial number is a sum over a Poisson process: points k = 1, 2, ... come with intensity r a**k / k
(its generating function is exp(r sum of a**k (w**k - 1) / k)). The process is thinned out of one with rational
intensities (Lewis, Shedler, 1979). With J the least number with rate 2**J >= 1:

    octave j < J   intensity r, k uniform in 2**j .. 2**(j+1)-1, kept with probability (2**j / k) e**(-rate k);
    the tail       intensity r, block b = 1, 2, ... with probability 2**-b, k uniform in b 2**J .. (b+1) 2**J - 1,
                   kept with probability 2**b (2**J / k) e**(-rate k) = (2/e)**b (2**J / k) e**-(rate k - b),

where rate k >= b, so all are coins; 2/e = 1 - 1/3 + 1/(3 4) - ... is the alternating coin that begins at 1/3. Points
carry a fair sign, for the difference; their number is a Poisson number of mean 2 r (J + 1).
"""

from __future__ import annotations

import decimal
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from murmure.core.errors import InvalidParameter
from murmure.core.types import Floats, Ints, Mask
from murmure.laws.noise.coins import BatchedNoise, Stream, all_flips, flips, least_beyond, uniforms
from murmure.laws.noise.laplace import DiscreteLaplaceLaw
from murmure.laws.noise.poisson import PoissonLaw
from murmure.laws.noise.thinning import all_two_over_e, fair_runs, ratio_flips

SUMMED = 1000  # scales up to here are added up one by one; of larger scales, the continuous law takes its place
MAX_PARTIES = 1 << 30


@dataclass(frozen=True)
class PolyaLaw(BatchedNoise):
    s: int
    t: int
    r: Fraction

    def __post_init__(self) -> None:
        if self.r <= 0 or self.r.denominator > MAX_PARTIES or self.r > MAX_PARTIES:
            raise InvalidParameter("Polya noise of r = {r} was asked for; 2**-30 to 2**30 can be drawn.", r=self.r)
        _ = self.whole  # a rate that cannot be drawn is refused here

    @property
    def whole(self) -> DiscreteLaplaceLaw:
        """The law of the sum of shares whose r adds up to 1."""
        return DiscreteLaplaceLaw(self.s, self.t)

    @property
    def rate(self) -> Fraction:
        return Fraction(self.s, self.t)

    @property
    def variance(self) -> float:
        """2 r a / (1-a)**2."""
        return float(self.r) * self.whole.variance

    # the law, by floats: for error bars and for tests

    @cached_property
    def _logs(self) -> Floats:
        """ln P[z] for z = 0, 1, ... until nothing is left.

        The generating function G solves (1 + a**2 - a w - a/w) w G' = r a (w - 1/w) G, so
        a (z+1-r) P[z+1] = (1 + a**2) z P[z] - a (z-1+r) P[z-1]: P is the solution that falls, so it is found downward.
        """
        rate, r = float(self.rate), float(self.r)
        a = math.exp(-rate)
        reach = int(60 / rate + 20 * math.sqrt(self.variance)) + 3
        ratio, logs = a, np.zeros(reach + 1)
        for z in range(reach, 0, -1):  # ratio = P[z] / P[z-1]
            ratio = a * (z - 1 + r) / ((1 + a * a) * z - a * (z + 1 - r) * ratio)
            logs[z] = math.log(ratio) if ratio > 0 else -1000.0
        logs = np.cumsum(logs)
        top = logs.max()
        weights = np.exp(logs - top)
        return np.asarray(logs - top - math.log(2 * weights[1:].sum() + weights[0]))

    @cached_property
    def _beyond(self) -> Floats:
        """P[|Z| > m] for m = 0, 1, ..."""
        return 2 * np.append(np.cumsum(np.exp(self._logs[:0:-1]))[::-1], 0.0)

    @property
    def _small(self) -> bool:
        return self.rate * SUMMED >= 1

    def log_prob(self, z: Any) -> Floats:
        m = np.abs(np.asarray(z, np.float64))
        if self._small:
            logs, last = self._logs, len(self._logs) - 1
            return np.asarray(logs[np.minimum(m, last).astype(np.int64)] - float(self.rate) * np.maximum(m - last, 0))
        return np.where(m > 0, self._log_density(np.maximum(m, 0.5)), self._log_zero)

    @cached_property
    def _log_zero(self) -> float:
        """ln P[0], the sum of the squares of negative binomial probabilities: the density may be infinite there."""
        from scipy.special import hyp2f1

        rate, r = float(self.rate), float(self.r)
        if r >= 1:
            return float(self._log_density(0.5))
        return float(2 * r * math.log(-math.expm1(-rate)) + np.log(hyp2f1(r, r, 1.0, math.exp(-2 * rate))))

    def prob(self, z: int) -> decimal.Decimal:
        """To a dozen digits where the law is added up."""
        return decimal.Decimal(float(self.log_prob(z))).exp()

    def _log_density(self, x: Any) -> Floats:
        """The difference of two Gamma numbers: (x rate/2)**(r-1/2) K(r-1/2, x rate) rate / (sqrt(pi) Gamma(r))."""
        from scipy.special import gammaln, kve

        rate, r = float(self.rate), float(self.r)
        y = np.asarray(x, np.float64) * rate
        front = math.log(rate) - math.log(math.pi) / 2 - float(gammaln(r))
        return np.asarray(front + (r - 0.5) * np.log(y / 2) + np.log(kve(abs(r - 0.5), y)) - y)

    def beyond(self, m: int) -> float:
        """P[|Z| > m]."""
        if self._small:
            return float(self._beyond[min(m, len(self._beyond) - 1)])
        at, logs = self._tails
        return float(np.exp(np.interp(math.log((m + 0.5) * float(self.rate)), at, logs)))

    @cached_property
    def _tails(self) -> tuple[Floats, Floats]:
        """ln P[|Z| > x] where the law is wide, at ln(x rate): trapezoids, right to 1e-5 of each tail.

        Fine steps of the logarithm up to 1, as the density may be without bound at 0; then steps of 1/100.
        """
        rate = float(self.rate)
        end = 100 + 40 * math.sqrt(self.variance) * rate
        y = np.append(np.geomspace(rate / 2, 1, 1 << 13)[:-1], np.arange(1, min(end, 600), 0.01))
        density = np.exp(self._log_density(y / rate)) / rate
        pieces = np.diff(y) * (density[1:] + density[:-1])  # both sides of 0, so not halved
        tails = np.append(np.cumsum(pieces[::-1])[::-1], density[-1] * 2)
        return np.log(y), np.log(np.minimum(tails, 1.0))

    def quantile(self, tail: float) -> int:
        return _quantile(self, tail)

    def integers(self) -> dict[str, Any]:
        return {"law": "polya", "s": str(self.s), "t": str(self.t), "r": str(self.r)}

    # the sampler

    @cached_property
    def octaves(self) -> int:
        """J."""
        return max(0, (-(-self.t // self.s) - 1).bit_length())

    def batch(self, n: int, stream: Stream) -> Ints:
        J = self.octaves
        # Points of both signs, for the difference of two negative binomial numbers.
        count = PoissonLaw(2 * self.r * (J + 1)).batch(n, stream)
        owner = np.repeat(np.arange(n), count)
        place = uniforms(J + 1, len(owner), stream)  # twice the octave, and the sign
        k, kept = self._points(place >> 1, stream)
        minus = place & 1
        out = np.zeros(n, np.int64)
        np.add.at(out, owner[kept], ((k ^ -minus) + minus)[kept])
        return out

    def _points(self, octave: Ints, stream: Stream) -> tuple[Ints, Mask]:
        """The points that are proposed, and which of them are kept."""
        J, m = self.octaves, len(octave)
        words = stream.take(m)
        low = (words >> (np.uint64(63) - octave.astype(np.uint64))) >> np.uint64(1)  # the first `octave` bits
        block = np.ones(m, np.int64)
        tail = np.flatnonzero(octave == J)
        block[tail] += fair_runs(len(tail), stream)
        k = (block << octave) + low.astype(np.int64)
        kept = ratio_flips(np.left_shift(np.uint64(1), octave.astype(np.uint64)), k.view(np.uint64), stream)
        tail = tail[kept[tail]]
        kept[tail] = all_two_over_e(block[tail], stream)
        live = np.flatnonzero(kept)
        # rate k, of which the tail has spent b already
        whole, part = np.divmod(k[live] * (self.s % self.t), self.t)
        whole += k[live] * (self.s // self.t) - np.where(octave[live] == J, block[live], 0)
        yes = all_flips(whole, stream)
        yes &= flips(part.view(np.uint64), self.t, len(live), stream)
        kept[live] = yes
        return k, kept


@lru_cache(maxsize=1024)
def _quantile(law: PolyaLaw, tail: float) -> int:
    """Cached: the error bars of a table ask for the same quantile again and again."""
    return least_beyond(law.beyond, tail)
