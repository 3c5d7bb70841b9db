"""What the generic checks share: how often they may fail by chance, how they fail, a test of fit, words of a report."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from murmure.core.errors import MurmureError

FAILURE = 1e-6  # the chance that a statistical check fails although all is well
PEOPLE = 20_000
ENUMERABLE = 5_000  # reports: laws with more are not listed one by one


class CheckFailed(MurmureError, AssertionError):
    """A generic check found something wrong; the message says which and where."""


def require(ok: bool, mechanism: object, what: str) -> None:
    if not ok:
        raise CheckFailed("{mechanism!r}: {what}", mechanism=mechanism, what=what)


def chi_squared(observed: Any, expected: Any) -> float:
    """The chance of a fit as bad as this; rare reports are pooled until ten are expected."""
    from scipy.special import chdtrc

    pool, weight, pools = 0, 0.0, np.empty(len(expected), np.int64)
    for j in np.argsort(expected, kind="stable"):
        pools[j], weight = pool, weight + expected[j]
        if weight >= 10:
            pool, weight = pool + 1, 0.0
    pools[pools == pool] = max(0, pool - 1)  # what is left joins the last full pool
    if pool < 2:
        return 1.0
    pooled, pooled_expected = np.bincount(pools, observed), np.bincount(pools, expected)
    return float(chdtrc(pool - 1, ((pooled - pooled_expected) ** 2 / pooled_expected).sum()))


def exact_totals(weights: Sequence[Fraction], values: Sequence[Any]) -> list[Fraction]:
    """Of each column of values, rows of whole numbers, the sum of weight times value, over one denominator.

    Exact, and some ten times quicker than adding fractions, which looks for common divisors every time.
    """
    whole = math.lcm(*(w.denominator for w in weights))
    numerators = np.array([w.numerator * (whole // w.denominator) for w in weights], object)
    return [Fraction(int(total), whole) for total in numerators @ np.array(values).astype(object)]


def exact_total(numbers: Sequence[Fraction]) -> Fraction:
    """Their sum, in the same way."""
    return exact_totals(numbers, [[1]] * len(numbers))[0]


def listed_outcomes(channel: Any) -> list[Any] | None:
    """All reports of a law; None if there are too many to enumerate."""
    outcomes = channel.outcomes()
    listed = [] if outcomes is None else list(itertools.islice(outcomes, ENUMERABLE + 1))
    return listed if outcomes is not None and len(listed) <= ENUMERABLE else None


def report_key(y: Any) -> Any:
    return tuple(np.asarray(y).tolist()) if np.ndim(y) else (y.item() if hasattr(y, "item") else y)


def main_words(words: Any) -> Any:
    """All main words of a reserved range, one row per report."""
    out = np.empty((words.n, words.width), np.uint64)

    def fill(a: int, b: int, block: Any) -> None:
        out[a:b] = block

    words.each(fill)
    return out


def deep_words(words: Any, i: int) -> Any:
    """The deep words of report i; None if it has none."""
    return words.deep(np.full(words.depth, i), np.arange(words.depth))[None] if words.depth else None
