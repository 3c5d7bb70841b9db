"""Cells of tables as text: how many digits a number has, in the marks of the language."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from murmure.show.document import IntervalRow, Intervals, Number, Table
from murmure.show.language import Language
from murmure.show.phrase import Phrase, Written

UNKNOWN = "-"
MAX_ROWS, FIRST, LAST = 40, 30, 10  # longer tables show their first and last rows; frames and JSON have all
MAX_SHARE_DIGITS = 4  # decimals of per cent
TOO_NOISY = Phrase("too noisy")


def cell(value: Any, language: Language, head: str = "") -> str:
    """The text of a cell: five digits of a number, three decimals of a p-value and of t or z; not escaped for others.

    A phrase is said and escaped by the language; other texts are escaped by it.
    """
    if value is None:
        return language.escape(UNKNOWN)
    if isinstance(value, Number):
        return language.escape(written(value, language))
    if isinstance(value, bool | np.bool_):
        return language.escape(language.value(bool(value)))
    if isinstance(value, int | np.integer):
        return language.escape(language.number(int(value)))
    if isinstance(value, Fraction | np.floating):
        value = _float(value)
    if not isinstance(value, float):
        return language.say(value)
    text = _digits(value, head)
    return language.escape(language.small(value, 5) if language.powers and "e" in text else language.marks(text))


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def written(number: Number, language: Language) -> str:
    value = number.value
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return language.say(TOO_NOISY) if value is not None else UNKNOWN
    if number.style == "count":
        return language.number(value, 0)
    if number.style == "share":
        return _share(float(value), number.digits, language)
    if number.style == "fixed":
        return language.number(value, number.digits)
    if number.style == "exact":
        return language.exact(value)
    return language.small(value) if number.style == "small" else language.plain(value)


def _share(value: float, digits: int, language: Language) -> str:
    """Per cent; with more digits, or as "< 0.0001%", where it would look like 0 or 100 and is neither."""
    text = language.percent(value, digits)
    if not 0 < value < 1 or text not in (language.percent(0.0, digits), language.percent(1.0, digits)):
        return text
    away = 100 * min(value, 1 - value)  # from the nearer end
    least = 10.0**-MAX_SHARE_DIGITS
    if away >= least:
        return language.percent(value, min(1 - math.floor(math.log10(away)), MAX_SHARE_DIGITS))
    sign, nearest = ("< ", least / 100) if value < 0.5 else ("> ", 1 - least / 100)
    return sign + language.percent(nearest, MAX_SHARE_DIGITS)


def _digits(value: float, head: str) -> str:
    if not math.isfinite(value):
        return UNKNOWN if math.isnan(value) else "inf" if value > 0 else "-inf"
    if head.startswith(("P>", "Prob", "p-value")) or head == "p":
        return "<0.001" if value < 0.0005 else f"{value:.3f}"
    if head in ("t", "z") and abs(value) < 1e4:
        return f"{value + 0.0:.3f}"
    return five_digits(value)


def five_digits(value: float) -> str:
    """Five significant digits; with an exponent only if the number is huge or tiny."""
    size = abs(value)
    if size == 0:
        return "0"
    if not 1e-4 <= size < 1e9:
        return f"{value:.4e}"
    return f"{value:,.{max(0, 4 - math.floor(math.log10(size)))}f}"


def body(table: Table, language: Language) -> list[list[str]]:
    """The rows as text; long tables are shortened."""
    columns = list(zip(*table.rows, strict=True)) or [()] * len(table.head)
    whole = [_is_whole_column(column, head) for column, head in zip(columns, table.head, strict=True)]
    rows = [
        [cell(Number(v, "count") if w else v, language, h) for v, h, w in zip(row, table.head, whole, strict=True)]
        for row in table.rows
    ]
    if len(rows) <= MAX_ROWS + 1:
        return rows
    more = language.say(Phrase("... {n:,} more rows ...", n=len(rows) - FIRST - LAST))
    return [*rows[:FIRST], [more, *[""] * (len(table.head) - 1)], *rows[-LAST:]]


def _is_whole_column(column: Sequence[Any], head: str) -> bool:
    """Whether two or more numbers are all whole, as quantiles of ages are: no decimals then. Shares keep theirs."""
    if len(column) < 2 or not all(isinstance(v, float) and abs(v) < 1e9 and v == round(v) for v in column):
        return False
    return max(map(abs, column)) > 1 and _digits(1.0, head) != "1.000"  # a p-value, t or z keeps its decimals


def as_table(figures: Intervals) -> Table:
    """The figures of a picture as a table, for renderers without pictures."""
    rows, unit = figures.rows, figures.unit
    names = ["estimate", *(name for name in ("low", "high", "truth", "count") if any(_has(r, name) for r in rows))]
    heads = {
        "estimate": {"share": Phrase("share"), "count": Phrase("count"), "value": Phrase("value")}[unit],
        "low": Phrase("low"),
        "high": Phrase("high"),
        "truth": Phrase("truth"),
        "count": Phrase("count"),
    }
    whole = is_whole(figures)

    def figure(row: IntervalRow, name: str) -> Number | float | str | None:
        value = figures.named(getattr(row, name)) if name != "count" else row.count
        return value if isinstance(value, str) else _figure(value, "count" if name == "count" else unit, whole)

    body = [(row.label, *(figure(row, name) for name in names)) for row in rows]
    return Table(figures.title, (figures.label, *(heads[name] for name in names)), tuple(body))


def _has(row: Any, name: str) -> bool:
    return getattr(row, name) is not None


def is_whole(figures: Intervals) -> bool:
    """Whether all figures are whole numbers of something, as quantiles of ages are."""
    known = [v for row in figures.rows for v in (row.estimate, row.low, row.high) if v is not None]
    return figures.unit == "value" and all(math.isfinite(v) and v == round(v) for v in known if not math.isnan(v))


def _figure(value: float | None, unit: str, whole: bool) -> Number | float | None:
    """Counts and whole numbers without decimals, others with four, or with six digits in all."""
    if value is None or not abs(value) < 1e15:
        return value if value is None or not math.isnan(value) else Number(value)
    digits = 0 if whole or unit == "count" else 4
    if digits and abs(value) >= 1e4:
        digits = max(0, 5 - math.floor(math.log10(abs(value))))
    return Number(round(value, digits) + 0.0, "fixed", digits)  # + 0.0: no "-0"


def level_percent(level: float) -> str:
    """A level in per cent, with enough digits to differ from 100: 99.8, 99.9996."""
    return f"{100 * level:.{max(1, math.ceil(-math.log10(100 * (1 - level))))}f}".removesuffix(".0")


def as_precise(low: float, high: float, *values: float) -> list[Written]:
    """The numbers with just enough decimals to tell the two ends of an interval apart."""
    digits = interval_digits(Intervals("", (IntervalRow("", low, low, high),), "value"))
    return [Written(value, f"{value:,.{digits}f}") for value in (low, high, *values)]


def interval_digits(figures: Intervals) -> int:
    """Just enough decimals to tell the ends of an interval apart, on pages; of shares, in per cent."""
    shares = figures.unit == "share"
    if figures.unit == "count" or is_whole(figures):
        return 0
    ends: Sequence[tuple[float, float]] = [
        (r.low, r.high) for r in figures.rows if r.low is not None and r.high is not None
    ]
    widths = [high - low for low, high in ends if high > low]
    if not widths:
        return 1 if shares else 2
    width = float(np.median(widths)) * (100 if shares else 1)  # a few wide ones must not cost the others their digits
    return min(max(1 - math.floor(math.log10(width)), 1 if shares else 0), 6)
