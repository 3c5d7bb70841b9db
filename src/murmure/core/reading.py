"""A column, whatever holds it, as codes: which rows are missing, which are outside, and how that is said.

Lists, NumPy, pandas, Polars and Arrow are read through their own methods, so nothing here imports them, and no loop
goes over people: labels are looked up once per distinct value.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.errors import OutsideDomain, shorten

Mask = NDArray[np.bool_]
Codes = NDArray[Any]  # any integer dtype, 1-D, values 0 .. size-1


def whose(domain: Any) -> str:
    return f"column {domain.column!r}" if domain.column is not None else type(domain).__name__


PARSE = "convert the column to numbers first: nothing is parsed here"
WIDEN = "widen the domain to public bounds, or correct those rows before they are randomised"
ROUND = "round the column yourself, or use Interval for numbers with fractions"
ADD = "add that label to the domain, or correct those rows"


def refuse_type(domain: Any, kind: object, hint: str = PARSE) -> OutsideDomain:
    return OutsideDomain(f"{whose(domain)}: got values of type {kind}; wanted {domain.describe()}.", hint=hint)


# -- what becomes of a column: codes, rows that are missing, rows that are outside -------------------------------------


def any_of(mask: Mask | None) -> Mask | None:
    """None is the mask of nobody."""
    return mask if mask is not None and mask.any() else None


def either(one: Mask | None, other: Mask | None) -> Mask | None:
    return other if one is None else one if other is None else one | other


@dataclass
class Read:
    """A column, read: a code for every row, and which rows have none (there the code means nothing)."""

    codes: Codes
    missing: Mask | None  # None: nobody
    outside: list[tuple[Mask, str]]  # which rows, and the way out
    held: Callable[[int], Any]  # what a row holds, for the message

    @property
    def beyond(self) -> Mask | None:
        """The rows that are outside, for whatever reason."""
        return functools.reduce(either, (mask for mask, _ in self.outside), None)

    def refuse_missing(self, domain: Any) -> None:
        if self.missing is not None:
            raise OutsideDomain.at(
                whose(domain),
                _first(self.missing),
                f"is missing ({int(self.missing.sum())} in all here); wanted {domain.describe()}.",
                domain.way_out_of_missing,
            )

    def refuse_outside(self, domain: Any) -> None:
        bad = self.beyond
        if bad is not None:
            row = _first(bad)
            raise OutsideDomain.at(
                whose(domain),
                row,
                f"holds {shorten(_plain(self.held(row)))} ({int(bad.sum())} outside in all here); "
                f"wanted {domain.describe()}.",
                next(hint for mask, hint in self.outside if mask[row]),
            )

    def all_valid(self, domain: Any) -> Codes:
        self.refuse_missing(domain)
        self.refuse_outside(domain)
        return self.codes


def _first(bad: Mask) -> int:
    return int(np.argmax(bad))


def _plain(value: Any) -> Any:
    """A NumPy or Arrow scalar as Python's own."""
    return value.item() if hasattr(value, "item") else value.as_py() if hasattr(value, "as_py") else value


# -- whatever holds a column -------------------------------------------------------------------------------------------

ARROW_NUMBERS = {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)} | {
    "halffloat",
    "float",
    "double",
}
ARROW_TEXT = {"string", "large_string", "string_view"}


def library(values: Any) -> str:
    return type(values).__module__.partition(".")[0]


def one_column(values: Any) -> Any:
    """The column of a one-column frame; and Arrow's array, read without a loop, where pandas or Polars wrap one."""
    shape = getattr(values, "shape", ())
    if library(values) == "pyarrow" and hasattr(values, "num_columns"):
        _refuse_shape(shape)
        return values.column(0)
    if library(values) == "pandas":
        if len(shape) == 2:
            _refuse_shape(shape)
            values = values.iloc[:, 0]
        kind = getattr(values, "dtype", None)
        if hasattr(kind, "pyarrow_dtype") or getattr(kind, "storage", None) == "pyarrow":
            return getattr(values, "array", values).__arrow_array__()
    if library(values) == "polars" and len(shape) > 0:
        if len(shape) == 2:
            _refuse_shape(shape)
            values = values.to_series()
        if str(values.dtype) != "Object":
            with contextlib.suppress(ImportError):  # no pyarrow: by way of NumPy
                return values.to_arrow()
    return values


def _refuse_shape(shape: tuple[int, ...]) -> None:
    if len(shape) != 1 and not (len(shape) == 2 and shape[1] == 1):
        raise OutsideDomain(f"a column of values must have one dimension, got shape {tuple(shape)}.")


def chunks(column: Any) -> list[Any]:
    """Arrow's chunks; they share no dictionary."""
    return column.chunks or [column.combine_chunks()] if hasattr(column, "chunks") else [column]


def from_arrow(domain: Any, chunk: Any) -> tuple[NDArray[Any], Mask | None]:
    """An Arrow array of numbers or booleans: without a copy where nothing is missing."""
    if str(chunk.type).startswith("dictionary<"):
        chunk = chunk.dictionary_decode()
    kind = str(chunk.type)
    if kind == "null":
        return np.zeros(len(chunk), np.int8), any_of(np.ones(len(chunk), bool))
    if kind not in ARROW_NUMBERS and kind != "bool":
        raise refuse_type(domain, kind)
    missing = None
    if chunk.null_count:
        missing = chunk.is_null().to_numpy(zero_copy_only=False)
        chunk = chunk.fill_null(False if kind == "bool" else 0)
    if kind == "bool":  # bits, which no array of NumPy's holds
        return chunk.to_numpy(zero_copy_only=False), missing
    return np.from_dlpack(chunk), missing  # to_numpy would import pandas where it is installed: 0.2 s


def joined(parts: Sequence[Mask | None], lengths: Sequence[int]) -> Mask | None:
    if all(part is None for part in parts):
        return None
    return np.concatenate([np.zeros(n, bool) if p is None else p for p, n in zip(parts, lengths, strict=True)])


def array_of(domain: Any, values: Any) -> tuple[NDArray[Any], Mask | None]:
    """Whatever holds a column, as an array of one dimension, and the rows that its holder calls missing."""
    missing = None
    if library(values) == "pyarrow" and hasattr(values, "null_count"):
        arrays, masks = zip(*(from_arrow(domain, chunk) for chunk in chunks(values)), strict=True)
        array = arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
        return _wide(array), joined(masks, list(map(len, arrays)))
    if isinstance(values, list | tuple) and bool in set(map(type, values)):
        array = np.empty(len(values), object)  # NumPy would make numbers of booleans among numbers
        array[:] = values
        return (array.astype(bool) if set(map(type, values)) == {bool} else array), None
    try:
        if isinstance(values, np.ma.MaskedArray):
            missing, values = np.ma.getmaskarray(values).reshape(-1), np.ma.getdata(values)
        elif library(values) == "pandas" and hasattr(
            getattr(values, "dtype", None), "numpy_dtype"
        ):  # Int64, Float64, boolean
            missing = np.asarray(values.isna())
            values = values.to_numpy(dtype=values.dtype.numpy_dtype, na_value=0)
        elif hasattr(values, "to_numpy"):
            values = values.to_numpy()
        array = np.atleast_1d(np.asarray(values))
    except (TypeError, ValueError) as error:
        raise OutsideDomain(
            f"cannot read a column of values from {type(values).__name__} ({shorten(str(error), 80)}).",
            hint="pass a list, an array or one column of a frame",
        ) from None
    _refuse_shape(array.shape)
    return _wide(array.reshape(-1)), any_of(missing)


def _wide(array: NDArray[Any]) -> NDArray[Any]:
    return array.astype(np.float64) if array.dtype == np.float16 else array


def missing_objects(array: NDArray[Any]) -> Mask:
    """None, NaN, NaT and pandas.NA: what is not equal to itself, or has no truth about it."""

    def missing(value: object) -> bool:
        try:
            return value is None or bool(value != value)
        except (TypeError, ValueError):
            return True

    return np.fromiter(map(missing, array.tolist()), bool, len(array))


# -- numbers -----------------------------------------------------------------------------------------------------------


def numbers_of(domain: Any, values: Any) -> Read:
    """A column of numbers as they come (not yet codes). Text is not parsed: that would be a guess."""
    array, missing = array_of(domain, one_column(values))
    kind = array.dtype.kind
    if kind == "O":
        return _numbers_of_objects(array, missing)
    if kind not in "biuf":
        raise refuse_type(domain, array.dtype)
    if kind == "f" and len(array) and np.isnan(array.min()):  # one NaN makes the minimum NaN
        missing = either(missing, np.isnan(array))
    return Read(array, missing, [], array.__getitem__)


def _numbers_of_objects(array: NDArray[Any], masked: Mask | None) -> Read:
    missing = missing_objects(array)
    missing = missing if masked is None else missing | masked
    number = np.fromiter(
        (isinstance(v, int | float | np.number) and not isinstance(v, bool | complex) for v in array.tolist()),
        bool,
        len(array),
    )
    numbers = np.where(number & ~missing, array, 0)
    whole = all(isinstance(v, int | np.integer) for v in numbers.tolist())
    outside = [(mask, hint) for mask, hint in ((~number & ~missing, PARSE),) if mask.any()]
    try:
        read = numbers.astype(np.int64 if whole else np.float64)
    except OverflowError:  # beyond any domain
        huge = np.fromiter((abs(v) > 2**62 for v in numbers.tolist()), bool, len(numbers))
        outside.append((huge, WIDEN))
        read = np.where(huge, 0, numbers).astype(np.int64 if whole else np.float64)
    return Read(read, any_of(missing), outside, array.__getitem__)


def whole_numbers(domain: Any, values: Any, low: int, high: int) -> Read:
    """A column of integers between low and high, from integers or from floats that are whole."""
    read = numbers_of(domain, values)
    array = read.codes
    if array.dtype.kind == "b":
        raise OutsideDomain(
            f"{whose(domain)}: got booleans; wanted {domain.describe()}.",
            hint="use Categories([False, True]) for booleans",
        )
    if array.dtype.kind == "f":
        whole = array == np.floor(array)  # NaN is not; infinity is
        if not whole.all() or np.abs(array).max(initial=0) > 2**53:
            with np.errstate(invalid="ignore"):
                fraction = ~whole | np.isinf(array)
                large = np.abs(array) > 2**53
            add_outside(read, fraction, ROUND)
            add_outside(read, large, WIDEN)
            array = np.where(fraction | large, 0, array)
        array = array.astype(np.int64)
    if len(array):
        if low == 0 and array.dtype == np.int64:
            ok = int(array.view(np.uint64).max()) <= high  # one pass: a negative number is a huge unsigned one
        else:
            ok = int(array.min()) >= low and int(array.max()) <= high
        if not ok:
            add_outside(read, (array < low) | (array > high), WIDEN)
    if low > 0 and array.dtype.itemsize < 8 and low <= np.iinfo(array.dtype).max:
        read.codes = array - array.dtype.type(low)  # smaller than the number itself: a narrow type holds it
    else:
        read.codes = array if low == 0 else array.astype(np.int64) - low
    return read


def add_outside(read: Read, bad: Mask, hint: str) -> None:
    """A reason to refuse rows, for those that hold something and were not refused before."""
    for known in (read.missing, read.beyond):
        if known is not None:
            bad = bad & ~known
    if bad.any():
        read.outside.append((bad, hint))
