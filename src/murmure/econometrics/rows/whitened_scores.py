"""Residuals times orthogonal combinations of columns, which are added up for robust errors.

    e = (y - z'b) / s,     v = T'z,     h = v'v / n

b, s, n and T are public from the round before: sum v v' = n I, so h is the leverage of a row. If columns nearly depend
on one another, sums of e^2 z z' lose their digits to rounding before they are multiplied by A^-1 twice. Sums of e^2 v
v' keep them, and robust_errors.py goes back to the columns exactly.

A residual is a small difference of large numbers, and so is v if columns have large offsets or nearly depend on one
another. So y, z, b and T are pairs of floats (double_double.py), and e, v and 1 - h are correct to their last digits
unless 2**50 times as much cancels out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.econometrics.algebra.rounding import Floats
from murmure.statistics.expressions.double_double import DoubleDoubleSums, Low, added, squares
from murmure.statistics.expressions.row_functions import RowFunction, name_list

KINDS = ("HC0", "HC2", "HC3", "scores")
ALONE = 1e-12  # 1 - h below it: a column that only this row has fits the row exactly


class WhitenedScores(RowFunction):
    """inputs: y, then p columns. at: b (p numbers), s, n, the upper half of T by rows; then the low parts of b and T.
    s is a power of two. settings, one word:

    HC0     e^2 v_a v_b                      White, Econometrica 48(4), 1980
    HC2     the same over 1 - h              MacKinnon and White, J. Econometrics 29(3), 1985
    HC3     the same over (1 - h)^2          there: the jackknife, but for a factor near 1
    scores  e v_a
    """

    pairs = True  # each column is given as high + low

    def labels(self, inputs: tuple[str, ...], settings: tuple[str, ...]) -> tuple[str, ...]:
        if len(inputs) < 2 or len(settings) != 1 or settings[0] not in KINDS:
            raise InvalidParameter(
                "whitened takes an outcome, columns, and one of {kinds}, got {got}.",
                kinds=", ".join(KINDS),
                got=shorten(settings),
            )
        p = len(inputs) - 1
        if settings[0] == "scores":
            return tuple(f"e * v{a}" for a in range(p))
        pairs = [f"e ** 2 * v{a} * v{b}" for a, b in zip(*np.triu_indices(p), strict=True)]
        return tuple(pairs) if settings[0] == "HC0" else (*pairs, "rows that a column of their own fits")

    def check(self, inputs: tuple[str, ...], at: tuple[str, ...], settings: tuple[str, ...]) -> None:
        p = len(inputs) - 1
        wanted = 2 + 2 * p + p * (p + 1)
        if len(at) != wanted:
            raise InvalidParameter(
                "whitened takes {wanted} parameters for {p} columns, got {got}.", wanted=wanted, p=p, got=len(at)
            )

    def values(self, x: tuple[Any, ...], at: tuple[float, ...], settings: tuple[str, ...]) -> Floats:
        (y, y_low), z, p = x[0], x[1:], len(x) - 1
        e, v, v_low = _residuals_and_columns(y, y_low, z, at)
        if settings[0] == "scores":
            return (e * v).T
        first, second = np.triu_indices(p)
        if settings[0] == "HC0":
            v *= e
            return (v[first] * v[second]).T
        left = _one_less_leverage(v, v_low, at[p + 1])
        alone = left < ALONE
        left[alone] = 1.0  # avoids a division by 0; these rows are counted and have weight 0
        weight = np.where(alone, 0.0, e * e / (left if settings[0] == "HC2" else left * left))
        return np.concatenate([weight * v[first] * v[second], alone[None]]).T

    def in_words(self, inputs: tuple[str, ...], at: tuple[str, ...], settings: tuple[str, ...]) -> str:
        y, z, kind = inputs[0], name_list(inputs[1:]), settings[0]
        if kind == "scores":
            return Phrase("residuals of {y} times combinations of {z}", y=y, z=z)
        return Phrase(
            "squared residuals of {y} times products of two combinations of {z} ({kind})", y=y, z=z, kind=kind
        )


def _residuals_and_columns(
    y: Floats, y_low: Low, z: tuple[Any, ...], at: tuple[float, ...]
) -> tuple[Floats, Floats, Floats]:
    """e / s, v, and the low part of v."""
    p = len(z)
    s, half = at[p], p + 2 + p * (p + 1) // 2
    t, t_low = (np.zeros((p, p + 1)) for _ in range(2))  # of v_0, ..., v_{p-1}, and of e
    for factors, b, T in ((t, at[:p], at[p + 2 : half]), (t_low, at[half : half + p], at[half + p :])):
        factors[np.triu_indices(p)] = T
        factors[:, p] = -np.array(b)
    sums = DoubleDoubleSums(p + 1, len(y))
    sums.high[p] = y
    if y_low is not None:
        sums.low[p] = y_low
    for k, (column, low) in enumerate(z):  # one by one: a row has the same value in every block
        sums.add(k, t[k, k:], t_low[k, k:], column, low)
    high, low = sums.done()
    return high[p] / s, high[:p], low[:p]


def _one_less_leverage(v: Floats, low: Floats, n: float) -> Floats:
    """1 - h."""
    squared, rest = squares(v, low)
    high, less = added([(n, 0.0), *zip(-squared, -rest, strict=True)])
    return np.asarray((high + less) / n)


WHITENED_SCORES = WhitenedScores()
