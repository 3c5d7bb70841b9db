"""Means, variances and further moments, from sums about a public point c.

    m = c + s_1,    mu_2 = s_2 - s_1^2,    mu_3 = s_3 - 3 s_1 s_2 + 2 s_1^3,
    mu_4 = s_4 - 4 s_1 s_3 + 6 s_1^2 s_2 - 3 s_1^4          with s_k = S[(x - c)^k] / N

In fractions a variance is never negative, and 0 only if all rows are equal. The formulas take fractions and traced
numbers (delta_method.py).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from murmure.econometrics.algebra.rounding import root


def central(n: Any, sums: Any) -> list[Any]:
    """mu_2, mu_3 and mu_4, as many as the sums S[(x - c)^k], k = 1, 2, ..., give."""
    s = [value / n for value in sums]
    s1 = s[0]
    out = []
    if len(s) > 1:
        out.append(s[1] - s1 * s1)
    if len(s) > 3:
        out.append(s[2] - 3 * s1 * s[1] + 2 * s1 * s1 * s1)
        out.append(s[3] - 4 * s1 * s[2] + 6 * s1 * s1 * s[1] - 3 * s1 * s1 * s1 * s1)
    return out


def cross(n: Any, a: Any, b: Any, ab: Any) -> Any:
    """The sum of (x_a - mean)(x_b - mean), from S[x_a], S[x_b] and S[x_a x_b]."""
    return ab - a * b / n


def skewness(mu2: Fraction, mu3: Fraction) -> float | None:
    """mu_3 / mu_2^(3/2), rounded once; None if all rows are equal. Agrees with scipy.stats.skew."""
    if mu2 <= 0:
        return None
    size = root(mu3 * mu3 / mu2**3)
    return -size if mu3 < 0 else size


def kurtosis(mu2: Fraction, mu4: Fraction) -> float | None:
    """mu_4 / mu_2^2 - 3, which is 0 for a normal law. Agrees with scipy.stats.kurtosis."""
    return float(mu4 / mu2**2 - 3) if mu2 > 0 else None


def signed_root(square: Fraction, sign: Any) -> float:
    """The root of a square, with this sign."""
    size = root(square)
    return -size if sign < 0 else size
