"""The best guess from a hashed report: given the public hash, it is a value that the hash sends to the reported bin.

    chance(h) = sum over bins y of max( in * largest f(x) with h(x) = y,  out * largest f(x) with h(x) != y )

For even shares and g = 2**m bins that is (out g + (in - out) B(h)) / k with B(h) the number of bins that some value
falls into, and B has an exact mean: h is a random linear map, and the image of {0 .. k-1} grows column by column.
"""

from __future__ import annotations

import numpy as np

from murmure.core.random import Random
from murmure.core.types import Array, Floats, Ints
from murmure.laws.hashed import Hashed

HASHES = 1_000  # drawn for one mean, at most
MEAN_WORK = 1 << 21  # bins or values of all hashes of one mean
MAX_FREE_BITS = 16  # of all seeds together, for which every hash is listed
BLOCK = 1 << 22  # hashed values at a time


def uniform_hash_success(channel: Hashed) -> float | None:
    """The chance for even shares, over all hashes; None unless g is a power of two."""
    k, g = channel.inputs, channel.g
    if g & (g - 1):
        return None
    inside, outside = (float(channel.bins.prob(0, y)) for y in (0, 1))
    return (outside * g + (inside - outside) * bins_in_use(k, g.bit_length() - 1)) / k


def bins_in_use(k: int, m: int) -> float:
    """The expected number of different h(v), v < k, for a random linear map h into words of m bits.

    The first j columns of h have rank r with chance[r]; size[r] is the mean number of images of the first k mod 2**j
    values, on that event. Column j falls into the image of the columns before it with probability 2**(r-m); if not,
    the images of 2**j .. are new ones.
    """
    chance, size = np.zeros(m + 1), np.zeros(m + 1)
    chance[0] = 1.0
    full = np.ldexp(1.0, np.arange(m + 1)).astype(np.float64)
    for j in range(k.bit_length() - 1):
        chance, size = _add_column(chance, size, full, m, bool(k >> j & 1))
    # the last bit of k: the images of all 2**j values, and those of the k mod 2**j beyond them
    new = 1 - full / full[-1]
    return float((chance * full + new * size).sum())


def _add_column(chance: Floats, size: Floats, full: Floats, m: int, bit: bool) -> tuple[Floats, Floats]:
    old = full / full[-1]  # the column is a sum of earlier ones
    new = 1 - old
    grown_chance, grown_size = old * chance, old * (chance * full if bit else size)
    grown_chance[1:] += (new * chance)[:-1]
    grown_size[1:] += (new * (size + (chance * full if bit else 0.0)))[:-1]
    return grown_chance, grown_size


def every_hash(channel: Hashed) -> Array | None:
    """The seeds of every hash, a row each; None where there are too many."""
    columns = channel.value_bits + 1
    free = channel.seed_bits * columns
    if free > MAX_FREE_BITS:
        return None
    numbers = np.arange(1 << free)[:, None] >> (channel.seed_bits * np.arange(columns))
    return (numbers & ((1 << channel.seed_bits) - 1)).astype(np.uint16)


def random_hashes(channel: Hashed, count: int, rng: Random) -> Array:
    """Seeds as the law draws them: every hash is equally likely."""
    words = rng.words(count * (channel.value_bits + 1)).reshape(count, -1)
    return (words & np.uint64((1 << channel.seed_bits) - 1)).astype(np.uint16)


def hash_success(channel: Hashed, f: Floats, seeds: Array) -> Floats:
    """The chance that the best guess is right, hash by hash."""
    inside, outside = (float(channel.bins.prob(0, y)) for y in (0, 1))
    out = np.empty(len(seeds))
    rows = max(1, BLOCK // max(channel.g, 1 << channel.value_bits))
    for start in range(0, len(seeds), rows):
        bins = _bins_of_values(channel, seeds[start : start + rows])
        best = np.zeros((len(bins), channel.g))
        np.maximum.at(best, (np.arange(len(bins))[:, None], bins), f[None, :])
        # Where two bins share the largest value, the largest of the others is that value too: second equals first.
        second, first = np.partition(best, -2, axis=1)[:, -2:].T
        other = np.where(best == first[:, None], second[:, None], first[:, None])
        out[start : start + rows] = np.maximum(inside * best, outside * other).sum(axis=1)
    return out


def _bins_of_values(channel: Hashed, seeds: Array) -> Ints:
    """The bin of every value (columns) by every hash (rows): h(v + 2**i) = h(v) ^ a_i for v < 2**i."""
    h = np.empty((len(seeds), 1 << channel.value_bits), seeds.dtype)
    h[:, 0] = seeds[:, 0]
    for i in range(channel.value_bits):
        np.bitwise_xor(h[:, : 1 << i], seeds[:, 1 + i, None], out=h[:, 1 << i : 2 << i])
    return channel.bin_of(h[:, : channel.inputs])


def mean_hash_success(channel: Hashed, f: Floats, rng: Random) -> float:
    """The mean over random hashes, where there are too many to list."""
    fewer = MEAN_WORK // max(channel.g, 1 << channel.value_bits)  # large tables of bins differ less from hash to hash
    count = min(HASHES, max(20, fewer))
    return float(hash_success(channel, f, random_hashes(channel, count, rng)).mean())
