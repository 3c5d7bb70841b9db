"""Tail probabilities and quantiles of the normal, Student, chi-squared and F laws.

From scipy.special, imported when needed: scipy.stats is slow to load.
"""

from __future__ import annotations

import math
from typing import Any

from murmure.core.errors import InvalidParameter, shorten


def normal_two_sided(z: float) -> float:
    """P[|Z| > |z|] of a standard normal."""
    return math.erfc(abs(z) / math.sqrt(2))


def t_two_sided(t: float, df: float) -> float:
    """P[|T| > |t|] of Student's t with df degrees of freedom."""
    from scipy.special import stdtr

    return float(2 * stdtr(df, -abs(t)))


def t_below(t: float, df: float) -> float:
    from scipy.special import stdtr

    return float(stdtr(df, t))


def chi2_above(x: float, df: float) -> float:
    from scipy.special import chdtrc

    return float(chdtrc(df, x))


def f_above(x: float, dfn: float, dfd: float) -> float:
    from scipy.special import fdtrc

    return float(fdtrc(dfn, dfd, x))


def normal_point(level: float) -> float:
    """z with P[|Z| <= z] = level."""
    from scipy.special import ndtri

    return float(-ndtri((1 - level) / 2))


def t_point(level: float, df: float) -> float:
    """t with P[|T| <= t] = level."""
    from scipy.special import stdtrit

    return float(-stdtrit(df, (1 - level) / 2))


def check_alpha(owner: str, alpha: Any) -> float:
    """Check alpha, which is one minus the level of an interval."""
    real = isinstance(alpha, int | float) and not isinstance(alpha, bool)
    if not real or not 0 < alpha < 1:
        raise InvalidParameter(
            "{owner}.alpha must lie between 0 and 1, got {got}.",
            hint="0.05 gives 95% intervals",
            owner=owner,
            got=shorten(alpha),
        )
    return float(alpha)
