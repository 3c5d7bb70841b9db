"""How the cells of a file are written, decided from what all of its columns look like.

One mark of decimals, one of thousands and one order of dates for the whole file: what a column leaves open (1,234 could
be two numbers) another may decide. What no column decides is taken as is usual for such a file, and said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from murmure.cli.schema.detection.cell_evidence import ColumnEvidence
from murmure.cli.schema.detection.detected import Detected
from murmure.core.errors import Phrase, Plural
from murmure.core.file_format import DateOrder

Columns = Mapping[str, ColumnEvidence]
COUNTRY_CODES = 15  # different words of two capitals, as in a column of countries, where NA is one
MAX_NAMED = 3
MARK_NAMES = {
    ".": Phrase("a point"),
    ",": Phrase("a comma"),
    " ": Phrase("a space"),
    "'": Phrase("an apostrophe"),
    "_": Phrase("an underscore"),
}


def detect_spelling(found: Detected, columns: Columns) -> Detected:
    """The settings of [file] that say how numbers, dates, missing values and booleans are written."""
    found = _numbers(found, {name: c for name, c in columns.items() if c.is_number and not c.codes})
    found = _units(found, columns)
    found = _dates(found, {name: c for name, c in columns.items() if c.is_date})
    found = _missing(found, columns)
    found = _truth(found, columns)
    return replace(_blanks(found, columns), columns=columns)


def _named(columns: Columns) -> str:
    shown = ", ".join(map(repr, list(columns)[:MAX_NAMED]))
    more = len(columns) - MAX_NAMED
    return shown if more <= 0 else Phrase("{names} and {more} more", names=shown, more=more)


def _added(columns: Columns, what: str) -> Counter[str]:
    total: Counter[str] = Counter()
    for column in columns.values():
        total.update(getattr(column, what))
    return total


def _with(columns: Columns, what: str, mark: str) -> Columns:
    return {name: column for name, column in columns.items() if getattr(column, what)[mark]}


# -- numbers


def _numbers(found: Detected, columns: Columns) -> Detected:
    decimals, thousands, either = (_added(columns, what) for what in ("decimal", "thousands", "either"))
    # A mark of thousands can be a mark of decimals elsewhere, and not in the same file.
    for mark in ".,":
        if thousands[mark] and decimals[mark] and not decimals["," if mark == "." else "."]:
            found = _conflict(found, columns, mark)
    decimal = "," if decimals[","] > decimals["."] else "."
    other = "." if decimal == "," else ","
    settled = bool(decimals[decimal])
    if decimals["."] and decimals[","]:
        found = found.doubting(
            Phrase(
                "{points} have decimal points and {commas} decimal commas; {mark} is read as the decimal mark, and the "
                "others stay text",
                points=_named(_with(columns, "decimal", ".")),
                commas=_named(_with(columns, "decimal", ",")),
                mark=MARK_NAMES[decimal],
            )
        )
    if not settled and either[","] and not thousands[","]:
        decimal, other, settled = _guessed_comma(found, thousands)
        found = _say_guess(found, columns, ",", decimal)
    elif not settled and either["."] and not thousands["."]:
        # 1.234 with nothing else to go by: as every other program would read it.
        found = _say_guess(found, columns, ".", decimal)
        settled = True
    elif not settled and (thousands["."] or thousands[","]):
        decimal = "," if thousands["."] > thousands[","] else "."
        other = "." if decimal == "," else ","
    if decimal == ",":
        words = Phrase("decimal mark: a comma, as in {names}", names=_named(_with(columns, "decimal", ",") or columns))
        found = found.setting(words, decimal=",")
    elif decimals["."]:
        words = Phrase("decimal mark: a point, as in {names}", names=_named(_with(columns, "decimal", ".")))
        found = found.setting(words, decimal=".")
    return _thousands(found, columns, thousands, either, decimal, other)


def _guessed_comma(found: Detected, thousands: Counter[str]) -> tuple[str, str, bool]:
    """What 1,234 means where no number decides: in a file with semicolons the comma is free to be a decimal mark."""
    if found.format.separator == ";" or thousands["."]:
        return ",", ".", True
    return ".", ",", True


def _say_guess(found: Detected, columns: Columns, mark: str, decimal: str) -> Detected:
    example = f"1{mark}234"
    value = "1.234" if mark == decimal else "1234"
    return found.doubting(
        Phrase(
            "{example} in {names} could be two numbers, and nothing in the file decides: it is read as {value}. If "
            "that is wrong, change decimal and thousands in [file]",
            example=example,
            names=_named(_with(columns, "either", mark)),
            value=value,
        )
    )


def _conflict(found: Detected, columns: Columns, mark: str) -> Detected:
    return found.doubting(
        Phrase(
            "{mark} is a decimal mark in {names} and a mark of thousands in {others}",
            mark=MARK_NAMES[mark],
            names=_named(_with(columns, "decimal", mark)),
            others=_named(_with(columns, "thousands", mark)),
        )
    )


def _thousands(
    found: Detected, columns: Columns, thousands: Counter[str], either: Counter[str], decimal: str, other: str
) -> Detected:
    votes = Counter({mark: n for mark, n in thousands.items() if mark != decimal})
    if either[other]:  # with 1,5 elsewhere in the file, 1.234 is one thousand and more
        votes[other] += either[other]
    if not votes:
        return found
    mark, _ = votes.most_common(1)[0]
    where = _with(columns, "thousands", mark) or _with(columns, "either", mark)
    found = found.setting(
        Phrase("mark of thousands: {mark}, as in {names}", mark=MARK_NAMES[mark], names=_named(where)), thousands=mark
    )
    if len(votes) > 1:
        found = found.doubting(
            Phrase(
                "thousands are marked in several ways ({marks}); only {mark} is read",
                marks=", ".join(sorted(MARK_NAMES[m] for m in votes)),
                mark=MARK_NAMES[mark],
            )
        )
    return found


def _units(found: Detected, columns: Columns) -> Detected:
    units = {name: c for name, c in columns.items() if c.is_number and 2 * c.units.total() >= c.numbers}
    marks = sorted({unit for column in units.values() for unit in column.units})
    if not marks:
        return found
    words = Phrase(
        "units behind numbers: {units}, as in {names}", units=", ".join(map(repr, marks)), names=_named(units)
    )
    return found.setting(words, units=tuple(marks))


# -- dates


def _dates(found: Detected, columns: Columns) -> Detected:
    day_first = {name: c for name, c in columns.items() if c.first_part > 12}
    month_first = {name: c for name, c in columns.items() if c.second_part > 12}
    year_last = {name: c for name, c in columns.items() if c.first_part}
    year_first = {name: c for name, c in columns.items() if c.year_first}
    if not year_last:
        if year_first:
            found = found.setting(
                Phrase("dates: year-month-day, as in {names}", names=_named(year_first)), dates="year-month-day"
            )
        return found
    order: DateOrder = "day/month/year"
    if day_first and month_first:
        order = "day/month/year" if len(day_first) >= len(month_first) else "month/day/year"
        found = found.doubting(
            Phrase(
                "some dates have a day above 12 first ({day}), some second ({month}); they are read as {order}, and "
                "the others do not match",
                day=_named(day_first),
                month=_named(month_first),
                order=order,
            )
        )
    elif day_first or month_first:
        order = "day/month/year" if day_first else "month/day/year"
    else:
        marks = _added(year_last, "date_marks")
        order = "month/day/year" if found.format.separator == "," and not marks["."] else "day/month/year"
        found = found.doubting(
            Phrase(
                "no date in {names} has a part above 12, so the order of day and month is open: they are read as "
                "{order}. If that is wrong, write the other order as dates in [file]",
                names=_named(year_last),
                order=order,
            )
        )
    if year_first:
        found = found.doubting(
            Phrase(
                "{iso} have the year first and {others} have it last; only {order} is read",
                iso=_named(year_first),
                others=_named(year_last),
                order=order,
            )
        )
    evidence = Phrase("dates: {order}, as in {names}", order=order, names=_named(day_first or month_first or year_last))
    return found.setting(evidence, dates=order)


# -- words


def _missing(found: Detected, columns: Columns) -> Detected:
    where: dict[str, dict[str, ColumnEvidence]] = {}
    for name, column in columns.items():
        for word in column.missing:
            if not (word == "NA" and _looks_like_countries(column)):
                where.setdefault(word, {})[name] = column
    doubtful = {name: c for name, c in columns.items() if c.missing["NA"] and _looks_like_countries(c)}
    if doubtful:
        found = found.doubting(
            Phrase("'NA' in {names} may be a code of a country, and is not taken as missing", names=_named(doubtful))
        )
    if not where:
        return found
    words = sorted(where)
    names = {name: column for by_word in where.values() for name, column in by_word.items()}
    taken = Phrase("missing values: {words}, as in {names}", words=", ".join(map(repr, words)), names=_named(names))
    return found.setting(taken, missing=tuple(words))


def _looks_like_countries(column: ColumnEvidence) -> bool:
    codes = [word for word in column.words if len(word) == 2 and word.isalpha() and word.isupper()]
    return len(codes) >= COUNTRY_CODES and len(codes) == len(column.words)


def _truth(found: Detected, columns: Columns) -> Detected:
    # Two words are two labels, and need no translation; three are two answers in several spellings.
    several = {name: column for name, column in columns.items() if column.is_truth or len(column.words) > 2}
    pairs = {name: pair for name, column in several.items() if (pair := column.yes_no) is not None}
    yes = sorted({word for pair in pairs.values() for word in pair[0]})
    no = sorted({word for pair in pairs.values() for word in pair[1]})
    if not pairs or set(yes) & set(no):
        return found
    return found.setting(
        Phrase(
            "yes and no: {yes} and {no}, as in {names}",
            yes=", ".join(map(repr, yes)),
            no=", ".join(map(repr, no)),
            names=_named({name: columns[name] for name in pairs}),
        ),
        yes=tuple(yes),
        no=tuple(no),
    )


def _blanks(found: Detected, columns: Columns) -> Detected:
    # Numbers and dates are read with blanks around them in any file; labels are not.
    padded = {name: c for name, c in columns.items() if c.padded and not c.is_number and not c.is_date}
    if not padded and not any(name != name.strip() for name in columns):
        return found
    names: Any = _named(padded or columns)
    return found.setting(Phrase("blanks around values are left out, as in {names}", names=names), trim=True)


def say_rows_that_differ(found: Detected, rows: int, ragged: int, lines: list[int], width: int) -> Detected:
    """Rows with another number of fields than the header."""
    if not ragged:
        return found
    return found.doubting(
        Plural(
            "{n:,} row of {rows:,} does not have {width} fields as the header has (line {lines}): commands that "
            "randomise refuse the file, queries leave the row out",
            "{n:,} rows of {rows:,} do not have {width} fields as the header has (lines {lines} ...): commands that "
            "randomise refuse the file, queries leave the rows out",
            n=ragged,
            rows=rows + ragged,
            width=width,
            lines=", ".join(map(str, lines)),
        )
    )
