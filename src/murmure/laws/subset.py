"""A random set of w values that contains the true one with probability p, otherwise uniform.

    P[S | x] = p / C(k-1, w-1)   if x in S,     (1 - p) / C(k-1, w)   otherwise,      p = keep / 2**64.

The w values are drawn by Floyd's algorithm (Bentley and Floyd, CACM 30(9), 1987, p. 754) with w
multiply-and-shift choices. A choice among j+1 is uneven by at most (j+1) / 2**64: `slack` adds that up.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from murmure.core.errors import InvalidParameter
from murmure.core.fixed import WORD, Words64, mulhi_small
from murmure.core.random import RandomWords
from murmure.core.types import Array, Floats, Ints
from murmure.laws.bits import pack, packed_words, unpack
from murmure.laws.kernel_loader import kernels_for, native, threads

FEW = 200  # reports; for fewer, a step for each value of each of them is faster than arrays over reports


@dataclass(frozen=True)
class Subset:
    inputs: int
    size: int  # w
    keep: int

    deep, report_ndim = 0, 1

    def __post_init__(self) -> None:
        if not (1 <= self.size < self.inputs and 1 <= self.keep < WORD):
            raise InvalidParameter(
                "{value!r}: a subset must hold at least one value and leave out at least one.", value=self
            )

    @property
    def words(self) -> int:
        return self.size + 1

    @property
    def width(self) -> int:
        return packed_words(self.inputs)

    @property
    def slack(self) -> float:
        # each draw's probability is floor or ceil of 2**64/(j+1), over 2**64; |ln(1 + t)| <= 2|t| here
        return 2.0 * self.size * self.inputs / WORD

    @property
    def p(self) -> Fraction:
        return Fraction(self.keep, WORD)

    def draw(self, x: Array, words: RandomWords) -> Words64:
        out = np.zeros((len(x), self.width), np.uint64)
        kernels, x = kernels_for(len(x), self.words), native(x)
        if kernels is not None:
            plain = (np.int64(self.inputs), np.int64(self.size), np.uint64(self.keep))
            words.each(lambda a, b, block: kernels.subset(x[a:b], block, out[a:b], *plain), threads())
        else:
            x = x.astype(np.uint64)
            words.each(lambda a, b, block: (self._fill if b - a >= FEW else self._rows)(x[a:b], block, out[a:b]))
        return out

    def _fill(self, x: Words64, u: Words64, out: Words64) -> None:
        """The reference. Floyd: take a random t <= j, or j itself when t is already in."""
        k, w = self.inputs, self.size
        one, low6, six = np.uint64(1), np.uint64(63), np.uint64(6)
        rows = np.arange(len(x))
        kept = u[:, 0] < np.uint64(self.keep)
        out[rows[kept], (x >> six)[kept].astype(np.int64)] |= one << (x & low6)[kept]

        def place(t: Words64) -> tuple[Ints, Words64]:
            value = t + (t >= x)  # the other values, skipping x
            return (value >> six).astype(np.int64), one << (value & low6)

        for draw in range(w):
            j = k - 1 - w + draw
            word, bit = place(mulhi_small(u[:, 1 + draw], j + 1))
            taken = (out[rows, word] & bit) != 0
            # Floyd: a value that is taken already is replaced by j, which cannot be taken yet.
            top_word, top_bit = place(np.full(len(x), j, np.uint64))
            word, bit = np.where(taken, top_word, word), np.where(taken, top_bit, bit)
            if draw == 0:  # where x was kept one value fewer is drawn: the first draw is not used
                bit = np.where(kept, np.uint64(0), bit)
            out[rows, word] |= bit

    def _rows(self, x: Words64, u: Words64, out: Words64) -> None:
        """The same, report by report: a block of long reports holds few of them."""
        k, w = self.inputs, self.size
        tops = range(k - 1 - w, k - 1)  # j
        bounds = np.arange(k - w, k, dtype=np.uint64)
        kept = (u[:, 0] < np.uint64(self.keep)).tolist()
        for i, value in enumerate(x.tolist()):
            others = bytearray(k - 1)  # the other values, skipping x: which are in
            for t, j in itertools.islice(zip(mulhi_small(u[i, 1:], bounds).tolist(), tops, strict=True), kept[i], None):
                others[j if others[t] else t] = 1
            out[i] = pack(np.frombuffer(others[:value] + bytes([kept[i]]) + others[value:], np.uint8)[None])[0]

    def prob(self, x: int, y: Any) -> Fraction:
        members = unpack(np.atleast_2d(np.asarray(y, np.uint64)), self.inputs)[0]
        k, w = self.inputs, self.size
        if members.sum() != w:
            return Fraction(0)
        return self.p / math.comb(k - 1, w - 1) if members[x] else (1 - self.p) / math.comb(k - 1, w)

    def log_prob(self, x: Array, y: Array) -> Floats:
        k, w = self.inputs, self.size
        x = np.asarray(x).astype(np.int64)
        inside = (y[np.arange(len(y)), x >> 6] >> (x.astype(np.uint64) & np.uint64(63))) & np.uint64(1)
        yes = math.log(self.p) - math.log(math.comb(k - 1, w - 1))
        no = math.log(1 - self.p) - math.log(math.comb(k - 1, w))
        right_size = np.bitwise_count(y).sum(axis=1) == w
        return np.where(right_size, np.where(inside == 1, yes, no), -np.inf)

    def outcomes(self) -> Iterator[Words64] | None:
        if self.inputs > 16:
            return None
        sets = itertools.combinations(range(self.inputs), self.size)
        return (pack(np.isin(np.arange(self.inputs), s)[None])[0] for s in sets)

    def report_bits(self) -> float:
        return min(
            math.log2(math.comb(self.inputs, self.size)) if self.inputs < 4096 else math.inf,
            self.size * math.log2(self.inputs),
            self.inputs,
        )

    def integers(self) -> dict[str, Any]:
        return {"law": "subset", "size": self.size, "keep": str(self.keep)}
