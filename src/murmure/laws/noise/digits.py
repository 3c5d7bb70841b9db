"""Two-sided geometric noise out of small tables: any scale, few words, every probability an integer over 2**63.

A geometric number M (P[M = m] proportional to a**m) has independent digits: M = low + 256 high, where low is a
geometric number cut at 256 and high is geometric with ratio a**256. So a few tables draw M: one for each low digit,
and one for the top digit, which holds B entries and an escape. After an escape everything is drawn again and the
period (B times the lower digits' range) is added: geometric numbers have no memory. With G(m) = the product of the
entries of m's digits, times the escape for every period that m has passed, the noise is one of two:

  several tables   a fair sign beside M, and "minus zero" is drawn again (Canonne, Kamath, Steinke, NeurIPS 2020,
                   Algorithm 2):  P[z] = G(|z|) / (2 - G(0)).
  one table        scales up to 128, where minus zero would come often: the first word falls into a table of |z|
                   itself, whose entry for 0 is half as large:  P[0] = w(0) / 2**63,  P[z] = w(|z|) / 2**64 for
                   |z| < B, and beyond  P[z] = w(escape) / 2**64 G(|z| - B).

Tables are rounded. With `rate` = -ln a, ln P[z] = const - rate |z| + e(z), and `slack` counts how far e can be apart:

    |ln P[z] - ln P[z + d]| <= rate |d| + slack      for every z and every d.                                 (1)

Proof. Let e_i be what rounding did to the logarithms of table i's entries, escapes included; slack is the sum over all
tables of the spread of 0 and e_i, plus, for a table with an escape, delta = e_i(escape), which is >= 0 because escapes
are rounded up. e(z) is the sum of the e_i of the entries that make z; the top table's escape is among them r times
(r - 1 times, and once that of the first table, where there is one). Take |z| < |z'|, so r <= r'. Downhill, ln P[z] -
ln P[z'] = rate (|z'| - |z|) + e(z) - e(z'), where escapes beyond the first only help: at most rate |d| + slack. Uphill,
ln P[z'] - ln P[z] <= -rate (|z'| - |z|) + spreads + (r' - r) delta, and r' - r <= 1 + (|z'| - |z|) / period with
delta <= rate * period, so it is at most slack.
"""

from __future__ import annotations

import decimal
import hashlib
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.errors import InvalidParameter
from murmure.core.fixed import Words64, exactly
from murmure.core.random import Random
from murmure.core.types import Floats, Ints, Mask
from murmure.laws.kernel_loader import kernels_for, threads
from murmure.laws.noise.coins import Stream, least_beyond

HALF_WORD = 1 << 63  # the lowest bit of a word is the sign; the others choose from a table
BITS = 200  # of the fixed-point exponentials that tables are rounded from
RADIX = 256  # small: tables are built for every plan, and one word more costs a nanosecond
ONE_TABLE = 128  # scales up to here need one table
COVERED = Fraction(25, 2)  # scales that the top table covers: an escape has probability e**-12.5, 1 in 270,000
MAX_RATE = Fraction(32)  # the noise is 0 except for 3 in 10**14; a steeper law would be rounded too coarsely
MIN_RATE = Fraction(1, 1 << 52)  # P[|z| > 2**62] < e**-1000 at this rate
SEARCH = 4096  # words; for fewer, bisection is faster than building a guide


@exactly
def power(rate: Fraction) -> int:
    """e**-rate in units of 2**-BITS, right to two units: 80 digits are 265 bits."""
    exponent = -decimal.Decimal(rate.numerator) / decimal.Decimal(rate.denominator)
    return int((exponent.exp() * (1 << BITS)).to_integral_value())


@dataclass(frozen=True)
class DigitTable:
    """The ends of the runs of one digit; entry i owns the words between ends[i-1] and ends[i], over 2**63."""

    ends: tuple[int, ...] = field(repr=False)
    slack: Fraction = field(repr=False)  # the spread of ln(entry / exact value), and what rounding added to an escape

    @cached_property
    def weights(self) -> tuple[int, ...]:
        return tuple(b - a for a, b in itertools.pairwise((0, *self.ends)))

    @cached_property
    def logs(self) -> Floats:
        return np.log(np.array(self.weights, float)) - math.log(HALF_WORD)

    def share(self, i: int) -> Fraction:
        return Fraction(self.weights[i], HALF_WORD)

    def above(self, i: int) -> Fraction:
        """The share of all entries after i."""
        return Fraction(HALF_WORD - self.ends[i], HALF_WORD)

    @classmethod
    def geometric(cls, rate: Fraction, size: int, escape: bool) -> DigitTable:
        """Entries proportional to e**(-rate i), i < size. escape: a last entry for everything beyond, rounded up."""
        one, a = 1 << BITS, power(rate)
        powers = [one]
        for _ in range(size):
            powers.append((powers[-1] * a) >> BITS)  # `size` times an error of 2 units: nothing beside 2**-63
        # the share below i + 1 is (1 - a**(i+1)) / (1 - a**size), or (1 - a**(i+1)) when all the rest escapes
        whole = one if escape else one - powers[size]
        ends = [(one - p) * HALF_WORD // whole for p in powers[1:]]
        if escape:
            ends.append(HALF_WORD)
        else:
            ends[-1] = HALF_WORD
        exact = [(p - q) * HALF_WORD for p, q in itertools.pairwise(powers)]  # entry i times `whole`
        if escape:
            exact.append(powers[size] * HALF_WORD)
        return cls(tuple(ends), _spread(ends, exact, whole, escape))

    @classmethod
    def folded(cls, rate: Fraction, size: int) -> DigitTable:
        """Entries of |z|: (1 - a) / (1 + a) for 0, twice (1 - a) a**m / (1 + a) for m, and an escape, rounded up."""
        one, a = 1 << BITS, power(rate)
        powers = [one]
        for _ in range(size):
            powers.append((powers[-1] * a) >> BITS)
        whole = one + a
        ends = [(whole - 2 * p) * HALF_WORD // whole for p in powers[1:]] + [HALF_WORD]
        exact = [2 * (p - q) * HALF_WORD for p, q in itertools.pairwise(powers)]
        exact[0] //= 2
        return cls(tuple(ends), _spread(ends, [*exact, 2 * powers[size] * HALF_WORD], whole, escape=True))


def _spread(ends: Sequence[int], exact: Sequence[int], whole: int, escape: bool) -> Fraction:
    """max ln(w/x) - min ln(w/x) over entries w and their exact values x, or more: (w-x)/w <= ln(w/x) <= (w-x)/x."""
    entries = [(b - a) * whole for a, b in itertools.pairwise((0, *ends))]
    errors = [w - x for w, x in zip(entries, exact, strict=True)]
    spread = Fraction(max(0, *errors), min(exact)) - Fraction(min(0, *errors), min(entries))
    drift = Fraction(max(0, errors[-1]), exact[-1]) if escape else Fraction(0)
    # rounded up to 120 binary digits; 2**-90 is for the error of the exact values, which is below 2**-120 each
    return Fraction(math.ceil((spread + drift) * (1 << 120)) + (1 << 30), 1 << 120)


@dataclass(frozen=True)
class Lookup:
    """Tables as arrays, to find the digits of many words."""

    tables: tuple[DigitTable, ...]

    @cached_property
    def ends(self) -> list[Words64]:
        return [np.array(table.ends, np.uint64) for table in self.tables]

    @cached_property
    def guides(self) -> list[tuple[NDArray[np.uint16], int]]:
        """Where to start the search, by the first bits of the word: there are four cells or more for each entry."""
        out = []
        for ends in self.ends:
            bits = max(8, (4 * len(ends)).bit_length())
            cells = np.arange(1 << bits, dtype=np.uint64) << np.uint64(63 - bits)
            out.append((np.searchsorted(ends, cells, side="right").astype(np.uint16), 63 - bits))
        return out

    @cached_property
    def compiled(self) -> tuple[Any, ...]:
        return (
            np.concatenate(self.ends),
            np.concatenate([guide for guide, _ in self.guides]),
            np.cumsum([0] + [len(ends) for ends in self.ends]),
            np.array([shift for _, shift in self.guides], np.uint64),
            np.cumsum([0] + [len(guide) for guide, _ in self.guides])[:-1],
            np.int64(RADIX),
        )

    def digit(self, level: int, u: Words64) -> Ints:
        """How many runs of the table end at or below u."""
        ends = self.ends[level]
        if len(u) < SEARCH:
            return np.searchsorted(ends, u, side="right")
        guide, shift = self.guides[level]
        at = guide[u >> np.uint64(shift)].astype(np.int64)
        short = np.flatnonzero(ends[at] <= u)
        while len(short):
            at[short] += 1
            short = short[ends[at[short]] <= u[short]]
        return at

    def numbers(self, block: Words64) -> tuple[Ints, Mask]:
        """Word 0 gives the top digit, the next ones the other digits downwards; and whether the top one escaped."""
        one = np.uint64(1)
        top = self.digit(0, block[:, 0] >> one)
        m = top
        for level in range(1, len(self.tables)):
            m = m * RADIX + self.digit(level, block[:, level] >> one)
        return m, top == len(self.tables[0].ends) - 1


@dataclass(frozen=True)
class Digits:
    """Noise P[z] of scale 1 / rate, from tables. Build it with `digits(rate)`."""

    rate: Fraction
    tables: tuple[DigitTable, ...] = field(repr=False)  # of M, the top digit's first
    first: DigitTable | None = field(default=None, repr=False)  # of |z|, as large as the only table

    @property
    def size(self) -> int:
        """Entries of the top table without the escape."""
        return len(self.tables[0].ends) - 1

    @property
    def period(self) -> int:
        """What an escape adds."""
        return self.size * RADIX ** (len(self.tables) - 1)

    @property
    def _all(self) -> tuple[DigitTable, ...]:
        return self.tables if self.first is None else (self.first, *self.tables)

    @cached_property
    def slack(self) -> Fraction:
        return sum((table.slack for table in self._all), Fraction(0))

    def loss(self, moves: int, entries: int) -> Fraction:
        """A bound on the loss when `entries` draws are shifted by whole numbers that add up to `moves` at most: (1)."""
        return moves * self.rate + min(moves, entries) * self.slack

    # the law of M

    def _digits(self, m: int) -> tuple[int, list[int]]:
        escapes, rest = divmod(m, self.period)
        out = []
        for _ in self.tables[1:]:
            rest, digit = divmod(rest, RADIX)
            out.append(digit)
        return escapes, [rest, *out[::-1]]

    def magnitude(self, m: int) -> Fraction:
        """G(m) = P[M = m]."""
        escapes, which = self._digits(m)
        out = self.tables[0].share(-1) ** escapes
        for table, digit in zip(self.tables, which, strict=True):
            out *= table.share(digit)
        return out

    def tail(self, m: int) -> Fraction:
        """P[M > m]."""
        escapes, which = self._digits(m)
        tail, prefix = Fraction(0), self.tables[0].share(-1) ** escapes
        for table, digit in zip(self.tables, which, strict=True):
            tail += prefix * table.above(digit)  # of the top table: the escape too
            prefix *= table.share(digit)
        return tail

    def log_magnitude(self, m: Ints) -> Floats:
        """ln G(m)."""
        escapes, rest = np.divmod(m, self.period)
        logs = [table.logs for table in self.tables]
        out = escapes * logs[0][-1]
        for table in logs[:0:-1]:
            rest, digit = np.divmod(rest, RADIX)
            out = out + table[digit]
        return np.asarray(out + logs[0][rest])

    @cached_property
    def moments(self) -> tuple[float, float]:
        """E[M] and E[M**2]."""
        mean = variance = 0.0
        unit = float(RADIX ** (len(self.tables) - 1))
        for k, table in enumerate(self.tables):
            w = np.array(table.weights[: self.size] if k == 0 else table.weights, float)
            w /= w.sum()
            i = np.arange(len(w))
            middle = float(w @ i)
            mean += unit * middle
            variance += unit**2 * float(w @ (i - middle) ** 2)
            unit /= RADIX
        e = float(self.tables[0].share(-1))  # the number of escapes is geometric
        mean += self.period * e / (1 - e)
        variance += self.period**2 * e / (1 - e) ** 2
        return mean, variance + mean**2

    # the law of the noise

    def prob(self, z: int) -> Fraction:
        m = abs(z)
        if self.first is None:
            return self.magnitude(m) / (2 - self.magnitude(0))
        if m < self.size:
            return self.first.share(m) / (2 if m else 1)
        return self.first.share(-1) / 2 * self.magnitude(m - self.size)

    def beyond(self, m: int) -> Fraction:
        """P[|Z| > m], exactly."""
        if self.first is None:
            return 2 * self.tail(m) / (2 - self.magnitude(0))
        return self.first.above(m) if m < self.size else self.first.share(-1) * self.tail(m - self.size)

    def quantile(self, tail: float) -> int:
        return least_beyond(self.beyond, Fraction(tail))

    @cached_property
    def variance(self) -> float:
        """E[Z**2]: 2 E[M**2] / (2 - G(0)); or that of the first table, and of size + M after its escape."""
        mean, square = self.moments
        if self.first is None:
            return 2 * square / (2 - float(self.magnitude(0)))
        inside = np.array(self.first.weights[:-1], float) @ np.arange(self.size) ** 2.0 / HALF_WORD
        return float(inside + float(self.first.share(-1)) * (self.size**2 + 2 * self.size * mean + square))

    def log_prob(self, z: Any) -> Floats:
        m = np.abs(np.asarray(z, np.int64))
        if self.first is None:
            return self.log_magnitude(m) - math.log(2 - float(self.magnitude(0)))
        logs, far = self.first.logs, m >= self.size
        near = logs[np.where(far, -1, m)] - np.where(m > 0, math.log(2), 0.0)
        return np.asarray(near + np.where(far, self.log_magnitude(np.where(far, m - self.size, 0)), 0.0))

    @cached_property
    def _sha256(self) -> str:
        """Of all ends: the first table's, the top digit's, ... Thousands of them, asked for with every digest."""
        ends = ",".join(str(end) for table in self._all for end in table.ends)
        return hashlib.sha256(ends.encode()).hexdigest()

    def integers(self) -> dict[str, Any]:
        return {
            "law": "digits",
            "rate": str(self.rate),
            "sizes": [len(table.ends) for table in self._all],
            "sha256": self._sha256,
        }

    # the sampler

    @cached_property
    def _again(self) -> Lookup:
        return Lookup(self.tables)

    @cached_property
    def _start(self) -> Lookup:
        return self._again if self.first is None else Lookup((self.first,))

    def _fill(self, start: bool, block: Words64, offset: Ints, out: Ints, left: Ints, left_offset: Ints) -> int:
        """The reference: the lowest bit of word 0 is the sign."""
        m, escaped = (self._start if start else self._again).numbers(block)
        m = m + offset
        minus = (block[:, 0] & np.uint64(1)).astype(np.bool_)
        np.copyto(out, np.where(minus, -m, m))
        open_ones = escaped if self.first is not None else escaped | (minus & (m == 0))
        again = np.flatnonzero(open_ones)
        left[: len(again)] = again
        left_offset[: len(again)] = (offset if len(offset) == 1 else offset[again]) + escaped[again] * self.period
        return len(again)

    def magnitudes(self, n: int, stream: Stream) -> Ints:
        """n draws of M, without a sign: for laws that are made of stairs."""
        out = np.zeros(n, np.int64)
        alive = np.arange(n)
        while len(alive):
            block = stream.take(len(alive) * len(self.tables)).reshape(len(alive), -1)
            m, escaped = self._again.numbers(block)
            out[alive] += np.where(escaped, self.period, m)
            alive = alive[escaped]
        return out

    def draw_noise(self, n: int, rng: Random) -> Ints:
        """Every draw uses one word per table; those to be repeated, in order, use as many of the words that follow."""
        out = np.empty(n, np.int64)
        who, offset = self._round(out, np.zeros(1, np.int64), True, rng)
        while len(who):
            drawn = np.empty(len(who), np.int64)
            places, further = self._round(drawn, offset, False, rng)
            out[who] = drawn
            who, offset = who[places], further
        return out

    def _round(self, out: Ints, offset: Ints, start: bool, rng: Random) -> tuple[Ints, Ints]:
        """Fill `out`; return the places that must be drawn again, and with which offset."""
        again: list[tuple[int, Ints, Ints]] = []
        kernels = kernels_for(len(out))
        lookup = self._start if start else self._again
        compiled = None if kernels is None else lookup.compiled  # built before two threads ask for it
        folded = self.first is not None

        def fill(a: int, b: int, block: Words64) -> None:
            offsets = offset if len(offset) == 1 else offset[a:b]
            left, further = np.empty(b - a, np.int64), np.empty(b - a, np.int64)
            if kernels is not None:
                count = kernels.digits(block, *compiled, folded, offsets, out[a:b], left, further)  # type: ignore[misc]
            else:
                count = self._fill(start, block, offsets, out[a:b], left, further)
            again.append((a, left[:count] + a, further[:count].copy()))

        rng.reserve(len(out), len(self.tables)).each(fill, threads())
        # Two threads append in any order; the next round uses words in the order of places.
        again.sort(key=lambda part: part[0])
        none = np.empty(0, np.int64)
        return np.concatenate([none, *(p for _, p, _ in again)]), np.concatenate([none, *(h for *_, h in again)])


@lru_cache(maxsize=256)
def digits(rate: Fraction) -> Digits:
    """The tables of this rate."""
    if not MIN_RATE <= rate <= MAX_RATE:
        raise InvalidParameter(
            "noise of scale {rate:.3g} was asked for; scales from 1/32 to 2**52 can be drawn.",
            hint="a larger epsilon, fewer rows for each person, or a coarser grid of the statistic",
            rate=float(1 / rate),
        )
    top, *others = _steps(rate)
    size = math.ceil(COVERED / top)
    lower = [DigitTable.geometric(step, RADIX, escape=False) for step in others]
    tables = (DigitTable.geometric(top, size, escape=True), *lower)
    return Digits(rate, tables, None if others else DigitTable.folded(rate, size))


def _steps(rate: Fraction) -> list[Fraction]:
    """The rate of each digit, the top one's first."""
    steps = [rate]
    while steps[0] * ONE_TABLE < 1:
        steps.insert(0, steps[0] * RADIX)
    return steps


def _likely_slack(rate: Fraction) -> Fraction:
    """About what rounding costs: two units of each table's least entry. A guess, to build tables once only."""
    top, *others = map(float, _steps(rate))
    least = min(-math.expm1(-top) * math.exp(-float(COVERED)), math.exp(-top * math.ceil(float(COVERED) / top)))
    return Fraction(2.0**-62 / least * (1 if others else 2) + 2.0**-51 * len(others) + 2.0**-60)


def calibrated(epsilon: Fraction, moves: int, entries: int) -> Digits:
    """The flattest rounding of rate epsilon / moves whose loss, slack included, is at most epsilon."""
    moved = min(moves, entries)
    spare = moved * _likely_slack(min(epsilon / moves, MAX_RATE))
    while True:
        if spare * 4 > epsilon:
            raise InvalidParameter(
                "an epsilon of {epsilon:.3g} for {moved} entries that move by {moves} in all is too small: "
                "rounding the law would cost as much.",
                hint="a larger epsilon, or fewer entries",
                epsilon=float(epsilon),
                moved=moved,
                moves=moves,
            )
        law = digits(_rounded_down(min((epsilon - spare) / moves, MAX_RATE)))
        if law.loss(moves, entries) <= epsilon:
            return law
        spare *= 2


def _rounded_down(rate: Fraction) -> Fraction:
    """To 80 binary digits, so that the plan's JSON stays short."""
    shift = 80 - (rate.numerator.bit_length() - rate.denominator.bit_length())
    if shift <= 0:
        return Fraction(math.floor(rate))
    return Fraction((rate.numerator << shift) // rate.denominator, 1 << shift)
