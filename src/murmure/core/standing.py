"""Every row gets a code, whatever it holds: where noise protects a release, no row may decide whether it fails.

    a number:  missing or unreadable -> the column's public constant, or the middle of the range
               beyond the bounds, or infinite -> the nearest bound
               with a fraction, where whole numbers are wanted -> the nearest of them (a tie: the even one)
               with more decimals than are wanted -> the nearest that has no more (a tie: the even one)
    a label:   one that the domain does not hold -> the code `size`: nobody, who adds nothing to any cell
               missing -> as the column says (a label, a constant), or else nobody

What a cell means is the same for every column, frame and file (core/cells.py). So the code of a row depends on that row
alone: what stands beside it, even in the same array, changes nothing, and one person moves a sum by what one row adds,
and no more. Where `domain.encode` takes a row, both give the same code. What raises is the type of a whole column
(dates, lists); that is told to the holder of the data, before anything is read or charged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.cells import CLOSE, rounded_all
from murmure.core.domain import Categories, Decimals, Domain, Integers, Interval, named
from murmure.core.errors import InvalidParameter, shorten
from murmure.core.reading import Codes, either, numbers_of, one_column, whole_floats
from murmure.core.schema import Schema, _refuse_unequal, _taken

LARGEST = (1 << 63) - 1


def stand(domain: Domain, values: Any, missing: Any = None) -> Codes:
    """The codes of a column, one for every row. `missing`: the public value of the domain that stands for no answer."""
    return _Standing.of(domain, None if missing is None else _code_of(domain, missing)).column(values)


def stand_column(schema: Schema, name: str, values: Any) -> Codes:
    """The codes of one column of a schema, missing answers as it says."""
    about, coded = schema.about[name], schema.columns[name]
    if about.missing == "refuse":
        return _Standing.of(coded, None).column(values)
    if about.missing == "constant":
        return _Standing.of(coded, _code_of(about.domain, about.missing_value)).column(values)
    # Numbered categories are read as numbers; their label of missing answers is the last code.
    numbered = isinstance(about.domain, Categories) and isinstance(about.domain.values, int)
    domain = named(about.domain, name) if numbered else coded
    return _Standing(domain, coded.size - 1, coded.size).column(values)


def stand_schema(schema: Schema, batch: Any) -> tuple[Codes, ...]:
    """The codes of a batch of rows, one array for each private column, in the order of `schema.private`."""
    schema.refuse_drafted()
    taken = _taken(batch, schema.private)
    codes = tuple(stand_column(schema, name, values) for name, values in taken.items())
    _refuse_unequal({name: len(column) for name, column in zip(taken, codes, strict=True)})
    return codes


def _code_of(domain: Domain, value: Any) -> int:
    return int(domain.encode([value])[0])


def middle(domain: Integers | Interval | Decimals) -> int:
    """The code of the middle of a range; of two, the lower number and the upper cell."""
    return domain.size // 2 if isinstance(domain, Interval) else (domain.size - 1) // 2


@dataclass(frozen=True)
class _Standing:
    """A domain, the code of those who said nothing, and the code of nobody."""

    domain: Any
    absent: int
    nobody: int

    @classmethod
    def of(cls, domain: Domain, absent: int | None) -> _Standing:
        if absent is None and getattr(domain, "absent", None) is not None:
            absent = _code_of(domain, domain.absent)  # type: ignore[attr-defined]
        if isinstance(domain, Categories):
            return cls(domain, domain.size if absent is None else absent, domain.size)
        if not isinstance(domain, Integers | Interval | Decimals):
            raise InvalidParameter(f"stand takes Categories, Integers, Interval or Decimals, got {shorten(domain)}.")
        return cls(domain, middle(domain) if absent is None else absent, domain.size)

    @property
    def kind(self) -> np.dtype[Any]:
        """Of the codes: the narrowest that holds them all, nobody's too."""
        return np.dtype(np.int16 if self.nobody < 1 << 15 else np.int32 if self.nobody < 1 << 31 else np.int64)

    def column(self, values: Any) -> Codes:
        values = one_column(values)
        labels = getattr(self.domain, "_labels", None)
        if labels is not None:
            table = np.append(np.arange(labels.size), [self.absent, self.nobody]).astype(self.kind)
            return np.asarray(table[labels.codes(self.domain, values)])
        read = numbers_of(self.domain, values)
        gone, x = either(read.missing, read.unreadable), read.array
        if gone is not None and x.dtype.kind == "f":
            x = np.where(gone, x.dtype.type(0), x)
        elif x.dtype == np.uint64:
            x = np.minimum(x, np.uint64(LARGEST)).astype(np.int64)
        out = np.asarray(self._numbers(x)).astype(self.kind, copy=False)
        if gone is not None:
            out[gone] = self.absent
        if isinstance(self.domain, Categories) and read.unreadable is not None:  # Categories(k): no label is missing
            out[read.unreadable] = self.nobody
        return out

    def _numbers(self, x: NDArray[Any]) -> NDArray[Any]:
        """Codes of numbers, none of them NaN."""
        if isinstance(self.domain, Interval):
            return self.domain.cells_of(x)
        if isinstance(self.domain, Decimals):
            return self.domain.nearest(x)
        if isinstance(self.domain, Integers):
            return _whole(x, self.domain.low, self.domain.high)
        whole = x if x.dtype.kind != "f" else whole_floats(x)
        known = (whole >= 0) & (whole < self.domain.size) & (whole == np.floor(whole))
        return np.where(known, whole, self.nobody)


def _whole(x: NDArray[Any], low: int, high: int) -> NDArray[Any]:
    """The nearest whole number from low to high, counted from low."""
    if x.dtype.kind != "f":
        return np.clip(x.astype(np.int64), low, high) - low
    x = np.clip(x.astype(np.float64, copy=False), low, high)
    steps = np.rint(x)
    middle = np.flatnonzero(np.abs(x - steps) >= 0.5 - CLOSE * np.abs(x))
    if len(middle):  # a reader may be off by one unit in the last place
        steps[middle] = np.rint(rounded_all(x[middle]))
    steps -= low
    return steps
