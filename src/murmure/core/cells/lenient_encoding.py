"""Every row gets a code, whatever it holds: where noise protects a release, no row may decide whether it fails.

    a number:  missing or unreadable -> the column's public constant, or else nobody
               beyond the bounds, or infinite -> the nearest bound
               with a fraction, where whole numbers are wanted -> the nearest of them (a tie: the even one)
               with more decimals than are wanted -> the nearest that has no more (a tie: the even one)
               but where the column says outside="drop", a row that it does not hold -> nobody
    a label:   one that the domain does not hold -> nobody
               missing -> as the column says (a label, a constant), or else nobody

Nobody is the code `size`: a row that is left out. It adds nothing, or one to the count of those who are left out.

What a cell means is the same for every column, frame and file (meaning.py). So the code of a row depends on that row
alone: what stands beside it, even in the same array, changes nothing, and one person moves a sum by what one row adds,
and no more. Where `domain.encode` takes a row, both give the same code. What raises is the type of a whole column
(dates, lists); that is told to the holder of the data, before anything is read or charged.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.batches import check_equal_lengths, select_columns
from murmure.core.cells.parsed_columns import (
    Codes,
    NumberColumn,
    any_of,
    either,
    one_column,
    parse_numbers,
    whole_floats,
)
from murmure.core.domain import Categories, Decimals, Domain, Integers, Interval, with_column, with_outside
from murmure.core.errors import InvalidParameter, shorten
from murmure.core.schema import Schema
from murmure.core.types import Mask


def encode_domain_lenient(domain: Domain, values: Any, missing: Any = None) -> Codes:
    """The codes of a column, one for every row. `missing`: the public value of the domain that stands for no answer."""
    return _Standing.of(domain, None if missing is None else _code_of(domain, missing)).parse(values)[0]


def encode_column_lenient(schema: Schema, name: str, values: Any) -> Codes:
    """The codes of one column of a schema, missing answers as it says."""
    return _of_schema(schema, name).parse(values)[0]


def _of_schema(schema: Schema, name: str) -> _Standing:
    about, coded = schema.column_specs[name], schema.columns[name]
    if about.missing == "refuse":
        return _Standing.of(coded, None)
    if about.missing == "constant":
        return _Standing.of(coded, _code_of(about.domain, about.missing_value))
    # Numbered categories are read as numbers; their label of missing answers is the last code.
    numbered = isinstance(about.domain, Categories) and isinstance(about.domain.values, int)
    domain = with_column(about.domain, name) if numbered else coded
    return _Standing(domain, coded.size - 1, coded.size)


def encode_schema_lenient(schema: Schema, batch: Any) -> tuple[Codes, ...]:
    """The codes of a batch of rows, one array for each private column, in the order of `schema.private`."""
    schema.refuse_drafted()
    taken = select_columns(batch, schema.private)
    reads = [_of_schema(schema, name).parse(values) for name, values in taken.items()]
    check_equal_lengths({name: len(codes) for name, (codes, _) in zip(taken, reads, strict=True)})
    dropped = functools.reduce(either, (mask for _, mask in reads), None)
    if dropped is not None:  # a row that one column drops is nobody in all of them
        for name, (codes, _) in zip(taken, reads, strict=True):
            codes[dropped] = schema.columns[name].size
    return tuple(codes for codes, _ in reads)


def _code_of(domain: Domain, value: Any) -> int:
    return int(domain.encode([value])[0])


def can_be_nobody(domain: Domain) -> bool:
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

    def parse(self, values: Any) -> tuple[Codes, Mask | None]:
        """The codes, and which rows the column drops (None: none)."""
        values, drops = one_column(values), self.domain.outside == "drop"
        labels = getattr(self.domain, "_labels", None)
        if labels is not None:
            table = np.append(np.arange(labels.size), [self.absent, self.nobody]).astype(self.kind)
            found = labels.codes(self.domain, values)
            return np.asarray(table[found]), any_of(found > labels.size) if drops else None
        read = parse_numbers(self.domain, values)
        return self._kept(read) if drops else (self._moved(read), None)

    def _moved(self, read: NumberColumn) -> Codes:
        """Numbers at the nearest value."""
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

    def _kept(self, read: NumberColumn) -> tuple[Codes, Mask | None]:
        """Numbers as they are, as strict reading has them; those that the domain does not hold are nobody.

        All by their float64: a type of the column must not decide who is nobody, and strict reading looks closer at
        narrow floats and at decimals.
        """
        x = read.array.astype(np.float64) if read.array.dtype.kind == "f" else read.array
        strict = with_outside(self.domain, "refuse").parse(x if read.missing is None else np.where(read.missing, 0, x))
        dropped = either(strict.outside_mask, read.unreadable)
        if dropped is not None and read.missing is not None:
            dropped = any_of(dropped & ~read.missing)
        out = strict.codes.astype(self.kind)
        for mask, code in ((dropped, self.nobody), (read.missing, self.absent)):
            if mask is not None:
                out[mask] = code
        return out, dropped
