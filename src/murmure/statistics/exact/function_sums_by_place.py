"""Sums of a real function of rows at each of some places: of those who leave at each time, say, or live in each region.

    sum_i [place of row i = t] f_k(row i)      for every place t and figure k; then figures that are summed over all

A row adds to one place only, so what it adds elsewhere is never written down: a thousand places cost no more time than
one. Values are put on the grid of 2**-62 as in function_sums.py, and their sums are exact. No row stops anything here
either: one that lies at no place adds nothing there, and is counted with those that were cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.catalogue_entries import SumEntry
from murmure.core.domain import Integers
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.schema import Schema
from murmure.core.types import Array, Described
from murmure.statistics.base.statistic import CuratorStatistic
from murmure.statistics.exact.function_sums import FunctionSums, FunctionSumsEstimate, check_beyond
from murmure.statistics.expressions.factors import rounded_columns
from murmure.statistics.expressions.fixed_point import PARTS, ROWS, UNIT, split_parts, whole_numbers, whole_of

MAX_FIGURES = 1 << 16  # figures


@dataclass(frozen=True)
class FunctionSumsByPlace(CuratorStatistic, Described):
    """of: its first figure is the number of the row's place, 0 .. places - 1; its last `besides` figures have none."""

    of: FunctionSums
    places: int
    besides: int = 0

    largest = FunctionSums.largest
    wide = True  # sums are Python's integers
    trailing_counts = 1  # the last figure: rows that were cut, or lie at no place
    entry = SumEntry(order=140)

    def __post_init__(self) -> None:
        if not isinstance(self.of, FunctionSums):
            raise InvalidParameter("Placed.of must be an Evaluated, got {got}.", got=shorten(self.of))
        for name, minimum in (("places", 1), ("besides", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < minimum:
                raise InvalidParameter(
                    "Placed.{name} must be a whole number of at least {minimum}, got {got}.",
                    name=name,
                    minimum=minimum,
                    got=shorten(value),
                )
        if self._each < 1 or self.width > MAX_FIGURES:
            raise InvalidParameter(
                "Placed: {places} places and {label_count} figures make {width} sums; wanted 1 to {max_figures}.",
                hint="fewer places",
                places=self.places,
                label_count=len(self.of.labels),
                width=self.width - 1,
                max_figures=MAX_FIGURES - 1,
            )

    @property
    def _each(self) -> int:
        return len(self.of.labels) - 1 - self.besides

    @property
    def domain(self) -> Schema:
        return self.of.domain

    @property
    def width(self) -> int:
        return self.places * self._each + self.besides + 1

    @property
    def units(self) -> tuple[Fraction, ...]:
        return (*(UNIT,) * (self.width - 1), Fraction(1))

    @cached_property
    def labels(self) -> tuple[str, ...]:
        names = self.of.labels
        each, rest = names[1 : 1 + self._each], names[1 + self._each :]
        return (*(f"{name} at {t + 1}" for t in range(self.places) for name in each), *rest)

    @property
    def formulas(self) -> tuple[str, ...]:
        return self.of.formulas

    def in_words(self) -> str:
        return Phrase("{words}, at each of {n} places", words=self.of.in_words(), n=self.places)

    def words(self) -> str:
        """What is added up."""
        return Phrase("{words}, at each of {n} places", words=self.of.words(), n=self.places)

    def _placed(self, x: Sequence[Array]) -> Iterator[tuple[Array, NDArray[np.intp], NDArray[np.float64], Array]]:
        """Some rows at a time: which are there, where each lies, what it adds, and which were cut or lie nowhere."""
        for here, found, beyond in self.of._values(x):
            at = found[:, 0]
            nowhere = ~((at >= 0) & (at < self.places))
            if nowhere.any():
                found, beyond = np.where(nowhere[:, None], 0.0, found), beyond | nowhere
            yield here, found[:, 0].astype(np.intp), found[:, 1:], beyond

    def tally(self, x: Sequence[Array]) -> NDArray[Any]:
        k, rest, rows, many = self._each, self.besides, 0, 0
        out, some = np.zeros(self.width - 1, object), np.zeros((len(PARTS), self.width - 1))
        for _, place, found, beyond in self._placed(x):
            if rows + len(found) > ROWS:
                out, some, rows = out + whole_of(some), np.zeros_like(some), 0
            for line, part in zip(some, split_parts(found), strict=False):
                there = line[: self.places * k].reshape(self.places, k)
                for j in range(k):
                    there[:, j] += np.bincount(place, part[:, j], self.places)
                if rest:
                    line[-rest:] += part[:, k:].sum(axis=0)
            rows, many = rows + len(found), many + int(beyond.sum())
        return np.array([*(out + whole_of(some)), many], object)

    def lift(self, x: Sequence[Array]) -> NDArray[Any]:
        k, parts = self._each, [np.empty((0, self.width), object)]
        for here, place, found, beyond in self._placed(x):
            whole = whole_numbers(found) if len(found) else found
            out = np.zeros((len(here), self.width), object)
            for row, values, t, cut in zip(np.nonzero(here)[0], whole, place, beyond, strict=True):
                out[row, t * k : (t + 1) * k] = values[:k]
                out[row, self.places * k :] = [*values[k:], int(cut)]
            parts.append(out)
        return np.concatenate(parts)

    def interpret_exact(self, total: Sequence[int] | NDArray[Any], n: int) -> FunctionSumsEstimate:
        *whole, beyond = (int(v) for v in total)
        check_beyond(self.of, beyond)
        units, none = self.units[:-1], (None,) * len(whole)
        return FunctionSumsEstimate.of(self.labels, tuple(whole), units, none, n, rounded_columns(self.domain))  # type: ignore[return-value]

    def reference(self, x: Sequence[Array]) -> NDArray[np.float64]:
        out, k = np.zeros(self.width - 1), self._each
        for _, place, found, _ in self._placed(x):
            for row, t in zip(found, place, strict=True):
                out[t * k : (t + 1) * k] += row[:k]
                out[self.places * k :] += row[k:]
        return out


_FOLLOWED = Schema({"days": Integers(1, 4), "died": Integers(0, 1), "age": Integers(0, 99)})
_COX = ("days", "died", "age")

EXAMPLES = (
    FunctionSumsByPlace(
        FunctionSums(_FOLLOWED, "cox", _COX, ("1/3", "-0.25"), ("step", "1", "7", "1", "2", "3", "4")), 4, 1
    ),
    FunctionSumsByPlace(FunctionSums(_FOLLOWED, "cox", _COX, (), ("start", "1", "7", "2", "4")), 2, 3),
)
