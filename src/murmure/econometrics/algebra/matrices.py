"""Linear algebra without rounding: matrices of fractions.

Normal equations square the condition number of the data; here that costs digits of whole numbers (elimination.py) and
not digits of the answer. What decides the next question of a model is computed with these functions and never with
floats: two machines then decide alike.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from murmure.econometrics.algebra.elimination import (
    Rows,
    adjugate,
    back_substitute,
    balance,
    clear_denominators,
    combination,
    eliminate,
)
from murmure.econometrics.algebra.rounding import root

Matrix = tuple[tuple[Fraction, ...], ...]
Vector = tuple[Fraction, ...]


class Singular(ArithmeticError):
    """No inverse. `columns`: the first column that depends on earlier ones, and those that it depends on."""

    def __init__(self, columns: tuple[int, ...]) -> None:
        super().__init__(f"column {columns[0]} is a combination of columns {list(columns[1:])}")
        self.columns = columns


# -- equations --------------------------------------------------------------------------------------------------------


def solve(A: Rows, B: Rows) -> Matrix:
    """X with A X = B, exactly; Singular says which columns of A are to blame."""
    p = len(A)
    m, _ = clear_denominators([[*a, *b] for a, b in zip(A, B, strict=True)])
    scales = [math.gcd(*(row[j] for row in m)) or 1 for j in range(p)]
    for row in m:
        row[:p] = [v // s for v, s in zip(row, scales, strict=False)]
    pivots, last = eliminate(m, p)
    if len(pivots) < p:
        k = next(j for j in range(p) if j not in pivots)
        raise Singular((k, *combination(m, [j for j in pivots if j < k], k)))
    columns = [back_substitute(m, pivots, last, j) for j in range(p, p + len(B[0]))]
    return tuple(tuple(Fraction(x[i], last * scales[i]) for x in columns) for i in range(p))


def inverse(A: Rows) -> Matrix:
    """A^-1. Of a symmetric matrix, as Gram matrices are, one half is computed."""
    p = len(A)
    if all(A[i][j] == A[j][i] for i in range(p) for j in range(i)):
        m, scale, h = balance(A)
        last = adjugate(m)
        if last:
            half = {(i, j): Fraction(m[i][j] * scale, last * h[i] * h[j]) for i in range(p) for j in range(i, p)}
            return tuple(tuple(half[min(i, j), max(i, j)] for j in range(p)) for i in range(p))
    return solve(A, identity(p))


def dependencies(A: Rows) -> dict[int, dict[int, Fraction]]:
    """Of the Gram matrix Z'Z: each column of Z that depends on earlier ones, as a combination of those. {}: full rank.

    Z'Z u = 0 says |Z u|^2 = u'Z'Z u = 0, so the columns of Z'Z depend on one another as those of Z do.
    """
    m, _ = clear_denominators(A)
    pivots, _ = eliminate(m, len(A))
    combinations = {}
    for k in range(len(A)):
        if k not in pivots:
            combinations[k] = combination(m, [j for j in pivots if j < k], k)
    return combinations


def orthogonalise(A: Rows) -> tuple[Matrix, Vector]:
    """Of A = Z'Z: T, upper triangular with ones on its diagonal, and d: Z T has orthogonal columns of squares d.

    Column a of T says what is left of column a of Z when those before it are taken out (Gram-Schmidt, from sums).
    """
    p = len(A)
    m, _ = clear_denominators(A)
    pivots, _ = eliminate(m, p)
    if len(pivots) < p:
        k = next(j for j in range(p) if j not in pivots)
        raise Singular((k, *combination(m, [j for j in pivots if j < k], k)))
    columns, d = [], []
    for a in range(p):
        by = combination(m, pivots[:a], a)
        columns.append([Fraction(int(i == a)) - by.get(i, 0) for i in range(p)])
        d.append(dot([A[a][j] for j in range(a + 1)], columns[-1][: a + 1]))
    return transpose(columns), tuple(d)


# -- products ---------------------------------------------------------------------------------------------------------


def identity(p: int) -> Matrix:
    return tuple(tuple(Fraction(int(i == j)) for j in range(p)) for i in range(p))


def symmetric(upper: Sequence[Fraction], p: int) -> Matrix:
    """From the upper half, row by row."""
    entry = iter(upper)
    half = {(i, j): next(entry) for i in range(p) for j in range(i, p)}
    return tuple(tuple(half[min(i, j), max(i, j)] for j in range(p)) for i in range(p))


def transpose(A: Rows) -> Matrix:
    return tuple(zip(*A, strict=True))


def matmul(A: Rows, B: Rows) -> Matrix:
    """A B. Whole numbers are added up, and one fraction is reduced for each entry."""
    a, left = clear_denominators(A)
    b, right = clear_denominators(transpose(B))
    return tuple(
        tuple(Fraction(sum(map(int.__mul__, row, column)), r * s) for column, s in zip(b, right, strict=True))
        for row, r in zip(a, left, strict=True)
    )


def times(A: Rows, v: Sequence[Any]) -> Vector:
    """A v."""
    return tuple(row[0] for row in matmul(A, [[x] for x in v]))


def dot(u: Sequence[Any], v: Sequence[Any]) -> Fraction:
    return matmul([u], [[x] for x in v])[0][0] if len(u) else Fraction(0)


def quadratic(v: Sequence[Any], A: Rows) -> Fraction:
    """v'A v."""
    return dot(v, times(A, v)) if len(v) else Fraction(0)


def submatrix(A: Rows, rows: Sequence[int], columns: Sequence[int] | None = None) -> Matrix:
    """These rows and columns (the same ones, where none are named)."""
    across = rows if columns is None else columns
    return tuple(tuple(A[i][j] for j in across) for i in rows)


def scaled(A: Rows, by: Any) -> Matrix:
    return tuple(tuple(v * by for v in row) for row in A)


def plus(A: Rows, B: Rows) -> Matrix:
    return tuple(tuple(u + v for u, v in zip(a, b, strict=True)) for a, b in zip(A, B, strict=True))


# -- how well conditioned ---------------------------------------------------------------------------------------------


def condition_number(A: Rows, inverted: Rows | None = None, *, scaled: bool = False) -> float:
    """Of Z, from A = Z'Z: its largest singular value over its smallest, sqrt(|A| |A^-1|) in the 2-norm.

    The smallest eigenvalue of A is read off the exact inverse as a largest one: floats lose it where columns nearly
    depend on one another. scaled: every column of Z is first brought to length one, so that units do not matter.
    """
    if inverted is None:
        inverted = inverse(A)
    lengths = [Fraction(root(A[i][i])) for i in range(len(A))] if scaled else None
    (a, i), (b, j) = _norm(A, lengths and [1 / v for v in lengths]), _norm(inverted, lengths)
    size = i + j + (i + j) % 2  # even, so that its half can be put back
    try:
        return math.ldexp(math.sqrt(math.ldexp(a * b, i + j - size)), size // 2)
    except OverflowError:
        return math.inf


def _norm(A: Rows, scales: Sequence[Fraction] | None) -> tuple[float, int]:
    """The largest singular value of a symmetric matrix, rows and columns times `scales`: v and e of v 2^e."""
    if scales is not None:
        A = [[v * s * t for v, t in zip(row, scales, strict=True)] for row, s in zip(A, scales, strict=True)]
    size = max((v.numerator.bit_length() - v.denominator.bit_length() for row in A for v in row if v), default=0)
    up, down = max(0, -size), max(0, size)
    small = np.array([[(v.numerator << up) / (v.denominator << down) for v in row] for row in A], np.float64)
    return float(np.abs(np.linalg.eigvalsh(small)).max()), size
