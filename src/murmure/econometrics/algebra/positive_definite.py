"""Whether a symmetric matrix of sums is positive definite, by exact arithmetic: every machine decides alike."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from murmure.econometrics.algebra.matrices import Matrix
from murmure.econometrics.algebra.rounding import rounded

# Rows are added up as floats of 53 bits, so 2**-44 of a square, or less, counts as nothing.
NOTHING_LEFT_BITS = 44


def first_not_positive(A: Sequence[Sequence[Fraction]]) -> int | None:
    """The first column of a symmetric matrix that depends on those before it; None if the matrix is positive definite.

    By leading minors (Sylvester): the quotient of two of them is what is left of the square of a column, once the
    columns before it are taken out.
    """
    over = math.lcm(*(v.denominator for row in A for v in row))
    m, last = [[int(v * over) for v in row] for row in A], 1
    squares = [m[k][k] for k in range(len(m))]
    for k in range(len(m)):
        pivot = m[k][k]  # the leading minor of order k + 1 (Bareiss, Math. Comp. 22, 1968)
        if pivot <= 0 or pivot << NOTHING_LEFT_BITS <= last * squares[k]:
            return k
        for row in m[k + 1 :]:
            first = row[k]
            for j in range(k + 1, len(row)):
                row[j] = (pivot * row[j] - first * m[k][j]) // last
        last = pivot
    return None


def is_positive_definite(A: Matrix) -> bool:
    """Whether all pivots of a symmetric matrix are positive."""
    m = [list(row) for row in A]
    for k in range(len(m)):
        if m[k][k] <= 0:
            return False
        for i in range(k + 1, len(m)):
            factor = m[i][k] / m[k][k]
            m[i] = [rounded(a - factor * b, 256) for a, b in zip(m[i], m[k], strict=True)]
    return True
