"""Fraction-free elimination, for solving equations, inverting matrices and naming dependent columns.

    m_ij <- (m_kk m_ij - m_ik m_kj) / m_(k-1,k-1)      the division leaves no remainder

Bareiss, Math. Comp. 22(103), 1968, one step at a time. Every m_ij is a minor of the matrix, so each step adds no more
bits than one entry has.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

Rows = Sequence[Sequence[Any]]  # of fractions or whole numbers

# From this length on, multiplying by an inverse is faster than dividing.
LONG_BITS = 4096


class _ExactDivision:
    """Division of multiples of `by`, fast for long numbers: x / by = x by^-1 modulo a power of two (Jebelean 1993)."""

    def __init__(self, by: int, bits: int) -> None:
        self.by, self.long = by, bits > LONG_BITS and by.bit_length() > LONG_BITS // 2
        if self.long:
            self.shift = (by & -by).bit_length() - 1
            self.bits = bits + 2
            odd, right_bits, inverse = by >> self.shift, 3, by >> self.shift  # x x = 1 modulo 8 for every odd x
            while right_bits < self.bits:  # Newton: every step doubles the number of correct bits
                right_bits = min(2 * right_bits, self.bits)
                mask = (1 << right_bits) - 1
                inverse = (inverse & mask) * (2 - (odd & mask) * (inverse & mask)) & mask
            self.inverse, self.mask = inverse, (1 << self.bits) - 1

    def __call__(self, x: int) -> int:
        if not self.long:
            return x // self.by
        v = ((x >> self.shift) & self.mask) * self.inverse & self.mask
        return v - (1 << self.bits) if v >> (self.bits - 1) else v


def clear_denominators(rows: Rows) -> tuple[list[list[int]], list[int]]:
    """Every row times the least common multiple of its denominators, and these multiples."""
    out, scales = [], []
    for row in rows:
        scale = math.lcm(*(v.denominator for v in row)) if row else 1
        out.append([v.numerator * (scale // v.denominator) for v in row])
        scales.append(scale)
    return out, scales


def eliminate(m: list[list[int]], columns: int) -> tuple[list[int], int]:
    """Eliminate forward, in place. Returns the pivot columns among the first `columns`, and the last pivot."""
    pivots: list[int] = []
    last, at, rows = 1, 0, len(m)
    for k in range(columns):
        best = next((i for i in range(at, rows) if m[i][k]), None)
        if best is None:
            continue
        m[at], m[best] = m[best], m[at]
        top = m[at]
        pivot, width = top[k], len(top)
        bits = max(v.bit_length() for row in m[at:] for v in row) + pivot.bit_length() - last.bit_length() + 2
        divide = _ExactDivision(last, bits)
        for row in m[at + 1 :]:
            first = row[k]
            for j in range(k + 1, width):
                row[j] = divide(pivot * row[j] - first * top[j])
            row[k] = 0
        pivots.append(k)
        last, at = pivot, at + 1
        if at == rows:
            break
    return pivots, last


def back_substitute(m: list[list[int]], pivots: list[int], last: int, column: int) -> list[int]:
    """The factors of the pivot columns that add up to this column, each times `last`: whole numbers (Cramer)."""
    x = [0] * len(pivots)
    for i in range(len(pivots) - 1, -1, -1):
        row = m[i]
        rest = last * row[column] - sum(row[pivots[j]] * x[j] for j in range(i + 1, len(pivots)))
        x[i] = rest // row[pivots[i]]
    return x


def combination(m: list[list[int]], pivots: list[int], column: int) -> dict[int, Fraction]:
    """This column of an eliminated matrix, as a combination of pivot columns: factors other than 0."""
    last = m[len(pivots) - 1][pivots[-1]] if pivots else 1
    x = back_substitute(m, pivots, last, column)
    return {j: Fraction(v, last) for j, v in zip(pivots, x, strict=True) if v}


def balance(A: Rows) -> tuple[list[list[int]], int, list[int]]:
    """M, L and h, all whole, with L a_ij = h_i m_ij h_j: numbers get smaller without the scales of columns."""
    scale = math.lcm(*(v.denominator for row in A for v in row)) if A else 1
    m = [[v.numerator * (scale // v.denominator) for v in row] for row in A]
    h = [math.gcd(*row) or 1 for row in m]
    if any(v % (h[i] * h[j]) for i, row in enumerate(m) for j, v in enumerate(row)):
        return m, scale, [1] * len(m)
    return [[v // (h[i] * h[j]) for j, v in enumerate(row)] for i, row in enumerate(m)], scale, h


def adjugate(m: list[list[int]]) -> int:
    """W = det(M) M^-1, in place on the upper half of a symmetric M. Returns det(M), or 0 if a pivot is 0.

    Elimination leaves M = U' D^-1 U with u_ii = d_i, the leading minors, and D = diag(d_(i-1) d_i). So U M^-1 is
    D U'^-1, lower triangular with d_(i-1) on its diagonal, and from the last row upwards, for j >= i,

        d_i w_ij = [i = j] det(M) d_(i-1) - sum_(k > i) u_ik w_kj.
    """
    p, last = len(m), 1
    minors = [1]
    for k, top in enumerate(m):
        pivot = top[k]
        if not pivot:
            return 0
        max_bits = max(v.bit_length() for i in range(k, p) for v in m[i][i:])
        divide = _ExactDivision(last, 2 * max_bits - last.bit_length() + 2)
        for i in range(k + 1, p):
            row, first = m[i], top[i]
            for j in range(i, p):
                row[j] = divide(pivot * row[j] - first * top[j])
        minors.append(pivot)
        last = pivot
    for i in range(p - 1, -1, -1):
        u = m[i][:]
        for j in range(p - 1, i - 1, -1):
            rest = last * minors[i] if i == j else 0
            rest -= sum(u[k] * (m[k][j] if k <= j else m[j][k]) for k in range(i + 1, p))
            m[i][j] = rest // u[i]
    return last
