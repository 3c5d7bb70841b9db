"""Intervals for a mean of n reports, each a bounded number whose expectation is a person's value.

Two questions, two methods. Neither assumes that a sum of few reports looks normal: at a large epsilon a report is off
rarely and by far, and one person in fifty may be at the other end of the range.

superpopulation. The reports are a sample of one unknown law on [a, b]. Gaffke's bound (N. Gaffke, Three test statistics
for a nonparametric one-sided hypothesis on the mean of a nonnegative variable, Math. Methods Statist. 14, 2005; Phan,
Thomas, Learned-Miller, Towards practical mean bounds for small samples, ICML 2021): the upper end is the quantile of

    D_1 x_1 + ... + D_n x_n + D_{n+1} b,      D uniform on the simplex (Dirichlet with all parameters 1),

and a takes the place of b for the lower end. The end of the range represents values that exist and were not drawn.
With two values it is Clopper and Pearson's interval, and with many people the normal one. (That it covers every law is
not proved; no law is known for which it fails. We measure it: tests/statistical/test_mean_coverage.py.) The law of the
sum comes from the saddlepoint:

    P[sum D_i x_i <= t] = P[sum (x_i - t) G_i <= 0],   G_i exponential,   K(s) = - sum log(1 - s (x_i - t)),

with Lugannani and Rice's formula (Adv. Appl. Prob. 12, 1980), whose tails at 95 % are at most 4 % too large for five
reports or more and never seen too small, so that ends err outwards.

fixed. The people are what they are and the law of a report is known, so the mean m is kept where neither tail of

    r_1 + ... + r_n    for people whose values have mean m and mean square s

is below alpha / 2. Which people? m and s are met by e people at the two ends and the others at m, and these vary the
most at the ends. s is its estimate plus twice its standard error, and at most m top. Up to `EXACT_UP_TO` people the law
of the sum is computed (Fourier, on a grid that keeps every mean and adds a little to variances), beyond them it is
taken for normal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from murmure.core.types import Floats

EXACT_UP_TO = 250  # reports whose sum's law is computed
GRID = 256  # cells of the range of one report; half as many for more than FINE_UP_TO reports
FINE_UP_TO = 60
ERRORS = 2.0  # standard errors by which a mean square is taken larger


@dataclass(frozen=True)
class ReportLaw:
    """What one report is worth, and how likely it is."""

    readout: Floats  # for every report, the number whose expectation is the code
    square: Floats | None  # whose expectation is the square of the code
    probabilities: Callable[[int], Floats]  # of every report, given the code

    @cached_property
    def ends(self) -> tuple[float, float]:
        return float(self.readout.min()), float(self.readout.max())

    def step(self, n: int) -> float:
        """Between two points of the grid of n reports."""
        return (self.ends[1] - self.ends[0]) / (points(n) - 1)

    def on_grid(self, code: float, n: int) -> Floats:
        """The law of a readout at a code, which need not be whole, with every mass shared by its two neighbours."""
        below = int(np.floor(code))
        p, above = self.probabilities(below), code - below
        if above > 0:
            p = (1 - above) * p + above * self.probabilities(below + 1)
        at = (self.readout - self.ends[0]) / self.step(n)
        left = np.clip(np.floor(at).astype(np.int64), 0, points(n) - 2)
        right = at - left
        out = np.bincount(left, p * (1 - right), points(n)) + np.bincount(left + 1, p * right, points(n))
        return out.astype(np.float64)

    def at_the_ends(self, mean: float, square: float, n: int, top: int) -> int:
        """How many of n people are at the ends when the others are at the mean, given the mean square; rounded up."""
        room = mean * (top - mean)
        return 0 if room <= 0 else int(np.clip(np.ceil(n * (square - mean * mean) / room - 1e-9), 0, n))

    def sums(self, mean: float, n: int, top: int, at_the_ends: int) -> Floats:
        """The law of the sum of n readouts, in steps from n times the smallest."""
        e = at_the_ends
        high = min(int(e * mean / top), e)
        # of those at the ends one has what is left, so that the mean is exact
        rest = min(max(e * mean - high * top, 0.0), float(top))
        counts = [(0.0, max(e - high - 1, 0)), (float(top), high), (rest, int(e > high)), (mean, n - e)]
        size = n * (points(n) - 1) + 1
        length = 1 << (size - 1).bit_length()
        out: Any = 1.0
        for code, people in counts:
            if people:
                out = out * np.fft.rfft(self.on_grid(code, n), length) ** people
        return np.maximum(np.fft.irfft(out, length)[:size], 0.0)

    def tails(self, sums: Floats, mean: Any, n: int) -> tuple[Any, Any]:
        """P[sum >= n mean] and P[sum <= n mean], half a step of the grid counted in both."""
        at = (np.asarray(mean) - self.ends[0]) * n / self.step(n)
        below = np.append(0.0, np.cumsum(sums))
        least = np.clip(np.ceil(at - 0.5), 0, len(sums)).astype(np.int64)
        most = np.clip(np.floor(at + 0.5) + 1, 0, len(sums)).astype(np.int64)
        return np.clip(below[-1] - below[least], 0.0, 1.0), np.clip(below[most], 0.0, 1.0)


def points(n: int) -> int:
    return GRID if n <= FINE_UP_TO else GRID // 2


def fixed_mean(
    law: ReportLaw, mean: float, square: float, n: int, top: int, level: float, near: tuple[float, float]
) -> tuple[float, float]:
    """Means in 0 .. top that neither tail rejects. `near`: an interval whose length gives the precision."""
    from scipy.optimize import brentq
    from scipy.special import ndtri

    tail = (1 - level) / 2
    fine = max((near[1] - near[0]) * 1e-4, top * 1e-12)

    def excess(m: float, side: int) -> float:
        """The normal quantile of one tail at m, less that of alpha / 2: above 0 where m is kept."""
        e = law.at_the_ends(m, float(np.clip(square, m * m, m * top)), n, top)
        chance = law.tails(law.sums(m, n, top, e), mean, n)[side]
        return float(np.clip(ndtri(chance), -40.0, 40.0) - ndtri(tail))

    def end(rejected: float, side: int) -> float:
        """From an end of the range, the first mean that this tail keeps."""
        if excess(rejected, side) > 0:
            return rejected
        inside = float(top) - rejected
        start = min(max(mean, 0.0), float(top))
        if excess(start, side) > 0:
            inside = start
        elif excess(inside, side) <= 0:
            return inside
        return float(brentq(lambda m: excess(m, side), rejected, inside, xtol=fine))

    return end(0.0, 0), end(float(top), 1)


def gaffke(values: Floats, counts: Floats, ends: tuple[float, float], level: float) -> tuple[float, float]:
    """The interval for the expectation of numbers in `ends`, of which values[i] occurred counts[i] times."""
    from scipy.optimize import brentq

    tail = (1 - level) / 2
    low, high = ends
    occurs = counts > 0
    x, w = values[occurs], counts[occurs]
    mean = float(w @ x / w.sum())

    def end(bound: float) -> float:
        """Where the mass between the end and `bound` is alpha / 2."""
        points, weights = np.append(x, bound), np.append(w, 1.0)
        inner = float((w @ x + bound) / (w.sum() + 1))
        if inner == bound:
            return bound

        def mass(t: float) -> float:
            below = float(dirichlet_below(points[None], weights[None], np.array([t]))[0])
            return (below if bound == low else 1 - below) - tail

        if mass(inner) <= 0:  # at levels near 0 the bound does not leave the mean
            return mean
        return float(brentq(mass, inner, bound, xtol=abs(bound - inner) * 1e-8))

    return end(low), end(high)


def dirichlet_below(x: Floats, w: Floats, t: Floats) -> Floats:
    """P[sum D_i x_i <= t] for D of a Dirichlet law with parameters w, in rows, by Lugannani and Rice."""
    from scipy.special import ndtr

    a = x - t[:, None]
    low, high = a.min(axis=1), a.max(axis=1)
    out = (high <= 0).astype(np.float64)
    if not (inner := (low < 0) & (high > 0)).any():
        return out
    a, w, least, most = a[inner], w[inner], 1 / low[inner], 1 / high[inner]
    left, right, s = least, most, np.zeros(len(a))
    for _ in range(100):  # K'(s) = 0, K' growing from -inf at `left` to inf at `right`
        ratio = a / (1 - a * s[:, None])
        first, second = (w * ratio).sum(axis=1), (w * ratio * ratio).sum(axis=1)
        most, least = np.where(first > 0, s, most), np.where(first > 0, least, s)
        # Newton's step for K'(s) (s - left) (right - s), which has no poles; halved where it leaves the bracket
        room = (s - left) * (right - s)
        slope = second * room + first * (left + right - 2 * s)
        with np.errstate(divide="ignore", invalid="ignore"):
            new = s - first * room / slope
        new = np.where((new > least) & (new < most), new, (least + most) / 2)
        s, moved = new, np.abs(new - s)
        if (moved <= 1e-9 * np.minimum(s - left, right - s)).all():
            break
    ratio = a / (1 - a * s[:, None])
    second, third = (w * ratio**2).sum(axis=1), 2 * (w * ratio**3).sum(axis=1)
    root = np.sign(s) * np.sqrt(np.maximum(2 * (w * np.log1p(-a * s[:, None])).sum(axis=1), 0.0))
    u = s * np.sqrt(second)
    with np.errstate(divide="ignore", invalid="ignore"):
        far = ndtr(root) + np.exp(-(root**2) / 2) / np.sqrt(2 * np.pi) * (1 / root - 1 / u)
    near = 0.5 + third / (6 * np.sqrt(2 * np.pi) * second**1.5)  # the limit at the mean
    out[inner] = np.clip(np.where(np.abs(root) < 1e-3, near, far), 0.0, 1.0)
    return out
