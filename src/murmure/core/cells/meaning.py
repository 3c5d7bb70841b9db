"""What a cell means: a function of that cell alone, in any column, frame, file or engine.

    missing    None, NaN, NaT, NA, an empty text, or the text "nan" in any case
    a number   a number of any type, or a text that is one (NUMBER below, blanks around it left out): its float64,
               rounded to 15 significant digits; true and false, as booleans or as text in any case, are 1 and 0
    a text     any other text, byte for byte
    unknown    anything else (a date, a list); no domain holds it

File readers guess the type of a column from all of its rows: one missing cell turns whole numbers into floats, one word
turns numbers and booleans into text. If that changed what the *other* cells mean, one row could change the codes of all
rows, and move a sum by any amount. So the meaning is defined such that no such guess changes it. Fifteen digits survive
a parser that is off by one unit in the last place (that of pandas is), and two numbers of fifteen digits never share a
float.
"""

from __future__ import annotations

import enum
import itertools
import math
import numbers
import operator
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from murmure.core.types import Floats, Mask

BLANKS = " \t\n\r\f\v"
# Letters in both cases are spelled out: a case-insensitive pattern takes the Turkish dotless i for an i. No part can
# match in two ways, so the pattern never backtracks and a long text takes linear time.
NUMBER = r"[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[iI][nN][fF](?:[iI][nN][iI][tT][yY])?)"
TRUTH = {"true": 1.0, "false": 0.0}
WORDS = r"[tT][rR][uU][eE]|[fF][aA][lL][sS][eE]"
NOTHING = (
    r"(?:[+-]?[nN][aA][nN](?:\([0-9A-Za-z_]*\))?)?"  # also a text of blanks: some readers make null of it, some not
)
SUBSTITUTE = "\x1a"  # starts the text of a cell that is not text: no label is so written
STARTS = frozenset("+-.0123456789iInNtTfF")
DIGITS = 15
MAX_15_DIGITS = 10**DIGITS  # whole numbers below it have at most 15 digits
FEW = 16  # numbers that are rounded one by one sooner than all at once
CLOSE = 1e-14  # a number moves by less than this part of itself when it is rounded to 15 digits
_NUMBER, _WORDS, _NOTHING = re.compile(NUMBER), re.compile(WORDS), re.compile(NOTHING)
_PLACES = (0, 1, 2, 3, 4, 6, 9, 12)  # numbers of decimals that most columns have


class Unknown(enum.Enum):
    """The meaning of a cell that is neither missing, nor a number, nor a text."""

    UNKNOWN = "unknown"


UNKNOWN = Unknown.UNKNOWN
Meaning = float | str | Unknown | None  # None: missing


# -- one cell ----------------------------------------------------------------------------------------------------------


def meaning(cell: Any) -> Meaning:
    """The definition. Every cell has a meaning, even one whose methods raise."""
    if isinstance(cell, str):
        return meaning_of_text(str(cell))
    if isinstance(cell, bytes):
        return meaning_of_text(cell.decode("utf-8", "replace"))
    if cell is None:
        return None
    if _is_number(type(cell)):
        number = _float(cell)
        return None if number != number else rounded(number)
    try:
        return None if cell != cell else UNKNOWN
    except Exception:  # pandas.NA has no truth value
        return None


def meaning_of_text(text: str) -> float | str | None:
    word = text.strip(BLANKS)
    if word and word[0] not in STARTS:
        return text
    if _NUMBER.fullmatch(word):
        return rounded(float(word))
    if _NOTHING.fullmatch(word):
        return None
    return TRUTH.get(word.lower(), text) if _WORDS.fullmatch(word) else text


def rounded(number: float) -> float:
    """To 15 significant digits, and -0 becomes 0."""
    return float(f"{number:.{DIGITS}g}") + 0.0


def fits(number: Any) -> bool:
    """Whether a number, or the text of one, has at most 15 significant digits."""
    try:
        exact = Decimal(number.strip(BLANKS) if isinstance(number, str) else number)
    except ArithmeticError:
        return False
    nearest = f"{_float(exact):.{DIGITS}g}"
    if isinstance(number, float):
        return math.isinf(number) or float(nearest) == number
    return not exact.is_finite() or Decimal(nearest) == exact


def _is_number(kind: type) -> bool:
    return issubclass(kind, numbers.Real | Decimal | np.bool_) and not issubclass(kind, np.timedelta64)


def _float(cell: Any) -> float:
    try:
        return float(cell)
    except OverflowError:  # too large for a float
        return math.inf if cell > 0 else -math.inf
    except Exception:  # a signalling Decimal
        return math.nan


# -- many cells --------------------------------------------------------------------------------------------------------


def rounded_all(x: Floats) -> Floats:
    """`rounded` for every float; NaN stays NaN."""
    if len(x) <= FEW:
        return np.array([rounded(v) + 0.0 if math.isfinite(v) else v for v in x.tolist()])
    out = x + 0.0
    rest = np.flatnonzero(np.isfinite(x))
    for places in _PLACES:
        ten = 10.0**places
        with np.errstate(over="ignore"):
            steps = np.rint(x[rest] * ten)
        rest = rest[~((steps / ten == x[rest]) & (np.abs(steps) < MAX_15_DIGITS))]  # the others have 15 digits already
        if not len(rest):
            return out
    distinct, which = np.unique(x[rest], return_inverse=True)  # the same number in many rows is rounded once
    out[rest] = np.array([rounded(v) for v in distinct.tolist()])[which]
    return out


def numbers_in_cells(items: Sequence[Any]) -> tuple[Floats, Mask]:
    """Python objects as floats, NaN where a cell is not a number; and which of those are missing.

    One type at a time, so that no cell changes how another is read. Not yet rounded to 15 digits.
    """
    out, missing = np.full(len(items), np.nan), np.zeros(len(items), bool)
    for kind, at, cells in by_type(items):
        found: Any = np.nan
        if issubclass(kind, str | bytes):
            found, missing[at] = _numbers_in_texts(cells)
        elif kind is type(None):
            missing[at] = True
        elif kind in (bool, float) or issubclass(kind, np.bool_ | np.floating):
            found = np.array(cells, np.float64)
            missing[at] = np.isnan(found)
        elif _is_number(kind):
            found = np.fromiter(map(_float, cells), np.float64, len(cells))
            missing[at] = np.isnan(found)
        else:
            missing[at] = [meaning(cell) is None for cell in cells]
        out[at] = found
    return out, missing


def _numbers_in_texts(texts: Sequence[Any]) -> tuple[Floats, Mask]:
    known = {text: meaning(text) for text in set(texts)}  # each distinct text once
    meant = [known[text] for text in texts]
    found = np.fromiter((m if isinstance(m, float) else math.nan for m in meant), np.float64, len(meant))
    return found, np.fromiter((m is None for m in meant), bool, len(meant))


def by_type(items: Sequence[Any]) -> Iterator[tuple[type, Any, Sequence[Any]]]:
    """The cells of every type, and where they are."""
    types = list(map(type, items))
    distinct = set(types)
    for kind in distinct:
        if len(distinct) == 1:
            yield kind, slice(None), items
        else:
            at = np.flatnonzero(np.fromiter(map(operator.is_, types, itertools.repeat(kind)), bool, len(items)))
            yield kind, at, [items[i] for i in at.tolist()]


def numbers_in_text(column: Any) -> tuple[Any, Any]:
    """The numbers in an Arrow array of text or bytes: doubles, null where there is none; and the missing cells."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = column.cast(pa.large_binary())  # text may hold bytes that are not UTF-8
    word = rf"[{BLANKS}]*(?:{NUMBER}|{WORDS})[{BLANKS}]*"
    good = pc.match_substring_regex(column, rf"^(?:{word})$")
    text = pc.if_else(good, column, pa.scalar(None, column.type)).cast(pa.large_string())
    text = pc.ascii_lower(pc.ascii_trim_whitespace(text))
    for name, value in TRUTH.items():
        text = pc.if_else(pc.equal(text, name), f"{value:g}", text)
    missing = column.is_null()
    if pc.any(pc.invert(good)).as_py():
        nothing = pc.match_substring_regex(column, rf"^[{BLANKS}]*(?:{NOTHING})[{BLANKS}]*$")
        missing = pc.or_(missing, nothing.fill_null(False))
    return text.cast(pa.float64()), missing
