"""Independent bits: bit x of a report is 1 with probability p, every other bit with probability q.

    P[y | x] = prod_v  B(y_v; p if v = x else q),      p = yes_true / 2**64,  q = yes_false / 2**64.

Reports are packed, bit v in word v // 64. A bit is a comparison of 64 random bits with a threshold,
made for 64 people-bits at once, most significant first: plane j holds random bit j of 64 comparisons.
After the 16 planes of the main lane one word in a thousand is undecided; only those read deep words.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.errors import InvalidParameter
from murmure.core.fixed import WORD, Words64
from murmure.core.random import RandomWords
from murmure.core.types import Array, Floats, Ints, Mask
from murmure.laws.kernel_loader import kernels_for, native, threads

PLANES = 16  # in the main lane
DEEP_PLANES = 64 - PLANES
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


def packed_words(bits: int) -> int:
    return -(-bits // 64)


def last_word_mask(bits: int) -> np.uint64:
    """The bits of the last word that exist."""
    return ALL if bits % 64 == 0 else np.uint64((1 << (bits % 64)) - 1)


def pack(matrix: Array) -> Words64:
    """(n, bits) zeros and ones -> (n, words) packed."""
    matrix = np.asarray(matrix, np.uint8)
    padded = np.zeros((len(matrix), packed_words(matrix.shape[1]) * 64), np.uint8)
    padded[:, : matrix.shape[1]] = matrix
    return np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64)


def unpack(packed: Words64, bits: int) -> NDArray[np.uint8]:
    """(n, words) packed -> (n, bits) zeros and ones. For checks: reports stay packed."""
    return np.unpackbits(packed.astype("<u8").view(np.uint8), axis=1, bitorder="little")[:, :bits]


def mass_of_set_bits(packed: Words64, shares: Floats) -> Floats:
    """The shares of the bits that are set, added up for every report: eight bits at a time, from a table."""
    octets = np.ascontiguousarray(packed).astype("<u8", copy=False).view(np.uint8)
    out = np.zeros(len(octets))
    for at in range(0, len(shares), 8):
        some = np.asarray(shares[at : at + 8], float)
        out += (_OCTETS[:, : len(some)] @ some)[octets[:, at // 8]]
    return out


_OCTETS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little").astype(float)


def first_bits(count: int, bits: int) -> Words64:
    """One packed report with bits 0 .. count-1 set."""
    out = np.zeros(packed_words(bits), np.uint64)
    out[: count // 64] = ALL
    if count % 64:
        out[count // 64] = last_word_mask(count)
    return out


def threshold_bit(threshold: int, plane: int) -> int:
    return (threshold >> (63 - plane)) & 1


def _step(yes: Words64, open_: Words64, plane: Words64, bit: int) -> tuple[Words64, Words64]:
    """One plane: where the random bit differs from the threshold's, the comparison is decided."""
    ones = open_ & plane
    if bit:  # random 0 < threshold 1: below, so yes
        return yes | (open_ ^ ones), ones
    return yes, open_ ^ ones  # random 1 > threshold 0: above, so no


@dataclass
class Coins:
    """64 coins a word: `width` words of independent bits, each 1 with probability threshold / 2**64.

    `flip` does the main planes of a block and notes which words stay open; `finish` decides those, for all
    blocks at once, because deep words are cheap in bulk and expensive one by one.
    """

    threshold: int
    width: int
    at: int = 0  # where its planes start in the report's main words
    deep_at: int = 0
    open: list[tuple[Array, Words64]] = field(default_factory=list)  # (row, word) of open words, and which bits of them

    def flip(self, a: int, block: Words64) -> Words64:
        """The reference. Rows a, a+1, ... of the batch."""
        n, w = len(block), self.width
        # transposed once, so that every plane is contiguous
        planes = np.ascontiguousarray(block[:, self.at : self.at + PLANES * w].T).reshape(PLANES, w * n)
        yes, open_ = np.zeros(w * n, np.uint64), np.full(w * n, ALL)
        for plane in range(PLANES):
            yes, open_ = _step(yes, open_, planes[plane], threshold_bit(self.threshold, plane))
        left = np.flatnonzero(open_)
        word, row = np.divmod(left, n)
        self.note(np.stack([a + row, word], axis=1), open_[left])
        return np.ascontiguousarray(yes.reshape(w, n).T)

    def note(self, rows: Array, bits: Words64) -> None:
        if len(rows):
            self.open.append((rows, bits))  # one append, which is atomic: two threads note at once

    def note_kernel(self, a: int, rows: int, kernel: Callable[[Ints, Words64], int]) -> bool:
        """Run a kernel that lists the open words of rows a, a+1, ...; False if there are more than it has room for."""
        room = max(64, rows * self.width // 64)  # one word in 1,024 is expected to stay open
        left, bits = np.empty((room, 2), np.int64), np.empty(room, np.uint64)
        count = kernel(left, bits)
        if count > room:
            return False
        left[:count, 0] += a
        self.note(left[:count], bits[:count])
        return True

    def finish(self, out: Words64, words: RandomWords) -> Ints:
        """Decide every open word of `out`; returns the rows that were touched."""
        if not self.open:
            return np.empty(0, np.int64)
        row, word = np.concatenate([rows for rows, _ in self.open]).T
        open_, touched = np.concatenate([bits for _, bits in self.open]), row
        yes = out[row, word]
        for plane in range(PLANES, 64, 8):  # eight planes at a time: nearly all words are decided in the first eight
            index = self.deep_at + (np.arange(plane, plane + 8) - PLANES)[:, None] * self.width + word
            deep = words.deep(np.tile(row, 8), index.reshape(-1)).reshape(8, -1)
            for i in range(8):
                yes, open_ = _step(yes, open_, deep[i], threshold_bit(self.threshold, plane + i))
            out[row, word] = yes
            undecided = open_ != 0  # equal to the last bit means not below: no
            row, word, yes, open_ = row[undecided], word[undecided], yes[undecided], open_[undecided]
            if not len(row):
                break
        return touched


def set_bit(packed: Words64, x: Array, yes: Mask) -> None:
    """Overwrite bit x of every row."""
    kernels = kernels_for(len(packed))
    if kernels is not None:
        kernels.set_bit(packed, native(x), yes)
        return
    bit = np.uint64(1) << (x.astype(np.uint64) & np.uint64(63))
    # One word per row is the usual case, and faster without fancy indexing.
    if packed.shape[1] == 1:
        word = packed[:, 0]
        word |= bit
        word ^= bit * ~yes
        return
    rows, at = np.arange(len(packed)), x.astype(np.int64) >> 6
    packed[rows, at] = np.where(yes, packed[rows, at] | bit, packed[rows, at] & ~bit)


def refuse_certain_bits(*numerators: int) -> None:
    """A bit that is always or never set would reveal the value."""
    if not all(1 <= numerator < WORD for numerator in numerators):
        raise InvalidParameter(
            "bits must be set with a probability strictly between 0 and 1, got {numerators} over 2**64.",
            numerators=numerators,
        )


@dataclass(frozen=True)
class BitsChannel:
    inputs: int
    yes_true: int
    yes_false: int

    slack, report_ndim = 0.0, 1

    def __post_init__(self) -> None:
        refuse_certain_bits(self.yes_true, self.yes_false)

    @property
    def width(self) -> int:
        return packed_words(self.inputs)

    @property
    def words(self) -> int:
        return PLANES * self.width + 1  # the last word decides the bit of the true value

    @property
    def deep(self) -> int:
        return DEEP_PLANES * self.width

    @property
    def p(self) -> Fraction:
        return Fraction(self.yes_true, WORD)

    @property
    def q(self) -> Fraction:
        return Fraction(self.yes_false, WORD)

    def draw(self, x: Array, words: RandomWords) -> Words64:
        out = np.empty((len(x), self.width), np.uint64)
        true_bit = np.empty(len(x), bool)  # the bit of the true value
        coins = Coins(self.yes_false, self.width)
        kernels, x = kernels_for(len(x), self.words), native(x)
        p, q, mask = np.uint64(self.yes_true), np.uint64(self.yes_false), last_word_mask(self.inputs)

        def fill(a: int, b: int, block: Words64) -> None:
            out[a:b] = coins.flip(a, block)
            true_bit[a:b] = block[:, -1] < p
            set_bit(out[a:b], x[a:b], true_bit[a:b])

        def fast(a: int, b: int, block: Words64) -> None:
            rows = x[a:b], block, out[a:b], true_bit[a:b]
            if not coins.note_kernel(a, b - a, lambda left, bits: kernels.unary(*rows, left, bits, p, q)):  # type: ignore[union-attr]
                fill(a, b, block)  # never seen; it would cost time, and change nothing

        words.each(*((fill, 1) if kernels is None else (fast, threads())))
        # `finish` overwrote whole words, the bit of the true value among them: it is set again there.
        late = coins.finish(out, words)
        redone = out[late]
        set_bit(redone, x[late], true_bit[late])
        out[late] = redone
        out[:, -1] &= mask
        return out

    def prob(self, x: int, y: Any) -> Fraction:
        return bits_prob(self, x, y)

    def log_prob(self, x: Array, y: Array) -> Floats:
        return bits_log_prob(self, x, y)

    def outcomes(self) -> Iterator[Words64] | None:
        if self.inputs > 16:
            return None
        return (pack(np.array([bits]))[0] for bits in itertools.product((0, 1), repeat=self.inputs))

    def report_bits(self) -> float:
        return float(self.inputs)

    def integers(self) -> dict[str, Any]:
        return {"law": "bits", "yes_true": str(self.yes_true), "yes_false": str(self.yes_false)}


def bits_prob(channel: BitsChannel | ChainedBits, x: int, y: Any) -> Fraction:
    out = Fraction(1)
    for v, bit in enumerate(unpack(np.atleast_2d(np.asarray(y, np.uint64)), channel.inputs)[0]):
        chance = channel.p if v == x else channel.q
        out *= chance if bit else 1 - chance
    return out


def bits_log_prob(channel: BitsChannel | ChainedBits, x: Array, y: Array) -> Floats:
    p, q = channel.p, channel.q
    ones = np.bitwise_count(y).sum(axis=1).astype(np.int64)
    x = np.asarray(x).astype(np.int64)
    true_bit = (y[np.arange(len(y)), x >> 6] >> (x.astype(np.uint64) & np.uint64(63))) & np.uint64(1)
    rest = ones - true_bit.astype(np.int64)
    other = rest * math.log(q) + (channel.inputs - 1 - rest) * math.log(1 - q)
    return np.asarray(other + np.where(true_bit == 1, math.log(p), math.log(1 - p)))


@dataclass(frozen=True)
class ChainedBits:
    """Bits drawn once and kept (`permanent`), then every kept bit randomised instant_coins for each report.

    A kept 1 is reported as 1 with probability yes_one / 2**64, a kept 0 with probability yes_zero / 2**64.
    """

    permanent: BitsChannel
    yes_one: int
    yes_zero: int

    slack, report_ndim = 0.0, 1

    def __post_init__(self) -> None:
        refuse_certain_bits(self.yes_one, self.yes_zero)

    @property
    def inputs(self) -> int:
        return self.permanent.inputs

    @property
    def width(self) -> int:
        return self.permanent.width

    @property
    def instant_words(self) -> int:
        return 2 * PLANES * self.width

    @property
    def words(self) -> int:
        return self.permanent.words + self.instant_words

    @property
    def instant_deep(self) -> int:
        return 2 * DEEP_PLANES * self.width

    @property
    def deep(self) -> int:
        return self.permanent.deep + self.instant_deep

    @property
    def p(self) -> Fraction:
        return self._through(self.permanent.p)

    @property
    def q(self) -> Fraction:
        return self._through(self.permanent.q)

    def _through(self, kept_one: Fraction) -> Fraction:
        """The chance of a reported 1, from that of a kept 1."""
        return kept_one * Fraction(self.yes_one, WORD) + (1 - kept_one) * Fraction(self.yes_zero, WORD)

    def draw(self, x: Array, words: RandomWords) -> Words64:
        n, first, w = len(x), self.permanent, self.width
        kept, true_bit = np.empty((n, w), np.uint64), np.empty(n, bool)
        coins = Coins(first.yes_false, w)
        instant_coins = self._instant_coins(first.words, first.deep)
        flips = [np.empty((n, w), np.uint64) for _ in instant_coins]

        def fill(a: int, b: int, block: Words64) -> None:
            kept[a:b] = coins.flip(a, block)
            true_bit[a:b] = block[:, first.words - 1] < np.uint64(first.yes_true)
            for coin, out in zip(instant_coins, flips, strict=True):
                out[a:b] = coin.flip(a, block)

        words.each(fill)
        coins.finish(kept, words)
        set_bit(kept, x, true_bit)
        return self._choose(kept, instant_coins, flips, words)

    def instant(self, kept: Words64, words: RandomWords) -> Words64:
        """One report from kept bits; it uses `instant_words` main words and `instant_deep` deep ones."""
        instant_coins = self._instant_coins(0, 0)
        flips = [np.empty_like(kept) for _ in instant_coins]

        def fill(a: int, b: int, block: Words64) -> None:
            for coin, out in zip(instant_coins, flips, strict=True):
                out[a:b] = coin.flip(a, block)

        words.each(fill)
        return self._choose(kept, instant_coins, flips, words)

    def _instant_coins(self, at: int, deep: int) -> tuple[Coins, Coins]:
        """A coin for the kept ones and a coin for the kept zeros, at every place."""
        w = self.width
        return (Coins(self.yes_one, w, at, deep), Coins(self.yes_zero, w, at + PLANES * w, deep + DEEP_PLANES * w))

    def _choose(self, kept: Words64, coins: tuple[Coins, Coins], flips: list[Words64], words: RandomWords) -> Words64:
        for coin, out in zip(coins, flips, strict=True):
            coin.finish(out, words)
        report = (kept & flips[0]) | (~kept & flips[1])
        report[:, -1] &= last_word_mask(self.inputs)
        return report

    def prob(self, x: int, y: Any) -> Fraction:
        return bits_prob(self, x, y)

    def log_prob(self, x: Array, y: Array) -> Floats:
        return bits_log_prob(self, x, y)

    def outcomes(self) -> Iterator[Words64] | None:
        return self.permanent.outcomes()

    def report_bits(self) -> float:
        return float(self.inputs)

    def integers(self) -> dict[str, Any]:
        return {
            "law": "chained bits",
            "permanent": self.permanent.integers(),
            "yes_one": str(self.yes_one),
            "yes_zero": str(self.yes_zero),
        }
