"""Cells as Arrow arrays, each parsed separately (meaning.py): a cell that cannot be parsed is marked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, time
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from murmure.core.cells.meaning import (
    BLANKS,
    NUMBER,
    SUBSTITUTE,
    meaning,
    meaning_of_text,
    numbers_in_cells,
    numbers_in_text,
)
from murmure.core.cells.parsed_dates import date_text
from murmure.core.errors import InvalidParameter, Phrase

# On each side of the point in a column of decimals: as many as any domain has, and one to show that there were more.
DECIMAL_DIGITS = 19
PLAIN_DECIMAL = (
    rf"^[+-]?(?:[0-9]{{1,{DECIMAL_DIGITS - 1}}}(?:\.[0-9]{{0,{DECIMAL_DIGITS}}})?|\.[0-9]{{1,{DECIMAL_DIGITS}}})$"
)
INT64_LIMIT = 2.0**63
EXACT_FLOAT_LIMIT = 2.0**53  # beyond it one float is the nearest to several whole numbers


def inexact_names(kind: Any, hint: str, unit: str | None = None) -> InvalidParameter:
    """The error for names that are floats: beyond 2**53 different whole numbers are one float, so people are mixed."""
    where = Phrase("the column that identifies people") if unit is None else Phrase("column {unit!r}", unit=unit)
    return InvalidParameter(
        "{where} holds floats ({kind}), which do not hold every id; wanted whole numbers or text.",
        hint=hint,
        where=where,
        kind=kind,
    )


def parse_column(column: Any, kind: str) -> tuple[Any, Any]:
    """The column as this kind, and which rows hold text that cannot be parsed as it (None: none)."""
    import pyarrow as pa
    import pyarrow.compute as pc

    wanted = parsed_type(column.type, kind)
    if wanted == column.type:
        return column, None
    column = decoded(column)
    if kind == "decimal":
        return parse_decimals(pc.utf8_trim(column, BLANKS))
    numbers, missing = numbers_in_text(column)
    x = numbers.to_numpy(zero_copy_only=False)
    if kind == "boolean":
        good, values = (x == 0) | (x == 1), x == 1
    elif kind == "integer":
        good = (x == np.floor(x)) & (np.abs(x) < INT64_LIMIT)
        values = np.where(good, x, 0).astype(np.int64)
    else:
        good, values = ~np.isnan(x), x
    bad = ~good & ~missing.to_numpy(zero_copy_only=False)
    return pa.array(values, wanted, mask=~good), pa.array(bad) if bad.any() else None


def decimal_type() -> Any:
    """The type of a column of decimals in a CSV: a float would round them."""
    import pyarrow as pa

    return pa.decimal128(2 * DECIMAL_DIGITS, DECIMAL_DIGITS)


def parse_decimals(column: Any) -> tuple[Any, Any]:
    """Text as exact decimals, and which rows hold no number, or one beyond any domain (None: none)."""
    import pyarrow as pa
    import pyarrow.compute as pc

    plain = pc.match_substring_regex(column, PLAIN_DECIMAL)
    if pc.all(plain).as_py() is not False:  # nulls are left out
        return pc.utf8_ltrim(column, "+").cast(decimal_type()), None
    odd = pc.invert(plain).fill_null(False)
    texts = column.filter(odd).to_pylist()
    parsed = [_parse_decimal(text) for text in texts]
    values = pc.utf8_ltrim(pc.if_else(plain, column, pa.scalar(None, column.type)), "+").cast(decimal_type())
    values = pc.replace_with_mask(values, odd, pa.array(parsed, decimal_type()))
    missing = pc.replace_with_mask(
        column.is_null(), odd, pa.array([meaning_of_text(text) is None for text in texts], pa.bool_())
    )
    bad = pc.and_(values.is_null(), pc.invert(missing))
    return values, bad if pc.any(bad).as_py() else None


def _parse_decimal(text: str) -> Decimal | None:
    """A number with an exponent, or with more digits than a column of decimals has room for.

    If digits are cut off, the last one becomes neither 0 nor 5, so that counting decimals or rounding to fewer still
    shows that there were more.
    """
    meant = meaning_of_text(text)
    if not isinstance(meant, float) or len(text) > 400 or not np.isfinite(meant):
        return None
    if re.fullmatch(NUMBER, text) is None:  # true or false
        return Decimal(meant)
    sign, digits, exponent = Decimal(text).as_tuple()
    assert isinstance(exponent, int)
    size = len(digits) + exponent  # it is below 10**size
    if not any(digits):
        return Decimal(0)
    if size >= DECIMAL_DIGITS:
        return None
    v = int("".join(map(str, digits)))
    over = min(-exponent - DECIMAL_DIGITS, len(digits) + 1)  # digits to cut off; all of them, if the number is small
    if over > 0:
        v, rest = divmod(v, 10**over)
        v += rest > 0 and v % 5 == 0
    else:
        v *= 10**-over
    return Decimal((sign, tuple(map(int, str(v))), -DECIMAL_DIGITS))


def arrow_cells(items: Sequence[Any], kind: str) -> Any:
    """Python objects as an Arrow array, each converted separately: numbers, text, or names of people (text too).

    Arrow would infer one type from all of them, and refuse them all because of one.
    """
    import pyarrow as pa

    if kind == "name":
        floats = [float(item) for item in items if isinstance(item, float | np.floating) and item == item]
        known = sum(meaning(item) is not None for item in items) if floats else 0
        if (
            floats and known == len(floats) and max(map(abs, floats)) >= EXACT_FLOAT_LIMIT
        ):  # nothing but floats, as in a column
            raise inexact_names(Phrase("among other values"), Phrase("load the column as text"))
        return pa.array([_person_name(item) for item in items], pa.large_string())
    kinds = set(map(type, items))
    if kinds == {int}:
        try:
            return pa.array(items, pa.int64())
        except (OverflowError, pa.ArrowInvalid):  # a number beyond 64 bits must not change the others
            pass
    if kind in ("integer", "real", "boolean"):
        numbers, missing = numbers_in_cells(items)
        if not (np.isnan(numbers) & ~missing).any():
            return pa.array(numbers, mask=missing)
    if kinds <= {str, type(None)}:
        try:
            return pa.array(items, pa.large_string())
        except UnicodeEncodeError:  # half a surrogate pair is not a letter
            pass
    if kinds <= {bytes, type(None)}:  # reports of a sanitised table, or encoded text
        return pa.array(items, pa.large_binary())
    if kinds <= {date, type(None)}:
        texts = {item: _cell_text(item) for item in set(items)}  # each distinct day once
        return pa.array([texts[item] for item in items], pa.large_string())
    return pa.array([_cell_text(item) for item in items], pa.large_string())


def _cell_text(cell: Any) -> str | None:
    """A text with the meaning of the cell; of a date too, which no label and no number is like."""
    if isinstance(cell, str):
        return str(cell).encode("utf-8", "replace").decode()
    if isinstance(cell, bytes):
        return cell.decode("utf-8", "replace")
    meant = meaning(cell)
    if meant is None:
        return None
    if not isinstance(meant, float):
        return SUBSTITUTE + date_text(cell)
    if isinstance(cell, Decimal) or (isinstance(cell, int | np.integer) and not isinstance(cell, bool)):
        return str(cell)  # all digits, for exact sums; other readers use 15
    return f"{meant:.15g}" if not isinstance(cell, float) else repr(float(cell))


def unmarked(column: Any) -> Any:
    """Dates that were objects, as people write them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    return pc.ascii_ltrim(column, SUBSTITUTE) if text else column


def _person_name(cell: Any) -> str | None:
    """Whom a row is about: its text, or the digits of a whole number, so that 7 and "7" are one person.

    If two people had one name, adding one of them would decide which rows of the other are read. So a text is a name
    byte for byte, and "007" is somebody else. A cell that is neither text, nor a number, a date, a time or a UUID names
    nobody.
    """
    try:
        if cell is None or cell != cell:
            return None
        cell = cell.item() if isinstance(cell, np.generic) else cell
        if isinstance(cell, str | bytes):
            plain = cell.encode("utf-8", "surrogatepass") if isinstance(cell, str) else cell
            try:
                return f"={plain.decode()}"
            except UnicodeDecodeError:
                return f"!{plain.hex()}"
        if isinstance(cell, bool | int | float | Decimal | Fraction):
            number = Fraction(cell)
            return f"={number}" if number.denominator == 1 else f"#{number}"
        return f"@{cell}" if isinstance(cell, date | time) or type(cell).__name__ == "UUID" else None
    except Exception:  # comparing pandas.NA raises, and so does Fraction(infinity)
        return None


def parsed_type(column_type: Any, kind: str) -> Any:
    """The Arrow type of a column of this kind once parsed: that of the column, unless it is text that means numbers."""
    import pyarrow as pa

    types = {"integer": pa.int64(), "real": pa.float64(), "decimal": decimal_type(), "boolean": pa.bool_()}
    return types[kind] if kind in types and is_text(column_type) else column_type


def plain_type(kind: Any) -> Any:
    """The value type of a dictionary; any other type as it is."""
    import pyarrow as pa

    return kind.value_type if pa.types.is_dictionary(kind) else kind


def decoded(column: Any) -> Any:
    """The same cells without a dictionary."""
    return column if plain_type(column.type) == column.type else column.dictionary_decode()


def detached(column: Any) -> Any:
    """A copy of the cells: no dictionary, and no leftover values under the missing ones."""
    import pyarrow as pa

    column = decoded(column)
    if not column.null_count:
        return column
    valid = column.is_valid().to_numpy(zero_copy_only=False)
    places = valid.cumsum() - 1
    return column.drop_null().take(pa.array(places, mask=~valid))


def is_text(kind: Any) -> bool:
    """Whether an Arrow type is text, or a dictionary of it."""
    import pyarrow as pa

    kind = plain_type(kind)
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
