"""Which m rows to guess, such that as many as possible are right on average.

A row that is guessed g times gives min(g, n) hits if it is there n times, and min(g, n) = [n >= 1] + ... + [n >= g].
So the best guess is the m pairs (row, k) with the highest chances P[n >= k], which fall with k.
"""

from __future__ import annotations

import numpy as np

from murmure.attacks.base.counts_law import binomial_at_least
from murmure.core.types import Floats, Ints


def best_among_tables(tables: Ints, weights: Floats) -> Ints:
    """The best m rows, where one of these tables of m rows is the true one, with such weights. [table, row, column]"""
    count, m, width = tables.shape
    rows, of = np.unique(tables.reshape(count * m, width), axis=0, return_inverse=True)
    of = of.reshape(count, m)
    earlier = np.zeros_like(of)  # how often the same row comes before, in its table
    for j in range(1, m):
        earlier[:, j] = (of[:, :j] == of[:, j : j + 1]).sum(axis=1)
    chances = np.bincount((of * m + earlier).ravel(), np.repeat(weights, m), len(rows) * m)
    return np.asarray(rows[np.argsort(-chances, kind="stable")[:m] // m])


def best_independent(chances: Floats, m: int) -> tuple[Ints, float]:
    """Which m rows, by number, where each of m is drawn with these chances; and the share that is right on average."""

    first = np.argsort(-chances, kind="stable")[:m]  # no other row can be among the best
    reached = binomial_at_least(np.arange(m) + 1, m, chances[first][:, None]).ravel()
    best = np.argsort(-reached, kind="stable")[:m]
    return first[best // m], float(reached[best].mean())


def log_shares(known: Ints, rows: Ints) -> Floats:
    """ln of the share of each row, as expected from known rows: how often it comes, or, of rows that nobody has, its
    columns. As much is left for these as for rows that come once (Good and Turing)."""
    n = len(known)
    found, counts = np.unique(known, axis=0, return_counts=True)
    unseen = max(int((counts == 1).sum()), 1) / n
    by_row = {row.tobytes(): c / n for row, c in zip(np.ascontiguousarray(found), counts, strict=True)}
    by_frequency = np.array([by_row.get(row.tobytes(), 0.0) for row in np.ascontiguousarray(rows)])
    by_column = np.ones(len(rows))
    for k in range(known.shape[1]):
        values, times = np.unique(known[:, k], return_counts=True)
        at = np.minimum(np.searchsorted(values, rows[:, k]), len(values) - 1)
        by_column *= (np.where(values[at] == rows[:, k], times[at], 0) + 0.5) / (n + 0.5 * (len(values) + 1))
    return np.asarray(np.log((1 - unseen) * by_frequency + unseen * by_column))


def table_weights(tables: Ints, known: Ints) -> Floats:
    """How likely each table is beforehand, up to a constant: its rows' shares, and in how many orders they can come."""
    count, m, width = tables.shape
    rows, of = np.unique(tables.reshape(count * m, width), axis=0, return_inverse=True)
    of = of.reshape(count, m)
    logs = log_shares(known, rows)[of].sum(axis=1)
    for j in range(1, m):  # 1/n! for a row that comes n times
        logs -= np.log(1 + (of[:, :j] == of[:, j : j + 1]).sum(axis=1))
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())
