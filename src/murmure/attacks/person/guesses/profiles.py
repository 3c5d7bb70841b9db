"""Profiles of several surveys: the chance that everything in one is right, from the chance a_j of each attribute.

Every survey asks a person one of d attributes at random. After s surveys:
    "uniform"      never the same attribute twice:        e_s(a) / C(d, s)
    "non-uniform"  attributes may repeat, and a profile counts only if it holds s different ones:    s! e_s(a) / d**s
    "memoised"     attributes may repeat, a repeated one is the same report, and a profile of m <= s attributes counts:
                   sum over m of  S(s, m) m! e_m(a) / d**s            (S: Stirling numbers of the second kind)

e_s is the elementary symmetric polynomial: the sum over all sets of s attributes of the product of their chances.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Literal, get_args

import numpy as np

from murmure.core.random import Random
from murmure.core.types import Floats
from murmure.laws.cut import Cut

Metric = Literal["uniform", "non-uniform", "memoised"]
METRICS: tuple[Metric, ...] = get_args(Metric)


def symmetric_sums(chances: Sequence[float]) -> list[float]:
    """e_0 .. e_d of these chances. All terms are positive: nothing cancels."""
    sums = [1.0] + [0.0] * len(chances)
    for count, chance in enumerate(chances, 1):
        for s in range(count, 0, -1):
            sums[s] += chance * sums[s - 1]
    return sums


def stirling_numbers(s: int) -> list[int]:
    """S(s, 0) .. S(s, s): ways to split s surveys into m groups with the same attribute."""
    row = [1]
    for _ in range(s):
        row = [0, *(row[m - 1] + (m * row[m] if m < len(row) else 0) for m in range(1, len(row) + 1))]
    return row


def profile_success(chances: Sequence[float], surveys: int, metric: Metric) -> float:
    """The chance that a profile of this many surveys is right."""
    d, sums = len(chances), symmetric_sums(chances)
    if metric == "uniform":
        return sums[surveys] / math.comb(d, surveys)
    if metric == "non-uniform":
        return float(Fraction(math.factorial(surveys), d**surveys)) * sums[surveys]
    ways = stirling_numbers(surveys)
    weights = [float(Fraction(ways[m] * math.factorial(m), d**surveys)) for m in range(min(surveys, d) + 1)]
    return math.fsum(weight * sums[m] for m, weight in enumerate(weights))


def drawn_profiles(hits: Floats, surveys: int, metric: Metric, rng: Random) -> Floats:
    """Whether the profile of each person is right: hits[j] says it of attribute j, and a repeat is the same report."""
    d, n = hits.shape
    if metric == "uniform":
        words = rng.words(n * d).reshape(n, d)
        asked = np.argsort(words, axis=1)[:, :surveys]
    else:
        asked = Cut(d).pick(rng.words(n * surveys)).reshape(n, surveys).astype(np.int64)
    shown = np.zeros((n, d), bool)
    shown[np.arange(n)[:, None], asked] = True
    right = np.where(shown.T, hits, 1.0).prod(axis=0)
    return right if metric != "non-uniform" else np.where(shown.sum(axis=1) == surveys, right, 0.0)
