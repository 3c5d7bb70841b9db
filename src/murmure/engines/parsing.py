"""Text as numbers, row by row: what cannot be read is marked, so that it can be dropped and counted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, time
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from murmure.core.standing import numbers_in_cells

UNKNOWN = "\x1a"  # SUBSTITUTE: a label that no domain holds
SPACIOUS = 19  # digits on each side of the point in a column of decimals: those of any domain, and one to tell of more
PLAIN = rf"^[+-]?(?:[0-9]{{1,{SPACIOUS - 1}}}(?:\.[0-9]{{0,{SPACIOUS}}})?|\.[0-9]{{1,{SPACIOUS}}})$"
PATTERNS = {"integer": r"^[+-]?[0-9]+$", "real": r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"}
TRUE, FALSE = ("1", "true", "True", "TRUE"), ("0", "false", "False", "FALSE")  # as pyarrow reads a CSV


def parse(column: Any, kind: str) -> tuple[Any, Any]:
    """The column as this kind, and which rows hold text that is no such thing (None: none)."""
    import pyarrow as pa
    import pyarrow.compute as pc

    wanted = parsed_type(column.type, kind)
    if wanted == column.type:
        return column, None
    column = pc.utf8_trim_whitespace(decoded(column))
    if kind == "decimal":
        return decimals_in(column)
    if kind == "boolean":
        yes, no = pc.is_in(column, pa.array(TRUE)), pc.is_in(column, pa.array(FALSE))
        good, values = pc.or_(yes, no), yes
    else:
        # eighteen digits always fit; a longer number belongs to no domain
        short = pc.less_equal(pc.utf8_length(column), 18 if kind == "integer" else 400)
        good = pc.and_(pc.match_substring_regex(column, PATTERNS[kind]), short)
        text = pc.replace_substring(pc.if_else(good, column, pa.scalar(None, column.type)), "+", "", max_replacements=1)
        values = text.cast(wanted)
    good = pc.if_else(column.is_null(), True, good)  # missing is another matter
    values = pc.if_else(pc.and_(good, column.is_valid()), values, pa.scalar(None, wanted))
    bad = pc.invert(good)
    return values, bad if pc.any(bad).as_py() else None


def decimal_type() -> Any:
    """Of a column of decimals in a CSV: a float would round them."""
    import pyarrow as pa

    return pa.decimal128(2 * SPACIOUS, SPACIOUS)


def decimals_in(column: Any) -> tuple[Any, Any]:
    """Text as exact decimals, and which rows hold no number, or one that is beyond any domain (None: none)."""
    import pyarrow as pa
    import pyarrow.compute as pc

    plain = pc.match_substring_regex(column, PLAIN)
    if pc.all(plain).as_py() is not False:  # nulls are left out
        return pc.utf8_ltrim(column, "+").cast(decimal_type()), None
    odd = pc.invert(plain).fill_null(False)
    read = [_decimal(text) for text in column.filter(odd).to_pylist()]
    values = pc.utf8_ltrim(pc.if_else(plain, column, pa.scalar(None, column.type)), "+").cast(decimal_type())
    values = pc.replace_with_mask(values, odd, pa.array(read, decimal_type()))
    bad = pc.and_(values.is_null(), column.is_valid())
    return values, bad if pc.any(bad).as_py() else None


def _decimal(text: str) -> Decimal | None:
    """With an exponent, or with more digits than a column of decimals has room for.

    What is cut off leaves a mark: the last digit is then neither 0 nor 5, so that whoever counts decimals or rounds to
    fewer sees that there was more.
    """
    if len(text) > 400 or re.fullmatch(PATTERNS["real"], text, re.ASCII) is None:
        return None
    sign, digits, exponent = Decimal(text).as_tuple()
    assert isinstance(exponent, int)
    size = len(digits) + exponent  # it is below 10**size
    if not any(digits):
        return Decimal(0)
    if size >= SPACIOUS:
        return None
    v = int("".join(map(str, digits)))
    over = min(-exponent - SPACIOUS, len(digits) + 1)  # digits to cut off; all of them, if it is that small
    if over > 0:
        v, rest = divmod(v, 10**over)
        v += rest > 0 and v % 5 == 0
    else:
        v *= 10**-over
    return Decimal((sign, tuple(map(int, str(v))), -SPACIOUS))


def cells_of(items: Sequence[Any], kind: str) -> Any:
    """Python's own values as an Arrow array, each by itself: text, names (text too, and numbers as text), or numbers.

    Arrow would look at all of them to find their type, and refuse them all for the sake of one.
    """
    import pyarrow as pa

    if kind in ("text", "name"):
        read = _text if kind == "text" else _name
        return pa.array([read(item) for item in items], pa.large_string())
    return pa.array(numbers_in_cells(items), from_pandas=True)


def typed_cells(column: Any, kind: str) -> Any:
    """Numbers and booleans of Arrow as cells_of has them: a frame makes whole numbers floats, or objects, for the sake
    of one row, and that must not change what the others are."""
    import pyarrow as pa
    import pyarrow.compute as pc

    number = pa.types.is_integer(column.type) or pa.types.is_floating(column.type) or pa.types.is_boolean(column.type)
    if kind == "name" or not number:
        return column
    if kind == "text":
        return pc.if_else(column.is_valid(), UNKNOWN, pa.scalar(None, pa.large_string()))
    return column.cast(pa.float64(), safe=False)


def _text(cell: Any) -> str | None:
    if type(cell) is str:
        return cell.encode("utf-8", "replace").decode()  # half a surrogate pair is no letter
    if cell is None:
        return None
    try:
        if cell != cell:
            return None
        if isinstance(cell, bytes):
            return cell.decode("utf-8", "replace")
        return str(cell) if isinstance(cell, str) else UNKNOWN
    except Exception:  # pandas.NA has no truth about it
        return None


def _name(cell: Any) -> str | None:
    """Who a row is about: two cells have one name exactly if they are equal (1 and 1.0 are, 1 and "1" are not).

    Were two people one name, adding one of them would decide which rows of the other are read. A cell that is neither
    text nor a number, nor one of a few other things with a value of their own, names nobody.
    """
    try:
        if cell is None or cell != cell:
            return None
        cell = cell.item() if isinstance(cell, np.generic) else cell
        if isinstance(cell, str | bytes):
            plain = cell.encode("utf-8", "surrogatepass") if isinstance(cell, str) else cell
            return f"{'text' if isinstance(cell, str) else 'bytes'} {plain.hex()}"
        if isinstance(cell, bool | int | float | Decimal | Fraction):
            return f"number {Fraction(cell)}"
        kind = type(cell).__name__
        return f"{kind} {cell}" if isinstance(cell, date | time) or kind == "UUID" else None
    except Exception:  # pandas.NA has no truth about it; infinity is no fraction
        return None


def parsed_type(held: Any, kind: str) -> Any:
    """The Arrow type of a column of this kind once it is read: its own, unless it is text that stands for numbers."""
    import pyarrow as pa

    types = {"integer": pa.int64(), "real": pa.float64(), "decimal": decimal_type(), "boolean": pa.bool_()}
    return types[kind] if kind in types and is_text(held) else held


def plain_type(kind: Any) -> Any:
    """The type of what a dictionary holds; any other type as it is."""
    import pyarrow as pa

    return kind.value_type if pa.types.is_dictionary(kind) else kind


def decoded(column: Any) -> Any:
    """The same cells without a dictionary."""
    return column if plain_type(column.type) == column.type else column.dictionary_decode()


def laid_bare(column: Any) -> Any:
    """The same cells in memory of their own: no dictionary, and nothing under the missing ones."""
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
