"""Laplace and normal draws in floats, for experiments: not a mechanism, since floats leak what they are added to."""

from __future__ import annotations

import numpy as np

from murmure.core.random import Random
from murmure.core.types import Floats

STEP = 2.0**-53


def open_uniforms(rng: Random, n: int) -> Floats:
    """n floats strictly between 0 and 1."""
    return ((rng.words(n) >> np.uint64(11)).astype(np.float64) + 0.5) * STEP


def laplace(rng: Random, n: int, scale: float) -> Floats:
    """Density exp(-|z| / scale) / (2 scale), by its quantiles; variance 2 scale^2."""
    u = open_uniforms(rng, n) - 0.5
    return np.asarray(-scale * np.sign(u) * np.log1p(-2 * np.abs(u)))


def gaussian(rng: Random, n: int, deviation: float) -> Floats:
    """Normal with mean 0, by its quantiles."""
    from scipy.special import ndtri

    return np.asarray(deviation * ndtri(open_uniforms(rng, n)))
