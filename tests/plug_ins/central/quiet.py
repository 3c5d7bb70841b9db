"""Discrete Laplace noise under another name: a noise that tests/test_plugins.py adds.

P[z] as in central/discrete_laplace.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from murmure.central.base.bound_noise import BoundNoise
from murmure.central.discrete_laplace import DiscreteLaplace
from murmure.core.blocks import Block
from murmure.core.catalogue_entries import NoiseEntry
from murmure.core.types import Relation


@dataclass(frozen=True)
class Quiet:
    """Noise on integer sums with a pure epsilon.

    >>> import murmure as mu
    >>> mu.Quiet(epsilon=1.0)
    Quiet(epsilon=1.0)
    """

    epsilon: float

    entry = NoiseEntry(word="quiet")

    def bind(self, blocks: Sequence[Block], relation: Relation = "add/remove", rows: int = 1) -> BoundNoise:
        return replace(DiscreteLaplace(self.epsilon).bind(blocks, relation, rows), noise=self)


EXAMPLES = ((Quiet(1.0), (Block("count", 1, 1, 1),)),)
