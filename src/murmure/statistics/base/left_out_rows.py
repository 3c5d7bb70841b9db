"""Rows that are left out of a figure: their number is missing, or their column drops labels that are not listed.

    g(x) = (1, 0, ...) for a row that counts,   (0, 1, 0, ...) for one that is left out

Both counts are one block, to which a row adds 1. So the noisy number of rows that are left out costs nothing where rows
are added or removed (parallel composition); replacing a row may move both, by 2 in all. A domain that leaves nobody
out, because a public constant takes the place of what is missing, has the one count; and so has every statistic outside
a curator's plan, since others refuse such rows or drop them before they count.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np

from murmure.core.blocks import Block, NoisySum
from murmure.core.cells.lenient_encoding import can_be_nobody
from murmure.core.codec import OMIT_IF_DEFAULT
from murmure.core.estimates.estimate import Estimate
from murmure.core.estimates.noisy_estimators import CountEstimator
from murmure.core.types import Array, Ints
from murmure.statistics.base.statistic import people_count

LABEL = "left out"


def left_out_field() -> Any:
    """The field of a statistic: whether it counts the rows that are left out.

    Plans set it. Where it is false their JSON leaves it out, so that plans keep the digests they had before it existed.
    """
    return field(default=False, metadata=OMIT_IF_DEFAULT)


def counts_left_out(statistic: Any) -> bool:
    """Whether there is a second count, of those who are left out."""
    return bool(statistic.left_out) and can_be_nobody(statistic.domain)


def counts_block(both: bool, weight: float) -> Block:
    # Replacing a row leaves the count of all rows as it is, but 1 is the smallest bound that a block can have.
    return Block("count", 2, 1, 1, weight, 2, 2) if both else Block("count", 1, 1, 1, weight, 1, 1)


def lift_count(x: Array, size: int, both: bool) -> list[Ints]:
    here = (np.asarray(x) < size).astype(np.int64)
    return [here, 1 - here] if both else [here]


def left_out_of(noisy: NoisySum, block: str = "count") -> Estimate:
    """The noisy number of rows that are left out: the last entry of the block."""
    counts, law = noisy[block][-1:], noisy.law(block)
    estimator = CountEstimator(counts, law)
    return Estimate([LABEL], counts.astype(float), people_count(counts[0]), "count", estimator, noisy=law is not None)
