"""A column of any library as codes: which rows are missing, which are outside, and the errors for both.

Lists, NumPy, pandas, Polars and Arrow are read through their own methods, so nothing here imports them, and no loop
goes over people: labels are looked up once per distinct value. meaning.py defines what a cell means; nothing here
depends on the type of the column, except that types of neither numbers nor text (dates, lists) are refused.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from murmure.core.cells.meaning import CLOSE, numbers_in_cells, numbers_in_text, rounded_all
from murmure.core.errors import OutsideDomain, Phrase, shorten
from murmure.core.types import Floats, Mask

Codes = NDArray[Any]  # any integer dtype, 1-D, values 0 .. size-1


def domain_name(domain: Any) -> str:
    return Phrase("column {column!r}", column=domain.column) if domain.column is not None else type(domain).__name__


PARSE_HINT = Phrase("correct those rows, or write them as numbers")
ISO_HINT = Phrase("correct those rows, or write them as ISO dates: 2024-03-05")
UNREADABLE = (PARSE_HINT, ISO_HINT)  # hints of cells that have no nearest value
WIDEN_HINT = Phrase("widen the domain to public bounds, or correct those rows before they are randomised")
ROUND_HINT = Phrase("round the column yourself, or use Interval for numbers with fractions")
ADD_HINT = Phrase("add that label to the domain, or correct those rows")
TYPE_HINT = Phrase("dates are Dates(first, last); write similar values as text or as numbers")


def refuse_type(domain: Any, kind: object, hint: str = TYPE_HINT) -> OutsideDomain:
    return OutsideDomain(
        "{domain}: got values of type {kind}; wanted {domain_2}.",
        hint=hint,
        domain=domain_name(domain),
        kind=kind,
        domain_2=domain.describe(),
    )


# -- a parsed column: codes, rows that are missing, rows that are outside ---------------------------------------------


def any_of(mask: Mask | None) -> Mask | None:
    """The mask, or None where it marks no row."""
    return mask if mask is not None and mask.any() else None


def either(a: Mask | None, b: Mask | None) -> Mask | None:
    return b if a is None else a if b is None else a | b


@dataclass
class ParsedColumn:
    """A code for every row, and which rows have none (there the code means nothing)."""

    codes: Codes
    missing: Mask | None  # None: nobody
    outside: list[tuple[Mask, str]]  # rows, and the hint of their error
    cell: Callable[[int], Any]  # the content of a row, for the message
    clamped: Mask | None = None  # rows moved to the nearest value, where the domain has outside="clamp"

    @property
    def outside_mask(self) -> Mask | None:
        """The rows that are outside, for any reason."""
        return functools.reduce(either, (mask for mask, _ in self.outside), None)

    def refuse_missing(self, domain: Any) -> None:
        if self.missing is not None:
            raise OutsideDomain.at(
                domain_name(domain),
                _first(self.missing),
                Phrase(
                    "has no value ({missing_sum} missing in all here); wanted {domain}.",
                    missing_sum=int(self.missing.sum()),
                    domain=domain.describe(),
                ),
                domain.missing_hint,
            )

    def refuse_outside(self, domain: Any) -> None:
        bad = self.outside_mask
        if bad is not None:
            row = _first(bad)
            raise OutsideDomain.at(
                domain_name(domain),
                row,
                Phrase(
                    "holds {cell} ({bad_sum} outside in all here); wanted {domain}.",
                    cell=shorten(self.cell(row)),
                    bad_sum=int(bad.sum()),
                    domain=domain.describe(),
                ),
                next(hint for mask, hint in self.outside if mask[row]),
            )

    def all_valid(self, domain: Any) -> Codes:
        """The codes, missing rows at the public constant of the domain if it has one; others are refused or dropped."""
        if domain.absent is None:
            self.refuse_missing(domain)
        elif self.missing is not None:
            self.codes = self.codes.astype(np.int64)
            self.codes[self.missing] = domain.encode([domain.absent])[0]
        if domain.outside != "drop":
            self.refuse_outside(domain)
        bad = self.outside_mask
        return self.codes if bad is None else self.codes[~bad]


def _first(bad: Mask) -> int:
    return int(np.argmax(bad))


def add_outside(parsed: ParsedColumn, bad: Mask, hint: str) -> None:
    """Mark rows as outside, with a hint, unless they are missing or outside already."""
    for known in (parsed.missing, parsed.outside_mask):
        if known is not None:
            bad = bad & ~known
    if bad.any():
        parsed.outside.append((bad, hint))


def clamp_outside(domain: Any, values: Any, parsed: ParsedColumn) -> ParsedColumn:
    """The column after the rule outside="clamp", where the domain has it: what is outside moves to the nearest value.

    Beyond the bounds that is a bound. What is not a number, or a date, has no nearest value, and stays outside.
    """
    clamped = functools.reduce(either, (mask for mask, hint in parsed.outside if hint not in UNREADABLE), None)
    if domain.outside != "clamp" or clamped is None:
        return parsed
    parsed.codes = parsed.codes.astype(np.int64)
    parsed.codes[clamped] = domain.nearest_codes(values, parsed, clamped)
    parsed.outside = [(mask, hint) for mask, hint in parsed.outside if hint in UNREADABLE]
    parsed.clamped = clamped
    return parsed


# -- the containers of a column ----------------------------------------------------------------------------------------

ARROW_NUMBERS = {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)} | {
    "halffloat",
    "float",
    "double",
}
ARROW_TEXT = {"string", "large_string", "string_view", "binary", "large_binary", "binary_view"}


def library(values: Any) -> str:
    return type(values).__module__.partition(".")[0]


def is_arrow(values: Any) -> bool:
    return library(values) == "pyarrow" and hasattr(values, "null_count")


def one_column(values: Any) -> Any:
    """The column of a one-column frame; and the Arrow array inside a pandas or Polars column, which needs no loop."""
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
        if str(values.dtype) in ("Object", "Int128", "UInt128"):  # types that Arrow does not have
            return values.to_list()
        with contextlib.suppress(ImportError):  # without pyarrow, the column is read through NumPy
            return values.to_arrow()
    return values


def _refuse_shape(shape: tuple[int, ...]) -> None:
    if len(shape) != 1 and not (len(shape) == 2 and shape[1] == 1):
        raise OutsideDomain("a column of values must have one dimension, got shape {shape}.", shape=tuple(shape))


def chunks(column: Any) -> list[Any]:
    """Arrow's chunks; each has its dictionary."""
    return column.chunks or [column.combine_chunks()] if hasattr(column, "chunks") else [column]


def joined(parts: Sequence[Mask | None], lengths: Sequence[int]) -> Mask | None:
    if all(part is None for part in parts):
        return None
    return np.concatenate([np.zeros(n, bool) if p is None else p for p, n in zip(parts, lengths, strict=True)])


def cell_at(values: Any, row: int) -> Any:
    """The content of a row as a Python value, for a message."""
    try:
        cell = (values.iloc if hasattr(values, "iloc") else values)[row]
        return cell.item() if hasattr(cell, "item") else cell.as_py() if hasattr(cell, "as_py") else cell
    except UnicodeDecodeError:
        return "bytes that are no text"
    except (TypeError, IndexError):  # a single value is a column of one
        return values


# A column comes in pieces of four kinds, and every domain reads these four.


@dataclass(frozen=True)
class TypedPiece:
    """Numbers of one type, booleans among them (as 0 and 1)."""

    array: NDArray[Any]
    missing: Mask | None
    kind: Literal["numbers", "booleans"] = "numbers"
    guessed: bool = True  # a file reader may have chosen the type for all rows


@dataclass(frozen=True)
class TextPiece:
    """Arrow's text, or bytes."""

    chunk: Any


@dataclass(frozen=True)
class ObjectPiece:
    """Python objects, which may differ in type."""

    items: Sequence[Any]
    missing: Mask | None


@dataclass(frozen=True)
class DictionaryPiece:
    """Rows as indices into a list of distinct cells."""

    indices: NDArray[Any]
    missing: Mask | None
    cells: Any  # the distinct cells, as a column


Piece = TypedPiece | TextPiece | ObjectPiece | DictionaryPiece


def pieces(domain: Any, values: Any) -> list[Piece]:
    """The pieces of a column, as `one_column` returns it."""
    if is_arrow(values):
        return [_piece_of_arrow(domain, chunk) for chunk in chunks(values)]
    inner = getattr(values, "array", values)
    if hasattr(inner, "categories") and hasattr(
        inner, "codes"
    ):  # a pandas Categorical; -1 is its code of a missing cell
        indices = np.asarray(inner.codes)
        return [DictionaryPiece(indices, any_of(indices < 0), one_column(inner.categories))]
    if getattr(getattr(values, "dtype", None), "kind", "") in ("m", "M"):
        raise refuse_type(domain, values.dtype)
    if not isinstance(values, np.ndarray) and not hasattr(values, "to_numpy"):
        return [_piece_of_items(values)]
    array, missing = _array_of(values)
    if array.dtype.kind in "biuf":
        return [_typed(array, missing)]
    if array.dtype.kind not in "OUST":
        raise refuse_type(domain, array.dtype)
    return [ObjectPiece(array.tolist(), missing)]


def _piece_of_arrow(domain: Any, chunk: Any) -> Piece:
    kind = str(chunk.type)
    if kind.startswith("dictionary<"):
        indices = from_arrow(chunk.indices)
        return DictionaryPiece(indices.array, indices.missing, chunk.dictionary)
    if kind in ARROW_TEXT:
        return TextPiece(chunk)
    # Domains other than Decimals read a decimal as any number: by its float, rounded to 15 digits.
    if kind.startswith("decimal"):
        chunk, kind = chunk.cast("double"), "double"
    if kind not in ARROW_NUMBERS and kind not in ("bool", "null"):
        raise refuse_type(domain, kind)
    return from_arrow(chunk)


def from_arrow(chunk: Any) -> TypedPiece:
    """Arrow's numbers or booleans: without a copy where nothing is missing."""
    kind = str(chunk.type)
    if kind == "null":
        return TypedPiece(np.zeros(len(chunk), np.int8), any_of(np.ones(len(chunk), bool)), guessed=False)
    missing = None
    if chunk.null_count:
        missing = chunk.is_null().to_numpy(zero_copy_only=False)
        chunk = chunk.fill_null(False if kind == "bool" else 0)
    if kind == "bool":  # bits, which NumPy cannot view
        return _typed(chunk.to_numpy(zero_copy_only=False), missing)
    return _typed(np.from_dlpack(chunk), missing)  # to_numpy would import pandas where it is installed: 0.2 s


def _typed(array: NDArray[Any], missing: Mask | None) -> TypedPiece:
    if array.dtype.kind == "b":
        return TypedPiece(array.view(np.uint8), missing, "booleans")
    if array.dtype.kind == "f":
        array = array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)
        if len(array) and np.isnan(array.min()):  # one NaN makes the minimum NaN
            missing = either(missing, np.isnan(array))
    return TypedPiece(array, missing)


def _piece_of_items(values: Any) -> Piece:
    """A list and the like. They become a NumPy array only where no cell can change the meaning of another."""
    items = values if isinstance(values, list | tuple) else _items_of(values)
    kinds = set(map(type, items))
    kind = next(iter(kinds)) if len(kinds) == 1 else object
    if kind in (int, float, bool) or (issubclass(kind, np.number | np.bool_) and np.dtype(kind).kind in "biuf"):
        with contextlib.suppress(OverflowError):  # a whole number of more than 64 bits
            return replace(_typed(np.array(items, np.int64 if kind is int else None), None), guessed=False)
    return ObjectPiece(items, None)


def _items_of(values: Any) -> list[Any]:
    """The items of any sequence; a single value is a column of one."""
    if np.isscalar(values) or values is None:
        return [values]
    try:
        if not isinstance(values, Mapping):
            return list(values)
    except (TypeError, ValueError, KeyError):
        pass
    raise _no_column(values, Phrase("it is not a sequence"))


def _no_column(values: Any, why: str) -> OutsideDomain:
    return OutsideDomain(
        "cannot read a column of values from {kind} ({why}).",
        hint="pass a list, an array or one column of a frame",
        kind=type(values).__name__,
        why=shorten(why, 80),
    )


def _array_of(values: Any) -> tuple[NDArray[Any], Mask | None]:
    """A column of NumPy, pandas or Polars as an array of one dimension, and the rows that the library marks missing."""
    missing = None
    try:
        if isinstance(values, np.ma.MaskedArray):
            missing, values = np.ma.getmaskarray(values).reshape(-1), np.ma.getdata(values)
        elif library(values) == "pandas" and hasattr(getattr(values, "dtype", None), "numpy_dtype"):
            # the nullable types Int64, Float64 and boolean
            missing = np.asarray(values.isna())
            values = values.to_numpy(dtype=values.dtype.numpy_dtype, na_value=0)
        elif hasattr(values, "to_numpy"):
            values = values.to_numpy()
        array = np.atleast_1d(np.asarray(values))
    except (TypeError, ValueError) as error:
        raise _no_column(values, str(error)) from None
    _refuse_shape(array.shape)
    return array.reshape(-1), any_of(missing)


# -- numbers -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NumberColumn:
    """A column as numbers: whole ones exactly, others as floats that are not yet rounded to 15 digits."""

    array: NDArray[Any]  # where a row is missing or unreadable, any number
    missing: Mask | None
    unreadable: Mask | None  # text that is not a number, and the like

    def parse(self, values: Any) -> ParsedColumn:
        outside: list[tuple[Mask, str]] = [] if self.unreadable is None else [(self.unreadable, PARSE_HINT)]
        return ParsedColumn(self.array, self.missing, outside, functools.partial(cell_at, values))


def parse_numbers(domain: Any, values: Any) -> NumberColumn:
    """The numbers of a column, as `one_column` returns it."""
    return joined_columns([_numbers_in(domain, piece) for piece in pieces(domain, values)])


def joined_columns(parts: Sequence[NumberColumn]) -> NumberColumn:
    """One column after the other."""
    if len(parts) == 1:
        return parts[0]
    lengths = [len(part.array) for part in parts]
    return NumberColumn(
        np.concatenate([part.array for part in parts]),
        joined([part.missing for part in parts], lengths),
        joined([part.unreadable for part in parts], lengths),
    )


def _numbers_in(domain: Any, piece: Piece) -> NumberColumn:
    match piece:
        case TypedPiece(array=array, missing=missing):
            return NumberColumn(array, missing, None)
        case TextPiece(chunk):
            found, null = numbers_in_text(chunk)
            absent, empty = found.is_null().to_numpy(zero_copy_only=False), null.to_numpy(zero_copy_only=False)
            return number_column(from_arrow(found).array, any_of(empty), absent)
        case ObjectPiece(items, missing):
            array, empty = numbers_in_cells(items)
            return number_column(array, either(any_of(empty), missing), np.isnan(array))
        case DictionaryPiece(indices, missing, cells):
            return looked_up(parse_numbers(domain, cells), indices, missing)


def looked_up(inner: NumberColumn, indices: NDArray[Any], missing: Mask | None) -> NumberColumn:
    """A column from its distinct cells and where each row finds its own."""
    array = np.append(inner.array, inner.array.dtype.type(0))  # an index without a cell points to the end
    at = np.where((indices < 0) | (indices >= len(inner.array)), len(inner.array), indices)
    masks = (inner.missing, inner.unreadable)
    empty, unreadable = (None if m is None else any_of(np.append(m, False)[at]) for m in masks)
    return number_column(array[at], either(missing, empty), unreadable)


def number_column(array: NDArray[Any], missing: Mask | None, unreadable: Mask | None) -> NumberColumn:
    """A missing cell is not unreadable too."""
    if missing is not None and unreadable is not None:
        unreadable = unreadable & ~missing
    return NumberColumn(array, missing, any_of(unreadable))


def parse_integers(domain: Any, values: Any, low: int, high: int) -> ParsedColumn:
    """A column of integers between low and high, from integers or from floats that are whole."""
    values = one_column(values)
    parsed = parse_numbers(domain, values).parse(values)
    array = parsed.codes
    if array.dtype.kind == "f":
        array = whole_floats(array)
        # Above 2**53 floats skip whole numbers, so such a float does not say which number was written.
        whole = array == np.floor(array)  # NaN is not; infinity is
        if not whole.all() or np.abs(array).max(initial=0) > 2**53:
            with np.errstate(invalid="ignore"):
                large = np.abs(array) > 2**53
            add_outside(parsed, ~whole, ROUND_HINT)
            add_outside(parsed, large, WIDEN_HINT)
            array = np.where(whole & ~large, array, 0)
        array = array.astype(np.int64)
    if len(array):
        if low == 0 and array.dtype == np.int64:
            ok = int(array.view(np.uint64).max()) <= high  # one pass: a negative number is a huge unsigned one
        else:
            ok = int(array.min()) >= low and int(array.max()) <= high
        if not ok:
            add_outside(parsed, (array < low) | (array > high), WIDEN_HINT)
    if low > 0 and array.dtype.itemsize < 8 and low <= np.iinfo(array.dtype).max:
        parsed.codes = array - array.dtype.type(low)  # the code is smaller than the number: the narrow type holds it
    else:
        parsed.codes = array if low == 0 else array.astype(np.int64) - low
    return parsed


def whole_floats(array: NDArray[Any]) -> Floats:
    """Floats, those next to a whole number rounded to 15 digits: file readers may be off by one in the last place."""
    x = array.astype(np.float64, copy=False)
    with np.errstate(invalid="ignore"):
        off = np.abs(x - np.rint(x))
        near = (off > 0) & (off <= CLOSE * np.abs(x))
    if near.any():
        x = x.copy()
        x[near] = rounded_all(x[near])
    return x


def outside_bounds(array: NDArray[Any], low: Any, high: Any) -> tuple[Mask, Mask]:
    """Which lie below and above. Those next to a bound are rounded to 15 digits first."""
    below, above = array < low, array > high
    close = CLOSE * max(abs(low), abs(high))
    at = np.flatnonzero((below & (array >= low - close)) | (above & (array <= high + close)))
    x = rounded_all(array[at].astype(np.float64))
    below[at], above[at] = x < low, x > high
    return below, above
