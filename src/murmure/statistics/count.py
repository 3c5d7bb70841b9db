"""How many rows hold a value of the domain.

g(x) = 1;  a row without a value of the domain adds nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from murmure.core.blocks import Block, NoisySum
from murmure.core.catalogue_entries import QueryForm, StatisticEntry
from murmure.core.domain import Categories, Domain, Integers
from murmure.core.errors import InvalidParameter, shorten
from murmure.core.estimates.estimate import Estimate
from murmure.core.estimates.noisy_estimators import CountEstimator, with_cached_laws
from murmure.core.types import Array, FromCounts, Ints
from murmure.statistics.base.statistic import ProtectableStatistic, people_count


@dataclass(frozen=True)
class Count(ProtectableStatistic[Estimate], FromCounts):
    """The number of rows. Where(Count(domain), ...) counts some of them, GroupBy(Count(domain), ...) each group.

    >>> import murmure as mu
    >>> plan = mu.Plan(mu.Count(mu.Integers(0, 120)), curator=mu.DiscreteLaplace(epsilon=1.0))
    >>> print(mu.run(plan, [30, 40, 56] * 300, rng=mu.Random.seeded(7)).estimate)
              count       low      high
    count       898       895       901
    <BLANKLINE>
    about 898 people; 95% intervals by exact inversion of the noise (every figure under which such noise
      is not rare), for these people (fixed population)
    """

    domain: Domain

    entry = StatisticEntry(
        order=20,
        query=QueryForm("count", counts=True),
        study="how many rows there are (of {columns})",
        title="Count",
        sentence="How many have a value of {column}",
    )

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Domain):
            raise InvalidParameter(
                "Count.domain must be Categories, Integers, Interval, Decimals or Dates, got {got}.",
                hint='any column will do: Count(schema["age"])',
                got=shorten(self.domain),
            )

    width = 1
    largest = 1
    handles_nobody = True

    @property
    def blocks(self) -> tuple[Block, ...]:
        return (Block("count", 1, 1, 1, 1.0, 1, 1),)  # exchanging a row: one that counts for one that does not

    def lift(self, x: Array) -> Ints:
        return (np.asarray(x)[:, None] < self.domain.size).astype(np.int64)

    def tally(self, x: Array) -> Ints:
        return np.array([np.count_nonzero(np.asarray(x) < self.domain.size)], np.int64)

    def from_counts(self, counts: Ints) -> Ints:
        return np.asarray(counts[..., :-1].sum(axis=-1, keepdims=True))

    def interpret(self, noisy: NoisySum) -> Estimate:
        noisy = with_cached_laws(noisy)
        counts, law = noisy["count"], noisy.law("count")
        estimator = CountEstimator(counts, law)
        return Estimate(
            ["count"], counts.astype(float), people_count(counts[0]), "count", estimator, noisy=law is not None
        )

    def reference(self, x: Array) -> NDArray[np.float64]:
        return np.array([float(np.sum(x < self.domain.size))])


EXAMPLES = (Count(Categories(["no", "yes"])), Count(Integers(0, 99)))
