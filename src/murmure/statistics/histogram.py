"""How many people hold each value.

g(x) = the indicator of x,   finish: shares of n.

Protected: one block. A row is in one cell, so it adds 1 in all, however many cells there are (parallel composition).
The shares are those of the noisy sum of the cells, never of n.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from murmure.core.blocks import Block, NoisySum
from murmure.core.catalogue_entries import QueryForm, StatisticEntry
from murmure.core.counts import check_counts, room_for_cells
from murmure.core.domain import Categories, Dates, Domain, Integers, check_few_values
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.estimates.estimate import Estimate
from murmure.core.types import Affine, Array, FromCounts, Ints, NoAffine, Protectable
from murmure.statistics.base.one_hot_cells import exact_share_estimate, one_hot_block, share_estimate
from murmure.statistics.base.statistic import BaseStatistic, counts_of, one_hot


@dataclass(frozen=True)
class Histogram(BaseStatistic[Estimate], Protectable[Estimate], FromCounts):
    """Shares of every value of a domain.

    >>> import murmure as mu
    >>> domain = mu.Categories(["a", "b", "c"])
    >>> print(mu.run(mu.Plan(mu.Histogram(domain)), ["a", "b", "a", "c"]).estimate)  # in the clear
          share       low      high
    a    0.5000    0.5000    0.5000
    b    0.2500    0.2500    0.2500
    c    0.2500    0.2500    0.2500
    <BLANKLINE>
    4 people; known exactly, for these people (fixed population)
    """

    domain: Domain

    entry = StatisticEntry(
        order=60,
        bare_sentence="The share of every answer.",
        query=QueryForm("histogram", counts=True),
        study="how many rows hold each of the {width} values of {columns}",
        title="Histogram of {column}",
        sentence="The share of every answer to {column}",
        bare="Histogram",
    )

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Domain):
            raise InvalidParameter(
                "Histogram.domain must be Categories, Integers, Interval, Decimals or Dates, got {got}.",
                hint="put labels in Categories([...]), numbers in Integers(low, high) or Interval(low, high)",
                got=shorten(self.domain),
            )
        check_few_values("Histogram.domain", self.domain)
        room_for_cells("Histogram", self.domain.size)

    # A row fills one cell, and a row without a value fills none.
    largest = 1
    handles_nobody = True

    @property
    def width(self) -> int:
        return self.domain.size

    @property
    def blocks(self) -> tuple[Block, ...]:
        return (one_hot_block(self.width),)

    def lift(self, x: Array) -> Ints:
        return one_hot(x, self.width)

    def tally(self, x: Array) -> Ints:
        return counts_of(x, self.width)

    def from_counts(self, counts: Ints) -> Ints:
        """The sums, from how often each value occurs, nobody's too (in the last axis)."""
        return counts[..., :-1]

    def interpret(self, noisy: NoisySum) -> Estimate:
        return share_estimate(list(self.domain.labels()), noisy)

    def interpret_exact(self, total: Ints, n: int) -> Estimate:
        total = check_counts("Histogram", total, n, self.width, 1)
        return exact_share_estimate(self.domain.labels(), total, n, one_each=True)

    def why_unanswerable(self, affine: Affine | NoAffine) -> str | None:
        """Why this map cannot answer the question, or None."""
        if isinstance(affine, NoAffine):
            return affine.reason
        return None if affine.of == "cells" else Phrase("its reports give a mean, not the share of every value")

    def reference(self, x: Array) -> NDArray[np.float64]:
        return np.array([np.mean(x == v) for v in range(self.width)])


EXAMPLES = (
    Histogram(Categories(["no", "yes"])),
    Histogram(Integers(3, 9)),
    Histogram(Dates("2020-12-21", "2021-01-17", unit="week")),
)
