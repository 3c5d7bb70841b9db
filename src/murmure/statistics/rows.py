"""How many rows there are, whatever they hold.

g(x) = 1.

The domain names a column, so that there is something to read; its values do not matter.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from murmure.core.catalogue_entries import QueryForm, StatisticEntry
from murmure.core.domain import Categories, Integers
from murmure.core.types import Array, Ints
from murmure.statistics.count import Count


@dataclass(frozen=True)
class Rows(Count):
    """The number of rows, also of those without a value: `Rows(schema["age"])`, of any column.

    >>> import murmure as mu
    >>> plan = mu.Plan(mu.Rows(mu.Integers(0, 120)), curator=mu.DiscreteLaplace(epsilon=1.0))
    >>> print(mu.run(plan, [30, None, 56] * 300, rng=mu.Random.seeded(7)).estimate)
              count       low      high
    count       898       895       901
    <BLANKLINE>
    about 898 people; 95% intervals by exact inversion of the noise (every figure under which such noise
      is not rare), for these people (fixed population)
    """

    entry = StatisticEntry(
        order=10,
        query=QueryForm("count", columns=0, counts=True),
        study="how many rows there are (of {columns})",
        title="Number of rows",
        sentence="How many rows there are",
    )

    def lift(self, x: Array) -> Ints:
        return np.ones((len(x), 1), np.int64)

    def tally(self, x: Array) -> Ints:
        return np.array([len(x)], np.int64)

    def from_counts(self, counts: Ints) -> Ints:
        return np.asarray(counts.sum(axis=-1, keepdims=True))

    def reference(self, x: Array) -> NDArray[np.float64]:
        return np.array([float(len(x))])


EXAMPLES = (Rows(Categories(["no", "yes"])), Rows(Integers(0, 99)))
