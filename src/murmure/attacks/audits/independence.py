"""Whether samples look like independent draws: what repeats a seed, or follows the report before, proves nothing."""

from __future__ import annotations

import math

import numpy as np

from murmure.core.types import Array

COMPARED = 4_096  # reports at the start of a batch that are compared with those of earlier batches
TOO_FAR = 6.0  # standard deviations: a correct randomiser is that far out once in a billion times
FEW = 200  # reports, fewer than which say nothing here


def repeats(one: Array, other: Array) -> bool:
    """Whether two batches agree place by place more often than independent draws would."""
    n = min(len(one), len(other), COMPARED)
    if n < FEW:
        return False
    one, other = one[:n], other[:n]
    values, counts = np.unique(one, return_counts=True)
    others, other_counts = np.unique(other, return_counts=True)
    common, i, j = np.intersect1d(values, others, return_indices=True)
    chance = float((counts[i] / n) @ (other_counts[j] / n)) if len(common) else 0.0
    agreed = int((one == other).sum())
    return agreed > n * chance + TOO_FAR * (1 + math.sqrt(n * chance * (1 - chance)))


def follows(hit: Array) -> bool:
    """Whether what occurs depends on what occurred in the report before."""
    values = np.asarray(hit, np.float64)
    if len(values) < FEW:
        return False
    centred = values - values.mean()
    spread = float((centred * centred).sum())
    if spread < 30:  # too few hits or misses for a normal approximation
        return False
    return abs(float((centred[1:] * centred[:-1]).sum())) / spread * math.sqrt(len(values)) > TOO_FAR
