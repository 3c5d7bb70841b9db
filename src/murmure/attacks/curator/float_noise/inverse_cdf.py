"""Laplace noise as it is usually written: the inverse of its distribution function, at a uniform float.

    y = x - b ln(2 - 2u)   for u >= 1/2,       y = x + b ln(2u)   below,       u = k / 2**53

Libraries draw uniform floats with 53 bits. So from a true answer x there are at most 2**53 noisy ones, with holes
between them, at other places for every x. Which u can have given y? Only those near the distribution function at y - x:
a handful, which are tried one by one in the same arithmetic. (Mironov, "On significance of the least significant bits
for differential privacy", CCS 2012, section 4.)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from murmure.core.random import Random
from murmure.core.types import Floats, Mask

STEP = 2.0**-53  # of uniform floats
MARGIN = 4  # steps: more than all roundings of an exponential can move
MAX_TRIED = 256  # candidates; where there are more, the answer counts as possible
_log: Any = np.frompyfunc(math.log, 1, 1)  # the C library's, which NumPy's generator calls too: equal to the last bit


def uniform_floats(rng: Random, n: int) -> Floats:
    """On (0, 1), as libraries make them. (They draw 0 again: it has no logarithm.)"""
    return np.maximum(rng.words(n) >> np.uint64(11), 1).astype(np.float64) * STEP


def textbook_noise(u: Floats, scale: float) -> Floats:
    """With w = u - 1/2: -b sign(w) ln(1 - 2|w|)."""
    w = u - 0.5
    return np.asarray(-scale * np.sign(w) * _log(1 - 2 * np.abs(w)).astype(np.float64))


def numpy_noise(u: Floats, scale: float) -> Floats:
    """random_laplace of NumPy's distributions.c: 2 - u - u is rounded, 2u is not."""
    upper = u >= 0.5
    log = _log(np.where(upper, 2.0 - u - u, u + u)).astype(np.float64)
    return np.asarray(np.where(upper, -(scale * log), scale * log))


def draw_textbook(x: Floats, scale: float, rng: Random) -> Floats:
    return np.asarray(x + textbook_noise(uniform_floats(rng, len(x)), scale))


def draw_numpy(x: Floats, scale: float, rng: Random) -> Floats:
    """NumPy's own: default_rng(...).laplace(x, b)."""
    return np.asarray(np.random.default_rng(rng.words(4).tolist()).laplace(x, scale))


@dataclass(frozen=True)
class InverseCDF:
    """A sampler of this kind, its arithmetic, and which true answers can have given what it returns."""

    draw: Callable[[Floats, float, Random], Floats]
    noise: Callable[[Floats, float], Floats]  # of a uniform float

    def is_possible(self, y: Floats, x: float, scale: float) -> Mask:
        """Whether some u gives y from x. True where that would take too long to find out."""
        z = y - x
        # What may have been rounded away: the sum to the spacing of y, the noise to that of itself.
        lost = np.spacing(np.abs(y)) + 3 * np.spacing(np.abs(z))
        ends = (np.abs(z) + lost, np.maximum(np.abs(z) - lost, 0.0))
        least, most = (np.exp(-end / scale) / 2 / STEP for end in ends)  # steps from the nearer end of (0, 1)
        below = z < 0
        first = np.floor(np.where(below, least, 1 / STEP - most)) - MARGIN
        last = np.ceil(np.where(below, most, 1 / STEP - least)) + MARGIN
        first, last = np.maximum(first, 1.0), np.minimum(last, 1 / STEP - 1)
        width = last - first + 1
        out = width > MAX_TRIED
        few = np.flatnonzero(~out & (width > 0))
        if len(few):
            k = np.minimum(first[few, None] + np.arange(int(width[few].max())), last[few, None])
            out[few] = (x + self.noise(k * STEP, scale) == y[few, None]).any(axis=1)
        return np.asarray(out)
