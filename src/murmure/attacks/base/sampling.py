"""Who is attacked: rows drawn at random, from the words of a generator."""

from __future__ import annotations

import numpy as np

from murmure.core.random import Random
from murmure.core.types import Ints


def sample_rows(n: int, size: int, rng: Random) -> Ints:
    """size of the numbers 0 .. n - 1, each once, all sets equally likely (random words hardly ever tie)."""
    return np.argsort(rng.words(n), kind="stable")[:size].astype(np.int64)


def resample_rows(n: int, size: int, rng: Random) -> Ints:
    """size of the numbers 0 .. n - 1, with replacement; off from uniform by less than n / 2**53."""
    return ((rng.words(size) >> np.uint64(11)).astype(np.float64) * 2.0**-53 * n).astype(np.int64)
