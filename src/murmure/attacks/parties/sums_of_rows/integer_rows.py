"""All sets of m whole rows with given sums of products: what a Gram matrix leaves open.

    G_jk = sum over the m rows of  v_j v_k,      v_j a whole number from low_j to high_j,      v_0 = 1

A column alone has G_0j as its sum and G_jj as its sum of squares, so it lies on a sphere; whole numbers on a sphere are
few while m is small. They are listed from the smallest entry up, with two bounds on what k more entries from v to high
can still reach, where s and q are what is left of the sum and of the squares, and the last two by their equation:

    s^2 / k  <=  q  <=  (v + high) s - k v high      (Cauchy-Schwarz, and (x - v)(high - x) >= 0)
    x, y = (s -+ sqrt(2 q - s^2)) / 2

Columns are then joined, the rarest first: those whose products with all earlier columns fit. Rows have no order, so
partial tables are kept with their rows sorted, each once.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.types import Ints, Mask

MAX_LISTED = 1 << 20  # partial columns; beyond it, the search gives up
MAX_TABLES = 1 << 14  # of those that fit so far
MAX_PRODUCTS = 1 << 28  # of a table with a candidate, in one step


class TooManySolutions(Exception):
    """More candidates than the search goes through. Nothing that a user sees: the attack reports it as ambiguous."""


@dataclass(frozen=True)
class ColumnBounds:
    low: int
    high: int


def sorted_columns(m: int, total: int, squares: int, bounds: ColumnBounds) -> Ints:
    """All sets of m whole numbers within the bounds, with this sum and this sum of squares; in ascending order."""
    high = bounds.high
    values = np.arange(bounds.low, high + 1, dtype=np.int64)
    prefixes, s, q = np.zeros((1, 0), np.int64), np.array([total], np.int64), np.array([squares], np.int64)
    least = np.array([bounds.low], np.int64)
    for k in range(m - 1, 1 if m > 1 else -1, -1):  # k entries remain after this one
        if len(prefixes) * len(values) > 16 * MAX_LISTED:
            raise TooManySolutions
        s_after, q_after = s[:, None] - values, q[:, None] - values**2
        fits = (
            (values >= least[:, None])
            & (k * q_after >= s_after**2)
            & (q_after <= (values + high) * s_after - k * values * high)
            & (q_after >= 0)  # of one row nothing is left
        )
        at, chosen = np.nonzero(fits)
        if len(at) > MAX_LISTED:
            raise TooManySolutions
        prefixes = np.concatenate([prefixes[at], values[chosen, None]], axis=1)
        s, q, least = s_after[at, chosen], q_after[at, chosen], values[chosen]
    if m == 1:
        return prefixes
    root = np.rint(np.sqrt(np.maximum(2 * q - s * s, 0).astype(np.float64))).astype(np.int64)
    x, y = (s - root) // 2, (s + root) // 2
    fits = (root * root == 2 * q - s * s) & (x + y == s) & (x * x + y * y == q) & (x >= least) & (y <= high)
    return np.concatenate([prefixes, x[:, None], y[:, None]], axis=1)[fits]


def in_every_order(columns: Ints) -> Ints:
    """Every vector that has the entries of one of these."""
    m = columns.shape[1]
    if len(columns) * math.factorial(m) > MAX_LISTED:
        raise TooManySolutions
    orders = np.array(list(itertools.permutations(range(m))))
    return np.unique(columns[:, orders].reshape(-1, m), axis=0)


def rows_with(gram: Ints, m: int, bounds: list[ColumnBounds], max_tables: int = MAX_TABLES) -> Ints:
    """All tables of m rows with these sums of products, [solution, row, column]; rows sorted, each set once.

    Column 0 of the Gram matrix is the constant 1. An inconsistent matrix has no solution.
    """
    columns = len(gram)
    found = np.ones((1, m, 1), np.int64)
    if gram[0, 0] != m:
        return found[:0].repeat(columns, axis=2)
    lists = {j: sorted_columns(m, int(gram[0, j]), int(gram[j, j]), bounds[j]) for j in range(1, columns)}
    order = [0]
    for j in sorted(lists, key=lambda j: len(lists[j])):
        # The first column may have any order: rows have none.
        candidates = lists[j] if len(order) == 1 else in_every_order(lists[j])
        found = _joined(found, order, candidates, gram[j], max_tables)
        order.append(j)
    return np.ascontiguousarray(_sorted_once(found[:, :, np.argsort(order)]))


def _joined(found: Ints, order: list[int], candidates: Ints, products: Ints, max_tables: int) -> Ints:
    """Every table so far with every new column whose products with its columns are as given."""
    if not len(found) or not len(candidates):
        return np.empty((0, found.shape[1], found.shape[2] + 1), np.int64)
    if len(found) * len(candidates) * len(order) > MAX_PRODUCTS:
        raise TooManySolutions
    wanted = np.array([products[k] for k in order], np.int64)
    parts, listed = [], 0
    block = max(1, (1 << 22) // (len(candidates) * len(order)))
    for start in range(0, len(found), block):
        some = found[start : start + block]
        fits: Mask = (_products(some, candidates) == wanted[:, None]).all(axis=1)  # [table, candidate]
        at, chosen = np.nonzero(fits)
        parts.append(_sorted_once(np.concatenate([some[at], candidates[chosen][:, :, None]], axis=2)))
        listed += len(parts[-1])
        if listed > max_tables:
            raise TooManySolutions
    return _sorted_once(np.concatenate(parts))


def _products(tables: Ints, candidates: Ints) -> NDArray[Any]:
    """[table, column so far, candidate], exactly: floats are fast, and exact below 2**53."""
    largest = int(np.abs(tables).max()) * int(np.abs(candidates).max()) * tables.shape[1]
    kind: Any = np.float64 if largest < 1 << 53 else np.int64
    return np.asarray(tables.transpose(0, 2, 1).astype(kind) @ candidates.T.astype(kind))


def _sorted_once(tables: Ints) -> Ints:
    """Rows of every table in order, and every table once: whoever comes first, it is the same set of rows."""
    if not len(tables):
        return tables
    count, m, width = tables.shape
    by_row = np.lexsort([tables[:, :, k] for k in range(width - 1, -1, -1)], axis=1)
    ordered = np.take_along_axis(tables, by_row[:, :, None], axis=1)
    flat = np.unique(ordered.reshape(count, m * width), axis=0)
    return flat.reshape(len(flat), m, width)
