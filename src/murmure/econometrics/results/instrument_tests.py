"""Tests of instruments: how strong they are, and whether overidentifying ones agree.

    F of x      = (RSS_included - RSS_all) / k  /  (RSS_all / (n - q))         x on the included, and on all instruments
    Sargan      = n e'W (W'W)^-1 W'e / e'e ~ chi2(q - p)

From the same sums as the regression. Sargan, Econometrica 26(3), 1958; the partial F: Bound, Jaeger and Baker, JASA
90(430), 1995.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from murmure.core.errors import Phrase
from murmure.econometrics.algebra.matrices import Matrix, dot, solve, submatrix
from murmure.econometrics.algebra.rounding import to_float


def first_stages(
    M: Matrix, endogenous: Mapping[str, int], W: Sequence[int], included: Sequence[int], n: int
) -> dict[str, Any]:
    """The F of the excluded instruments for every endogenous column. M: all sums; the others are indices in it."""
    from scipy.special import fdtrc

    more, left = len(W) - len(included), n - len(W)
    values: dict[str, Any] = {}
    for name, x in endogenous.items():
        full, short = _unexplained(M, x, W), _unexplained(M, x, included)
        F = to_float((short - full) / more / (full / left)) if full and left else math.inf
        values[name] = {"F": F, Phrase("p-value"): float(fdtrc(more, left, F)) if left else None}
    title = Phrase("First stage: F({k}, {df}) of the instruments that are not in the formula", k=more, df=left)
    return {title: values}


def sargan(
    M: Matrix, W: Sequence[int], residual: Sequence[Fraction], rss: Fraction, n: int, over: int
) -> dict[str, Any]:
    """Sargan's test; {} without overidentifying instruments. residual: as a combination of all factors of M."""
    from scipy.special import chdtrc

    if over == 0 or rss == 0:
        return {}
    e = [dot(M[w], residual) for w in W]
    value = to_float(n * dot(e, [row[0] for row in solve(submatrix(M, W), [[v] for v in e])]) / rss)
    return {Phrase("Sargan chi2({df})", df=over): value, Phrase("Prob(Sargan)"): float(chdtrc(over, value))}


def _unexplained(M: Matrix, x: int, by: Sequence[int]) -> Fraction:
    """The sum of squares of column x that these columns leave unexplained."""
    if not by:
        return M[x][x]
    c = [M[w][x] for w in by]
    return M[x][x] - dot(c, [row[0] for row in solve(submatrix(M, by), [[v] for v in c])])
