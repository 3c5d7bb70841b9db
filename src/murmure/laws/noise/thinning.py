"""More exact coins, for thinning a Poisson process: a denominator for each coin, powers of 2/e, runs of a fair coin."""

from __future__ import annotations

import numpy as np

from murmure.core.fixed import Words64, mulhi
from murmure.core.types import Ints, Mask
from murmure.laws.noise.coins import Stream, settle


def ratio_flips(num: Words64, den: Words64, stream: Stream) -> Mask:
    """Bernoulli(num/den) for each pair: the comparison of laws/noise/coins.py, with a denominator for each coin."""
    words = stream.take(len(num))
    high, low = mulhi(words, den), words * den
    yes = high < num
    rest = ~low + np.uint64(1)  # 2**64 - low
    for i in np.flatnonzero(yes & (high + np.uint64(1) == num) & (rest < den) & (low != 0)):
        yes[i] = settle(int(rest[i]), int(den[i]), stream)
    return yes


def two_over_e(n: int, stream: Stream) -> Mask:
    """Bernoulli(2/e), n times: coins 1/3, 1/4, 1/5, ... until one says no; yes if that is an odd one."""
    out = np.zeros(n, np.bool_)
    alive, k = np.arange(n), 3
    while len(alive):
        yes = ratio_flips(np.ones(len(alive), np.uint64), np.full(len(alive), k, np.uint64), stream)
        out[alive[~yes]] = k % 2 == 1
        alive, k = alive[yes], k + 1
    return out


def fair_runs(n: int, stream: Stream) -> Ints:
    """How often a fair coin says yes before it says no."""
    out = np.zeros(n, np.int64)
    alive = np.arange(n)
    while len(alive):
        words = stream.take(len(alive))
        full = words == np.uint64(0xFFFFFFFFFFFFFFFF)
        ones = ~words
        lowest = ones & (~ones + np.uint64(1))  # the lowest 0 of the word
        # frexp of a power of two is exact: its exponent, less one, is the number of ones below
        out[alive] += np.where(full, 64, np.frexp(lowest.astype(np.float64))[1].astype(np.int64) - 1)
        alive = alive[full]
    return out


def all_two_over_e(times: Ints, stream: Stream) -> Mask:
    """Bernoulli((2/e)**times)."""
    out = np.ones(len(times), np.bool_)
    alive, done = np.flatnonzero(times > 0), 0
    while len(alive):
        yes = two_over_e(len(alive), stream)
        out[alive[~yes]] = False
        done += 1
        alive = alive[yes]
        alive = alive[times[alive] > done]
    return out
