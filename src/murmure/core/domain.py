"""What one person may hold: public constants only, never read off the data.

A domain numbers its values 0 .. size-1 (the *codes*); every mechanism works on codes. `encode` refuses
what the domain does not hold: nothing is clipped, rounded away or guessed in silence.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import NoneType
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from murmure.core.decimals import Decimals as Decimals
from murmure.core.errors import InvalidParameter, OutsideDomain, shorten
from murmure.core.reading import (
    ADD,
    ARROW_NUMBERS,
    ARROW_TEXT,
    WIDEN,
    Codes,
    Mask,
    Read,
    add_outside,
    any_of,
    array_of,
    chunks,
    either,
    from_arrow,
    joined,
    library,
    missing_objects,
    numbers_of,
    one_column,
    refuse_type,
    whole_numbers,
    whose,
)
from murmure.core.said import check_absent, column_words, named_column, said_absent, whole

MAX_SIZE = 1 << 31


@runtime_checkable
class Domain(Protocol):
    """The values that one person may hold, numbered 0 .. size-1."""

    @property
    def column(self) -> str | None: ...
    @property
    def size(self) -> int: ...
    def encode(self, values: Any) -> Codes: ...
    def read(self, values: Any) -> Read: ...
    def label(self, code: int) -> str: ...
    def public(self) -> str: ...
    def describe(self) -> str: ...
    def labels(self) -> Sequence[str]: ...
    def numbers(self) -> NDArray[np.float64] | None: ...
    def to_dict(self) -> dict[str, Any]: ...


@dataclass(frozen=True, repr=False, eq=False)
class Categories:
    """One of k labels: `Categories(["no", "yes"])`, or `Categories(k)` for the numbers 0 .. k-1."""

    values: tuple[Hashable, ...] | int
    column: str | None = None
    absent: Any = None  # the label that a missing answer counts as, where a curator reads every row
    _table: dict[Hashable, int] | None = field(init=False, repr=False, compare=False, default=None)

    def __init__(self, values: Sequence[Hashable] | int, column: str | None = None, absent: Any = None) -> None:
        hint = "a question with one possible answer has nothing to protect; give at least two"
        if isinstance(values, int | np.integer) and not isinstance(values, bool):
            stored: tuple[Hashable, ...] | int = whole("Categories", "k", values, 2, hint)
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
        object.__setattr__(self, "absent", absent)
        object.__setattr__(self, "_table", table)
        check_absent(self)

    def _identity(self) -> tuple[Any, ...]:
        """0 and False are equal to Python, but not the same label."""
        kinds = () if isinstance(self.values, int) else tuple(type(v) for v in self.values)
        return self.values, kinds, self.column, type(self.absent), self.absent

    def __eq__(self, other: object) -> bool:
        return self._identity() == other._identity() if isinstance(other, Categories) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._identity())

    @property
    def size(self) -> int:
        return self.values if isinstance(self.values, int) else len(self.values)

    def encode(self, values: Any) -> Codes:
        return self.read(values).all_valid(self)

    def read(self, values: Any) -> Read:
        if self._table is None:
            return whole_numbers(self, values, 0, self.size - 1)
        values = one_column(values)
        if library(values) == "pyarrow" and hasattr(values, "null_count"):
            parts = [self._read_arrow(chunk) for chunk in chunks(values)]
            lengths = [len(part.codes) for part in parts]
            outside = joined([part.beyond for part in parts], lengths)
            return Read(
                parts[0].codes if len(parts) == 1 else np.concatenate([part.codes for part in parts]),
                joined([part.missing for part in parts], lengths),
                [] if outside is None else [(outside, ADD)],
                values.__getitem__,
            )
        inner = getattr(values, "array", values)
        if hasattr(inner, "categories") and hasattr(inner, "codes"):  # a pandas Categorical; its code of nothing is -1
            codes = np.asarray(inner.codes)
            return self._look_up(codes, any_of(codes < 0), inner.categories.tolist())
        if isinstance(values, list | tuple):
            return self._read_items(values)  # as it is: NumPy would turn [1, "a"] into text
        array, missing = array_of(self, values)
        if array.dtype.kind in "biuf":
            return self._read_numbers(array, missing)
        if array.dtype.kind not in "OUST":
            raise refuse_type(self, array.dtype, "write dates and the like as text, as in the labels")
        if missing is not None:
            array = np.where(missing, None, array)  # type: ignore[call-overload]
        return self._read_items(array.tolist())

    def _read_items(self, items: Sequence[Any]) -> Read:
        """Python's own values, one by one (in C, but one by one)."""
        assert self._table is not None
        self._refuse_other_kinds(set(map(type, items)))
        try:
            codes = np.fromiter(map(self._table.get, items, itertools.repeat(-1)), np.int64, len(items))
        except TypeError:  # a list or a dictionary where a label should be
            raise OutsideDomain(f"{whose(self)}: some rows hold no label at all; wanted {self.describe()}.") from None
        if not len(codes) or codes.min() >= 0:
            return Read(codes, None, [], items.__getitem__)
        array = np.empty(len(items), object)
        array[:] = items
        read = Read(codes, any_of(missing_objects(array)), [], items.__getitem__)
        add_outside(read, codes < 0, ADD)
        return read

    def _read_arrow(self, chunk: Any) -> Read:
        kind = str(chunk.type)
        if kind in ARROW_TEXT:
            try:
                chunk = chunk.dictionary_encode()
            except NotImplementedError:  # string_view, where pyarrow is old
                chunk = chunk.cast("large_string").dictionary_encode()
        elif not kind.startswith("dictionary<"):
            return self._read_numbers(*from_arrow(self, chunk))
        if str(chunk.dictionary.type) not in ARROW_TEXT | ARROW_NUMBERS | {"bool", "null"}:
            raise refuse_type(self, chunk.dictionary.type, "write dates and the like as text, as in the labels")
        indices, missing = from_arrow(self, chunk.indices)
        return self._look_up(indices, missing, chunk.dictionary.to_pylist())

    def _look_up(self, indices: NDArray[Any], missing: Mask | None, labels: list[Any]) -> Read:
        """Rows that number their labels: each label is looked up once, and one that nobody holds may be anything."""
        assert self._table is not None
        nothing, outside = self.size, self.size + 1
        table = np.full(max(1, len(labels)), outside, np.min_scalar_type(outside))
        for i, label in enumerate(labels):
            table[i] = nothing if label is None or label != label else self._table.get(label, outside)
        codes = table[indices]
        if missing is not None:
            codes[missing] = nothing
        if missing is None and table.max() < self.size:
            read = Read(codes, None, [], lambda row: labels[indices[row]])
        else:
            read = Read(codes, any_of(codes == nothing), [], lambda row: labels[indices[row]])
            add_outside(read, codes == outside, ADD)
        used = set(map(type, labels)) - {NoneType}
        if self._other_kinds(used) and len(codes):
            numbers = np.unique(indices if read.missing is None else indices[~read.missing])
            self._refuse_other_kinds({type(labels[i]) for i in numbers})
        return read

    def _read_numbers(self, array: NDArray[Any], missing: Mask | None) -> Read:
        """Numbers or booleans, looked for among the labels that are numbers or booleans."""
        assert self._table is not None
        if array.dtype.kind == "b":
            return self._look_up(array.view(np.uint8), missing, [False, True])
        if array.dtype.kind == "f":
            array = array.astype(np.float64, copy=False)
            missing = either(missing, any_of(np.isnan(array)))
        if len(array) and (missing is None or not missing.all()):
            self._refuse_other_kinds({float if array.dtype.kind == "f" else int})
        kind = array.dtype.newbyteorder("=")
        known = sorted((v, code) for v, code in self._table.items() if _fits(v, kind))  # type: ignore[type-var]
        if not known:
            read = Read(np.zeros(len(array), np.uint8), missing, [], array.__getitem__)
            add_outside(read, np.ones(len(array), bool), ADD)
            return read
        keys = np.array([v for v, _ in known], kind)
        numbered = np.array([code for _, code in known], np.min_scalar_type(self.size - 1))
        at = np.minimum(np.searchsorted(keys, array), len(keys) - 1)
        read = Read(numbered[at], missing, [], array.__getitem__)
        found = keys[at] == array
        if not found.all():
            add_outside(read, ~found, ADD)
        return read

    def _other_kinds(self, kinds: set[type]) -> bool:
        """True is equal to 1 for Python; as an answer it is another thing."""
        ours = {type(v) for v in self._table or ()}
        mixed = (bool in kinds) != (bool in ours)
        return mixed and bool(bool in kinds or kinds & {int, float}) and bool(ours & {bool, int, float})

    def _refuse_other_kinds(self, kinds: set[type]) -> None:
        if self._other_kinds(kinds):
            raise OutsideDomain(
                f"{whose(self)}: got {'booleans such as True' if bool in kinds else 'numbers'}; "
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

    way_out_of_missing = (
        'drop those rows, or give missing answers a label of their own, as Column(..., missing="value") does'
    )

    def public(self) -> str:
        if isinstance(self.values, int):
            return f"the {self.size} answers 0 to {self.size - 1}{column_words(self)}"
        shown = ", ".join(map(repr, self.values[:12])) + (", ..." if self.size > 12 else "")
        return f"the {self.size} answers {shown}{column_words(self)}"

    def describe(self) -> str:
        if isinstance(self.values, int):
            return f"a whole number from 0 to {self.values - 1}"
        return f"one of {shorten(list(self.values), 90)}"

    def to_dict(self) -> dict[str, Any]:
        values = self.values if isinstance(self.values, int) else list(self.values)
        return {"type": "Categories", "values": values, "column": self.column} | said_absent(self)

    def __repr__(self) -> str:
        shown = self.values if isinstance(self.values, int) else shorten(list(self.values), 40)
        return f"Categories({shown}{named_column(self)})"


def _fits(label: Any, kind: np.dtype[Any]) -> bool:
    """Whether an array of this type can hold exactly this label."""
    if isinstance(label, bool) or not isinstance(label, int | float):
        return False
    if kind.kind == "f":
        return isinstance(label, float) or (abs(label) <= 2**1023 and float(label) == label)
    return label == label // 1 and np.iinfo(kind).min <= label <= np.iinfo(kind).max


@dataclass(frozen=True, repr=False)
class Integers:
    """A whole number from low to high, both public and both included."""

    low: int
    high: int
    column: str | None = None
    absent: int | None = None  # what a missing answer counts as, where a curator reads every row; None: the middle

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
        check_absent(self)

    @property
    def size(self) -> int:
        return self.high - self.low + 1

    def encode(self, values: Any) -> Codes:
        return self.read(values).all_valid(self)

    def read(self, values: Any) -> Read:
        return whole_numbers(self, values, self.low, self.high)

    def label(self, code: int) -> str:
        return str(self.low + code)

    def labels(self) -> list[str]:
        return [self.label(code) for code in range(self.size)]

    def numbers(self) -> NDArray[np.float64]:
        return np.arange(self.low, self.high + 1, dtype=np.float64)

    def scale(self) -> tuple[float, float, float]:
        """value = low + step * code, and how far a value may have moved to reach the grid."""
        return float(self.low), 1.0, 0.0

    way_out_of_missing = (
        'drop those rows, or name a public constant: Column(..., missing="constant", missing_value=...)'
    )

    def public(self) -> str:
        return f"the whole numbers {self.low} to {self.high}{column_words(self)}"

    def describe(self) -> str:
        return f"a whole number from {self.low} to {self.high}"

    def __repr__(self) -> str:
        return f"Integers({self.low}, {self.high}{named_column(self)})"

    def to_dict(self) -> dict[str, Any]:
        return {"type": "Integers", "low": self.low, "high": self.high, "column": self.column} | said_absent(self)


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
    absent: float | None = None  # what a missing answer counts as, where a curator reads every row; None: the middle

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
        cells = whole("Interval", "cells", self.cells, 2, "one cell would say nothing")
        if cells > 1 << 16:
            raise InvalidParameter(f"Interval.cells must be at most 65536, got {cells}.")
        object.__setattr__(self, "cells", cells)
        check_absent(self)

    @property
    def size(self) -> int:
        return self.cells

    @property
    def step(self) -> float:
        return (self.high - self.low) / self.cells

    def encode(self, values: Any) -> Codes:
        return self.read(values).all_valid(self)

    def read(self, values: Any) -> Read:
        read = numbers_of(self, values)
        if read.codes.dtype.kind == "b":
            raise refuse_type(self, read.codes.dtype)
        real = read.codes.astype(np.float64, copy=False)
        if len(real) and not (real.min() >= self.low and real.max() <= self.high):  # also where one is NaN
            add_outside(read, (real < self.low) | (real > self.high), WIDEN)
            bad = either(read.missing, read.beyond)
            real = real if bad is None else np.where(bad, self.low, real)
        cell = (real - self.low) * (self.cells / (self.high - self.low))
        read.codes = np.minimum(cell, self.cells - 1).astype(np.min_scalar_type(self.cells - 1))
        return read

    def label(self, code: int) -> str:
        return f"{self.low + (code + 0.5) * self.step:.6g}"

    def labels(self) -> list[str]:
        return [self.label(code) for code in range(self.size)]

    def numbers(self) -> NDArray[np.float64]:
        return np.asarray(self.low + (np.arange(self.cells) + 0.5) * self.step, np.float64)

    def scale(self) -> tuple[float, float, float]:
        """value = low + step * code, and how far a value may have moved to reach the grid."""
        return self.low + self.step / 2, self.step, self.step / 2

    way_out_of_missing = (
        'drop those rows, or name a public constant: Column(..., missing="constant", missing_value=...)'
    )

    def public(self) -> str:
        return f"the numbers {self.low:g} to {self.high:g} in {self.cells} cells{column_words(self)}"

    def describe(self) -> str:
        return f"a number from {self.low:g} to {self.high:g}"

    def __repr__(self) -> str:
        return f"Interval({self.low:g}, {self.high:g}, cells={self.cells}{named_column(self)})"

    def to_dict(self) -> dict[str, Any]:
        return {
            "type": "Interval",
            "low": self.low,
            "high": self.high,
            "cells": self.cells,
            "column": self.column,
        } | said_absent(self)


DOMAINS: dict[str, type[Categories] | type[Integers] | type[Interval] | type[Decimals]] = {
    "Categories": Categories,
    "Integers": Integers,
    "Interval": Interval,
    "Decimals": Decimals,
}


def few_values(owner: str, domain: Any) -> None:
    """Noise on single values, and floats, are for codes of 32 bits; Decimals may have more."""
    if domain.size > MAX_SIZE:
        raise InvalidParameter(
            f"{owner} takes at most 2**31 values in a column, got {domain.size} of {domain!r}.",
            hint="use fewer places or narrower bounds, Interval(low, high, cells=...) for a coarse grid, or ask for "
            "exact sums: Sums(schema, [...])",
        )


def domain_from_dict(fields: Mapping[str, Any]) -> Domain:
    """Back from JSON; an unknown kind is refused."""
    rest = dict(fields)
    kind = rest.pop("type", None)
    if kind not in DOMAINS:
        raise InvalidParameter(f"a domain is one of {sorted(DOMAINS)}, got {shorten(kind)}.")
    return DOMAINS[kind](**rest)


def named(domain: Domain, name: str | None) -> Domain:
    """The same domain, of another column."""
    if isinstance(domain, Categories):
        return Categories(domain.values, name, domain.absent)  # type: ignore[arg-type]
    return replace(domain, column=name)  # type: ignore[type-var]


def absent_as(domain: Domain, value: Any) -> Domain:
    """The same domain, in which a missing answer counts as this value."""
    if isinstance(domain, Categories):
        return Categories(domain.values, domain.column, value)  # type: ignore[arg-type]
    return replace(domain, absent=value)  # type: ignore[type-var]
