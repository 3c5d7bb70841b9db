"""Residuals times columns that were made orthogonal by public combinations: what robust errors add up.

    e = (y - z'b) / s,     v = T'z,     h = v'v / n

with b, s, n and T public from the round before: sum v v' = n I, so h is the leverage of a row. Sums of e^2 z z' of
columns that nearly depend on one another lose their digits to rounding before they are multiplied by A^-1 twice; sums
of e^2 v v' keep them, and robust.py goes back to the columns exactly.
"""

from __future__ import annotations

import numpy as np

from murmure.core.errors import InvalidParameter, shorten
from murmure.statistics.row_functions import Floats, listed

KINDS = ("HC0", "HC2", "HC3", "scores")
ALONE = 1e-9  # 1 - h below it: a column of its own fits the row exactly, whatever its outcome


class Whitened:
    """inputs: y, then p columns. at: b (p numbers), s, n, then T by rows, its upper half. settings, one word:

    HC0     e^2 v_a v_b                      White, Econometrica 48(4), 1980
    HC2     the same over 1 - h              MacKinnon and White, J. Econometrics 29(3), 1985
    HC3     the same over (1 - h)^2          there: the jackknife, but for a factor near 1
    scores  e v_a
    """

    def labels(self, inputs: tuple[str, ...], settings: tuple[str, ...]) -> tuple[str, ...]:
        if len(inputs) < 2 or len(settings) != 1 or settings[0] not in KINDS:
            raise InvalidParameter(
                f"whitened takes an outcome, columns, and one of {', '.join(KINDS)}, got {shorten(settings)}."
            )
        p = len(inputs) - 1
        if settings[0] == "scores":
            return tuple(f"e * v{a}" for a in range(p))
        pairs = [f"e ** 2 * v{a} * v{b}" for a, b in zip(*np.triu_indices(p), strict=True)]
        return tuple(pairs) if settings[0] == "HC0" else (*pairs, "rows that a column of their own fits")

    def check(self, inputs: tuple[str, ...], at: tuple[str, ...], settings: tuple[str, ...]) -> None:
        p = len(inputs) - 1
        if len(at) != p + 2 + p * (p + 1) // 2:
            raise InvalidParameter(
                f"whitened takes {p + 2 + p * (p + 1) // 2} parameters for {p} columns, got {len(at)}."
            )

    def values(self, x: tuple[Floats, ...], at: tuple[float, ...], settings: tuple[str, ...]) -> Floats:
        y, z, p = x[0], x[1:], len(x) - 1
        b, s, n = at[:p], at[p], at[p + 1]
        T = np.zeros((p, p))
        T[np.triu_indices(p)] = at[p + 2 :]
        e = y.copy()
        v = np.zeros((len(y), p))
        for k, column in enumerate(z):  # one after the other: a row's value is that of the row alone
            e -= b[k] * column
            v += column[:, None] * T[k]
        e /= s
        if settings[0] == "scores":
            return np.asarray(e[:, None] * v)
        first, second = np.triu_indices(p)
        if settings[0] == "HC0":
            u = e[:, None] * v
            return np.asarray(u[:, first] * u[:, second])
        left = np.ones(len(y))
        for a in range(p):
            left -= v[:, a] * v[:, a] / n
        alone = left < ALONE
        left[alone] = 1.0
        weight = np.where(alone, 0.0, e * e / (left if settings[0] == "HC2" else left * left))
        return np.concatenate([weight[:, None] * (v[:, first] * v[:, second]), alone[:, None]], axis=1)

    def in_words(self, inputs: tuple[str, ...], at: tuple[str, ...], settings: tuple[str, ...]) -> tuple[str, str]:
        y, z, kind = inputs[0], listed(inputs[1:]), settings[0]
        if kind == "scores":
            return f"residuals of {y} times combinations of {z}", f"résidus de {y} fois des combinaisons de {z}"
        return (
            f"squared residuals of {y} times products of two combinations of {z} ({kind})",
            f"résidus au carré de {y} fois les produits de deux combinaisons de {z} ({kind})",
        )


WHITENED = Whitened()
