"""What experiments draw besides reports: uniform numbers, orders of people, random subsets."""

from __future__ import annotations

import math

import numpy as np

from murmure.core.random import Random
from murmure.core.types import Floats, Ints


def uniforms(rng: Random, *shape: int) -> Floats:
    """Uniform numbers in [0, 1)."""
    words = rng.words(math.prod(shape))
    return ((words >> np.uint64(11)).astype(np.float64) * 2.0**-53).reshape(shape)


def shuffled(rng: Random, n: int) -> Ints:
    """The numbers 0 .. n-1 in random order."""
    return np.argsort(rng.words(n), kind="stable")


def some_of(rng: Random, n: int, low: int, high: int) -> Ints:
    """A random set of low .. high of the numbers 0 .. n-1; each size is as likely."""
    size = low + int(uniforms(rng, 1)[0] * (high - low + 1))
    return shuffled(rng, n)[:size]


def sample_rows(n: int, size: int, rng: Random) -> Ints:
    """size of the numbers 0 .. n - 1, each once, all sets equally likely (random words hardly ever tie)."""
    return shuffled(rng, n)[:size].astype(np.int64)


def resample_rows(n: int, size: int, rng: Random) -> Ints:
    """size of the numbers 0 .. n - 1, with replacement; off from uniform by less than n / 2**53."""
    return (uniforms(rng, size) * n).astype(np.int64)
