"""Results as text: facts in two columns, tables with aligned numbers, wrapped notes."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from murmure.econometrics.algebra.rounding import to_float
from murmure.show.short_labels import cut, cut_labels

if TYPE_CHECKING:
    from murmure.econometrics.results.result import ModelResult, ResultTable

WIDTH = 78
MAX_NAME_WIDTH = 36  # letters of a name in a table
FIRST, LAST = 30, 10  # rows of a table that are shown
UNKNOWN = "-"


def figure(value: Any, head: str = "") -> str:
    """The text of a cell: five digits of a number, three decimals of a p-value and of t or z."""
    if value is None:
        return UNKNOWN
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | np.integer):
        return f"{value:_}".replace("_", " ")
    if isinstance(value, Fraction):
        value = to_float(value)
    if not isinstance(value, float | np.floating):
        return str(value)
    value = float(value)
    if not math.isfinite(value):
        return UNKNOWN if math.isnan(value) else "inf" if value > 0 else "-inf"
    if head.startswith(("P>", "Prob", "p-value")) or head == "p":
        return "<0.001" if value < 0.0005 else f"{value:.3f}"
    if head in ("t", "z") and abs(value) < 1e4:
        return f"{value + 0.0:.3f}"
    return number(value)


def number(value: float) -> str:
    """Five significant digits; with an exponent only if the number is huge or tiny."""
    size = abs(value)
    if size == 0:
        return "0"
    if not 1e-4 <= size < 1e9:
        return f"{value:.4e}"
    return f"{value:_.{max(0, 4 - math.floor(math.log10(size)))}f}".replace("_", " ")


def summary_text(result: ModelResult) -> str:
    """Title, facts, tables, notes, and how it was obtained."""
    tables = [table_text(table) for table in result.tables()]
    wide = max([WIDTH, *(len(line) for text in tables for line in text.split("\n"))])
    parts = [f"{cut(result.title, wide)}\n{'=' * wide}"]
    facts = _facts(result.facts())
    if facts:
        parts[0] += "\n" + facts
        parts.append("-" * wide)
    for text in tables:
        parts += [text, "-" * wide]
    parts[-1] = "=" * wide  # the last rule matches the first
    parts += [textwrap.fill(note, WIDTH, subsequent_indent="  ") for note in (*result.notes, *result.origin)]
    return "\n".join(parts)


Fact = tuple[str, str]


def facts_in_pairs(facts: Sequence[tuple[str, Any]]) -> list[tuple[Fact, Fact]]:
    """Facts as text, in two columns. A fact without a name is a gap, after which the second column begins."""
    texts = [(name, figure(value, name) if name else "") for name, value in facts]
    gap = next((i for i, (name, _) in enumerate(texts) if not name), None)
    half = -(-len(texts) // 2)
    left, right = (texts[:half], texts[half:]) if gap is None else (texts[:gap], texts[gap + 1 :])
    rows = max(len(left), len(right))
    left, right = (column + [("", "")] * (rows - len(column)) for column in (left, right))
    return list(zip(left, right, strict=True))


def _facts(facts: Sequence[tuple[str, Any]]) -> str:
    half = (WIDTH - 4) // 2
    return "\n".join(f"{_fact(*a, half)}    {_fact(*b, half)}".rstrip() for a, b in facts_in_pairs(facts))


def _fact(name: str, text: str, width: int) -> str:
    if not name:
        return " " * width
    room = width - len(name) - 2
    return f"{name}: {cut(text, room):>{room}}"


def cell_texts(table: ResultTable) -> list[list[str]]:
    """The rows as text. Long tables are shortened to their first and last rows; to_frame and tidy have all."""
    rows = list(table.rows)
    skipped = len(rows) - FIRST - LAST
    cells = [[figure(v, h) for v, h in zip(row, table.head, strict=True)] for row in rows]
    if skipped < 2:
        return cells
    gap = [f"... {figure(skipped)} more rows ...", *[""] * (len(table.head) - 1)]
    return [*cells[:FIRST], gap, *cells[-LAST:]]


def table_text(table: ResultTable) -> str:
    """The table as text: names to the left, numbers to the right; with many columns as wide as the page."""
    cells = [list(table.head), *cell_texts(table)]
    for row, name in zip(cells, cut_labels([row[0] for row in cells], MAX_NAME_WIDTH), strict=True):
        row[0] = name
    wide = [max(len(row[i]) for row in cells) for i in range(len(table.head))]
    spare = WIDTH - sum(wide) - 2 * (len(wide) - 1)
    if len(wide) > 1 and spare > 0:
        more = min(4, spare // (len(wide) - 1))
        wide[1:] = [w + more for w in wide[1:]]
        if len(wide) > 4:  # a table with few columns stays narrow, so that names and numbers stay close
            wide[0] += spare - more * (len(wide) - 1)
    lines = ["  ".join([f"{row[0]:<{wide[0]}}", *map(str.rjust, row[1:], wide[1:])]).rstrip() for row in cells]
    lines.insert(1, "-" * max(map(len, lines)))
    return "\n".join([table.title, *lines] if table.title else lines)
