"""Repeated surveys over one population: which columns a survey asks about, and which of them a person reports.

Each survey asks about a random set of the columns. Its people are split evenly over these columns, in random order.
    uniform       nobody reports a column twice: a person who has reported the column before reports one that they have
                  not, drawn from all columns (without replacement over surveys)
    non-uniform   a column may come again, and the person then repeats the first report: nothing new is learned
                  (with replacement over surveys, memoised)

(Arcolezi et al., PVLDB 16(5), 2023, section 4; the code published with it draws from half of the columns to all but
one.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from murmure.attacks.base.draws import shuffled, some_of, uniforms
from murmure.core.random import Random
from murmure.core.types import Ints

NOTHING = -1  # no new report in this survey


@dataclass(frozen=True)
class Surveys:
    """The columns that each survey asks about."""

    columns: tuple[Ints, ...]

    @classmethod
    def draw(cls, rng: Random, count: int, d: int) -> Surveys:
        return cls(tuple(some_of(rng, d, *attribute_range(d)) for _ in range(count)))

    def __len__(self) -> int:
        return len(self.columns)


def attribute_range(d: int) -> tuple[int, int]:
    """How many of d columns a survey asks about, at least and at most."""
    low = max(1, round(d / 2))
    return low, max(low, d - 1)


def reported_columns(surveys: Surveys, n: int, d: int, again: bool, rng: Random) -> Ints:
    """(n, surveys): the column that each person newly reports; again: a column may be drawn a second time."""
    out = np.full((n, len(surveys)), NOTHING, np.int64)
    reported = np.zeros((n, d), bool)
    people = np.arange(n)
    for s, asked in enumerate(surveys.columns):
        column = np.empty(n, np.int64)
        for j, group in zip(asked, np.array_split(shuffled(rng, n), len(asked)), strict=True):
            column[group] = j
        repeats = reported[people, column]
        if again:
            column[repeats] = NOTHING
        elif repeats.any():
            rows = np.flatnonzero(repeats)
            keys = np.where(reported[rows], -1.0, uniforms(rng, len(rows), d))
            column[rows] = keys.argmax(axis=1)
        new = column != NOTHING
        reported[people[new], column[new]] = True
        out[:, s] = column
    return out
