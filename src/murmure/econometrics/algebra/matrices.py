"""Linear algebra without rounding: matrices of fractions.

Normal equations square the condition number of the data. Here this makes whole numbers longer (elimination.py), and
costs no digits of the answer. Whatever decides the next question of a model is computed with these functions and never
with floats, so that all machines decide alike.
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
    """There is no inverse. columns: the first column that depends on earlier ones, and those that it depends on."""

    def __init__(self, columns: tuple[int, ...]) -> None:
        super().__init__(f"column {columns[0]} is a combination of columns {list(columns[1:])}")
        self.columns = columns


# -- equations --------------------------------------------------------------------------------------------------------


def solve(A: Rows, B: Rows) -> Matrix:
    """X with A X = B, exactly. Raises Singular, with the dependent columns of A."""
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
    """A^-1. Of a symmetric matrix only one half is computed."""
    p = len(A)
    if all(A[i][j] == A[j][i] for i in range(p) for j in range(i)):
        m, scale, h = balance(A)
        last = adjugate(m)
        if last:
            half = {(i, j): Fraction(m[i][j] * scale, last * h[i] * h[j]) for i in range(p) for j in range(i, p)}
            return tuple(tuple(half[min(i, j), max(i, j)] for j in range(p)) for i in range(p))
    return solve(A, identity(p))


def dependencies(A: Rows) -> dict[int, dict[int, Fraction]]:
    """Columns of Z that depend on earlier ones, each as a combination of those, from A = Z'Z. {}: Z has full rank.

    Z'Z u = 0 means |Z u|^2 = u'Z'Z u = 0, so the columns of Z'Z have the dependencies of those of Z.
    """
    m, _ = clear_denominators(A)
    pivots, _ = eliminate(m, len(A))
    combinations = {}
    for k in range(len(A)):
        if k not in pivots:
            combinations[k] = combination(m, [j for j in pivots if j < k], k)
    return combinations


def orthogonalise(A: Rows) -> tuple[Matrix, Vector]:
    """T and d, from A = Z'Z: Z T has orthogonal columns of squares d; T is upper triangular, with ones on its diagonal.

    Column a of T is what is left of column a of Z once the columns before it are taken out (Gram-Schmidt, from sums).
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
    """The symmetric matrix whose upper half is given, row by row."""
    entry = iter(upper)
    half = {(i, j): next(entry) for i in range(p) for j in range(i, p)}
    return tuple(tuple(half[min(i, j), max(i, j)] for j in range(p)) for i in range(p))


def transpose(A: Rows) -> Matrix:
    return tuple(zip(*A, strict=True))


def matmul(A: Rows, B: Rows) -> Matrix:
    """A B. Adds up whole numbers, and reduces one fraction for each entry: faster than adding fractions."""
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
    """These rows and columns; without `columns`, the same as rows."""
    across = rows if columns is None else columns
    return tuple(tuple(A[i][j] for j in across) for i in rows)


def scaled(A: Rows, by: Any) -> Matrix:
    return tuple(tuple(v * by for v in row) for row in A)


def plus(A: Rows, B: Rows) -> Matrix:
    return tuple(tuple(u + v for u, v in zip(a, b, strict=True)) for a, b in zip(A, B, strict=True))


# -- condition number --------------------------------------------------------------------------------------------------


def condition_number(A: Rows, inverted: Rows | None = None, *, scaled: bool = False) -> float:
    """The condition number of Z, from A = Z'Z: largest over smallest singular value, sqrt(|A| |A^-1|) in the 2-norm.

    scaled: every column of Z is first brought to length one, so that units do not matter.
    """
    # Floats would lose the smallest eigenvalue of A where columns nearly depend on one another. As the largest
    # eigenvalue of the exact inverse it keeps its digits.
    if inverted is None:
        inverted = inverse(A)
    lengths = [Fraction(root(A[i][i])) for i in range(len(A))] if scaled else None
    (a, i), (b, j) = _norm(A, lengths and [1 / v for v in lengths]), _norm(inverted, lengths)
    size = i + j + (i + j) % 2  # even: its half is an exponent again
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
