"""Dates as people write them: a day, a week, a month or a year between two public ends.

    code i stands for the i-th period after the first

They are labels that have an order (decision 0042): what counts labels counts dates, and what needs an order (a median,
a condition between two dates, moving a date to the nearest end) knows it. They are not numbers, and have no mean.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from murmure.core.categories import Categories
from murmure.core.cells.parsed_columns import (
    ISO_HINT,
    WIDEN_HINT,
    Codes,
    ParsedColumn,
    add_outside,
    clamp_outside,
    one_column,
)
from murmure.core.cells.parsed_dates import DateUnit, date_meaning, parse_dates, period_labels, printable_date
from murmure.core.domain_policies import (
    MISSING_NUMBER_HINT,
    Outside,
    check_outside,
    of_column,
    policy_fields,
    settings_repr,
)
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.types import Mask

if TYPE_CHECKING:
    from datetime import date

NO_MEAN_OF_DATES = Phrase(
    "dates are counted, and have quantiles: Histogram(domain), Quantile(domain); for a mean or a model, hold a number "
    "of days in the data and declare it as Integers(0, 365)"
)
ENDS_HINT = Phrase('ends are public constants, as dates or as text: Dates("2024-01-01", "2024-12-31")')


@dataclass(frozen=True, repr=False, eq=False, init=False)
class Dates(Categories):
    """A day, week, month or year between two public ends, both included: `Dates("2024-01", "2024-12", unit="month")`.

    A cell is a date or a time of any library, or a text as ISO 8601 writes it (core/cells/parsed_dates.py): 2024-03-05
    or 2024-03-05T10:20:00, and where the unit is no finer 2024-W10, 2024-03 or 2024. A time counts on the day that its
    own clock shows. Weeks start on Monday.

    >>> import murmure as mu
    >>> admitted = mu.Dates("2024-01-01", "2024-12-31", unit="month")
    >>> print(admitted.size, admitted.encode(["2024-03-05", "2024-03", "2024-12-31"]).tolist(), admitted.label(2))
    12 [2, 2, 11] 2024-03
    >>> print(mu.Dates("2020-12-28", "2021-01-10", unit="week").labels())
    ['2020-W53', '2021-W01']
    >>> try:
    ...     admitted.encode(["05/03/2024"])
    ... except mu.MurmureError as error:
    ...     print(error)
    Dates: row 0 holds '05/03/2024' (1 outside in all here); wanted a month from 2024-01 to 2024-12.
      Hint: correct those rows, or write them as ISO dates: 2024-03-05
    """

    first: str = ""  # the label of the first period
    last: str = ""  # the label of the last period
    unit: DateUnit = "day"
    _first: int = field(init=False, default=0)  # the number of the first period
    _size: int = field(init=False, default=0)

    def __init__(
        self,
        first: str | date,
        last: str | date,
        unit: DateUnit = "day",
        column: str | None = None,
        absent: str | date | None = None,
        outside: Outside = "refuse",
    ) -> None:
        if not isinstance(unit, str) or unit not in get_args(DateUnit):
            raise InvalidParameter(
                "Dates.unit must be one of {units}, got {got}.",
                units=", ".join(map(repr, get_args(DateUnit))),
                got=shorten(unit),
            )
        check_outside("Dates", outside, labels=False)
        ends = [_period(unit, name, end) for name, end in (("first", first), ("last", last))]
        texts = [period_labels(unit, end, 1)[0] for end in ends]
        if ends[1] <= ends[0]:
            raise InvalidParameter(
                "Dates needs first before last, got {first} and {last}.",
                hint="the earlier one comes first; a question with one possible answer has nothing to protect",
                first=texts[0],
                last=texts[1],
            )
        settings = {"first": texts[0], "last": texts[1], "unit": unit, "column": column, "outside": outside}
        for name, value in (settings | {"absent": None, "_first": ends[0], "_size": ends[1] - ends[0] + 1}).items():
            object.__setattr__(self, name, value)
        if absent is not None:
            object.__setattr__(self, "absent", self.constant("Dates.absent", absent))

    def constant(self, name: str, value: object) -> str:
        """A public constant of the domain, as its label."""
        label = self.any_date(name, value)
        if not 0 <= self.distance(label) < self.size:
            raise self._refuse_constant(name, value)
        return label

    def any_date(self, name: str, value: object) -> str:
        """A public date, as the label of its period, which may lie outside."""
        period = date_meaning(self.unit, value)
        if not isinstance(period, int):
            raise self._refuse_constant(name, value)
        return period_labels(self.unit, period, 1)[0]

    def _refuse_constant(self, name: str, value: object) -> InvalidParameter:
        return InvalidParameter(
            "{name} must be {value}, got {got}.", name=name, value=self.describe(), got=shorten(value)
        )

    def distance(self, label: str) -> int:
        """How many periods after the first one this one comes; its code, where the domain holds it."""
        period = date_meaning(self.unit, label)
        assert isinstance(period, int)
        return period - self._first

    def _identity(self) -> tuple[Any, ...]:
        return self.first, self.last, self.unit, self.column, self.absent, self.outside

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Categories):
            return NotImplemented
        return isinstance(other, Dates) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def replaced(self, **settings: Any) -> Dates:
        kept = {"column": self.column, "absent": self.absent, "outside": self.outside}
        return Dates(self.first, self.last, self.unit, **kept | settings)

    @property
    def size(self) -> int:
        return self._size

    @cached_property  # type: ignore[misc]  # labels are listed where somebody asks for them
    def values(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(period_labels(self.unit, self._first, self.size))

    def parse(self, values: Any) -> ParsedColumn:
        """The codes of a column, and which rows are missing or outside."""
        values = one_column(values)
        column = parse_dates(self, values)
        parsed = ParsedColumn(column.array - self._first, column.missing, [], partial(printable_date, values))
        if column.unreadable is not None:
            add_outside(parsed, column.unreadable, ISO_HINT)
        codes = parsed.codes
        if len(codes) and not (codes.min() >= 0 and codes.max() < self.size):
            add_outside(parsed, (codes < 0) | (codes >= self.size), WIDEN_HINT)
        return clamp_outside(self, values, parsed)

    def nearest_codes(self, values: Any, parsed: ParsedColumn, rows: Mask) -> Codes:
        """The first or the last code, for dates before or after them."""
        return np.clip(parsed.codes[rows], 0, self.size - 1)

    def label(self, code: int) -> str:
        return period_labels(self.unit, self._first + int(code), 1)[0]

    def labels(self) -> list[str]:
        return list(self.values)

    def numbers(self) -> None:
        return None

    ordered = True
    missing_hint = MISSING_NUMBER_HINT

    def public(self) -> str:
        fields = {"size": self.size, "first": self.first, "last": self.last}
        shown = {
            "day": Phrase("the {size:,} days {first} to {last}", **fields),
            "week": Phrase("the {size:,} weeks {first} to {last}", **fields),
            "month": Phrase("the {size:,} months {first} to {last}", **fields),
            "year": Phrase("the {size:,} years {first} to {last}", **fields),
        }
        return of_column(shown[self.unit], self)

    def describe(self) -> str:
        fields = {"first": self.first, "last": self.last}
        return {
            "day": Phrase("a date from {first} to {last}", **fields),
            "week": Phrase("a week from {first} to {last}", **fields),
            "month": Phrase("a month from {first} to {last}", **fields),
            "year": Phrase("a year from {first} to {last}", **fields),
        }[self.unit]

    def to_dict(self) -> dict[str, Any]:
        fields = {"type": "Dates", "first": self.first, "last": self.last, "unit": self.unit, "column": self.column}
        return fields | policy_fields(self)

    def __repr__(self) -> str:
        unit = "" if self.unit == "day" else f", unit={self.unit!r}"
        return f"Dates({self.first!r}, {self.last!r}{unit}{settings_repr(self)})"


def _period(unit: DateUnit, name: str, end: object) -> int:
    period = date_meaning(unit, end)
    if not isinstance(period, int):
        raise InvalidParameter("Dates.{name} must be a date, got {got}.", hint=ENDS_HINT, name=name, got=shorten(end))
    return period
