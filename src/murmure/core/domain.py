"""What one person may hold: public constants only, never read off the data.

A domain numbers its values 0 .. size-1 (the *codes*); every mechanism works on codes. `encode` refuses
what the domain does not hold: nothing is clipped, rounded away or guessed in silence.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import NoneType
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from murmure.core.errors import InvalidParameter, MissingColumn, OutsideDomain, shorten

Codes = NDArray[Any]  # any integer dtype, 1-D, values 0 .. size-1

MAX_SIZE = 1 << 31


@runtime_checkable
class Domain(Protocol):
    """The values that one person may hold, numbered 0 .. size-1."""

    @property
    def column(self) -> str | None: ...
    @property
    def size(self) -> int: ...
    def encode(self, values: Any) -> Codes: ...
    def label(self, code: int) -> str: ...
    def public(self) -> str: ...
    def labels(self) -> Sequence[str]: ...
    def numbers(self) -> NDArray[np.float64] | None: ...
    def to_dict(self) -> dict[str, Any]: ...


def _whole(owner: str, name: str, value: object, low: int, hint: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < low:
        raise InvalidParameter(
            f"{owner}.{name} must be a whole number, at least {low}, got {shorten(value)}.", hint=hint
        )
    return int(value)


def _array(values: Any) -> NDArray[Any]:
    """Whatever holds a column, as an array of one dimension."""
    if isinstance(values, np.ma.MaskedArray):
        masked, values = np.ma.getmaskarray(values), np.ma.getdata(values).astype(object)
        values[masked] = None  # what is masked is missing
    if isinstance(values, list | tuple) and bool in set(map(type, values)):
        array = np.empty(len(values), object)  # NumPy would make numbers of booleans among numbers
        array[:] = values
        return array.astype(bool) if set(map(type, values)) == {bool} else array
    try:
        if hasattr(values, "to_numpy"):
            arrow = type(values).__module__.partition(".")[0] == "pyarrow"
            values = values.to_numpy(zero_copy_only=False) if arrow else values.to_numpy()
        array = np.atleast_1d(np.asarray(values))
    except (TypeError, ValueError) as error:
        raise OutsideDomain(
            f"cannot read a column of values from {type(values).__name__} ({shorten(str(error), 80)}).",
            hint="pass a list, an array or one column of a frame",
        ) from None
    if array.ndim == 2 and array.shape[-1] == 1:  # a one-column frame
        array = array.reshape(-1)
    if array.ndim != 1:
        raise OutsideDomain(f"a column of values must have one dimension, got shape {array.shape}.")
    return array.astype(np.float64) if array.dtype == np.float16 else array


def _whose(domain: Any) -> str:
    return f"column {domain.column!r}" if domain.column is not None else type(domain).__name__


def _named_column(domain: Any) -> str:
    return "" if domain.column is None else f", column={domain.column!r}"


def _column_words(domain: Any) -> str:
    return "" if domain.column is None else f" of column {domain.column!r}"


def _first(bad: NDArray[np.bool_]) -> int:
    return int(np.argmax(bad))


def _refuse_missing(domain: Any, missing: NDArray[np.bool_]) -> None:
    if missing.any():
        raise OutsideDomain.at(
            _whose(domain),
            _first(missing),
            f"is missing ({int(missing.sum())} in all here); wanted {domain.describe()}.",
            domain.way_out_of_missing,
        )


PARSE = "convert the column to numbers first: nothing is parsed here"
WIDEN = "widen the domain to public bounds, or correct those rows before they are randomised"


def _refuse_outside(domain: Any, outside: NDArray[np.bool_], array: NDArray[Any], hint: str = WIDEN) -> None:
    if outside.any():
        row = _first(outside)
        got = array[row].item() if hasattr(array[row], "item") else array[row]
        raise OutsideDomain.at(
            _whose(domain),
            row,
            f"holds {shorten(got)} ({int(outside.sum())} outside in all here); wanted {domain.describe()}.",
            hint,
        )


def _integers_of(domain: Any, array: NDArray[Any]) -> NDArray[Any]:
    """An integer array, from integers or from floats that are whole; missing and broken values are refused."""
    if array.dtype.kind in "iu":
        return array
    if array.dtype.kind == "b":
        raise OutsideDomain(
            f"{_whose(domain)}: got booleans; wanted {domain.describe()}.",
            hint="use Categories([False, True]) for booleans",
        )
    if array.dtype.kind == "O":
        _refuse_missing(domain, _missing_objects(array))
        array = _numbers_of(domain, array)
        if array.dtype.kind == "i":
            return array
    if array.dtype.kind != "f":
        raise OutsideDomain(
            f"{_whose(domain)}: got values of type {array.dtype}; wanted {domain.describe()}.", hint=PARSE
        )
    _refuse_missing(domain, np.isnan(array))
    fraction = ~np.isfinite(array) | (array != np.floor(array))
    _refuse_outside(domain, fraction, array, "round the column yourself, or use Interval for numbers with fractions")
    _refuse_outside(domain, np.abs(array) > 2**53, array)
    return array.astype(np.int64)


def _missing_objects(array: NDArray[Any]) -> NDArray[np.bool_]:
    """None, NaN, NaT and pandas.NA: what is not equal to itself, or has no truth about it."""

    def missing(value: object) -> bool:
        try:
            return value is None or bool(value != value)
        except (TypeError, ValueError):
            return True

    return np.fromiter(map(missing, array.tolist()), bool, len(array))


def _numbers_of(domain: Any, array: NDArray[Any]) -> NDArray[Any]:
    """Objects as numbers; text is not parsed (that would be a guess)."""
    numeric = np.fromiter(
        (isinstance(v, int | float | np.number) and not isinstance(v, bool) for v in array.tolist()), bool
    )
    _refuse_outside(domain, ~numeric, array, PARSE)
    whole = all(isinstance(v, int | np.integer) for v in array.tolist())
    try:
        return array.astype(np.int64 if whole else np.float64)
    except OverflowError:  # beyond any domain
        _refuse_outside(domain, np.fromiter((abs(v) > 2**62 for v in array.tolist()), bool), array)
        raise


@dataclass(frozen=True, repr=False, eq=False)
class Categories:
    """One of k labels: `Categories(["no", "yes"])`, or `Categories(k)` for the numbers 0 .. k-1."""

    values: tuple[Hashable, ...] | int
    column: str | None = None
    _table: dict[Hashable, int] | None = field(init=False, repr=False, compare=False, default=None)

    def __init__(self, values: Sequence[Hashable] | int, column: str | None = None) -> None:
        hint = "a question with one possible answer has nothing to protect; give at least two"
        if isinstance(values, int | np.integer) and not isinstance(values, bool):
            stored: tuple[Hashable, ...] | int = _whole("Categories", "k", values, 2, hint)
            table = None
            if values > MAX_SIZE:
                raise InvalidParameter(f"Categories.k must be at most 2**31, got {values}.")
        elif isinstance(values, str | bytes) or not isinstance(values, Sequence | np.ndarray):
            raise InvalidParameter(
                f"Categories takes a list of labels or a number of them, got {shorten(values)}.",
                hint='Categories(["no", "yes"]) or Categories(4)',
            )
        else:
            items = tuple(v.item() if isinstance(v, np.generic) else v for v in values)
            if not all(isinstance(v, str | int | float | NoneType) for v in items):
                raise InvalidParameter(
                    f"Categories labels must be text, numbers or booleans, got {shorten(items)}.",
                    hint="write dates and the like as text: they travel in JSON",
                )
            if any(v is None or v != v for v in items):
                raise InvalidParameter(
                    "Categories labels may not be None or NaN.",
                    hint='give missing answers a label of their own, such as "no answer"',
                )
            table = {label: code for code, label in enumerate(items)}
            if len(table) != len(items):
                raise InvalidParameter(f"Categories labels must differ, got {shorten(items)}.")
            if len(items) < 2:
                raise InvalidParameter(f"Categories needs at least two labels, got {len(items)}.", hint=hint)
            stored = items
        object.__setattr__(self, "values", stored)
        object.__setattr__(self, "column", column)
        object.__setattr__(self, "_table", table)

    def _identity(self) -> tuple[Any, ...]:
        """0 and False are equal to Python, but not the same label."""
        kinds = () if isinstance(self.values, int) else tuple(type(v) for v in self.values)
        return self.values, kinds, self.column

    def __eq__(self, other: object) -> bool:
        return self._identity() == other._identity() if isinstance(other, Categories) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._identity())

    @property
    def size(self) -> int:
        return self.values if isinstance(self.values, int) else len(self.values)

    def encode(self, values: Any) -> Codes:
        if self._table is None:
            array = _integers_of(self, _array(values))
            _refuse_outside_range(self, array, 0, self.size - 1)
            return array
        # A plain list goes in as it is: NumPy would turn [1, "a"] into text.
        items = values if isinstance(values, list | tuple) else _array(values).tolist()
        self._refuse_other_kinds(set(map(type, items)))
        try:
            codes = np.fromiter(map(self._table.get, items, itertools.repeat(-1)), np.int64, len(items))
        except TypeError:  # a list or a dictionary where a label should be
            raise OutsideDomain(f"{_whose(self)}: some rows hold no label at all; wanted {self.describe()}.") from None
        if len(codes) and codes.min() < 0:
            array = np.empty(len(items), object)
            array[:] = items
            _refuse_missing(self, _missing_objects(array))
            _refuse_outside(self, codes < 0, array, "add that label to the domain, or correct those rows")
        return codes

    def _refuse_other_kinds(self, kinds: set[type]) -> None:
        """True is equal to 1 for Python; as an answer it is another thing."""
        ours = {type(v) for v in self._table or ()}
        if (bool in kinds) != (bool in ours) and (bool in kinds or kinds & {int, float}) and ours & {bool, int, float}:
            raise OutsideDomain(
                f"{_whose(self)}: got {'booleans such as True' if bool in kinds else 'numbers'}; "
                f"wanted {self.describe()}.",
                hint="use Categories([False, True]) for booleans, and numbers for numbers",
            )

    def label(self, code: int) -> str:
        return str(code if isinstance(self.values, int) else self.values[code])

    def labels(self) -> list[str]:
        return [self.label(code) for code in range(self.size)]

    def numbers(self) -> NDArray[np.float64] | None:
        if isinstance(self.values, int):
            return np.arange(self.values, dtype=np.float64)
        if all(isinstance(v, int | float) for v in self.values):
            return np.array([float(v) for v in self.values])  # type: ignore[arg-type]
        return None

    way_out_of_missing = "drop those rows, or give missing answers a label of their own"

    def public(self) -> str:
        if isinstance(self.values, int):
            return f"the {self.size} answers 0 to {self.size - 1}{_column_words(self)}"
        shown = ", ".join(map(repr, self.values[:12])) + (", ..." if self.size > 12 else "")
        return f"the {self.size} answers {shown}{_column_words(self)}"

    def describe(self) -> str:
        if isinstance(self.values, int):
            return f"a whole number from 0 to {self.values - 1}"
        return f"one of {shorten(list(self.values), 90)}"

    def to_dict(self) -> dict[str, Any]:
        values = self.values if isinstance(self.values, int) else list(self.values)
        return {"type": "Categories", "values": values, "column": self.column}

    def __repr__(self) -> str:
        shown = self.values if isinstance(self.values, int) else shorten(list(self.values), 40)
        return f"Categories({shown}{_named_column(self)})"


def _refuse_outside_range(domain: Any, array: NDArray[Any], low: int, high: int) -> None:
    if not len(array):
        return
    if low == 0 and array.dtype == np.int64:  # one pass: a negative number is a huge unsigned one
        ok = int(array.view(np.uint64).max()) <= high
    else:
        ok = int(array.min()) >= low and int(array.max()) <= high
    if not ok:
        _refuse_outside(domain, (array < low) | (array > high), array)


@dataclass(frozen=True, repr=False)
class Integers:
    """A whole number from low to high, both public and both included."""

    low: int
    high: int
    column: str | None = None

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | np.integer):
                raise InvalidParameter(f"Integers.{name} must be a whole number, got {shorten(value)}.")
            object.__setattr__(self, name, int(value))
        if self.high <= self.low:
            raise InvalidParameter(
                f"Integers needs low < high, got {self.low} and {self.high}.", hint="low comes first"
            )
        if self.high - self.low >= MAX_SIZE:
            raise InvalidParameter(f"Integers holds at most 2**31 values, got {self.high - self.low + 1}.")

    @property
    def size(self) -> int:
        return self.high - self.low + 1

    def encode(self, values: Any) -> Codes:
        array = _integers_of(self, _array(values))
        _refuse_outside_range(self, array, self.low, self.high)
        # int64 before the shift: a narrow type could wrap
        return array if self.low == 0 else array.astype(np.int64) - self.low

    def label(self, code: int) -> str:
        return str(self.low + code)

    def labels(self) -> list[str]:
        return [self.label(code) for code in range(self.size)]

    def numbers(self) -> NDArray[np.float64]:
        return np.arange(self.low, self.high + 1, dtype=np.float64)

    def scale(self) -> tuple[float, float, float]:
        """value = low + step * code, and how far a value may have moved to reach the grid."""
        return float(self.low), 1.0, 0.0

    way_out_of_missing = "drop those rows: a number has no stand-in for a missing one"

    def public(self) -> str:
        return f"the whole numbers {self.low} to {self.high}{_column_words(self)}"

    def describe(self) -> str:
        return f"a whole number from {self.low} to {self.high}"

    def __repr__(self) -> str:
        return f"Integers({self.low}, {self.high}{_named_column(self)})"

    def to_dict(self) -> dict[str, Any]:
        return {"type": "Integers", "low": self.low, "high": self.high, "column": self.column}


@dataclass(frozen=True, repr=False)
class Interval:
    """A real number between two public bounds, put on a grid of `cells` equal cells.

    Code i stands for the cell's midpoint, so a value moves by at most half a cell:
    (high - low) / (2 cells).
    """

    low: float
    high: float
    cells: int = 1024
    column: str | None = None

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            value = getattr(self, name)
            if isinstance(value, bool | str) or not isinstance(value, int | float | np.number):
                raise InvalidParameter(f"Interval.{name} must be a finite number, got {shorten(value)}.")
            if not math.isfinite(value):
                raise InvalidParameter(
                    f"Interval.{name} must be a finite number, got {value!r}.",
                    hint="bounds are public constants: choose them without looking at the data",
                )
            object.__setattr__(self, name, float(value))
        if self.high <= self.low or not math.isfinite(self.high - self.low):
            raise InvalidParameter(
                f"Interval needs low < high, got {self.low!r} and {self.high!r}.", hint="low comes first"
            )
        if not self.high - self.low > 1e-280:
            raise InvalidParameter(f"Interval is too narrow for floats: {self.low!r} to {self.high!r}.")
        cells = _whole("Interval", "cells", self.cells, 2, "one cell would say nothing")
        if cells > 1 << 16:
            raise InvalidParameter(f"Interval.cells must be at most 65536, got {cells}.")
        object.__setattr__(self, "cells", cells)

    @property
    def size(self) -> int:
        return self.cells

    @property
    def step(self) -> float:
        return (self.high - self.low) / self.cells

    def encode(self, values: Any) -> Codes:
        array = _array(values)
        if array.dtype.kind == "O":
            _refuse_missing(self, _missing_objects(array))
            array = _numbers_of(self, array).astype(np.float64)
        if array.dtype.kind not in "iuf":
            raise OutsideDomain(
                f"{_whose(self)}: got values of type {array.dtype}; wanted {self.describe()}.", hint=PARSE
            )
        real = array.astype(np.float64, copy=False)
        _refuse_missing(self, np.isnan(real))
        _refuse_outside(self, (real < self.low) | (real > self.high), array)
        cell = (real - self.low) * (self.cells / (self.high - self.low))
        return np.minimum(cell.astype(np.int64), self.cells - 1)

    def label(self, code: int) -> str:
        return f"{self.low + (code + 0.5) * self.step:.6g}"

    def labels(self) -> list[str]:
        return [self.label(code) for code in range(self.size)]

    def numbers(self) -> NDArray[np.float64]:
        return np.asarray(self.low + (np.arange(self.cells) + 0.5) * self.step, np.float64)

    def scale(self) -> tuple[float, float, float]:
        """value = low + step * code, and how far a value may have moved to reach the grid."""
        return self.low + self.step / 2, self.step, self.step / 2

    way_out_of_missing = "drop those rows: a number has no stand-in for a missing one"

    def public(self) -> str:
        return f"the numbers {self.low:g} to {self.high:g} in {self.cells} cells{_column_words(self)}"

    def describe(self) -> str:
        return f"a number from {self.low:g} to {self.high:g}"

    def __repr__(self) -> str:
        return f"Interval({self.low:g}, {self.high:g}, cells={self.cells}{_named_column(self)})"

    def to_dict(self) -> dict[str, Any]:
        return {
            "type": "Interval",
            "low": self.low,
            "high": self.high,
            "cells": self.cells,
            "column": self.column,
        }


DOMAINS: dict[str, type[Categories] | type[Integers] | type[Interval]] = {
    "Categories": Categories,
    "Integers": Integers,
    "Interval": Interval,
}


def domain_from_dict(fields: Mapping[str, Any]) -> Domain:
    """Back from JSON; an unknown kind is refused."""
    rest = dict(fields)
    kind = rest.pop("type", None)
    if kind not in DOMAINS:
        raise InvalidParameter(f"a domain is one of {sorted(DOMAINS)}, got {shorten(kind)}.")
    return DOMAINS[kind](**rest)


@dataclass(frozen=True)
class Schema(Mapping[str, Domain]):
    """Named columns and what each may hold. `schema["age"]` is a domain that knows its column."""

    columns: Mapping[str, Domain]

    def __post_init__(self) -> None:
        if not isinstance(self.columns, Mapping) or not self.columns:
            raise InvalidParameter(
                f"Schema takes a mapping from column names to domains, got {shorten(self.columns)}.",
                hint='Schema({"smoker": Categories(["no", "yes"])})',
            )
        named = {}
        for name, domain in self.columns.items():
            if not isinstance(domain, Categories | Integers | Interval):
                raise InvalidParameter(
                    f"Schema column {name!r} must be Categories, Integers or Interval, got {shorten(domain)}."
                )
            named[str(name)] = _named(domain, str(name))
        object.__setattr__(self, "columns", named)

    def __getitem__(self, name: str) -> Domain:
        if name not in self.columns:
            raise MissingColumn(f"the schema has no column {name!r}; it has {shorten(list(self.columns), 120)}.")
        return self.columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)


def _named(domain: Categories | Integers | Interval, name: str) -> Domain:
    return Categories(domain.values, name) if isinstance(domain, Categories) else replace(domain, column=name)  # type: ignore[arg-type]
