"""Exact coins in integers: Bernoulli(a/b), Bernoulli(exp(-a/b)), uniform whole numbers. No probability is rounded.

A coin of probability a/b compares a random word w, read as the first 64 bits of a uniform number, with a/b: yes if (w
+ 1) b <= a 2**64, no if w b >= a 2**64, and else (once in 2**64) it looks at the next word with a := a 2**64 - w b.

Bernoulli(exp(-g)), 0 <= g <= 1: flip coins of probability g/1, g/2, g/3, ... until one says no; yes if that is an odd
one (Canonne, Kamath, Steinke, "The Discrete Gaussian for Differential Privacy", NeurIPS 2020, Algorithm 1).

All functions take many coins at once. Words are used in order: one for each coin that is still flipped, in the order
of the list; round after round. So NumPy and the compiled kernels return the same from the same stream. How many words
are used depends on the noise drawn, never on the data; an observer who times a single draw to the nanosecond learns a
little about its noise (Jin et al., IEEE S&P 2022), as with every exact sampler. Tables (digits.py) take constant time,
except for a few draws in a thousand that are repeated.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from murmure.core.fixed import WORD, Words64, mulhi
from murmure.core.random import Random
from murmure.core.types import Ints, Mask
from murmure.laws.kernel_loader import kernels_for, threads

MAX_DENOMINATOR = 1 << 52  # times k it stays below 2**64, for k < 4096 (a larger k has the chance 1/4096!)
BATCH = 1 << 15  # draws that share a stream; their arrays stay in the cache
FEW = 24  # coins; for fewer, Python's integers are faster than arrays
CHUNK = 2048


class Stream:
    """The words of one generator, one after the other; and the kernels, when the whole batch is worth them."""

    def __init__(self, rng: Random, n: int = 0) -> None:
        self._rng, self._left = rng, np.empty(0, np.uint64)
        self.kernels = kernels_for(n)
        self._chunk = CHUNK if self.kernels is None else 16 * CHUNK

    def pick(self, values: Ints, which: Mask) -> Ints:
        """values[which], without a branch, which would be unpredictable."""
        if self.kernels is None:
            return values[which]
        out = np.empty(len(values), np.int64)
        return out[: self.kernels.pick_where(values, which, out)]

    def take(self, n: int) -> Words64:
        if n > len(self._left):
            need = max(n - len(self._left), self._chunk)
            fresh = self._rng.words(need + need % 2)  # an even range: the next one follows without a gap
            self._left = np.concatenate([self._left, fresh]) if len(self._left) else fresh
        out, self._left = self._left[:n], self._left[n:]
        return out


def in_batches(n: int, rng: Random, draw: Callable[[int, Stream], Ints]) -> Ints:
    """n draws; every BATCH of them has a separate generator, so two threads return what one does."""
    branch = rng.branch()
    starts = range(0, n, BATCH)
    out = np.empty(n, np.int64)
    kernels_for(n)  # loaded once, before the threads ask

    def work(some_starts: range) -> None:
        for a in some_starts:
            b = min(a + BATCH, n)
            out[a:b] = draw(b - a, Stream(branch.child(a // BATCH), n))

    if threads() > 1 and len(starts) > 1:
        with ThreadPoolExecutor(1) as other:
            half = other.submit(work, starts[1::2])
            work(starts[0::2])
            half.result()
    else:
        work(starts)
    return out


def first_accepted(n: int, chance: float, attempt: Callable[[int], Ints]) -> Ints:
    """The first n accepted of a sequence of independent attempts; `attempt(m)` returns the accepted ones of m."""
    parts, have = [np.empty(0, np.int64)], 0
    while have < n:
        need = (n - have) / chance
        parts.append(attempt(int(need + 3 * need**0.5) + 2))
        have += len(parts[-1])
    return np.concatenate(parts)[:n]


def _survivors(alive: Ints, num: Any, den: int, loser: bool, out: Mask, stream: Stream) -> Ints:
    """One coin of probability num/den for each of `alive`. No sets out = loser; those with yes are returned.

    num: one for each place of out, or one for all. A tie is settled with the words that follow, and comes last.
    """
    words = stream.take(len(alive))
    if stream.kernels is not None and len(alive) > FEW:
        kept, ties = np.empty(len(alive), np.int64), np.empty((len(alive), 2), np.uint64)
        args = (words, np.atleast_1d(np.asarray(num, np.uint64)), np.uint64(den), alive, loser, out, kept, ties)
        count, tied = stream.kernels.coins(*args)
        open_ones = [(int(i), int(rest)) for i, rest in ties[:tied].tolist()]
        going = kept[:count]
    else:
        going, open_ones = _survivors_numpy(alive, num, den, loser, out, words)
    more = []
    for i, rest in open_ones:
        if settle(rest, den, stream):
            more.append(i)
        else:
            out[i] = loser
    return np.concatenate([going, np.array(more, np.int64)]) if more else going


def _survivors_numpy(
    alive: Ints, num: Any, den: int, loser: bool, out: Mask, words: Words64
) -> tuple[Ints, list[tuple[int, int]]]:
    """The reference."""
    nums = num[alive] if np.ndim(num) else num
    if len(alive) <= FEW:
        each = nums.tolist() if np.ndim(nums) else [int(nums)] * len(alive)
        going, ties = [], []
        for i, w, a in zip(alive.tolist(), words.tolist(), each, strict=True):
            gap = (a << 64) - w * den
            if gap >= den:
                going.append(i)
            elif gap <= 0:
                out[i] = loser
            else:
                ties.append((i, gap))
        return np.array(going, np.int64), ties
    b, a = np.uint64(den), np.asarray(nums, np.uint64)
    high, low = mulhi(words, b), words * b
    yes = high < a
    rest = ~low + np.uint64(1)  # 2**64 - low
    tie = yes & (high + np.uint64(1) == a) & (rest < b) & (low != 0)
    yes &= ~tie
    at = np.flatnonzero(tie)
    out[alive[~yes & ~tie]] = loser
    return alive[yes], list(zip(alive[at].tolist(), rest[at].tolist(), strict=True))


def settle(num: int, den: int, stream: Stream) -> bool:
    """A coin of probability num/den, word by word."""
    while True:
        gap = num * WORD - int(stream.take(1)[0]) * den
        if gap >= den or gap <= 0:
            return gap > 0
        num = gap


def flips(num: Any, den: int, n: int, stream: Stream) -> Mask:
    """n times Bernoulli(exp(-num/den)); num is one number or n of them, 0 <= num <= den."""
    out = np.empty(n, np.bool_)
    alive, k = np.arange(n), 1
    if np.ndim(num) == 0 and num == den:
        k = 2  # the first coin is sure
    while len(alive):
        alive = _survivors(alive, num, den * k, k % 2 == 1, out, stream)
        k += 1
    return out


def product_flips(num: Ints, den: int, num2: Ints, den2: int, stream: Stream) -> Mask:
    """Bernoulli(exp(-(num/den) (num2/den2))): a coin of the product is two coins."""
    out = np.empty(len(num), np.bool_)
    alive, k = np.arange(len(num)), 1
    while len(alive):
        alive = _survivors(alive, num, den * k, k % 2 == 1, out, stream)
        alive = _survivors(alive, num2, den2, k % 2 == 1, out, stream)
        k += 1
    return out


def all_flips(times: Ints, stream: Stream) -> Mask:
    """Bernoulli(exp(-times)), times whole: that number of coins of probability 1/e, all yes."""
    out = np.ones(len(times), np.bool_)
    alive, done = np.flatnonzero(times > 0), 0
    while len(alive):
        yes = flips(1, 1, len(alive), stream)
        out[alive[~yes]] = False
        done += 1
        alive = alive[yes]
        alive = alive[times[alive] > done]
    return out


def runs(n: int, stream: Stream) -> Ints:
    """How often a coin of probability 1/e says yes before it says no."""
    out = np.zeros(n, np.int64)
    alive = np.arange(n)
    while len(alive):
        alive = stream.pick(alive, flips(1, 1, len(alive), stream))
        out[alive] += 1
    return out


def uniforms(bound: int, n: int, stream: Stream) -> Ints:
    """2 u + bit: u in 0 .. bound-1, each equally likely, and a fair bit (Lemire, ACM TOMACS 29(1), 2019, on 63 bits).

    Words among the first 2**63 mod bound of a number's run are refused, so that all runs are equally long.
    """
    value = np.empty(n, np.int64)
    refused = np.uint64(2 * ((1 << 63) % bound))
    alive = np.arange(n)
    while len(alive):
        words = stream.take(len(alive))
        if stream.kernels is not None:
            again = np.empty(len(alive), np.int64)
            alive = again[: stream.kernels.uniforms(words, np.uint64(bound), refused, alive, value, again)]
        else:
            even = words & ~np.uint64(1)
            ok = even * np.uint64(bound) >= refused
            value[alive] = 2 * mulhi(even, np.uint64(bound)) + (words & np.uint64(1))
            alive = alive[~ok]
    return value


class BatchedNoise:
    """Noise that is drawn in batches. A law defines `batch`, and P[|Z| > m] as `beyond`."""

    def batch(self, n: int, stream: Stream) -> Ints:
        raise NotImplementedError

    def beyond(self, m: int) -> Any:
        raise NotImplementedError

    def quantile(self, tail: float) -> int:
        """The least m with P[|Z| > m] <= tail."""
        return least_beyond(self.beyond, tail)

    def draw_noise(self, n: int, rng: Random) -> Ints:
        return in_batches(n, rng, self.batch)


def least_beyond(beyond: Callable[[int], Any], tail: Any) -> int:
    """The least m with beyond(m) <= tail, where beyond(m) = P[|Z| > m]: doubled until it is, then halved."""
    low, high = -1, 1
    while beyond(high) > tail:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if beyond(middle) > tail else (low, middle)
    return high
