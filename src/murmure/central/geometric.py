"""Truncated geometric: discrete Laplace noise, and the answer is cut to a public range.

Ghosh, Roughgarden, Sundararajan, "Universally utility-maximizing privacy mechanisms", STOC 2009: for a count with a
known range no other epsilon-private answer serves anybody better, whatever their prior and their (monotone) loss. The
cut is a function of the noisy sum, so it costs nothing; but a cut answer is biased near the ends of the range, so it
comes without an error bar.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from murmure.central.base.bound_noise import BoundNoise
from murmure.central.discrete_laplace import DiscreteLaplace
from murmure.core.blocks import Block
from murmure.core.catalogue_entries import NoiseEntry
from murmure.core.errors import InvalidParameter, Phrase
from murmure.core.fixed import positive_epsilon
from murmure.core.types import Ints, PostProcessed, Relation


@dataclass(frozen=True)
class Geometric(PostProcessed):
    """Every entry of the noisy sum is cut to low .. high, which are public.

    >>> import murmure as mu
    >>> plan = mu.Plan(mu.Count(mu.Integers(0, 120)), curator=mu.Geometric(epsilon=1.0, low=0, high=1000))
    >>> print(mu.run(plan, [30, 40, 56] * 300, rng=mu.Random.seeded(7)).estimate)
              count
    count       898
    <BLANKLINE>
    about 898 people; no error bar: its sums were cut to a public range after noise was added
    """

    epsilon: float
    low: int
    high: int

    entry = NoiseEntry(order=50, title="discrete Laplace noise")

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive_epsilon("Geometric", self.epsilon))
        whole = all(isinstance(v, int) and not isinstance(v, bool) for v in (self.low, self.high))
        if not whole or not -(1 << 62) < self.low < self.high < 1 << 62:
            raise InvalidParameter(
                "Geometric.low and high must be whole numbers, low < high, got {got!r}, {high!r}.",
                hint="the public range of the answer: a count of n_max people lies in 0 .. n_max",
                got=self.low,
                high=self.high,
            )

    def bind(self, blocks: Sequence[Block], relation: Relation = "add/remove", rows: int = 1) -> BoundNoise:
        bound = DiscreteLaplace(self.epsilon).bind(blocks, relation, rows)
        return dataclasses.replace(
            bound, noise=self, method=Phrase("{method}; then cut to a public range", method=bound.method)
        )

    def post_process(self, noisy: Ints) -> Ints:
        """What leaves the gate: the noisy sum, cut."""
        return np.clip(noisy, self.low, self.high)


EXAMPLES = ((Geometric(1.0, 0, 100), (Block("count", 1, 1, 1),)),)
