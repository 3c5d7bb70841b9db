"""A public random hash sends k values to g bins; the bin is then randomised.

    h(v) = b XOR (a_i for every bit i that is set in v),    a_i, b uniform words of m bits,
    P[(h, y) | x] = P[h] * Window(g)[y | bin of h(x)].

This is class H3 of Carter and Wegman (JCSS 18, 1979, p. 150) with a shift b. Any three different values are
affinely independent over GF(2), so their hashes are uniform and independent: the collision probability is
exact and cells are uncorrelated, with no appeal to a hash that "behaves randomly".
For g a power of two m = log2(g). Otherwise m is 9 or 10 bits more (16 at most), bin = floor(g h / 2**m), and
bins differ a little in size: the estimator uses their true sizes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from murmure.core.errors import InvalidParameter
from murmure.core.fixed import Words64
from murmure.core.random import RandomWords
from murmure.core.types import Array, Floats, Ints
from murmure.laws.kernel_loader import kernels_for, native, threads
from murmure.laws.tallies import walsh_hadamard
from murmure.laws.window import WindowChannel

BLOCK = 1 << 12  # reports decoded at a time
STRIP = 256  # of these, a strip that fits the cache together with all values


@dataclass(frozen=True)
class Hashed:
    inputs: int
    bins: WindowChannel  # the law on bins: inputs = outputs = g

    deep, slack, report_ndim = 0, 0.0, 1

    def __post_init__(self) -> None:
        if not 2 <= self.bins.outputs <= 1 << 14:
            raise InvalidParameter("a hash must have 2 to 16384 bins, got {got}.", got=self.bins.outputs)

    @property
    def g(self) -> int:
        return self.bins.outputs

    @cached_property
    def seed_bits(self) -> int:  # m
        return self.g.bit_length() - 1 if self._power else min(16, self.g.bit_length() + 9)

    @property
    def _power(self) -> bool:
        return self.g & (self.g - 1) == 0

    @property
    def value_bits(self) -> int:
        return (self.inputs - 1).bit_length()

    @property
    def words(self) -> int:
        return -(-(self.value_bits + 1) // 4) + 1  # four 16-bit seeds a word, then the word of the bins' law

    @cached_property
    def edges(self) -> list[int]:
        """Bin j holds the hashes edges[j] .. edges[j+1]-1."""
        return [-(-(j << self.seed_bits) // self.g) for j in range(self.g + 1)]

    @cached_property
    def shares(self) -> list[Fraction]:
        """The probability of each bin: exactly 1/g for powers of two."""
        return [Fraction(b - a, 1 << self.seed_bits) for a, b in itertools.pairwise(self.edges)]

    def bin_of(self, h: Array) -> Ints:
        return (h.astype(np.int64) * self.g) >> self.seed_bits

    def hash(self, seeds: Array, x: Array) -> Array:
        """h(x) for seeds (n, 1 + value_bits): b first, then a_0, a_1, ..."""
        h = seeds[:, 0].copy()
        for i in range(self.value_bits):
            h ^= seeds[:, 1 + i] * ((x >> i) & 1).astype(seeds.dtype)
        return h

    def draw(self, x: Array, words: RandomWords) -> Array:
        """Rows of uint16: b, a_0, a_1, ..., y."""
        out = np.empty((len(x), self.value_bits + 2), np.uint16)
        kernels, x = kernels_for(len(x), self.words), native(x)
        b = self.bins
        plain = (
            np.uint16((1 << self.seed_bits) - 1),
            np.uint64(self.g),
            np.uint64(self.seed_bits),
            np.uint64(b.body),
            np.uint64(b.outside),
        )

        def fast(a: int, e: int, block: Words64) -> None:
            kernels.hashed(x[a:e], block, block.view(np.uint16), out[a:e], *plain)  # type: ignore[union-attr]

        def fill(a: int, e: int, block: Words64) -> None:
            seeds = block.view("<u2")[:, : self.value_bits + 1] & plain[0]
            out[a:e, :-1] = seeds
            y = np.empty(e - a, np.uint16)
            b._fill(self.bin_of(self.hash(seeds, x[a:e])), block[:, -1], y)
            out[a:e, -1] = y

        words.each(fill if kernels is None else fast, 1 if kernels is None else threads())
        return out

    def supports(self, reports: Array) -> Ints:
        """For every value, how many reports (h, y) have y equal to the bin of h(value)."""
        reports = native(reports)
        if self._power:
            return self._supports_by_transform(reports)
        out = np.zeros(1 << self.value_bits, np.int64)
        edges = np.array(self.edges)
        for a in range(0, len(reports), BLOCK):
            block = reports[a : a + BLOCK]
            y = block[:, -1].astype(np.int64)
            low, size = edges[y].astype(np.uint16), (edges[y + 1] - edges[y]).astype(np.uint16)
            kernels = kernels_for(len(reports))
            if kernels is not None:
                kernels.supports(block, low, size, out)
            else:
                self._supports_by_doubling(block, low, size, out)
        return out[: self.inputs]

    def _supports_by_transform(self, reports: Array) -> Ints:
        """g = 2**m: [h(v) = y] is the mean of 2**m characters, each a Walsh function of v.

        [h(v) = y] = 2**-m sum over S of (-1)**parity(S & (h(v) ^ y)),  S = 0 .. 2**m - 1, and parity(S & h(v)) is
        linear in the bits of v. So every report adds g - 1 signs to a histogram over Walsh functions, and one
        transform finishes all values at once: n g + k log k steps instead of n k.
        """
        size = 1 << self.value_bits
        signs = np.zeros(size, np.int64)
        kernels = kernels_for(len(reports))
        if kernels is not None:
            kernels.walsh_signs(reports, self.g, signs)
        else:
            self._signs(reports, signs)
        # S = 0 is the constant 1, which every report adds.
        signs[0] += len(reports)
        total = walsh_hadamard(signs, len(reports))
        return total[: self.inputs] // self.g  # exact: the sum is g times a count

    def _signs(self, reports: Array, signs: Ints) -> None:
        """The reference. Plane l of the seeds is the Walsh function of S = 2**l; those of other S are XORs of them."""
        planes = self.seed_bits
        for a in range(0, len(reports), BLOCK):
            block = reports[a : a + BLOCK].astype(np.int64)
            rest = block[:, -1] ^ block[:, 0]  # h(v) ^ y = (linear part) ^ (b ^ y)
            where = np.zeros((self.g, len(block)), np.int64)
            odd = np.zeros((self.g, len(block)), bool)
            for plane in range(planes):
                first = 1 << plane
                for i in range(self.value_bits):
                    where[first] |= ((block[:, 1 + i] >> plane) & 1) << i
                odd[first] = (rest >> plane) & 1
                where[first + 1 : 2 * first] = where[1:first] ^ where[first]
                odd[first + 1 : 2 * first] = odd[1:first] ^ odd[first]
            signs += np.bincount(where[1:].ravel(), 1.0 - 2.0 * odd[1:].ravel(), len(signs)).astype(np.int64)

    def _supports_by_doubling(self, block: Array, low: Array, size: Array, out: Ints) -> None:
        """The reference. h(v + 2**i) = h(v) ^ a_i for v < 2**i: one XOR a value."""
        columns = np.ascontiguousarray(block.T)
        for a in range(0, len(block), STRIP):
            strip = columns[:, a : a + STRIP]
            h = np.empty((1 << self.value_bits, strip.shape[1]), np.uint16)
            h[0] = strip[0]
            for i in range(self.value_bits):
                np.bitwise_xor(h[: 1 << i], strip[1 + i], out=h[1 << i : 2 << i])
            h -= low[a : a + STRIP]  # wraps: below the bin becomes far above it
            hit = h < size[a : a + STRIP]
            out += np.add.reduce(hit.view(np.uint8), axis=1, dtype=np.uint16)

    def prob(self, x: int, y: Any) -> Fraction:
        y = np.atleast_2d(np.asarray(y))
        h = self.bin_of(self.hash(y[:, :-1], np.array([x])))[0]
        return self.bins.prob(int(h), int(y[0, -1])) / (1 << (self.seed_bits * (self.value_bits + 1)))

    def log_prob(self, x: Array, y: Array) -> Floats:
        h = self.bin_of(self.hash(y[:, :-1], np.asarray(x)))
        return self.bins.log_prob(h, y[:, -1]) - self.seed_bits * (self.value_bits + 1) * math.log(2)

    def outcomes(self) -> Iterator[Array] | None:
        free = self.seed_bits * (self.value_bits + 1)
        if free > 12:
            return None
        words = itertools.product(range(1 << self.seed_bits), repeat=self.value_bits + 1)
        return (np.array([*w, y], np.uint16) for w in words for y in range(self.g))

    def report_bits(self) -> float:
        return self.seed_bits * (self.value_bits + 1) + math.log2(self.g)

    def integers(self) -> dict[str, Any]:
        return {"law": "hashed", "seed_bits": self.seed_bits, "bins": self.bins.integers()}
