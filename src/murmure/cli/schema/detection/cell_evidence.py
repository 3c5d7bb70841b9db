"""What the cells of a column look like, added up over a file: numbers and their marks, dates, words.

Nothing is decided here, and hardly anything is kept: counts, a few words, and the largest parts of dates.
"""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from murmure.core.domain import Categories, Dates, Domain
from murmure.engines.sources.object_rows import text_of_cell
from murmure.engines.sources.spelling import ALL_BLANKS, APOSTROPHES, SPACES

# What people and programs write where there is no value.
MISSING_WORDS = frozenset(
    (
        *("NA", "N/A", "n/a", "N.A.", "n.a.", "#N/A", "#N/D", "NaN", "NULL", "null", "Null", "NR", "N.R.", "n.r."),
        *("ND", "N.D.", "n.d.", "NC", "N.C.", "n.c.", "NSP", "nsp", "k.A.", "k. A.", "-", "--", ".", "..", "?", "??"),
    )
)
YES_NO = (  # pairs of the same language and length
    ({"oui"}, {"non"}),
    ({"o"}, {"n"}),
    ({"oui", "o"}, {"non", "n"}),
    ({"vrai"}, {"faux"}),
    ({"yes"}, {"no"}),
    ({"y"}, {"n"}),
    ({"yes", "y"}, {"no", "n"}),
    ({"ja", "j"}, {"nein", "n"}),
    ({"ja"}, {"nee"}),
    ({"wahr"}, {"falsch"}),
    ({"sí", "si", "s"}, {"no", "n"}),
    ({"sì", "si"}, {"no"}),
    ({"sim", "s"}, {"não", "nao", "n"}),
    ({"tak"}, {"nie"}),
)
UNITS = frozenset(
    (
        *("€", "$", "£", "¥", "k€", "K€", "M€", "EUR", "eur", "euros", "USD", "CHF", "GBP", "%", "‰", "°", "°C", "kg"),
        *("g", "mg", "cm", "mm", "m", "km", "m²", "m2", "ha", "h", "min", "s", "ans", "an", "years", "yrs", "kWh"),
    )
)
MAX_DIFFERENT = 1001  # different cells of a column that are kept
MAX_WORDS = 60  # different words of a column that are kept
NUMBER = re.compile(
    rf"[+\-\u2212]?[{ALL_BLANKS}]?(?P<body>9[9.,_{APOSTROPHES} {SPACES}]*|[.,]9+)(?P<exponent>[eE][+-]?9+)?"
    rf"[{ALL_BLANKS}]*(?P<unit>[^\s0-9.,+\-][^0-9.,+\-]{{0,5}})?"
)
MARK = re.compile(r"[^0-9]")
MARK_BEFORE = re.compile(r"([\u20ac$\u00a3\u00a5]|[A-Z]{3})[ \u00a0\u202f]?9[9.,]*")  # $ 12, EUR 12
# Of shapes, in which every digit is a 9. A number with a point, 12.2024, is a number.
DAY = re.compile(r"(9{1,2}(?=.*\D99)|9{4})([/.\- ])(9{1,2})\2(9{1,2}|9{4})(?:[ T]9{1,2}:99(?::99(?:\.9+)?)?)?")
MONTH = re.compile(r"(9{1,2})[/\-](9{4})|(9{4})[/\-](9{1,2})")
NINES = {ord(digit): "9" for digit in "012345678"}


@dataclass
class ColumnEvidence:
    """Counts of different cells, so that one word in many rows weighs no more than another."""

    cells: int = 0  # that are neither empty nor a word for a missing value
    numbers: int = 0
    plain: int = 0  # numbers without any mark
    codes: int = 0  # numbers that start with a zero: names written in digits
    decimal: Counter[str] = field(default_factory=Counter)  # by mark, where it is certain
    thousands: Counter[str] = field(default_factory=Counter)
    either: Counter[str] = field(default_factory=Counter)  # 1,234: a mark of thousands, or of decimals
    units: Counter[str] = field(default_factory=Counter)
    marks_before: Counter[str] = field(default_factory=Counter)  # $12: no setting of [file] reads it
    dates: int = 0
    year_first: int = 0
    first_part: int = 0  # the largest first and second part of dates that end with the year
    second_part: int = 0
    date_marks: Counter[str] = field(default_factory=Counter)
    padded: int = 0
    empty: int = 0
    missing: Counter[str] = field(default_factory=Counter)
    words: set[str] = field(default_factory=set)  # other cells, at most MAX_WORDS
    others: int = 0
    is_truth: bool = False  # declared as true or false
    different: set[int] = field(default_factory=set)  # hashes of different cells, at most MAX_DIFFERENT

    def add(self, cells: Iterable[str]) -> None:
        """Cells of one shape, 9 for every digit, are looked at together: a column has many cells and few shapes."""
        shapes: dict[str, list[str]] = {}
        for written in cells:
            cell = written.strip(ALL_BLANKS)
            self.padded += len(cell) != len(written)
            shapes.setdefault(cell.translate(NINES), []).append(cell)
        for shape, alike in shapes.items():
            self._add_shape(shape, alike)

    def add_objects(self, cells: Iterable[Any]) -> None:
        """Cells of a workbook or a database, which are text or have a type already."""
        different = {cell for cell in cells if cell is not None}
        self.add({cell for cell in different if isinstance(cell, str)})
        for cell in different:
            if isinstance(cell, str):
                continue
            self.cells += 1
            if isinstance(cell, int | float | Decimal) and not isinstance(cell, bool):
                self.numbers += 1
                self.plain += 1
            elif isinstance(cell, datetime.date):
                self.dates += 1
            else:
                self.others += 1
                self.words.add(text_of_cell(cell) or "")

    def _add_shape(self, shape: str, cells: list[str]) -> None:
        if not shape:
            self.empty += len(cells)
        elif shape in MISSING_WORDS:
            self.missing[shape] += len(cells)
        else:
            self.cells += len(cells)
            self.different.update(map(hash, cells[: MAX_DIFFERENT - len(self.different)]))
            day, month = DAY.fullmatch(shape), MONTH.fullmatch(shape)
            rest = self._add_days(day, cells) if day else self._add_months(month, cells) if month else cells
            if rest and not self._add_numbers(shape, rest):
                self.others += len(rest)
                if before := MARK_BEFORE.fullmatch(shape):
                    self.marks_before[before[1]] += len(rest)
                self.words.update(rest[: MAX_WORDS - len(self.words)])

    def _add_days(self, day: re.Match[str], cells: list[str]) -> list[str]:
        """The cells that are not dates, though they look like some."""
        first, second, third = (slice(*day.span(group)) for group in (1, 3, 4))
        year_first, rest = day.end(1) == 4, []
        for cell in cells:
            a, b, c = int(cell[first]), int(cell[second]), int(cell[third])
            if year_first and 1 <= b <= 12 and 1 <= c <= 31:
                self.year_first += 1
            elif not year_first and 1 <= min(a, b) <= 12 and max(a, b) <= 31:
                self.first_part, self.second_part = max(self.first_part, a), max(self.second_part, b)
            else:
                rest.append(cell)
        self.dates += len(cells) - len(rest)
        self.date_marks[day[2]] += len(cells) - len(rest)
        return rest

    def _add_months(self, month: re.Match[str], cells: list[str]) -> list[str]:
        """03/2024, 2024-03."""
        where = slice(*month.span(1 if month[1] else 4))
        rest = [cell for cell in cells if not 1 <= int(cell[where]) <= 12]
        self.dates += len(cells) - len(rest)
        self.year_first += 0 if month[1] else len(cells) - len(rest)
        return rest

    def _add_numbers(self, shape: str, cells: list[str]) -> bool:
        found = NUMBER.fullmatch(shape)
        if found is None:
            return False
        unit = (found["unit"] or "").strip(ALL_BLANKS)
        if unit and unit not in UNITS:
            return False
        body = found["body"].rstrip(ALL_BLANKS)
        marks = [_usual_mark(mark) for mark in MARK.findall(body)]
        zero = found.start("body")  # a first digit 0: 0,123 has no thousands, and 007 is a name
        zeros = sum(cell[zero] == "0" for cell in cells)
        if not self._add_marks(marks, MARK.split(body), len(cells) - zeros, zeros):
            return False
        self.numbers += len(cells)
        if unit:
            self.units[unit] += len(cells)
        return True

    def _add_marks(self, marks: list[str], groups: list[str], n: int, zeros: int) -> bool:
        """Count what the marks of n + zeros numbers say; False if this is no way to write a number."""
        if not marks:
            self.plain += n + zeros
            self.codes += zeros if len(groups[0]) > 1 else 0
            return True
        *before, last = marks
        in_threes = all(len(group) == 3 for group in groups[1:]) and 1 <= len(groups[0]) <= 3
        if not before and last in ".,":
            counts = self.either if in_threes else self.decimal
            counts[last] += n
            self.decimal[last] += zeros
        elif len(set(marks)) == 1 and in_threes:
            self.thousands[last] += n + zeros
        elif _grouped(before, last, groups):
            self.thousands[before[0]] += n + zeros
            self.decimal[last] += n + zeros
        else:
            return False
        return True

    def for_domain(self, domain: Domain) -> ColumnEvidence:
        """What counts where the column is declared: labels are neither numbers nor words for missing values."""
        words = ColumnEvidence(cells=self.cells, others=self.cells, missing=self.missing.copy(), padded=self.padded)
        if isinstance(domain, Dates):
            return self if self.dates else words
        values = () if not isinstance(domain, Categories) or isinstance(domain.values, int) else domain.values
        labels = {label for label in values if isinstance(label, str)}
        if any(isinstance(value, bool) for value in values):
            words.words, words.is_truth = self.words, True
        elif not labels:
            return self if self.is_number else words
        for label in labels & words.missing.keys():
            del words.missing[label]
        if any(label != label.strip(ALL_BLANKS) for label in labels):
            words.padded = 0
        return words

    # -- what the column is, as far as its cells tell

    @property
    def is_number(self) -> bool:
        return self.numbers > 0 and self.numbers >= 0.9 * self.cells

    @property
    def mark_before(self) -> str | None:
        """The mark that nearly all cells have before a number."""
        return next((mark for mark, n in self.marks_before.items() if n >= 0.9 * self.cells), None)

    @property
    def is_date(self) -> bool:
        return self.dates > 0 and self.dates >= 0.9 * self.cells

    @property
    def yes_no(self) -> tuple[set[str], set[str]] | None:
        """The words for yes and for no, if the column holds nothing else, and both."""
        words = {word.casefold() for word in self.words}
        if self.others < self.cells or not 2 <= len(words) <= 6:
            return None
        for yes, no in YES_NO:
            if words <= yes | no and words & yes and words & no:
                return words & yes, words & no
        return None


def _usual_mark(mark: str) -> str:
    return " " if mark in SPACES else "'" if mark in APOSTROPHES else mark


def _grouped(before: list[str], last: str, groups: list[str]) -> bool:
    """Whether these are the parts of 1.234.567,89: one mark between groups of three, another before the decimals."""
    in_threes = all(len(group) == 3 for group in groups[1:-1]) and 1 <= len(groups[0]) <= 3
    return last in ".," and bool(before) and {*before} == {before[0]} != {last} and in_threes
