"""How far a sample may be from the population it was drawn from, and noise and sampling in one interval.

A count of a Poisson draw has the limits of Garwood (Biometrika 28, 1936), a share those of Clopper and Pearson, a mean
those of `two_moments`: exact, or exact for the worst law, where a normal curve fails (few people hold the value).

Two errors that are independent, each with its limits around an estimate, have together (MOVER: Zou and Donner,
Statist. Med. 27, 2008, eq. 4)

    low = t - sqrt((t - low_1)^2 + (t - low_2)^2),      high = t + sqrt((high_1 - t)^2 + (high_2 - t)^2).

A mean from two moments. Sums of numbers and of their squares do not tell how the numbers are spread: the same two sums
fit numbers around the mean, and a few people at the end of the range. For the upper end of an interval the worst law
with this mean m and variance v on [a, b] has two values, b and one below the mean, the most skewed there is (Karlin and
Studden, Tchebycheff Systems, 1966, ch. XII: the upper principal representation):

    x = m - v / (b - m)   with chance 1 - p,      b   with chance p = v / (v + (b - m)^2).

Of two values the exact interval is Clopper and Pearson's, for p; and so for the lower end, at a. Where the numbers are
two, at both ends, this is their interval. Where they are not, it is wider than it needs to be: among 2,000 people by
3 % when they are spread evenly over the range, and by 15 % when their deviation is a twelfth of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from murmure.core.estimates.intervals import clopper_pearson
from murmure.core.estimates.method_words import TWO_MOMENTS
from murmure.core.types import Floats


def garwood(count: ArrayLike, level: float) -> Floats:
    """Limits of the mean of a Poisson count, in rows; the count need not be whole."""
    from scipy import special  # type: ignore[import-untyped, unused-ignore]

    o, tail = np.maximum(np.atleast_1d(np.asarray(count, float)), 0.0), (1 - level) / 2
    # P[Poisson(m) >= o] = P(o, m), the regularised gamma function, and P[Poisson(m) <= o] = Q(o + 1, m)
    low = np.where(o > 0, special.gammaincinv(np.maximum(o, 1e-9), tail), 0.0)
    ends = np.column_stack([low, special.gammainccinv(o + 1, tail)])
    far = special.ndtri(1 - tail) * np.sqrt(o)  # where these inverses lose their digits
    return np.where((o > 1e12)[:, None], np.column_stack([o - far, o + far]), ends)


def mover(estimate: Any, noise: Floats, at: Any, sampling: Floats) -> Floats:
    """MOVER. Limits of the noise lie around `estimate`, of sampling around `at`, the estimate cut to its range."""
    t, a = np.asarray(estimate, float), np.asarray(at, float)
    below = np.hypot(np.maximum(t - noise[..., 0], 0.0), np.maximum(a - sampling[..., 0], 0.0))
    above = np.hypot(np.maximum(noise[..., 1] - t, 0.0), np.maximum(sampling[..., 1] - a, 0.0))
    return np.stack([t - below, t + above], axis=-1)


def two_moments(
    mean: float, variance: float, n: float, ends: tuple[float, float], level: float
) -> tuple[tuple[float, float], str]:
    """The interval for the mean of what n people with this mean and variance are a sample of, and its name."""
    low, high = ends
    return (-_upper_end(-mean, variance, n, -low, level), _upper_end(mean, variance, n, high, level)), TWO_MOMENTS


def _upper_end(mean: float, variance: float, n: float, b: float, level: float) -> float:
    if (gap := b - mean) <= 0:
        return b
    p = variance / (variance + gap * gap)
    x = mean - variance / gap
    return float(x + (b - x) * clopper_pearson([n * p], n, level)[0, 1])
