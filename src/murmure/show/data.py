"""Documents for machines: as plain lists and dictionaries for JSON, and as data frames. Always in English."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from murmure.show.document import Curves, Document, Facts, Intervals, Items, Number, Paragraph, Table

FRAMES = ("pandas", "polars", "pyarrow")  # the first that is installed is used


def to_dict(document: Document) -> dict[str, Any]:
    """Everything that the document holds."""
    return {
        "type": document.kind,
        "title": str(document.title),
        "facts": {str(name): plain(v) for facts in document.of(Facts) for name, v in facts.items if name},
        "tables": [_table(table) for table in tables_of(document)],
        "notes": [str(block.text) for block in document.of(Paragraph)] + _items(document),
    }


def _items(document: Document) -> list[str]:
    lists = (item for items in document.of(Items) for item in items.items)
    return [str(text) for item in lists for text in ((item,) if isinstance(item, str) else (item[0], *item[1]))]


def _table(table: Table) -> dict[str, Any]:
    rows = [[plain(cell) for cell in row] for row in table.rows]
    return {"title": str(table.title), "head": [str(name) for name in table.head], "rows": rows}


def tables_of(document: Document) -> list[Table]:
    """All tables, those behind pictures too; figures unrounded."""
    out = []
    for block in document.of(Table, Intervals, Curves):
        if isinstance(block, Intervals) and block.picture:
            continue
        table = (
            block if isinstance(block, Table) else exact_table(block) if isinstance(block, Intervals) else block.table
        )
        out += [] if table is None else [table]
    return out


def exact_table(figures: Intervals) -> Table:
    """The figures with all their digits."""
    names = [
        name for name in ("low", "high", "truth", "count") if any(getattr(r, name) is not None for r in figures.rows)
    ]
    rows = tuple(
        (row.label, *(figures.named(getattr(row, n)) if n != "count" else row.count for n in ("estimate", *names)))
        for row in figures.rows
    )
    return Table(figures.title, ("label", figures.unit, *names), rows)


def tidy(document: Document) -> list[dict[str, Any]]:
    """One dictionary for each row of every table."""
    tables = tables_of(document)
    out: list[dict[str, Any]] = []
    for table in tables:
        which = {"table": str(table.title)} if len(tables) > 1 else {}
        names = [str(name) or ("term" if i == 0 else f"column {i + 1}") for i, name in enumerate(table.head)]
        out += [which | dict(zip(names, map(plain, row), strict=True)) for row in table.rows]
    return out


def to_frame(document: Document, backend: str | None = None) -> Any:
    """`tidy` as a frame."""
    return frame_of(tidy(document), backend)


def frame_of(rows: list[dict[str, Any]], backend: str | None = None) -> Any:
    """A frame of pandas, polars or pyarrow, whichever is installed; else a dictionary of columns."""
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: [row.get(name) for row in rows] for name in names}
    backend = backend or next((name for name in FRAMES if importlib.util.find_spec(name)), None)
    if backend is None:
        return columns
    import narwhals as nw

    typed = {name: _of_one_type(column) for name, column in columns.items()}
    return nw.from_dict(typed, backend=backend).to_native()  # type: ignore[arg-type]


def _of_one_type(column: list[Any]) -> list[Any]:
    """The column with one type, as frames need it: all texts if there are texts, all floats if there are floats."""
    if any(isinstance(v, str) for v in column):
        return [v if v is None else str(v) for v in column]
    return [v if v is None else float(v) for v in column] if any(isinstance(v, float) for v in column) else column


def plain(value: Any) -> Any:
    """For JSON and frames: fractions and numpy's numbers as Python's; infinity and NaN as None."""
    if isinstance(value, Number):
        value = value.value
    if isinstance(value, Fraction):
        try:
            value = float(value)
        except OverflowError:
            return None
    elif isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value if value is None or isinstance(value, int | bool) else str(value)
