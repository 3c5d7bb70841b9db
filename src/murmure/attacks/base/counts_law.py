"""Laws of counts, from scipy.special: scipy.stats would bring a generator of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special  # type: ignore[import-untyped, unused-ignore]

from murmure.core.types import Floats


def binomial_chance(count: Any, n: int, p: float) -> Floats:
    """P[Bin(n, p) = count]."""
    c = np.asarray(count, float)
    ways = special.gammaln(n + 1) - special.gammaln(c + 1) - special.gammaln(n - c + 1)
    return np.exp(ways + special.xlogy(c, p) + special.xlog1py(n - c, -p))


def binomial_at_most(count: Any, n: int, p: Any) -> Floats:
    """P[Bin(n, p) <= count]."""
    c = np.asarray(count, float)
    return np.where(c >= n, 1.0, special.betaincc(np.minimum(c, n - 1) + 1, n - np.minimum(c, n - 1), p))


def binomial_at_least(count: Any, n: int, p: Any) -> Floats:
    """P[Bin(n, p) >= count]."""
    c = np.asarray(count, float)
    return np.where(c <= 0, 1.0, special.betainc(np.maximum(c, 1), n - np.maximum(c, 1) + 1, p))


def binomial_quantile(level: float, n: int, p: float) -> int:
    """The smallest count that Bin(n, p) does not pass with this probability."""
    low, high = -1, n
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if binomial_at_most(middle, n, p) >= level else (middle, high)
    return high


def poisson_chance(count: Any, mean: float) -> Floats:
    """P[Poisson(mean) = count]."""
    c = np.asarray(count, float)
    return np.exp(special.xlogy(c, mean) - mean - special.gammaln(c + 1))
