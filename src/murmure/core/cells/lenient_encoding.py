"""Every row gets a code, even one that the schema does not allow: no row may decide whether a protected release fails.

    a number:  missing or unreadable -> the column's public constant, or else nobody
               beyond the bounds, or infinite -> the nearest bound
               with a fraction, where whole numbers are wanted -> the nearest of them (a tie: the even one)
               with more decimals than are wanted -> the nearest that has no more (a tie: the even one)
               but in a column with outside="drop", a row that it does not hold -> nobody
    a date:    as a number; what is not a date is unreadable
    a label:   one that the domain does not hold -> nobody
               missing -> as the column says (a label, a constant), or else nobody

Nobody is the code `size`: a row that is left out. It adds nothing, or one to the count of those who are left out.

What a cell means is the same for every column, frame and file (meaning.py). So the code of a row depends on that row
alone, and not on the other rows of its array: one person moves a sum by what one row adds, and no more. Where
`domain.encode` accepts a row, both give the same code. Only the type of a whole column (lists, or
dates where none are wanted) raises an error; the holder of the data gets it before anything is read or charged.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
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
from murmure.core.domain import Categories, Dates, Decimals, Domain, Integers, Interval, with_column, with_outside
from murmure.core.errors import InvalidParameter, shorten
from murmure.core.schema import Schema
from murmure.core.types import Mask


def encode_domain_lenient(domain: Domain, values: Any, missing: Any = None) -> Codes:
    """The codes of a column, one for every row. `missing`: the public value that replaces a missing answer."""
    return _LenientEncoder.of(domain, None if missing is None else _code_of(domain, missing)).encode(values)[0]


def encode_column_lenient(schema: Schema, name: str, values: Any) -> Codes:
    """The codes of one column of a schema, which says what replaces missing answers."""
    return _encoder(schema, name).encode(values)[0]


def _encoder(schema: Schema, name: str) -> _LenientEncoder:
    column, coded = schema.column_specs[name], schema.columns[name]
    if column.missing == "refuse":
        return _LenientEncoder.of(coded, None)
    if column.missing == "constant":
        return _LenientEncoder.of(coded, _code_of(column.domain, column.missing_value))
    # Numbered categories are read as numbers; their label of missing answers is the last code.
    numbered = isinstance(column.domain, Categories) and isinstance(column.domain.values, int)
    domain = with_column(column.domain, name) if numbered else coded
    return _LenientEncoder(domain, coded.size - 1, coded.size)


def encode_schema_lenient(
    schema: Schema, batch: Any, known: Callable[[dict[str, Any]], Mapping[str, Codes]] | None = None
) -> tuple[Codes, ...]:
    """The codes of a batch of rows, one array for each private column, in the order of `schema.private`.

    known: gives the codes of some of these columns, which are then not read here.
    """
    schema.refuse_drafted()
    taken = select_columns(batch, schema.private)
    found = {} if known is None else known(taken)
    encoded: dict[str, tuple[Codes, Mask | None]] = {
        name: (found[name], None) if name in found else _encoder(schema, name).encode(values)
        for name, values in taken.items()
    }
    check_equal_lengths({name: len(codes) for name, (codes, _) in encoded.items()})
    dropped = functools.reduce(either, (mask for _, mask in encoded.values()), None)
    if dropped is not None:  # a row that one column drops is nobody in all of them
        for name, (codes, _) in encoded.items():
            codes[dropped] = schema.columns[name].size
    return tuple(codes for codes, _ in encoded.values())


def _code_of(domain: Domain, value: Any) -> int:
    return int(domain.encode([value])[0])


def can_be_nobody(domain: Domain) -> bool:
    """Whether a row can be nobody. A label always can; others where missing ones, or those outside, are left out."""
    return not domain.ordered or domain.outside == "drop" or domain.absent is None


def kind_of_codes(nobody: int) -> np.dtype[Any]:
    """The narrowest type that holds all codes, that of nobody too."""
    return np.dtype(np.int16 if nobody < 1 << 15 else np.int32 if nobody < 1 << 31 else np.int64)


@dataclass(frozen=True)
class _LenientEncoder:
    """A domain, the code of a missing answer, and the code of nobody."""

    domain: Any
    absent: int
    nobody: int

    @classmethod
    def of(cls, domain: Domain, absent: int | None) -> _LenientEncoder:
        if not isinstance(domain, Categories | Integers | Interval | Decimals):
            raise InvalidParameter(
                "lenient encoding takes Categories, Integers, Interval, Decimals or Dates, got {got}.",
                got=shorten(domain),
            )
        if absent is None and domain.absent is not None:
            absent = _code_of(domain, domain.absent)
        return cls(domain, domain.size if absent is None else absent, domain.size)

    @property
    def kind(self) -> np.dtype[Any]:
        return kind_of_codes(self.nobody)

    def encode(self, values: Any) -> tuple[Codes, Mask | None]:
        """The codes, and which rows the column drops (None: none)."""
        values, drops = one_column(values), self.domain.outside == "drop"
        if isinstance(self.domain, Dates):
            return self._of_dates(values, drops)
        labels = self.domain._labels if isinstance(self.domain, Categories) else None
        if labels is not None:
            table = np.append(np.arange(labels.size), [self.absent, self.nobody]).astype(self.kind)
            found = labels.codes(self.domain, values)
            return np.asarray(table[found]), any_of(found > labels.size) if drops else None
        column = parse_numbers(self.domain, values)
        return self._drop(column) if drops else (self._clamp(column), None)

    def _of_dates(self, values: Any, drops: bool) -> tuple[Codes, Mask | None]:
        """The codes of strict parsing; dates beyond the ends are at the nearest of them, or dropped."""
        parsed = with_outside(self.domain, "refuse" if drops else "clamp").parse(values)
        out, outside = parsed.codes.astype(self.kind), parsed.outside_mask
        for mask, code in ((outside, self.nobody if drops else self.absent), (parsed.missing, self.absent)):
            if mask is not None:
                out[mask] = code
        return out, outside if drops else None

    def _clamp(self, column: NumberColumn) -> Codes:
        """Numbers at the nearest value."""
        absent, x = either(column.missing, column.unreadable), column.array
        if absent is not None and x.dtype.kind == "f":
            x = np.where(absent, x.dtype.type(0), x)
        out = np.asarray(self._nearest(x)).astype(self.kind, copy=False)
        if absent is not None:
            out[absent] = self.absent
        if isinstance(self.domain, Categories) and column.unreadable is not None:  # Categories(k): an unknown label
            out[column.unreadable] = self.nobody
        return out

    def _nearest(self, x: NDArray[Any]) -> NDArray[Any]:
        """Codes of numbers, none of them NaN."""
        if isinstance(self.domain, Interval):
            return self.domain.cells_of(x)
        if isinstance(self.domain, Decimals | Integers):
            return self.domain.nearest(x)
        if x.dtype.kind in "iu" and len(x) and x.min() >= 0 and x.max() < self.domain.size:
            return x
        whole = x if x.dtype.kind != "f" else whole_floats(x)
        known = (whole >= 0) & (whole < self.domain.size) & (whole == np.floor(whole))
        return np.where(known, whole, self.nobody)

    def _drop(self, column: NumberColumn) -> tuple[Codes, Mask | None]:
        """The codes of strict parsing; numbers that the domain does not hold are nobody."""
        # As float64: the type of the column must not decide who is nobody, and strict parsing reads more digits of
        # narrow floats and of decimals.
        x = column.array.astype(np.float64) if column.array.dtype.kind == "f" else column.array
        x = x if column.missing is None else np.where(column.missing, 0, x)
        strict = with_outside(self.domain, "refuse").parse(x)
        dropped = either(strict.outside_mask, column.unreadable)
        if dropped is not None and column.missing is not None:
            dropped = any_of(dropped & ~column.missing)
        out = strict.codes.astype(self.kind)
        for mask, code in ((dropped, self.nobody), (column.missing, self.absent)):
            if mask is not None:
                out[mask] = code
        return out, dropped
