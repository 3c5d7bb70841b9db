"""A weighed sum of a report's numbers, as an event: what many small shifts in one direction add up to.

A learner releases tens of noisy sums, and a person moves each of them a little. Tables of one number at a time lose
that; Fisher's linear discriminant finds it. Numbers are first bent to (-1, 1), so that heavy tails do not decide.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from murmure.attacks.audits.features import few_values
from murmure.attacks.audits.sent_reports import ABSENT, Key, SentReports
from murmure.core.errors import Phrase
from murmure.core.types import Array, Floats, Ints

MIN_NUMBERS = 3  # numbers, of many values each; fewer are looked at in pairs
MAX_NUMBERS = 128
RIDGE = 1e-3
RANGES = 64


@dataclass(frozen=True, eq=False)
class WeighedNumbers:
    """sum_j w_j tanh((y_j - m_j) / s_j), sorted into ranges."""

    keys: tuple[Key, ...]
    middles: Floats
    spreads: Floats
    weights: Floats
    edges: Floats

    @property
    def count(self) -> int:
        return len(self.edges) + 1

    def score(self, sent: SentReports) -> Floats:
        return _bent(sent, self.keys, self.middles, self.spreads) @ self.weights

    def of_reports(self, sent: SentReports) -> Ints:
        return np.searchsorted(self.edges, self.score(sent), side="right")

    def describe(self, chosen: Ints, texts: Any) -> str:
        return Phrase(
            "a weighed sum of the report's {n} numbers is in {chosen} of {all} ranges",
            n=len(self.keys),
            chosen=len(chosen),
            all=self.count,
        )


def _bent(sent: SentReports, keys: tuple[Key, ...], middles: Floats, spreads: Floats) -> Floats:
    out = np.empty((sent.n, len(keys)))
    for j, key in enumerate(keys):
        column = sent.column(key)
        bent = np.tanh((column.astype(np.float64) - middles[j]) / spreads[j])
        out[:, j] = np.where(column == ABSENT, 0.0, np.nan_to_num(bent))
    return out


def weighed_numbers(sent: SentReports, source: Array) -> WeighedNumbers | None:
    """The direction that tells x (source) from x' best, where reports have some numbers of many values."""
    keys = tuple(
        key for key, column in sent.columns.items() if key[0] in ("position", "part") and not few_values(column, 64)
    )[:MAX_NUMBERS]
    if len(keys) < MIN_NUMBERS or not source.any() or source.all():
        return None
    numbers = [sent.column(key).astype(np.float64) for key in keys]
    quarters = np.array([np.nanquantile(np.where(np.isfinite(y), y, np.nan), [0.25, 0.5, 0.75]) for y in numbers])
    middles, spreads = quarters[:, 1], quarters[:, 2] - quarters[:, 0]
    spreads = np.where(np.isfinite(spreads) & (spreads > 0), spreads, 1.0)
    bent = _bent(sent, keys, np.nan_to_num(middles), spreads)
    one, other = bent[source], bent[~source]
    apart = one.mean(axis=0) - other.mean(axis=0)
    centred = np.concatenate([one - one.mean(axis=0), other - other.mean(axis=0)])
    within = centred.T @ centred / len(centred) + RIDGE * np.eye(len(keys))
    weights = np.linalg.solve(within, apart)
    score = bent @ weights
    parts = np.geomspace(1e-4, 0.5, RANGES // 2)  # finer at both ends, where events are rare and tell most
    edges = np.unique(np.quantile(score, np.sort(np.concatenate([parts, 1 - parts]))))
    return WeighedNumbers(keys, np.nan_to_num(middles), spreads, weights, edges)
