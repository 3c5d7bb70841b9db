"""Lecture 004, what exact sums reveal however well masks hide their parts, and what the protocol costs.

Two people, (age, cost) = (40, 7) and (52, 3), and nothing but the sums that a regression with a constant needs:

>>> two_records(products([(40, 7), (52, 3)]))
[(40, 7), (52, 3)]
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

Record = tuple[int, ...]
Products = list[list[int]]

# -- The sums of a regression, and two or three records in them --------------------------------------------------------


def products(records: Sequence[Record]) -> Products:
    """sum over records of v v', v = (1, x_1, ..., x_d): the (d + 1)(d + 2) / 2 sums of section 5, with a constant."""
    rows = [(1, *record) for record in records]
    return [[sum(v[j] * v[k] for v in rows) for k in range(len(rows[0]))] for j in range(len(rows[0]))]


def without(sums: Products, known: Sequence[Record]) -> Products:
    """What is left for the others when those who collude subtract their own records."""
    return [[a - b for a, b in zip(*rows, strict=True)] for rows in zip(sums, products(known), strict=True)]


def two_records(sums: Products) -> list[Record]:
    """The two records behind the sums, exactly; only their order is not known.

    With mean mu = (a + b) / 2 the centred products are (a - b)(a - b)' / 2: a matrix of rank one, which gives a - b up
    to its sign.
    """
    (n, *s), *rest = sums
    if n != 2:
        raise ValueError(f"the sums are of {n} records, not of two")
    G = [row[1:] for row in rest]
    apart = [[2 * G[j][k] - s[j] * s[k] for k in range(len(s))] for j in range(len(s))]  # (a - b)(a - b)'
    pivot = next((j for j in range(len(s)) if apart[j][j]), 0)
    size = math.isqrt(apart[pivot][pivot])
    difference = [apart[pivot][k] // size if size else 0 for k in range(len(s))]
    a = tuple((total + d) // 2 for total, d in zip(s, difference, strict=True))
    b = tuple((total - d) // 2 for total, d in zip(s, difference, strict=True))
    return sorted((a, b))


def three_records(sums: Products, low: int, high: int) -> list[list[Record]]:
    """All sets of three records of whole numbers from low to high that have these sums.

    Mean and products leave one angle free. Whole numbers seldom do.
    """
    (n, *s), *rest = sums
    if n != 3:
        raise ValueError(f"the sums are of {n} records, not of three")
    G = [row[1:] for row in rest]
    partial: list[list[Record]] = [[(), (), ()]]
    for k in range(len(s)):
        partial = [
            [(*record, value) for record, value in zip(begun, column, strict=True)]
            for begun in partial
            for column in _columns(s[k], G[k][k], low, high)
            if all(sum(r[j] * v for r, v in zip(begun, column, strict=True)) == G[j][k] for j in range(k))
        ]
    return [list(records) for records in sorted({tuple(sorted(records)) for records in partial})]


def _columns(total: int, squares: int, low: int, high: int) -> Iterator[tuple[int, int, int]]:
    """Every (a, b, c) from low to high with this sum and this sum of squares."""
    for a in range(low, high + 1):
        square = 2 * (squares - a * a) - (total - a) ** 2  # (b - c)^2
        root = math.isqrt(square) if square >= 0 else -1
        if root * root != square or (total - a + root) % 2:
            continue
        for difference in {root, -root}:
            b = (total - a + difference) // 2
            c = total - a - b
            if low <= b <= high and low <= c <= high:
                yield a, b, c


# -- What is sent ------------------------------------------------------------------------------------------------------

NUMBER, KEY = 8, 32  # bytes


def mask_numbers(m: int, L: int) -> int:
    """Every party sends every other L numbers."""
    return m * (m - 1) * L


def bytes_of_the_lecture(m: int, L: int) -> int:
    """The masks, and a vector of every party to the centre."""
    return NUMBER * (mask_numbers(m, L) + m * L)


def bytes_with_keys(m: int, L: int) -> int:
    """Every party gets a key of every other, and both expand it: masks do not travel. (No shares against dropouts.)"""
    return KEY * m * (m - 1) + NUMBER * m * L


def block_numbers(m: int, L: int, J: int) -> tuple[int, int]:
    """In J blocks of m / J parties: mask numbers per block, and in all.

    m^2 L / J is about the total; the lecture says that it is the cost of one block.
    """
    each = mask_numbers(m // J, L)
    return each, J * each


def outsourced(m: int, L: int) -> tuple[int, int]:
    """Section 6: one company, and every one of its m rows a party. Mask numbers, and the additions that do without."""
    return mask_numbers(m, L), (m - 1) * L
