"""Poisson numbers, nothing rounded, for any rational mean up to 2**60.

    P[k] = e**-mean mean**k / k!.

Means up to TABULATED: inversion. One word, read as the first 64 bits of a uniform number U, falls between F(k-1) and
F(k), and k is drawn. The ends of the table are the whole parts of F(k) 2**64, obtained from integers with a bound on
what was cut off; a word equal to an end (some thousands of 2**64) does not decide, and is continued with further words
against as many more digits of F, until it does. Larger means: the whole part by rejection
(laws/noise/poisson_wide.py), and a Poisson number of the fraction that is left added to it.

The weights of the table need no exponential: with w(m) = 2**P at the mode m, w(k+1) = w(k) mean / (k+1) and
w(k-1) = w(k) k / mean are cut down to integers. A step away from the mode never makes a number larger, so w(k) lacks
less than |k - m| units, and where it has reached 0 the rest of that side is bounded by a geometric sum.
"""

from __future__ import annotations

import bisect
import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from murmure.core.errors import InvalidParameter
from murmure.core.fixed import WORD, Words64
from murmure.core.random import Random
from murmure.core.types import Floats, Ints
from murmure.laws.noise.coins import Stream, in_batches
from murmure.laws.noise.poisson_wide import WidePoisson

TABULATED = 1 << 14
MAX_MEAN = 1 << 60
SPARE = 128  # bits beyond the requested ones


@dataclass(frozen=True)
class Ends:
    """floor(F(k) 2**bits) for k = first, first + 1, ...: between lows and highs; `below_first` bounds F(first - 1)."""

    first: int
    lows: list[int]
    highs: list[int]
    below_first: int

    def find(self, word: int) -> int | None:
        """The k of every U that begins with `word`; None if they differ, or lie beyond the table."""
        k = bisect.bisect_right(self.highs, word)
        previous = self.highs[k - 1] if k else self.below_first
        sure = k < len(self.lows) and previous < word < self.lows[k]
        return self.first + k if sure else None


def poisson_ends(mean: Fraction, bits: int) -> Ends:
    """The distribution function to this number of binary digits."""
    p, q, mode = mean.numerator, mean.denominator, math.floor(mean)
    # Away from the mode on both sides, until the weights round to 0.
    up: list[int] = [1 << (bits + SPARE)]
    down: list[int] = []
    while up[-1]:
        up.append(up[-1] * p // (q * (mode + len(up))))
    weight = up[0]
    while weight and len(down) < mode:
        weight = weight * (mode - len(down)) * q // p
        down.append(weight)
    weights = down[::-1] + up
    first, last, count = mode - len(down), mode + len(up) - 1, len(weights)
    beyond = Fraction(1) / (1 - mean / (last + 1))  # the sum of the ratios from `last` on, at most
    slack = count * (count + first + math.ceil(beyond))
    total = sum(weights)
    lows, highs, top = [], [], (1 << bits) - 1
    for partial in itertools.accumulate(weights):
        lows.append((partial << bits) // (total + slack))
        highs.append(min(top, ((partial + slack) << bits) // total))
    return Ends(first, lows, highs, (slack << bits) // total if first else -1)


@dataclass(frozen=True)
class PoissonTable:
    """The sampler by inversion."""

    mean: Fraction

    @cached_property
    def _table(self) -> tuple[int, Words64]:
        """Where it begins, and the ends as words: where lower and upper bound differ they lie at a word's border,
        and more digits tell them apart (F is transcendental, so some number of digits does)."""
        ends = next(e for spare in itertools.count() if (e := self._agreeing(64 * spare)) is not None)
        above = [i for i, end in enumerate(ends.lows) if end > 0]
        start = max(0, above[0] - 1)  # an end 0, where there is one: word 0 does not decide
        stop = next((i for i, end in enumerate(ends.lows) if end == WORD - 1), len(ends.lows) - 1)
        return ends.first + start, np.array(ends.lows[start : stop + 1], np.uint64)

    def _agreeing(self, spare: int) -> Ends | None:
        fine = poisson_ends(self.mean, 64 + spare)
        lows, highs = [low >> spare for low in fine.lows], [high >> spare for high in fine.highs]
        agree = lows == highs
        return Ends(fine.first, lows, highs, fine.below_first) if agree else None

    def batch(self, n: int, stream: Stream) -> Ints:
        first, ends = self._table
        words = stream.take(n)
        at = np.searchsorted(ends, words, side="left")
        out = (at + first).astype(np.int64)
        for i in np.flatnonzero(ends[np.minimum(at, len(ends) - 1)] == words):
            out[i] = self.settle(int(words[i]), stream)
        return out

    def settle(self, word: int, stream: Stream) -> int:
        """The number of a word that equals an end, from the words that follow."""
        for bits in itertools.count(128, 64):
            word = (word << 64) | int(stream.take(1)[0])
            found = poisson_ends(self.mean, bits).find(word)
            if found is not None:
                return found
        raise AssertionError


@lru_cache(maxsize=64)
def _table(mean: Fraction) -> PoissonTable:
    return PoissonTable(mean)


@lru_cache(maxsize=64)
def _wide(mean: int) -> WidePoisson:
    return WidePoisson(mean)


@dataclass(frozen=True)
class PoissonLaw:
    mean: Fraction

    def __post_init__(self) -> None:
        if not 0 < self.mean <= MAX_MEAN:
            raise InvalidParameter(
                "Poisson numbers of mean {mean:.3g} were asked for; up to 2**60 can be drawn.",
                hint="a larger budget, fewer rows for each person, or a coarser grid of the statistic",
                mean=float(self.mean),
            )

    def log_prob(self, k: Any) -> Floats:
        """By floats; for moderate means."""
        from scipy.special import gammaln

        k, mean = np.asarray(k, np.float64), float(self.mean)
        return np.asarray(k * math.log(mean) - mean - gammaln(k + 1))

    def draw(self, n: int, rng: Random) -> Ints:
        return in_batches(n, rng, self.batch)

    def batch(self, n: int, stream: Stream) -> Ints:
        if self.mean <= TABULATED:
            return _table(self.mean).batch(n, stream)
        whole = math.floor(self.mean)
        out = _wide(whole).batch(n, stream)
        return out if whole == self.mean else out + _table(self.mean - whole).batch(n, stream)
