"""Every row gets a code, whatever it holds: where noise protects a release, no row may decide whether it fails.

    a number:  missing or unreadable -> the column's public constant, or else nobody
               beyond the bounds, or infinite -> the nearest bound
               with a fraction, where whole numbers are wanted -> the nearest of them (a tie: the even one)
               with more decimals than are wanted -> the nearest that has no more (a tie: the even one)
               but where the column says outside="drop", a row that it does not hold -> nobody
    a label:   one that the domain does not hold -> nobody
               missing -> as the column says (a label, a constant), or else nobody

Nobody is the code `size`: a row that is left out. It adds nothing, or one to the count of those who are left out.

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

from murmure.core.domain import Categories, Decimals, Domain, Integers, Interval, named
from murmure.core.errors import InvalidParameter, shorten
from murmure.core.reading import Codes, Read, either, numbers_of, one_column, whole_floats
from murmure.core.schema import Schema, _refuse_unequal, _taken


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


def leaves_out(domain: Domain) -> bool:
    """Whether a row can be nobody. A label always can; a number where missing ones, or those outside, are left out."""
    return isinstance(domain, Categories) or domain.outside == "drop" or getattr(domain, "absent", None) is None


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
        return cls(domain, domain.size if absent is None else absent, domain.size)

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
        if self.domain.outside == "drop":
            return self._kept(self.domain.read(values))
        read = numbers_of(self.domain, values)
        gone, x = either(read.missing, read.unreadable), read.array
        if gone is not None and x.dtype.kind == "f":
            x = np.where(gone, x.dtype.type(0), x)
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
        if isinstance(self.domain, Decimals | Integers):
            return self.domain.nearest(x)
        whole = x if x.dtype.kind != "f" else whole_floats(x)
        known = (whole >= 0) & (whole < self.domain.size) & (whole == np.floor(whole))
        return np.where(known, whole, self.nobody)

    def _kept(self, read: Read) -> Codes:
        """Of rows that are read one by one as at the person: those outside are nobody."""
        out = read.codes.astype(self.kind)
        for mask, code in ((read.beyond, self.nobody), (read.missing, self.absent)):
            if mask is not None:
                out[mask] = code
        return out
