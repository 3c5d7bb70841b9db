"""Every row gets a code, whatever it holds: where noise protects a release, no row may decide whether it fails.

    a number:  missing or unreadable -> the column's public constant, or the middle of the range
               beyond the bounds, or infinite -> the nearest bound
               with a fraction, where whole numbers are wanted -> the nearest of them (a tie: the even one)
               with more decimals than are wanted -> the nearest that has no more (a tie: the even one)
    a label:   one that the domain does not hold -> the code `size`: nobody, who adds nothing to any cell
               missing -> as the column says (a label, a constant), or else nobody
    text where numbers are wanted is read as a number if it is one; a boolean and the numbers 0 and 1 are the same.

The code of a row depends on that row alone: what stands beside it, even in the same array, changes nothing (so one
person moves a sum by what one row adds, and no more). Where `domain.encode` takes a row, both give the same code.
What raises is the type of a whole column (dates, lists), which a file or a frame fixes before there are rows.
"""

from __future__ import annotations

import itertools
import math
import numbers
import operator
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.decimal_reading import code_of, stand_text
from murmure.core.domain import Categories, Decimals, Domain, Integers, Interval, _fits, named
from murmure.core.errors import InvalidParameter, shorten
from murmure.core.reading import (
    ARROW_NUMBERS,
    ARROW_TEXT,
    Codes,
    Mask,
    array_of,
    chunks,
    either,
    from_arrow,
    library,
    one_column,
    refuse_type,
)
from murmure.core.schema import Schema, _refuse_unequal, _taken

BLOCK = 1 << 14  # values that stay in the cache from one pass to the next
EXACT = 1 << 53  # up to here a float holds every whole number
LARGEST = (1 << 63) - 1
NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?(?:inf|Inf|INF|infinity|Infinity)|" + (
    "true|True|TRUE|false|False|FALSE"
)
SHORT = 15  # letters of a number that has at most fifteen digits: a float tells it from all others
SPACE = " \t\n\r\f\v"
ARROW_BYTES = {"binary", "large_binary"}
READ_NUMBER = re.compile(NUMBER)


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
        if isinstance(domain, Integers) and not -LARGEST <= domain.low < domain.high <= LARGEST:
            raise InvalidParameter(f"{domain!r} reaches beyond 2**63 - 1: no column of numbers holds such values.")
        return cls(domain, middle(domain) if absent is None else absent, domain.size)

    @property
    def kind(self) -> np.dtype[Any]:
        """Of the codes: the narrowest that holds them all, nobody's too."""
        return np.dtype(np.int16 if self.nobody < 1 << 15 else np.int32 if self.nobody < 1 << 31 else np.int64)

    @property
    def table(self) -> dict[Any, int] | None:
        return self.domain._table if isinstance(self.domain, Categories) else None

    @property
    def of_text(self) -> bool:
        """Whether text is looked up among the labels, and not read as a number."""
        return self.table is not None and any(isinstance(label, str) for label in self.table)

    # -- whatever holds the column

    def column(self, values: Any) -> Codes:
        values = one_column(values)
        if library(values) == "pyarrow" and hasattr(values, "null_count"):
            return _joined([self._arrow(chunk) for chunk in chunks(values)])
        inner = getattr(values, "array", values)
        if hasattr(inner, "categories") and hasattr(inner, "codes"):  # a pandas Categorical; its code of nothing is -1
            return self._coded(np.asarray(inner.codes), self.column(inner.categories), None)
        if getattr(getattr(values, "dtype", None), "kind", "") in ("m", "M"):
            raise refuse_type(self.domain, values.dtype, "write dates and the like as numbers or as text")
        if not isinstance(values, np.ndarray) and not hasattr(values, "to_numpy"):
            return self._objects(list(values), None)  # as they are: NumPy would make one type of all
        array, missing = array_of(self.domain, values)
        if array.dtype.kind in "biuf":
            return self._numbers(array, missing)
        if array.dtype.kind not in "OUST":
            raise refuse_type(self.domain, array.dtype, "write dates and the like as numbers or as text")
        return self._objects(array.tolist(), missing)

    def _arrow(self, chunk: Any) -> Codes:
        kind = str(chunk.type)
        if kind.startswith("dictionary<"):
            indices, nothing = from_arrow(self.domain, chunk.indices)
            return self._coded(indices, self.column(chunk.dictionary), nothing)
        if kind.startswith("decimal") and isinstance(self.domain, Decimals):
            return self._arrow_decimals(chunk)
        if kind.startswith("decimal"):
            chunk, kind = chunk.cast("double"), "double"
        if kind in ARROW_NUMBERS or kind in ("bool", "null"):
            return self._numbers(*from_arrow(self.domain, chunk))
        if kind in ARROW_TEXT or kind in ARROW_BYTES:
            return self._arrow_text(chunk)
        raise refuse_type(self.domain, kind, "write dates and the like as numbers or as text")

    def _coded(self, indices: NDArray[Any], codes: Codes, missing: Mask | None) -> Codes:
        """Rows that number what they hold: each thing is looked at once; a number without a thing is nothing."""
        table = np.append(codes, self.kind.type(self.absent))
        out = table[np.where((indices < 0) | (indices > len(codes)), len(codes), indices)]
        if missing is not None:
            out[missing] = self.absent
        return out

    # -- numbers and booleans

    def _numbers(self, array: NDArray[Any], missing: Mask | None) -> Codes:
        if array.dtype.kind == "b":
            array = array.view(np.uint8)
        elif array.dtype == np.uint64:
            array = np.minimum(array, np.uint64(LARGEST)).astype(np.int64)
        real = array.dtype.kind == "f"
        if isinstance(self.domain, Decimals):
            return self._decimals(array, either(missing, np.isnan(array) if real else None))
        out = np.empty(len(array), self.kind)
        held = np.empty(min(BLOCK, len(array)), np.float64 if real or isinstance(self.domain, Interval) else np.int64)
        with np.errstate(over="ignore"):
            for a in range(0, len(array), BLOCK):
                part = held[: len(array) - a]
                part[:] = array[a : a + BLOCK]
                self._block(part, out[a : a + BLOCK])
        if missing is not None:
            out[missing] = self.absent
        return out

    def _block(self, x: NDArray[Any], out: Codes) -> None:
        """Codes of a few numbers, of float64 or int64, which are overwritten."""
        nothing = np.isnan(x) if x.dtype == np.float64 else None
        if nothing is not None:
            nothing = nothing if nothing.any() else None
            if nothing is not None:
                x[nothing] = 0
        if self.table is not None:
            self._look_up(x, out)
        elif isinstance(self.domain, Interval):
            x -= self.domain.low
            x *= self.domain.cells / (self.domain.high - self.domain.low)
            np.maximum(x, 0, out=x)
            out[:] = np.minimum(x, self.domain.cells - 1, out=x)
        elif isinstance(self.domain, Integers):
            self._whole(x, out)
        else:
            self._numbered(x, out)
        if nothing is not None:
            out[nothing] = self.absent

    def _decimals(self, array: NDArray[Any], missing: Mask | None, written: bool = False) -> Codes:
        if missing is not None:
            array = np.where(missing, array.dtype.type(0), array)
        out = self.domain.nearest(array, written).astype(self.kind)
        if missing is not None:
            out[missing] = self.absent
        return out

    def _arrow_decimals(self, chunk: Any) -> Codes:
        """Exactly: where the domain takes all of them it says their codes, and else they are looked at one by one."""
        read = self.domain.read(chunk)
        if read.beyond is None:
            out = read.codes.astype(self.kind)
            if read.missing is not None:
                out[read.missing] = self.absent
            return out
        return self._objects(chunk.to_pylist(), None)

    def _whole(self, x: NDArray[Any], out: Codes) -> None:
        low, high = self.domain.low, self.domain.high
        if x.dtype == np.int64:
            np.maximum(x, low, out=x)
            np.minimum(x, high, out=x)
            out[:] = np.subtract(x, low, out=x)
            return
        np.rint(x, out=x)
        if max(-low, high) > EXACT:  # the bounds may be no floats: clipped as whole numbers
            whole = np.clip(x, -(2.0**63), np.nextafter(2.0**63, 0.0)).astype(np.int64)
            out[:] = np.where(x >= 2.0**63, LARGEST, whole).clip(low, high) - low
            return
        np.maximum(x, low, out=x)
        np.minimum(x, high, out=x)
        out[:] = np.subtract(x, low, out=x)

    def _numbered(self, x: NDArray[Any], out: Codes) -> None:
        """Categories(k): the numbers 0 .. k-1, and nobody."""
        if x.dtype == np.float64:
            good = (x == np.rint(x)) & (x >= 0) & (x < self.domain.size)
            out[:] = np.where(good, x, self.nobody)
        else:
            unsigned = x.view(np.uint64)  # a negative number is a huge unsigned one
            known = np.minimum(unsigned, np.uint64(self.domain.size), out=unsigned)
            out[:] = known
            if self.nobody != self.domain.size:
                out[known == self.domain.size] = self.nobody

    def _look_up(self, x: NDArray[Any], out: Codes) -> None:
        """Numbers among the labels that are numbers or booleans."""
        assert self.table is not None
        plain = ((int(v) if isinstance(v, bool) else v, code) for v, code in self.table.items())
        known = sorted((v, code) for v, code in plain if _fits(v, x.dtype))
        if not known:
            out[:] = self.nobody
            return
        keys = np.array([v for v, _ in known], x.dtype)
        codes = np.array([code for _, code in known], self.kind)
        at = np.minimum(np.searchsorted(keys, x), len(keys) - 1)
        out[:] = np.where(keys[at] == x, codes[at], self.nobody)

    # -- text

    def _arrow_text(self, chunk: Any) -> Codes:
        import pyarrow as pa
        import pyarrow.compute as pc

        chunk = chunk.cast(pa.large_binary())  # text may hold bytes that are no letters: they are compared, not read
        if not self.of_text:
            array, missing = from_arrow(self.domain, numbers_in_text(chunk))
            if not isinstance(self.domain, Decimals):
                return self._numbers(array, missing)
            return self._long_text(chunk, self._decimals(array, either(missing, np.isnan(array)), written=True))
        assert self.table is not None
        labels = [label for label in self.table if isinstance(label, str)]
        known = pa.array([label.encode("utf-8", "surrogatepass") for label in labels], pa.large_binary())
        codes = np.array([*(self.table[label] for label in labels), self.nobody], self.kind)
        found = codes[pc.index_in(chunk, value_set=known).fill_null(len(labels)).to_numpy(zero_copy_only=False)]
        if chunk.null_count:
            found[chunk.is_null().to_numpy(zero_copy_only=False)] = self.absent
        return found

    def _long_text(self, chunk: Any, out: Codes) -> Codes:
        """Numbers of so many digits that a float would not hold them are read once more, digit by digit."""
        import pyarrow.compute as pc

        long = np.flatnonzero(pc.binary_length(chunk).fill_null(0).to_numpy(zero_copy_only=False) > SHORT)
        if len(long):
            out[long] = self._cells(bytes, chunk.take(long).to_pylist())
        return out

    # -- Python's own values: those of one type at a time, so that no cell changes how another is read

    def _objects(self, items: Sequence[Any], masked: Mask | None) -> Codes:
        out = np.full(len(items), self.absent, self.kind)
        for kind, at, cells in _by_type(items):
            out[at] = self._cells(kind, cells)
        if masked is not None:
            out[masked] = self.absent
        return out

    def _cells(self, kind: type, cells: Sequence[Any]) -> Codes | int:
        if kind is type(None):
            return self.absent
        if kind is bytes:
            kind, cells = str, [cell.decode("utf-8", "replace") for cell in cells]
        if self.table is not None and (kind is not str or self.of_text):
            plain = kind in (str, int, bool)  # these compare and hash as one expects
            found = map(self.table.get, cells, itertools.repeat(self.nobody)) if plain else map(self._label, cells)
            return np.fromiter(found, self.kind, len(cells))
        if isinstance(self.domain, Decimals) and (kind is str or issubclass(kind, Decimal | int)):
            found = map(self._in_text if kind is str else self._decimal, cells)
            return np.fromiter(found, self.kind, len(cells))
        read = _numbers_of(kind, cells)
        return self.absent if read is None else self._numbers(read, None)

    def _in_text(self, text: str) -> int:
        """A number by all of its digits."""
        text = text.strip(SPACE)
        if READ_NUMBER.fullmatch(text) is None:
            return self.absent
        word = {"true": "1", "false": "0"}.get(text.lower(), text)
        code = stand_text(self.domain, word)
        return self.absent if code is None else code

    def _decimal(self, cell: Any) -> int:
        if isinstance(cell, Decimal):
            code = stand_text(self.domain, str(cell))
            return self.absent if code is None else code
        return code_of(self.domain, int(cell), 0, True)[0]

    def _label(self, cell: Any) -> int:
        """The code of a label of any type. Whatever a cell does when it is compared, it has a code."""
        assert self.table is not None
        try:
            if cell != cell:
                return self.absent
        except Exception:  # pandas.NA has no truth about it
            return self.absent
        try:
            return self.table.get(cell, self.nobody)
        except Exception:  # a list or a dictionary
            return self.nobody


def _joined(parts: list[Codes]) -> Codes:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _by_type(items: Sequence[Any]) -> Iterator[tuple[type, Any, Sequence[Any]]]:
    """The cells of every type, and where they stand."""
    types = list(map(type, items))
    distinct = set(types)
    for kind in distinct:
        if len(distinct) == 1:
            yield kind, slice(None), items
        else:
            at = np.flatnonzero(np.fromiter(map(operator.is_, types, itertools.repeat(kind)), bool, len(items)))
            yield kind, at, [items[i] for i in at.tolist()]


def _numbers_of(kind: type, cells: Sequence[Any]) -> NDArray[Any] | None:
    """Cells of one type as numbers, nan where there is none; None: no cell of this type is a number."""
    if kind is str:
        return np.fromiter(map(_number_in, cells), np.float64, len(cells))
    if kind is bool or kind is np.bool_:
        return np.array(cells, bool)
    if kind is int:
        return _held(cells)
    if kind is float or issubclass(kind, np.floating):
        return np.array(cells, np.float64)
    if issubclass(kind, np.integer) and not issubclass(kind, np.timedelta64):
        return np.array(cells, np.uint64 if kind is np.uint64 else np.int64)
    if issubclass(kind, numbers.Number):
        return np.fromiter(map(_number, cells), np.float64, len(cells))
    return None


def numbers_in_cells(items: Sequence[Any]) -> NDArray[np.float64]:
    """Python's own values as numbers, nan where there is none: each by itself."""
    out = np.full(len(items), np.nan)
    for kind, at, cells in _by_type(items):
        if kind is bytes:
            kind, cells = str, [cell.decode("utf-8", "replace") for cell in cells]
        found = _numbers_of(kind, cells)
        if found is not None:
            out[at] = found
    return out


def _held(cells: Sequence[int]) -> NDArray[np.int64]:
    """Whole numbers; those that no machine word holds are beyond any bound, and stay so."""
    try:
        return np.array(cells, np.int64)
    except OverflowError:
        return np.fromiter(
            map(min, map(max, cells, itertools.repeat(-LARGEST)), itertools.repeat(LARGEST)), np.int64, len(cells)
        )


def _number(cell: Any) -> float:
    """Of a Decimal, a Fraction and the like; nan if it is none."""
    try:
        return float(cell)
    except OverflowError:  # a Fraction beyond all floats
        return math.inf if cell > 0 else -math.inf
    except Exception:  # a complex number; a Decimal that signals
        return math.nan


def _number_in(text: str) -> float:
    """The number that a text holds; nan if it holds none."""
    text = text.strip(SPACE)
    if READ_NUMBER.fullmatch(text) is None:
        return math.nan
    word = text.lower()
    return float(word == "true") if word in ("true", "false") else float(word)


def numbers_in_text(column: Any) -> Any:
    """The same for an Arrow array of text or bytes: numbers (double), null where there is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = column.cast(pa.large_binary())
    good = pc.match_substring_regex(column, rf"^[{SPACE}]*(?:{NUMBER})[{SPACE}]*$")
    text = pc.if_else(good, column, pa.scalar(None, column.type)).cast(pa.large_string())
    text = pc.ascii_lower(pc.ascii_trim_whitespace(text))
    for word, digit in (("true", "1"), ("false", "0")):
        text = pc.if_else(pc.equal(text, word), digit, text)
    return text.cast(pa.float64())


__all__ = ["middle", "numbers_in_cells", "numbers_in_text", "stand", "stand_column", "stand_schema"]
