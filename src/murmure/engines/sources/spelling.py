"""The text of a cell, rewritten as a file without [file] would write it: 1234.5, 2024-03-05, true, or nothing.

What becomes of a cell depends on its text, on the format of the file and on the domain of its column: three public
rules and one cell. So no row changes how another is read, whatever the file holds (decision 0040).

    number   "1 234,50 €" -> "1234.50"; a text that is a number only in other files ("1.5" instead of 1,5) is marked
    date     "5/3/2024 10:20" -> "2024-03-05"; two digits of a year mean 1930 to 2029, as in spreadsheets
    truth    "Oui" -> "true"
    label    the word for yes or no that the column has among its labels; any other text as it is
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

from murmure.core.cells.meaning import BLANKS, NUMBER
from murmure.core.column import Column
from murmure.core.domain import Categories, Dates
from murmure.core.file_format import FileFormat
from murmure.core.schema import Schema
from murmure.core.types import NumberDomain

SPACES = "\u00a0\u202f\u2007\u2009"  # of fixed width: marks of thousands, and blanks before a unit
ALL_BLANKS = BLANKS + SPACES
APOSTROPHES = "'\u2019"
NOT_A_NUMBER_HERE = " (?)"  # behind a text that is a number in other files: no number, and people see the text
TIME = r"(?:[ T][0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?)?"
DATE_PARTS = {  # where year, month and day are
    "year-month-day": (r"([0-9]{4})[/.\- ]([0-9]{1,2})[/.\- ]([0-9]{1,2})", r"\1-0\2-0\3"),
    "day/month/year": (r"([0-9]{1,2})[/.\- ]([0-9]{1,2})[/.\- ]([0-9]{4}|[0-9]{2})", r"\3-0\2-0\1"),
    "month/day/year": (r"([0-9]{1,2})[/.\- ]([0-9]{1,2})[/.\- ]([0-9]{4}|[0-9]{2})", r"\3-0\1-0\2"),
}
MONTH_OF_YEAR = (r"^([0-9]{1,2})[/.\-]([0-9]{4})$", r"\2-0\1")

Kind = Literal["number", "date", "truth", "label"]


@dataclass(frozen=True)
class Spelling:
    """What the cells of a column are, and the labels that they may be."""

    kind: Kind = "label"
    labels: tuple[str, ...] = ()  # texts that are answers, and so never mean a missing one
    yes: str | None = None  # the label that is a word for yes, and the one that is a word for no
    no: str | None = None


def spellings(schema: Schema) -> dict[str, Spelling]:
    """How the cells of every column are written, by its domain and the schema's [file]."""
    return {name: spelling_of(column, schema.file) for name, column in schema.column_specs.items()}


def spelling_of(column: Column, file: FileFormat) -> Spelling:
    domain = column.domain
    if isinstance(domain, Dates):
        return Spelling("date")
    if isinstance(domain, NumberDomain):
        return Spelling("number")
    assert isinstance(domain, Categories)
    if isinstance(domain.values, int):
        return Spelling("number")
    labels = tuple(str(value) for value in domain.values if isinstance(value, str))
    if not labels:
        return Spelling("truth" if all(isinstance(value, bool) for value in domain.values) else "number")
    if column.missing == "value":
        labels = (*labels, str(column.missing_value))
    yes, no = (
        next((label for label in labels if label.lower() in {w.lower() for w in words}), None)
        for words in (file.yes, file.no)
    )
    return Spelling("label", labels, *((yes, no) if yes and no else ()))


def rewrite(column: Any, spelling: Spelling, file: FileFormat) -> Any:
    """An Arrow array of text, each cell rewritten; null where the cell says that there is no value."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        known = rewrite(column.dictionary, spelling, file)
        return known.take(column.indices)
    text = column if pa.types.is_string(column.type) else column.cast(pa.string())
    trimmed = pc.utf8_trim(text, ALL_BLANKS)
    missing = [word for word in file.missing if word not in spelling.labels]
    if missing:
        nothing = pc.is_in(trimmed, pa.array(missing, pa.string()))
        text, trimmed = (pc.if_else(nothing, pa.scalar(None, pa.string()), t) for t in (text, trimmed))
    if spelling.kind == "number":
        return _numbers(trimmed, file)
    if spelling.kind == "date":
        return _dates(trimmed, file)
    if spelling.kind == "truth":
        return _words(trimmed, trimmed, file, "true", "false")
    plain = trimmed if file.trim else text
    if spelling.yes is None:
        return plain
    # A text that is an answer itself stays that answer: "o" beside "oui".
    answer = pc.is_in(plain, pa.array(spelling.labels, pa.string()))
    return pc.if_else(answer, plain, _words(plain, trimmed, file, spelling.yes, spelling.no))


def _numbers(text: Any, file: FileFormat) -> Any:
    import pyarrow.compute as pc

    marks = {" ": " " + SPACES, "'": APOSTROPHES}.get(file.thousands, file.thousands)
    point, group = re.escape(file.decimal), f"[{re.escape(marks)}]" if marks else ""
    whole = rf"(?:[0-9]{{1,3}}(?:{group}[0-9]{{3}})+|[0-9]+)" if marks else "[0-9]+"
    units = "|".join(map(re.escape, file.units))
    unit = rf"(?:[{ALL_BLANKS}]*(?:{units}))?" if units else ""
    number = (
        rf"^([+\-\x{{2212}}]?)[{ALL_BLANKS}]?((?:{whole}(?:{point}[0-9]*)?|{point}[0-9]+)(?:[eE][+-]?[0-9]+)?){unit}$"
    )
    good = pc.match_substring_regex(text, number)
    plain = pc.replace_substring_regex(text, number, r"\1\2")
    for mark in marks:
        plain = pc.replace_substring(plain, mark, "")
    plain = pc.replace_substring(pc.replace_substring(plain, file.decimal, "."), "\u2212", "-")
    # Infinity is written alike everywhere; any other number that this file would not write so is none here.
    elsewhere = pc.and_(pc.match_substring_regex(text, rf"^(?:{NUMBER})$"), pc.match_substring_regex(text, "[0-9]"))
    marked = pc.binary_join_element_wise(text, NOT_A_NUMBER_HERE, "")
    return pc.if_else(good, plain, pc.if_else(elsewhere, marked, text))


def _dates(text: Any, file: FileFormat) -> Any:
    import pyarrow.compute as pc

    parts, order = DATE_PARTS[file.dates]
    pattern = rf"^{parts}{TIME}$"
    good = pc.match_substring_regex(text, pattern)
    iso = pc.replace_substring_regex(text, pattern, order)
    iso = pc.replace_substring_regex(iso, r"-0([0-9]{2})", r"-\1")  # a 0 before two digits
    iso = pc.replace_substring_regex(iso, r"^([0-2][0-9])-", r"20\1-")
    iso = pc.replace_substring_regex(iso, r"^([3-9][0-9])-", r"19\1-")
    month, order = MONTH_OF_YEAR
    by_month = pc.replace_substring_regex(pc.replace_substring_regex(text, month, order), r"-0([0-9]{2})$", r"-\1")
    return pc.if_else(good, iso, pc.if_else(pc.match_substring_regex(text, month), by_month, text))


def _words(plain: Any, trimmed: Any, file: FileFormat, yes: str, no: str | None) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    lower = pc.utf8_lower(trimmed)
    for words, label in ((file.yes, yes), (file.no, no)):
        if words:
            meant = pc.is_in(lower, pa.array([word.lower() for word in words], pa.string()))
            plain = pc.if_else(meant, pa.scalar(label, pa.string()), plain)
    return plain
