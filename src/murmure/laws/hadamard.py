"""Half of the reports are likely: those where row x+1 of a Hadamard matrix of order K is +1.

    P[y | x] = (2/K) p   if popcount((x+1) & y) is even,    (2/K) (1 - p)   otherwise.

One word: its low log2(K) bits are a uniform y, the rest decides with p = keep / 2**(64 - log2 K) whether y
must be in the likely half; where it is not, flipping the lowest bit of x+1 in y moves it there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from murmure.core.fixed import Words64, smallest_uint
from murmure.core.random import RandomWords
from murmure.core.types import Array, Floats
from murmure.laws.kernel_loader import kernels_for, native, threads


@dataclass(frozen=True)
class Hadamard:
    inputs: int
    keep: int

    words, deep, slack, report_ndim = 1, 0, 0.0, 0

    @property
    def log_order(self) -> int:
        return self.inputs.bit_length()  # least L with 2**L >= inputs + 1

    @property
    def order(self) -> int:
        return 1 << self.log_order

    @property
    def over(self) -> int:
        return 1 << (64 - self.log_order)

    @property
    def p(self) -> Fraction:
        return Fraction(self.keep, self.over)

    def draw(self, x: Array, words: RandomWords) -> Array:
        out = np.empty(len(x), smallest_uint(self.order - 1))
        kernels, x = kernels_for(len(x)), native(x)
        if kernels is not None:
            plain = (np.uint64(self.log_order), np.uint64(self.keep))
            words.each(lambda a, b, block: kernels.hadamard(x[a:b], block, out[a:b], *plain), threads())
        else:
            words.each(lambda a, b, block: self._fill(x[a:b], block[:, 0], out[a:b]))
        return out

    def _fill(self, x: Array, u: Words64, out: Array) -> None:
        """The reference."""
        row = x.astype(np.uint64) + np.uint64(1)
        y = u & np.uint64(self.order - 1)
        odd = np.bitwise_count(row & y) & np.uint8(1)
        unlikely = (u >> np.uint64(self.log_order)) >= np.uint64(self.keep)
        wrong = odd.astype(bool) != unlikely
        lowest = row & (~row + np.uint64(1))
        out[:] = np.where(wrong, y ^ lowest, y)

    def prob(self, x: int, y: int) -> Fraction:
        return Fraction(2, self.order) * (1 - self.p if ((x + 1) & int(y)).bit_count() % 2 else self.p)

    def log_prob(self, x: Array, y: Array) -> Floats:
        row = np.asarray(x).astype(np.uint64) + np.uint64(1)
        odd = np.bitwise_count(row & np.asarray(y).astype(np.uint64)) & np.uint8(1)
        return math.log(2 / self.order) + np.where(odd == 1, math.log(1 - self.p), math.log(self.p))

    def outcomes(self) -> range:
        return range(self.order)

    def report_bits(self) -> float:
        return float(self.log_order)

    def integers(self) -> dict[str, Any]:
        return {"law": "hadamard", "order": self.order, "keep": str(self.keep)}
