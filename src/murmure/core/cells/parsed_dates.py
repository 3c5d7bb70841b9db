"""What a cell means as a date: a function of that cell alone, in any column, frame, file or engine (decision 0042).

    missing      what is missing in every column (meaning.py), NaT, and the text "NaT" in any case
    a date       a date or a time of Python, NumPy, pandas, Polars or Arrow; or a text as ISO 8601 writes it, blanks
                 around it left out: 2024-03-05, or with a time 2024-03-05T10:20:00
    a period     where the unit is no finer: the text 2024-W10 (weeks), 2024-03 (months, years); and of years the number
                 2024, since file readers turn that text into a number unless some other row is not one
                 (A source that turns Python's objects into text marks the dates among them, so that no label is like
                 them: SUBSTITUTE in front.)
    unreadable   anything else: 2024-02-30, 05/03/2024, any other number, a year before 1 or after 9999

A time with a zone counts on the day that its own clock shows: 2024-03-05T00:30+02:00 is the 5th of March, although it
is still the 4th in Greenwich. The calendar is the Gregorian one for all years, and weeks are those of ISO 8601: they
start on Monday, and the week of a year's first Thursday is its first.

Periods are numbered from that of 1 January 1970, which has the number 0.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from operator import methodcaller
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from murmure.core.cells.meaning import (
    BLANKS,
    SUBSTITUTE,
    UNKNOWN,
    Unknown,
    by_type,
    meaning,
    numbers_in_cells,
    numbers_in_text,
)
from murmure.core.cells.parsed_columns import (
    DictionaryPiece,
    NumberColumn,
    ObjectPiece,
    Piece,
    TextPiece,
    TypedPiece,
    any_of,
    cell_at,
    chunks,
    either,
    from_arrow,
    is_arrow,
    joined_columns,
    looked_up,
    number_column,
    pieces,
    refuse_type,
    whole_floats,
)
from murmure.core.errors import Phrase
from murmure.core.types import Ints, Mask

DateUnit = Literal["day", "week", "month", "year"]

DATE_TYPE_HINT = Phrase("load the column as dates, or as text: 2024-03-05")

EPOCH = date(1970, 1, 1).toordinal()
FIRST_DAY, LAST_DAY = date.min.toordinal() - EPOCH, date.max.toordinal() - EPOCH
NUMPY_UNITS = {"day": "D", "month": "M", "year": "Y"}
TAKEN_BY = {"Y": ("year",), "M": ("month", "year"), "W": ()}  # NumPy's weeks start on Thursday: no unit takes them
PER_DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}

# No part can match in two ways, so the patterns never backtrack; Arrow's expressions and Python's read them alike.
_HOUR, _SIXTY = "(?:[01][0-9]|2[0-3])", "[0-5][0-9]"
_TIME = rf"[T ]{_HOUR}:{_SIXTY}(?::{_SIXTY}(?:\.[0-9]+)?)?(?:Z|[+-]{_HOUR}(?::?{_SIXTY})?)?"
_DATE = rf"[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}(?:{_TIME})?"
_MONTH, _WEEK = "[0-9]{4}-[0-9]{2}", "[0-9]{4}-W[0-9]{2}"
SPELLINGS = {
    "day": _DATE,
    "week": f"{_DATE}|{_WEEK}",
    "month": f"{_DATE}|{_MONTH}",
    "year": f"{_DATE}|{_MONTH}|[0-9]{{4}}",
}
LETTERS = 10  # of the date in a text; a time follows
NOT_A_TIME = "[nN][aA][tT]"
_SPELLINGS = {unit: re.compile(pattern) for unit, pattern in SPELLINGS.items()}
_NOT_A_TIME = re.compile(NOT_A_TIME)


# -- periods -----------------------------------------------------------------------------------------------------------


def periods_of_days(unit: DateUnit, days: Ints) -> Ints:
    """The periods that days lie in; both are numbered from 1970."""
    if unit == "day":
        return days
    if unit == "week":  # 1 January 1970 was a Thursday
        return (days + 3) // 7
    low, high = (int(days.min()), int(days.max())) if len(days) else (0, 0)
    if high - low >= len(days):
        return _of_calendar(unit, days)
    return _of_calendar(unit, np.arange(low, high + 1))[days - low]  # each day once


def _of_calendar(unit: DateUnit, days: Ints) -> Ints:
    return days.astype("M8[D]").astype(f"M8[{NUMPY_UNITS[unit]}]").astype(np.int64)


def period_labels(unit: DateUnit, first: int, count: int) -> list[str]:
    """The names of periods, in order: 2024-03-05, 2024-W10, 2024-03 or 2024."""
    periods = np.arange(first, first + count)
    if unit != "week":
        return np.datetime_as_string(periods.astype(f"M8[{NUMPY_UNITS[unit]}]")).tolist()
    thursdays = 7 * periods  # the year of a week is that of its Thursday
    years = thursdays.astype("M8[D]").astype("M8[Y]")
    weeks = (thursdays - years.astype("M8[D]").astype(np.int64)) // 7 + 1
    return [f"{y:04}-W{w:02}" for y, w in zip((years.astype(np.int64) + 1970).tolist(), weeks.tolist(), strict=True)]


# -- one cell ----------------------------------------------------------------------------------------------------------


def date_meaning(unit: DateUnit, cell: Any) -> int | Unknown | None:
    """The definition: the number of a period, None for a missing cell. Every cell has a meaning."""
    day: int | None = None
    if isinstance(cell, str | bytes):
        text = cell.decode("utf-8", "replace") if isinstance(cell, bytes) else str(cell)
        word = text.strip(BLANKS).removeprefix(SUBSTITUTE)
        if _NOT_A_TIME.fullmatch(word):
            return None
        day = _day_of_word(word[:LETTERS]) if _SPELLINGS[unit].fullmatch(word) else None
    elif isinstance(cell, date):
        try:
            day = cell.toordinal() - EPOCH
        except Exception:  # NaT, which is missing, or somebody's own class
            day = None
    elif isinstance(cell, np.datetime64):
        if np.isnat(cell):
            return None
        if unit in TAKEN_BY.get(np.datetime_data(cell.dtype)[0], (unit,)):
            day = _day_of_time(cell)
    if day is not None:
        return int(periods_of_days(unit, np.array([day]))[0]) if FIRST_DAY <= day <= LAST_DAY else UNKNOWN
    meant = meaning(cell)
    if isinstance(meant, float) and unit == "year" and meant.is_integer() and date.min.year <= meant <= date.max.year:
        return int(meant) - 1970
    return None if meant is None else UNKNOWN


def _day_of_word(word: str) -> int | None:
    """The first day of 2024-03-05, 2024-W10, 2024-03 or 2024; None: there is no such day."""
    try:
        if "W" in word:
            return date.fromisocalendar(int(word[:4]), int(word[6:]), 1).toordinal() - EPOCH
        return date(int(word[:4]), int(word[5:7] or 1), int(word[8:] or 1)).toordinal() - EPOCH
    except ValueError:
        return None


def date_text(cell: Any) -> str:
    """A text that means the same date as an object; empty for anything else."""
    if isinstance(cell, np.datetime64):
        kind = np.datetime_data(cell.dtype)[0]
        return "" if kind == "W" or not FIRST_DAY <= _day_of_time(cell) <= LAST_DAY else str(cell)[:LETTERS]
    day = date_meaning("day", cell) if isinstance(cell, date) else UNKNOWN
    return date.fromordinal(day + EPOCH).isoformat() if isinstance(day, int) else ""


def _day_of_time(cell: np.datetime64) -> int:
    return int(cell.astype("M8[D]").astype(np.int64))


# -- many cells --------------------------------------------------------------------------------------------------------


def parse_dates(domain: Any, values: Any) -> NumberColumn:
    """The periods of a column, as `one_column` returns it."""
    unit: DateUnit = domain.unit
    if is_arrow(values):
        return joined_columns([_of_arrow(domain, chunk) for chunk in chunks(values)])
    if getattr(getattr(values, "dtype", None), "kind", "") == "M" and not hasattr(values, "categories"):
        return _of_times(domain, values)
    return joined_columns([_of_piece(unit, domain, piece) for piece in pieces(domain, values)])


def printable_date(values: Any, row: int) -> Any:
    """The content of a row, for a message: dates as ISO writes them."""
    cell = values[row] if isinstance(values, np.ndarray) and values.dtype.kind == "M" else cell_at(values, row)
    return str(cell) if isinstance(cell, date | np.datetime64) else cell


def _of_days(unit: DateUnit, days: Ints, missing: Mask | None) -> NumberColumn:
    bad = (days < FIRST_DAY) | (days > LAST_DAY)
    if bad.any():  # where a row is missing too
        days = np.where(bad, 0, days)
    return number_column(periods_of_days(unit, days), missing, any_of(bad))


def _of_times(domain: Any, values: Any) -> NumberColumn:
    """Times of NumPy or pandas."""
    missing = None
    if getattr(values.dtype, "tz", None) is not None:  # pandas: the same clock, without its zone
        values = getattr(values, "dt", values).tz_localize(None)
    if isinstance(values, np.ma.MaskedArray):
        missing, values = np.ma.getmaskarray(values).reshape(-1), np.ma.getdata(values)
    array = np.asarray(values).reshape(-1)
    if domain.unit not in TAKEN_BY.get(np.datetime_data(array.dtype)[0], (domain.unit,)):
        raise refuse_type(domain, array.dtype, DATE_TYPE_HINT)
    days = array.astype("M8[D]")
    return _of_days(domain.unit, days.astype(np.int64), either(any_of(missing), any_of(np.isnat(days))))


def _of_arrow(domain: Any, chunk: Any) -> NumberColumn:
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = chunk.type
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        try:
            chunk = pc.local_timestamp(chunk)
        except pa.ArrowException:  # a zone that this machine does not know
            raise refuse_type(domain, kind, DATE_TYPE_HINT) from None
    if pa.types.is_date32(kind):
        per_day, piece = 1, from_arrow(chunk.cast(pa.int32()))
    elif pa.types.is_date64(kind):
        per_day, piece = PER_DAY["ms"], from_arrow(chunk.cast(pa.int64()))
    elif pa.types.is_timestamp(kind):
        per_day, piece = PER_DAY[kind.unit], from_arrow(chunk.cast(pa.int64()))
    elif pa.types.is_temporal(kind):  # a time of day, a duration
        raise refuse_type(domain, kind, DATE_TYPE_HINT)
    else:
        return joined_columns([_of_piece(domain.unit, domain, one) for one in pieces(domain, chunk)])
    days = piece.array.astype(np.int64)
    return _of_days(domain.unit, days if per_day == 1 else days // per_day, piece.missing)


def _of_piece(unit: DateUnit, domain: Any, piece: Piece) -> NumberColumn:
    match piece:
        case TypedPiece(array=array, missing=missing):
            return _of_numbers(unit, array, missing)
        case TextPiece(chunk):
            distinct = chunk.cast("large_binary").dictionary_encode()  # text may hold bytes that are not UTF-8
            indices = from_arrow(distinct.indices)
            return looked_up(_of_texts(unit, distinct.dictionary), indices.array, indices.missing)
        case ObjectPiece(items, missing):
            return _of_objects(unit, items, missing)
        case DictionaryPiece(indices, missing, cells):
            return looked_up(parse_dates(domain, cells), indices, missing)


def _of_numbers(unit: DateUnit, array: NDArray[Any], missing: Mask | None) -> NumberColumn:
    """Numbers are years where years are wanted, and no dates elsewhere."""
    if unit != "year":
        return number_column(np.zeros(len(array), np.int64), missing, np.ones(len(array), bool))
    whole = whole_floats(array) if array.dtype.kind == "f" else array
    good = (whole >= date.min.year) & (whole <= date.max.year) & (whole == np.floor(whole))
    return number_column(np.where(good, whole, 1970).astype(np.int64) - 1970, missing, ~good)


def _of_texts(unit: DateUnit, texts: Any) -> NumberColumn:
    """Of distinct texts, as bytes in Arrow. Their dates are fewer: many times lie on one day."""
    import pyarrow as pa
    import pyarrow.compute as pc

    def matches(pattern: str) -> Any:
        return pc.match_substring_regex(texts, rf"^[{BLANKS}]*{SUBSTITUTE}?(?:{pattern})[{BLANKS}]*$")

    spelled = matches(SPELLINGS[unit])
    words = pc.if_else(spelled, texts, pa.scalar(None, texts.type)).cast(pa.large_string())
    words = pc.ascii_ltrim(pc.ascii_trim_whitespace(words), SUBSTITUTE)
    words = pc.utf8_slice_codeunits(words, 0, LETTERS).dictionary_encode()
    days = [_day_of_word(word) for word in words.dictionary.to_pylist()]
    known = _of_days(unit, np.array([LAST_DAY + 1 if day is None else day for day in days], np.int64), None)
    indices = from_arrow(words.indices)
    out = looked_up(known, indices.array, None)
    if indices.missing is None:  # every text is spelled as a date
        return out
    numbers, empty = numbers_in_text(texts)
    found = from_arrow(numbers)
    rest = _of_numbers(unit, found.array, None)
    unreadable = np.zeros(len(texts), bool) if rest.unreadable is None else rest.unreadable
    unreadable = unreadable if found.missing is None else unreadable | found.missing
    dated = spelled.to_numpy(zero_copy_only=False)
    wrong = np.zeros(len(texts), bool) if out.unreadable is None else out.unreadable
    missing = pc.or_(empty, matches(NOT_A_TIME)).to_numpy(zero_copy_only=False)
    return number_column(np.where(dated, out.array, rest.array), any_of(missing), np.where(dated, wrong, unreadable))


def _of_objects(unit: DateUnit, items: Sequence[Any], missing: Mask | None) -> NumberColumn:
    """Python objects, one type at a time, so that no cell changes how another is read."""
    out, empty, bad = np.zeros(len(items), np.int64), np.zeros(len(items), bool), np.zeros(len(items), bool)
    for kind, at, cells in by_type(items):
        part = _of_one_type(unit, kind, cells)
        out[at] = part.array
        empty[at] = False if part.missing is None else part.missing
        bad[at] = False if part.unreadable is None else part.unreadable
    return number_column(out, either(any_of(empty), missing), bad)


def _of_one_type(unit: DateUnit, kind: type, cells: Sequence[Any]) -> NumberColumn:
    if issubclass(kind, str | bytes):
        places = {cell: i for i, cell in enumerate(dict.fromkeys(cells))}  # each distinct text once
        indices = np.fromiter(map(places.__getitem__, cells), np.int64, len(cells))
        return looked_up(_of_meanings([date_meaning(unit, cell) for cell in places]), indices, None)
    if issubclass(kind, date):
        try:
            ordinals = np.fromiter(map(methodcaller("toordinal"), cells), np.int64, len(cells))
            return _of_days(unit, ordinals - EPOCH, None)
        except Exception:  # NaT, or somebody's own class: as in the definition
            return _of_meanings([date_meaning(unit, cell) for cell in cells])
    if issubclass(kind, np.datetime64):
        return _of_meanings([date_meaning(unit, cell) for cell in cells])
    numbers, empty = numbers_in_cells(cells)
    return _of_numbers(unit, numbers, any_of(empty))


def _of_meanings(meant: Sequence[int | Unknown | None]) -> NumberColumn:
    periods = np.array([one if isinstance(one, int) else 0 for one in meant], np.int64)
    missing, unknown = (np.array([one is what for one in meant], bool) for what in (None, UNKNOWN))
    return number_column(periods, any_of(missing), unknown)
