"""Unary bits of several attributes in one string: short attributes share words, and so need less randomness.

Attribute i owns bits offsets[i] .. offsets[i] + sizes[i] - 1 of the string; every bit is 1 with the same probability q.
The bit of the true value is decided separately and set at the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from murmure.core.fixed import Words64
from murmure.core.random import RandomWords
from murmure.core.types import Mask
from murmure.laws.bits import DEEP_PLANES, PLANES, Coins, last_word_mask, packed_words
from murmure.laws.kernel_loader import kernels_for, threads


@dataclass(frozen=True)
class Strings:
    sizes: tuple[int, ...]
    yes_false: int  # the coin of every bit, over 2**64

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        return tuple(sum(self.sizes[:i]) for i in range(len(self.sizes)))

    @property
    def width(self) -> int:
        """Words of the string."""
        return packed_words(sum(self.sizes))

    @property
    def words(self) -> int:
        return PLANES * self.width

    @property
    def deep(self) -> int:
        return DEEP_PLANES * self.width

    def flip(self, words: RandomWords) -> Words64:
        """The string of every person, before the bits of true values are set."""
        n = words.n
        out, coins = np.empty((n, self.width), np.uint64), Coins(self.yes_false, self.width)
        kernels, q = kernels_for(n, self.words), np.uint64(self.yes_false)

        def fill(a: int, b: int, block: Words64) -> None:
            out[a:b] = coins.flip(a, block)

        def fast(a: int, b: int, block: Words64) -> None:
            if not coins.note_kernel(a, b - a, lambda left, bits: kernels.planes(block, out[a:b], left, bits, q)):  # type: ignore[union-attr]
                fill(a, b, block)  # never seen; it would cost time, and change nothing

        words.each(*((fill, 1) if kernels is None else (fast, threads())))
        coins.finish(out, words)
        return out

    def cut(self, string: Words64, i: int) -> Words64:
        """The bits of attribute i, out of the strings of all people."""
        offset, size = self.offsets[i], self.sizes[i]
        out = np.empty((len(string), packed_words(size)), np.uint64)
        for w in range(out.shape[1]):
            word, shift = divmod(offset + 64 * w, 64)
            np.right_shift(string[:, word], np.uint64(shift), out=out[:, w])
            if shift + min(64, size - 64 * w) > 64:
                out[:, w] |= string[:, word + 1] << np.uint64(64 - shift)
        out[:, -1] &= last_word_mask(size)
        return out


def coins(threshold: int, words: RandomWords) -> Mask:
    """One coin per person, of one word each."""
    out = np.empty(words.n, bool)

    def fill(a: int, b: int, block: Words64) -> None:
        np.less(block[:, 0], np.uint64(threshold), out=out[a:b])

    words.each(fill)
    return out
