"""Error bars of figures from protected sums: noise, sampling and rounding to the grid in one interval.

A sum of integers carries noise Z of a known law, symmetric and with one mode. So a count alone is inverted exactly:
truth = count - Z, and |Z| <= law.quantile(alpha) with probability 1 - alpha. A figure that adds several noises, each
times a constant, is taken to be off by the root of the sum of squares of how far each reaches (`reach`), which is never
less than the normal quantile of the whole (tested by convolution and enumeration, at levels from 0.5 to 0.999). A ratio
is inverted as Fieller does (Suppl. JRSS 7, 1940): the set of theta for which  S - theta N  is not too far from 0, so
nothing is divided.

fixed: noise and rounding. superpopulation: sampling too, with limits that hold for few people (sampling_limits.py) and
variances that noisy sums give, or their largest value; noise and sampling are put together by MOVER.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from murmure.core.blocks import NoiseLaw, NoisySum
from murmure.core.errors import NoUnbiasedEstimate, Phrase
from murmure.core.estimates.estimate import CountingEstimator, Estimate, Estimator
from murmure.core.estimates.intervals import clopper_pearson, level_of_each, normal_quantile
from murmure.core.estimates.method_words import (
    CLOPPER_PEARSON,
    DELTA,
    DISTRIBUTION_FUNCTION,
    FIELLER,
    GARWOOD,
    KNOWN_EXACTLY,
    MAX_SPREAD_LAW,
    MOVER_DELTA,
    MOVER_FIELLER,
    MOVER_GARWOOD,
    MOVER_TWO_MOMENTS,
    NOISE_INVERSION,
    TOO_FEW,
    plain_name,
    simultaneous_name,
)
from murmure.core.estimates.sampling_limits import garwood, mover, two_moments
from murmure.core.types import Floats, Ints, Target
from murmure.show.phrase import apart

TOO_NOISY = Phrase("the noise is as large as the number of people, so that there is nothing to divide by")


class CachedLaw:
    """A law that caches its quantiles and its variance: groups and levels ask for the same ones again and again."""

    def __init__(self, law: NoiseLaw) -> None:
        self.law = law
        self.quantile = functools.cache(law.quantile)

    @cached_property
    def variance(self) -> float:
        return float(self.law.variance)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.law, name)

    def __repr__(self) -> str:
        return f"CachedLaw({type(self.law).__name__}, variance {self.variance:.6g})"


def with_cached_laws(noisy: NoisySum) -> NoisySum:
    laws = tuple(law if law is None or isinstance(law, CachedLaw) else CachedLaw(law) for law in noisy.laws)
    return NoisySum(noisy.blocks, noisy.sum, laws)


def variance_of(law: NoiseLaw | None) -> float:
    return 0.0 if law is None else float(law.variance)


def reach(law: NoiseLaw | None, level: float) -> float:
    """How far a noise reaches, when it is one of several: its quantile, and at least that of a normal law.

    A peaked law (Laplace) reaches farther than a normal one at high levels; at low levels sums of many reach farther.
    Half a unit is added, since the noise is a whole number and its multiples are not.
    """
    if law is None:
        return 0.0
    return max(float(law.quantile(1 - level)), normal_quantile(level) * float(np.sqrt(law.variance))) + 0.5


def quadratic_interval(a: float, b: float, c: float, low: float, high: float) -> tuple[float, float]:
    """{ t in [low, high] : a t^2 - 2 b t + c <= 0 } for a > 0; its nearest end twice where it misses the range."""
    root = np.sqrt(max(b * b - a * c, 0.0))
    return float(np.clip((b - root) / a, low, high)), float(np.clip((b + root) / a, low, high))


@dataclass(frozen=True, eq=False)
class CountEstimator(CountingEstimator):
    """Counts of people, each with noise of the same law.

    superpopulation: the rows are a Poisson draw, and the target is the number to be expected (variance: itself).
    """

    counts: Ints
    law: NoiseLaw | None

    def variance(self, target: Target) -> Floats:
        noise = np.full(len(self.counts), variance_of(self.law))
        return noise + (np.maximum(self.counts, 0) if target == "superpopulation" else 0.0)

    def covariance(self, target: Target) -> Floats:
        return np.diag(self.variance(target))

    def interval(self, level: float, target: Target, simultaneous: bool) -> tuple[Floats, str]:
        each = level_of_each(level, len(self.counts), simultaneous)
        o = self.counts.astype(float)
        if target == "fixed":
            far = 0 if self.law is None else int(self.law.quantile(1 - each))
            ends = np.stack([o - far, o + far], axis=1)
            method = KNOWN_EXACTLY if self.law is None else NOISE_INVERSION
            return np.maximum(ends, 0.0), method if self.law is None else simultaneous_name(method, simultaneous)
        q = reach(self.law, each)
        ends = mover(o, np.stack([o - q, o + q], axis=1), np.maximum(o, 0.0), garwood(o, each))
        method = GARWOOD if self.law is None else MOVER_GARWOOD
        return np.maximum(ends, 0.0), simultaneous_name(method, simultaneous)


@dataclass(frozen=True, eq=False)
class ShareEstimator(CountingEstimator):
    """Shares of noisy counts in their noisy sum:  C_j / T,  T = C_1 + ... + C_k, all with noise of one law.

    C_j - theta T = (1 - theta) C_j - theta (the others), so k noises enter with (1-theta)^2 + (k-1) theta^2.
    """

    counts: Ints
    law: NoiseLaw | None

    @cached_property
    def total(self) -> int:
        return round(float(self.counts.sum(dtype=np.float64)))  # exact below 2**53, and never wraps

    def _divides(self, q: float) -> bool:
        return bool(self.total > np.sqrt(len(self.counts)) * q)

    def divides(self, level: float) -> bool:
        """Whether the total is surely not zero: decided by noisy totals, which reveal nothing more."""
        return self._divides(reach(self.law, level))

    @property
    def shares(self) -> Floats:
        """Unbiased up to the noise of the total; all equal (and not released) where there is nothing to divide by."""
        k = len(self.counts)
        return self.counts / self.total if self.divides(0.95) else np.full(k, 1 / k)

    def _spread(self) -> float:
        return float(max(self.total, 1, np.sqrt(len(self.counts)) * reach(self.law, 0.95)))

    def variance(self, target: Target) -> Floats:
        f, k = np.clip(self.shares, 0.0, 1.0), len(self.counts)
        if not self._divides(reach(self.law, 0.95)):
            return np.ones(k)
        out = variance_of(self.law) * ((1 - f) ** 2 + (k - 1) * f * f) / self._spread() ** 2
        return np.asarray(out + (f * (1 - f) / self._spread() if target == "superpopulation" else 0.0))

    def covariance(self, target: Target) -> Floats:
        f, k = np.clip(self.shares, 0.0, 1.0), len(self.counts)
        if not self._divides(reach(self.law, 0.95)):
            return np.eye(k)
        slopes = (np.eye(k) - np.outer(f, np.ones(k))) / self._spread()
        out = variance_of(self.law) * slopes @ slopes.T
        if target == "superpopulation":
            out = out + (np.diag(f) - np.outer(f, f)) / self._spread()
        return np.asarray(out)

    def interval(self, level: float, target: Target, simultaneous: bool) -> tuple[Floats, str]:
        k = len(self.counts)
        each = level_of_each(level, k, simultaneous)
        q = reach(self.law, each)
        # Without a denominator that is surely positive, the set of Fieller is not an interval.
        if not self._divides(q):
            return np.tile([0.0, 1.0], (k, 1)), TOO_FEW
        if self.law is None and target == "fixed":
            return np.stack([self.shares, self.shares], axis=1), KNOWN_EXACTLY
        o, total = self.counts.astype(float), float(self.total)
        # (C - t T)^2 <= q^2 (1 - 2 t + k t^2)
        a = total**2 - k * q * q
        b = o * total - q * q
        root = np.sqrt(np.maximum(b * b - a * (o * o - q * q), 0.0))
        ends, method = np.stack([(b - root) / a, (b + root) / a], axis=1), FIELLER
        if target == "superpopulation":
            # divided by T where there may be T + sqrt(k) q people: a sample worth T^2 / (T + sqrt(k) q)
            n, f = total**2 / (total + np.sqrt(k) * q), np.clip(o / total, 0.0, 1.0)
            ends = mover(o / total, ends, f, clopper_pearson(n * f, n, each))
            method = CLOPPER_PEARSON if self.law is None else MOVER_FIELLER
        return np.clip(ends, 0.0, 1.0), simultaneous_name(method, simultaneous)


@dataclass(frozen=True, eq=False)
class NoisyMoments:
    """Noisy count N, sum S of u in [-r, r], sum Q of (2 u^2 - r^2) / times, rounded down; value = middle + half u."""

    count: int
    sum: int
    square: int
    laws: tuple[NoiseLaw | None, NoiseLaw | None, NoiseLaw | None]
    r: int
    middle: float
    half: float
    rounding: float  # how far a value may have moved to reach the grid
    times: int = 1

    @property
    def exact(self) -> bool:
        return all(law is None for law in self.laws)

    def divides(self, level: float) -> bool:
        """Whether the count is surely not zero: decided by noisy totals, which reveal nothing more."""
        return self.count > reach(self.laws[0], level)

    @property
    def n(self) -> float:
        return float(max(self.count, 1))

    @property
    def u(self) -> float:
        """The mean, kept in the public range; its middle, where there is nothing to divide by."""
        return float(np.clip(self.sum / self.n, -self.r, self.r)) if self.divides(0.95) else 0.0

    @property
    def _second(self) -> float:
        """The mean of u^2; half of what rounding down took from squares is added."""
        lost = 0.5 if self.times > 1 else 0.0
        return float(self.times * (self.square / self.n + lost) + float(self.r) ** 2) / 2

    @property
    def spread(self) -> float:
        """The variance of u, clipped to 0 and the largest variance for this mean (Bhatia and Davis, 2000)."""
        return float(np.clip(self._second - self.u**2, 0.0, float(self.r) ** 2 - self.u**2))

    def slopes_of_spread(self) -> Floats:
        """Derivatives of  (Q/N + r^2)/2 - (S/N)^2  in N, S and Q."""
        second = float(np.clip(self._second, 0.0, float(self.r) ** 2))
        return np.array([2 * self.u**2 - (second - float(self.r) ** 2 / 2), -2 * self.u, self.times / 2]) / self.n

    @property
    def variances(self) -> Floats:
        return np.array([variance_of(law) for law in self.laws])

    def largest_spread(self) -> float:
        """The variance of u for sampling errors: plus two standard errors, and at most the largest possible."""
        noise = float(np.sqrt(self.slopes_of_spread() ** 2 @ self.variances))
        off = 2 * float(np.sqrt(self.variances[1] + self.u**2 * self.variances[0])) / self.n
        most = float(self.r) ** 2 - max(0.0, abs(self.u) - off) ** 2
        return float(np.clip(self._second - self.u**2 + 2 * noise, 0.0, most))


@dataclass(frozen=True, eq=False)
class MeanEstimator:
    """A mean as the ratio of two noisy sums, S / N."""

    m: NoisyMoments

    def variance(self, target: Target) -> Floats:
        m = self.m
        if not m.divides(0.95):
            return np.array([(m.half * m.r) ** 2])
        out = (m.variances[1] + m.u**2 * m.variances[0]) / m.n**2
        out += m.spread / m.n if target == "superpopulation" else 0.0
        return np.array([m.half**2 * out])

    def covariance(self, target: Target) -> Floats:
        return self.variance(target).reshape(1, 1)

    def interval(self, level: float, target: Target, simultaneous: bool) -> tuple[Floats, str]:
        m = self.m
        method: str = FIELLER
        # Without a denominator that is surely positive, the set of Fieller is not an interval.
        if not m.divides(level):
            ends, method = (-float(m.r), float(m.r)), TOO_FEW
        else:
            q0, q1 = reach(m.laws[0], level), reach(m.laws[1], level)
            n, s, r = float(m.count), float(m.sum), float(m.r)
            ends = quadratic_interval(n * n - q0 * q0, s * n, s * s - q1 * q1, -np.inf, np.inf)
            if target == "superpopulation":
                # divided by N where there may be N + q0 people: a sample worth N^2 / (N + q0)
                limits, method = two_moments(m.u, m.largest_spread(), n * n / (n + q0), (-r, r), level)
                low, high = mover(s / n, np.array(ends), m.u, np.array(limits))
                ends = (float(low), float(high))
                method = method if m.exact else MOVER_TWO_MOMENTS
            ends = (float(np.clip(ends[0], -r, r)), float(np.clip(ends[1], -r, r)))
            if m.exact and target == "fixed":
                method = KNOWN_EXACTLY
        low, high = (m.middle + m.half * end for end in ends)
        return np.array([[low - m.rounding, high + m.rounding]]), method


@dataclass(frozen=True, eq=False)
class VarianceEstimator:
    """A variance from three noisy sums, by the delta method; the whole range where noise is a third of the count."""

    m: NoisyMoments

    def _sampling(self) -> float:
        """Variance of the mean of (u - mean)^2, which lies in [0, w]: at most v (w - v) (Bhatia and Davis)."""
        m = self.m
        v, w = m.largest_spread(), (m.r + abs(m.u)) ** 2
        return max(0.0, v * (w - v)) / m.n

    def divides(self, level: float) -> bool:
        return self.m.count > 3 * reach(self.m.laws[0], level)

    def _limits(self, level: float) -> Floats:
        """Limits of v from sampling alone, for the widest law: (u - mean)^2 is w with chance v / w, and 0 otherwise."""
        m = self.m
        v, w = m.largest_spread(), (m.r + abs(m.u)) ** 2
        n = m.n**2 / (m.n + reach(m.laws[0], level))
        return w * clopper_pearson([n * min(v / w, 1.0)], n, level)[0] + (m.spread - v)

    def variance(self, target: Target) -> Floats:
        m = self.m
        if not self.divides(0.95):
            return np.array([(m.half * m.r) ** 4])
        noise = float(m.slopes_of_spread() ** 2 @ m.variances)
        return np.array([m.half**4 * (noise + (self._sampling() if target == "superpopulation" else 0.0))])

    def covariance(self, target: Target) -> Floats:
        return self.variance(target).reshape(1, 1)

    def interval(self, level: float, target: Target, simultaneous: bool) -> tuple[Floats, str]:
        m = self.m
        most = float(m.r) ** 2
        if not self.divides(level):
            low, high, method = 0.0, most, TOO_FEW
        else:
            reaches = np.array([reach(law, level) for law in m.laws])
            far, method = float(np.sqrt(m.slopes_of_spread() ** 2 @ reaches**2)), DELTA
            ends = np.array([m.spread - far, m.spread + far])
            if target == "superpopulation":
                ends = mover(m.spread, ends, m.spread, self._limits(level))
                method = MAX_SPREAD_LAW if m.exact else MOVER_DELTA
            low, high = max(0.0, float(ends[0])), min(most, float(ends[1]))
            if m.exact and target == "fixed":
                method = KNOWN_EXACTLY
        # values that moved by at most d move a standard deviation by at most d (the triangle's inequality)
        d = m.rounding
        return np.array([[max(0.0, m.half * np.sqrt(low) - d) ** 2, (m.half * np.sqrt(high) + d) ** 2]]), method


@dataclass(frozen=True, eq=False)
class SumEstimator:
    """A sum of numbers between `low` and `high`, noisy, in grid units; the count beside it bounds what rounding moved.

    superpopulation: the rows are a Poisson draw. The variance is the sum of squares, and for v between low and high
    v^2 <= (low + high) v - low high, so two noisy sums bound it.
    """

    sum: float  # already in the column's unit: unit * noisy sum + rest * noisy count
    count: int
    laws: tuple[NoiseLaw | None, NoiseLaw | None]  # of the count, of the sum
    unit: float
    rest: float
    low: float
    high: float
    rounding: float

    def _squares(self, level: float) -> float:
        upper = max(0.0, self.count + reach(self.laws[0], level))
        far = self.unit * reach(self.laws[1], level)
        slope = self.low + self.high
        product = self.low * self.high
        people = upper if product < 0 else max(0.0, self.count - reach(self.laws[0], level))
        bound = slope * self.sum + abs(slope) * far - product * people
        return float(np.clip(bound, 0.0, upper * max(abs(self.low), abs(self.high)) ** 2))

    def variance(self, target: Target) -> Floats:
        noise = self.unit**2 * variance_of(self.laws[1]) + self.rest**2 * variance_of(self.laws[0])
        return np.array([noise + (self._squares(0.5) if target == "superpopulation" else 0.0)])

    def covariance(self, target: Target) -> Floats:
        return self.variance(target).reshape(1, 1)

    def interval(self, level: float, target: Target, simultaneous: bool) -> tuple[Floats, str]:
        count_law, law = self.laws
        far = float(np.hypot(self.unit * reach(law, level), self.rest * reach(count_law, level)))
        method = Phrase("noise in quadrature")
        sampled = np.zeros(2)
        if target == "superpopulation":
            sampled = self._jumps(level)
            method = GARWOOD if law is None and count_law is None else MOVER_GARWOOD
        elif law is None and count_law is None:
            far, method = 0.0, KNOWN_EXACTLY
        elif self.rest == 0 and law is not None:  # one noise alone
            far, method = self.unit * law.quantile(1 - level), NOISE_INVERSION
        rounding = self.rounding * max(0.0, self.count + reach(count_law, level))
        below, above = np.hypot(far, sampled) + rounding
        return np.array([[self.sum - below, self.sum + above]]), method

    def _jumps(self, level: float) -> Floats:
        """How far a draw reaches down and up: the most skewed sum with these squares has all people at the larger end.

        Then it is c times a Poisson count of m = squares / c^2 people. Where the range has both signs, the longer of
        its two limits is taken on both sides.
        """
        c = max(abs(self.low), abs(self.high))
        if c == 0:
            return np.zeros(2)
        m = self._squares(level) / c**2
        low, high = garwood(m, level)[0]
        down, up = c * (m - low), c * (high - m)
        if self.low >= 0:
            return np.array([down, up])
        return np.array([up, down]) if self.high <= 0 else np.array([up, up])


@dataclass(frozen=True, eq=False)
class QuantileEstimator:
    """Quantiles by inversion of a noisy distribution function: D(x) = F(x) - q T, known with the spread `sd`.

    x is the q-quantile if F(x) >= q N > F(x - 1) - 0, so x is kept where  D(x) >= -h(x)  and  D(x-1) <= h(x-1):
    each is missed with probability alpha / 2 (Woodruff, JASA 47, 1952, with noise).
    """

    D: Floats  # (quantiles, cells)
    sd: Floats
    q: Floats
    laws: tuple[NoiseLaw | None, ...]  # of the levels of the tree
    total: float
    total_sd: float
    values: Floats
    rounding: float

    def _times(self, level: float) -> float:
        """How many standard deviations the sum of several noises reaches: `reach`, per unit."""
        ratios = [reach(law, level) / np.sqrt(law.variance) for law in self.laws if law is not None and law.variance]
        return float(max([normal_quantile(level), *ratios]))

    def divides(self, level: float) -> bool:
        return self.total > self._times(level) * self.total_sd

    @property
    def chosen(self) -> Ints:
        """The first cell where the distribution function, made monotone, passes q; the middle one of too few people."""
        if not self.divides(0.95):
            return np.full(len(self.q), len(self.values) // 2)
        rising = (np.maximum.accumulate(self.D, axis=1) + np.minimum.accumulate(self.D[:, ::-1], axis=1)[:, ::-1]) / 2
        rising[:, -1] = 0.0
        return np.asarray(np.argmax(rising >= -1e-9 * max(1.0, abs(self.total)), axis=1), np.int64)

    def _cells(self, level: float, target: Target) -> Ints:
        """First and last cell of every quantile."""
        k = len(self.values)
        if not self.divides(level):
            return np.tile([0, k - 1], (len(self.q), 1))
        sampling = (
            max(self.total, 0.0) * self.q * (1 - self.q) if target == "superpopulation" else np.zeros(len(self.q))
        )
        squared = (self._times(level) * self.sd) ** 2 + normal_quantile(level) ** 2 * sampling[:, None]
        h = np.sqrt(squared) + 1e-9 * max(1.0, abs(self.total))  # floats in place of whole numbers
        enough = self.D + h >= 0
        enough[:, -1] = True  # everybody is at or below the last value
        short = np.ones_like(enough)
        # F(x-1) < q N: where nothing is random and both are equal, x - 1 is the quantile
        short[:, 1:] = self.D[:, :-1] <= (h if squared.any() else -h)[:, :-1]
        kept = enough & short
        kept[~kept.any(axis=1), self.chosen[~kept.any(axis=1)]] = True
        return np.stack([np.argmax(kept, axis=1), k - 1 - np.argmax(kept[:, ::-1], axis=1)], axis=1)

    def variance(self, target: Target) -> Floats:
        """The square of half the interval of one standard deviation (68.27 %), without the rounding of the grid."""
        low, high = self.values[self._cells(0.6827, target)].T
        return np.asarray(((high - low) / 2) ** 2)

    def covariance(self, target: Target) -> Floats:
        if len(self.q) == 1:
            return self.variance(target).reshape(1, 1)
        raise NoUnbiasedEstimate(
            "quantiles have intervals but no covariance.", hint="interval(0.95, simultaneous=True)"
        )

    def interval(self, level: float, target: Target, simultaneous: bool) -> tuple[Floats, str]:
        each = level_of_each(level, len(self.q), simultaneous)
        ends = self.values[self._cells(each, target)]
        method = simultaneous_name(DISTRIBUTION_FUNCTION, simultaneous) if self.divides(each) else TOO_FEW
        return ends + np.array([-self.rounding, self.rounding]), method


@dataclass(frozen=True, eq=False)
class StackedEstimator:
    """Figures of groups that have nobody in common, one below the other."""

    parts: Sequence[Estimator]

    def variance(self, target: Target) -> Floats:
        return np.concatenate([part.variance(target) for part in self.parts])

    def covariance(self, target: Target) -> Floats:
        from scipy.linalg import block_diag

        return np.asarray(block_diag(*[part.covariance(target) for part in self.parts]))

    def interval(self, level: float, target: Target, simultaneous: bool) -> tuple[Floats, str]:
        each = level_of_each(level, len(self.parts), simultaneous)
        found = [part.interval(each, target, simultaneous) for part in self.parts]
        methods = Counter(plain_name(method) for _, method in found)
        few = methods.pop(TOO_FEW, 0)
        name = next(iter(methods), TOO_FEW) if len(methods) < 2 else apart(methods)
        if few and methods:
            name = Phrase("{first}, and {other} in {few} of {of}", first=name, other=TOO_FEW, few=few, of=len(found))
        return np.concatenate([ends for ends, _ in found]), simultaneous_name(name, simultaneous and bool(methods))


def stacked(labels: Sequence[str], parts: Sequence[Estimate], n: int) -> Estimate:
    """Estimates of one figure each, as one."""
    estimator = StackedEstimator([part.estimator for part in parts if part.estimator is not None])
    mean = np.concatenate([part.mean for part in parts])
    counts = [part.left_out for part in parts if part.left_out is not None]
    left_out = stacked(labels, counts, sum(count.n for count in counts)) if len(counts) == len(parts) else None
    reason = next((part.reason for part in parts if part.reason), None)
    noisy = any(part.noisy for part in parts)
    names = parts[0].names
    return Estimate(
        list(labels), mean, n, parts[0].unit, estimator, reason, noisy=noisy, left_out=left_out, names=names
    )
