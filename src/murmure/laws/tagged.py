"""A public coin chooses one of several laws, and the report shows which one it was.

P[offset_t + y | x] = coin_t / 2**64 * part_t[y | x].
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from murmure.core.fixed import WORD, Words64, smallest_uint
from murmure.core.random import GivenWords, RandomWords
from murmure.core.types import Array, Floats
from murmure.laws.table import TableChannel
from murmure.laws.window import WindowChannel


@dataclass(frozen=True)
class Tagged:
    """Two laws with one-word reports; the first with probability coin / 2**64."""

    first: WindowChannel
    second: TableChannel
    coin: int

    words, deep, slack, report_ndim = 2, 0, 0.0, 0

    @property
    def inputs(self) -> int:
        return self.first.inputs

    @property
    def outputs(self) -> int:
        return self.first.outputs + self.second.outputs

    def draw(self, x: Array, words: RandomWords) -> Array:
        out = np.empty(len(x), smallest_uint(self.outputs - 1))

        def fill(a: int, b: int, block: Words64) -> None:
            # Both laws are drawn for everybody, and from the same word, since only one of the two reports is used.
            heads = block[:, 0] < np.uint64(self.coin)
            second = GivenWords(block[:, 1:])
            one = self.first.draw(x[a:b], second).astype(out.dtype)
            two = self.second.draw(x[a:b], second).astype(out.dtype) + out.dtype.type(self.first.outputs)
            out[a:b] = np.where(heads, one, two)

        words.each(fill)
        return out

    def prob(self, x: int, y: int) -> Fraction:
        coin = Fraction(self.coin, WORD)
        if int(y) < self.first.outputs:
            return coin * self.first.prob(x, int(y))
        return (1 - coin) * self.second.prob(x, int(y) - self.first.outputs)

    def log_prob(self, x: Array, y: Array) -> Floats:
        y = np.asarray(y).astype(np.int64)
        m = self.first.outputs
        one = math.log(self.coin / WORD) + self.first.log_prob(x, np.minimum(y, m - 1))
        two = math.log((WORD - self.coin) / WORD) + self.second.log_prob(x, np.maximum(y - m, 0))
        return np.where(y < m, one, two)

    def outcomes(self) -> range:
        return range(self.outputs)

    def report_bits(self) -> float:
        return math.log2(self.outputs)

    def integers(self) -> dict[str, Any]:
        return {
            "law": "tagged",
            "coin": str(self.coin),
            "first": self.first.integers(),
            "second": self.second.integers(),
        }
