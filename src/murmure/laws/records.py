"""Laws of records: a person holds several attributes, and the report has a place for each.

    Joint     every attribute is randomised separately and shown:     P[y | x] = prod_i P_i[y_i | x_i]
    Sampled   a public draw D says which attributes are shown:        P[D, y | x] = P[D] prod_{i in D} P_i[y_i | x_i]

(The third kind hides which attribute is real among fakes: hidden_draw.py.) A report is a tuple with one entry per
attribute, None where nothing is shown.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from murmure.core.errors import InvalidParameter
from murmure.core.fixed import Words64, smallest_uint
from murmure.core.random import Random
from murmure.core.types import Array, Floats, Ints, Mask
from murmure.laws.bits import BitsChannel, packed_words, set_bit
from murmure.laws.cut import Cut
from murmure.laws.kernel_loader import kernels_for
from murmure.laws.law import Channel, Law
from murmure.laws.strings import Strings, coins

Columns = Sequence[Array]  # one array of codes per attribute
Row = tuple[Any, ...]
MAX_OUTCOMES = 200_000


@dataclass(frozen=True, eq=False)
class Records:
    """Reports of n people, attribute by attribute: parts[i] are those of the people rows[i] (None: of everybody)."""

    n: int
    parts: tuple[Array, ...] = field(repr=False)
    rows: tuple[Ints, ...] | None = field(default=None, repr=False)
    weights: Ints | None = field(default=None, repr=False)  # public, one per person
    law: str | None = field(default=None, repr=False)  # a digest of the law that drew them, where it is known

    def __len__(self) -> int:
        return self.n

    def fit(self) -> bool:
        """Whether every attribute has one report for each person who shows it, and these people exist."""
        if self.rows is None:
            return all(len(part) == self.n for part in self.parts)
        if len(self.rows) != len(self.parts):
            return False
        for part, rows in zip(self.parts, self.rows, strict=True):
            if len(part) != len(rows) or rows.ndim != 1 or rows.dtype.kind not in "iu":
                return False
            if len(rows) and not (rows[0] >= 0 and rows[-1] < self.n and bool((rows[1:] > rows[:-1]).all())):
                return False
        return True

    def shown(self, column: int) -> int:
        """How many people show this attribute."""
        return self.n if self.rows is None else len(self.rows[column])

    def row(self, person: int) -> Row:
        """One person's report."""
        if self.rows is None:
            return tuple(part[person] for part in self.parts)
        out: list[Any] = []
        for part, rows in zip(self.parts, self.rows, strict=True):
            at = int(np.searchsorted(rows, person))
            out.append(part[at] if at < len(rows) and rows[at] == person else None)
        return tuple(out)


class RecordChannel(Protocol):
    """The integers of a law of records; what `Channel` is for one attribute."""

    @property
    def inputs(self) -> tuple[int, ...]: ...
    @property
    def slack(self) -> float: ...
    def sample(self, x: Columns, rng: Random, first: int = 0) -> Records: ...
    def prob(self, x: Sequence[int], y: Row) -> Fraction: ...
    def log_prob(self, x: Columns, y: Records) -> Floats: ...
    def outcomes(self) -> Iterable[Row] | None: ...
    def report_bits(self) -> float: ...
    def integers(self) -> dict[str, Any]: ...


@dataclass(frozen=True)
class RecordLaw:
    """What people holding the records x may report, and how likely it is."""

    channel: RecordChannel
    x: Columns

    def sample(self, rng: Random, first: int = 0) -> Records:
        return self.channel.sample(self.x, rng, first)

    def log_prob(self, y: Records) -> Floats:
        return self.channel.log_prob(self.x, y)

    def outcomes(self) -> Iterable[Row] | None:
        return self.channel.outcomes()


def every_outcome(parts: Sequence[Any]) -> Iterator[Row] | None:
    """All combinations of reports, or None when there are too many to list."""
    listed, count = [], 1
    for part in parts:
        outcomes = part.outcomes()
        if outcomes is None:
            return None
        listed.append(list(itertools.islice(outcomes, MAX_OUTCOMES + 1)))
        count *= len(listed[-1])
        if count > MAX_OUTCOMES:
            return None
    return itertools.product(*listed)


@dataclass(frozen=True)
class Joint:
    """Every attribute randomised separately, all of them shown."""

    parts: tuple[Channel, ...]

    @property
    def inputs(self) -> tuple[int, ...]:
        return tuple(part.inputs for part in self.parts)

    @property
    def slack(self) -> float:
        return sum(part.slack for part in self.parts)

    @cached_property
    def strings(self) -> list[tuple[list[int], Strings]]:
        """Unary attributes with the same coins, where sharing words saves some."""
        alike: dict[tuple[int, int], list[int]] = {}
        for i, part in enumerate(self.parts):
            if isinstance(part, BitsChannel):
                alike.setdefault((part.yes_true, part.yes_false), []).append(i)
        out = []
        for (_, q), members in alike.items():
            string = Strings(tuple(self.parts[i].inputs for i in members), q)
            if string.width < sum(packed_words(size) for size in string.sizes):
                out.append((members, string))
        return out

    def sample(self, x: Columns, rng: Random, first: int = 0) -> Records:
        n, drawn = len(x[0]), dict[int, Array]()
        for members, string in self.strings:
            bits = string.flip(rng.reserve(n, string.words, string.deep))
            for place, i in enumerate(members):
                drawn[i] = string.cut(bits, place)
                set_bit(drawn[i], x[i], coins(self.parts[i].yes_true, rng.reserve(n, 1)))  # type: ignore[attr-defined]
        # Strings are drawn first, then the other attributes: the order decides who uses which words of the stream.
        left = [i for i in range(len(self.parts)) if i not in drawn]
        drawn |= {i: Law(self.parts[i], x[i]).sample(rng) for i in left}
        return Records(n, tuple(drawn[i] for i in range(len(self.parts))))

    def prob(self, x: Sequence[int], y: Row) -> Fraction:
        return math.prod((p.prob(xi, yi) for p, xi, yi in zip(self.parts, x, y, strict=True)), start=Fraction(1))

    def log_prob(self, x: Columns, y: Records) -> Floats:
        return np.sum([p.log_prob(xi, yi) for p, xi, yi in zip(self.parts, x, y.parts, strict=True)], axis=0)

    def outcomes(self) -> Iterator[Row] | None:
        return every_outcome(self.parts)

    def report_bits(self) -> float:
        return sum(part.report_bits() for part in self.parts)

    def integers(self) -> dict[str, Any]:
        return {"law": "joint", "parts": [part.integers() for part in self.parts]}


@dataclass(frozen=True)
class Draw:
    """Which `take` of the attributes a person shows: drawn by chance, or in turn by the person's public number."""

    columns: int
    take: int = 1
    cut: Cut | None = None  # unequal chances, for take = 1
    in_turn: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.take <= self.columns:
            raise InvalidParameter(
                "a person can report 1 to {column_names} of {column_names} attributes, got {got}.",
                column_names=self.columns,
                got=self.take,
            )
        if not self.in_turn and math.comb(self.columns, self.take) > 1 << 32:
            raise InvalidParameter(
                "{take} of {column_names} attributes can be drawn in more than 2**32 ways.",
                take=self.take,
                column_names=self.columns,
            )

    @cached_property
    def sets(self) -> Cut:
        """The law of the number of the set, in the order of itertools.combinations."""
        return self.cut or Cut(math.comb(self.columns, self.take))

    def prob(self, shown: tuple[int, ...]) -> Fraction:
        """The chance of one set. (In turn: for a person whose number is not known yet.)"""
        if not self.in_turn:
            return self.sets.prob(rank_of(shown, self.columns))
        return Fraction(self.turns().count(shown), self.columns)

    def turns(self) -> list[tuple[int, ...]]:
        """What people number 0, 1, ... show, until it repeats."""
        d, m = self.columns, self.take
        return [tuple(sorted((t * m + i) % d for i in range(m))) for t in range(d)]

    def outcomes(self) -> Iterable[tuple[int, ...]]:
        if self.in_turn:
            return sorted(set(self.turns()))
        return itertools.combinations(range(self.columns), self.take)

    def rows(self, n: int, rng: Random, first: int) -> tuple[Ints, ...]:
        """For every attribute, who shows it."""
        if self.in_turn:
            turn = (np.arange(first, first + n) * self.take) % self.columns
            return tuple(np.flatnonzero((c - turn) % self.columns < self.take) for c in range(self.columns))
        number = np.empty(n, smallest_uint(self.sets.size - 1))

        def fill(a: int, b: int, block: Words64) -> None:
            number[a:b] = self.sets.pick(block[:, 0])

        rng.reserve(n, 1).each(fill)
        if self.take == 1:
            return split(number, self.columns)
        return tuple(np.flatnonzero(shows) for shows in self._unrank(number.astype(np.int64)))

    def _unrank(self, number: Ints) -> Iterator[Mask]:
        """Set by number (combinatorial number system): one step per attribute for all people at once."""
        d, left = self.columns, np.full(len(number), self.take)
        for c in range(d):
            with_c = np.array([math.comb(d - c - 1, m - 1) if m else 0 for m in range(self.take + 1)])[left]
            shows = number < with_c
            number = np.where(shows, number, number - with_c)
            left = left - shows
            yield shows

    def integers(self) -> dict[str, Any]:
        return {
            "take": self.take,
            "in_turn": self.in_turn,
            "cut": None if self.cut is None else self.cut.integers(),
        }


def rank_of(shown: tuple[int, ...], columns: int) -> int:
    """The number of a set in the order of itertools.combinations."""
    rank, start, left = 0, 0, len(shown)
    for c in shown:
        for skipped in range(start, c):
            rank += math.comb(columns - skipped - 1, left - 1)
        start, left = c + 1, left - 1
    return rank


def split(number: Array, count: int) -> tuple[Ints, ...]:
    """For every number 0 .. count-1, the places where it occurs."""
    kernels = kernels_for(len(number))
    if kernels is not None:
        ends = np.zeros(count + 1, np.int64)
        order = np.empty(len(number), np.int64)
        kernels.split(number, ends, order)
        return tuple(order[ends[c] : ends[c + 1]] for c in range(count))
    if count <= 64:
        return tuple(np.flatnonzero(number == c) for c in range(count))
    order = np.argsort(number, kind="stable")
    return tuple(np.split(order, np.searchsorted(number[order], np.arange(1, count))))


@dataclass(frozen=True)
class Sampled:
    """A public draw says which attributes are shown; the report shows the draw too."""

    parts: tuple[Channel, ...]
    draw: Draw

    @property
    def inputs(self) -> tuple[int, ...]:
        return tuple(part.inputs for part in self.parts)

    @property
    def slack(self) -> float:
        # A report shows `take` attributes: at worst those with the largest slack.
        return sum(sorted((part.slack for part in self.parts), reverse=True)[: self.draw.take])

    def sample(self, x: Columns, rng: Random, first: int = 0) -> Records:
        rows = self.draw.rows(len(x[0]), rng, first)
        parts = [Law(part, xi[r]).sample(rng) for part, xi, r in zip(self.parts, x, rows, strict=True)]
        return Records(len(x[0]), tuple(parts), rows)

    def prob(self, x: Sequence[int], y: Row) -> Fraction:
        shown = tuple(i for i, yi in enumerate(y) if yi is not None)
        if len(shown) != self.draw.take:
            return Fraction(0)
        return math.prod((self.parts[i].prob(x[i], y[i]) for i in shown), start=self.draw.prob(shown))

    def log_prob(self, x: Columns, y: Records) -> Floats:
        out, shows = np.zeros(y.n), np.zeros((y.n, len(self.parts)), bool)
        for i, (part, xi) in enumerate(zip(self.parts, x, strict=True)):
            rows = y.rows[i] if y.rows is not None else np.arange(y.n)
            shows[rows, i] = True
            out[rows] += part.log_prob(np.asarray(xi)[rows], y.parts[i])
        sets, which = np.unique(shows, axis=0, return_inverse=True)
        logs = [math.log(self.draw.prob(tuple(int(i) for i in np.flatnonzero(s)))) for s in sets]
        return out + np.array(logs)[which.reshape(-1)]

    def outcomes(self) -> Iterator[Row] | None:
        listed: list[Iterator[Row]] = []
        for shown in self.draw.outcomes():
            outcomes = every_outcome([self.parts[i] for i in shown])
            if outcomes is None:
                return None
            listed.append(self._placed(shown, outcomes))
        return itertools.islice(itertools.chain(*listed), MAX_OUTCOMES + 1)

    def _placed(self, shown: tuple[int, ...], values: Iterable[Row]) -> Iterator[Row]:
        for reports in values:
            row: list[Any] = [None] * len(self.parts)
            for i, report in zip(shown, reports, strict=True):
                row[i] = report
            yield tuple(row)

    def report_bits(self) -> float:
        """On average over draws."""
        d, m = self.draw.columns, self.draw.take
        tag = 0.0 if self.draw.in_turn else math.log2(math.comb(d, m))
        chance = self.draw.cut.shares() if self.draw.cut is not None else np.full(d, m / d)
        return tag + float(chance @ [part.report_bits() for part in self.parts])

    def integers(self) -> dict[str, Any]:
        return {"law": "sampled", "draw": self.draw.integers(), "parts": [part.integers() for part in self.parts]}
