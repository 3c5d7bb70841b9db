"""Rows of any kind as batches of one column: arrays, sequences, frames that Narwhals knows, Arrow."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any

import numpy as np

from murmure.core.errors import InvalidParameter, MissingColumn, Phrase, shorten

ROWS = 1 << 18  # a batch: large enough for the kernels, small enough for the cache and the memory


def batches(source: Any, column: str | None) -> Iterator[Any]:
    """The column, in batches. A bare domain (no column) takes a sequence or a one-column frame. (Files: tables.py.)"""
    if isinstance(source, np.ndarray | list | tuple):
        if isinstance(source, np.ndarray) and source.ndim == 0:
            raise InvalidParameter("cannot read rows from an array without dimensions.", hint="wrap it in a list")
        yield from _slices(source)
    else:
        yield from _slices(_from_frame(source, column))


def _slices(values: Any) -> Iterator[Any]:
    rows = values.iloc if hasattr(values, "iloc") else values  # by position: pandas 2 cuts a float index by label
    for a in range(0, len(values), ROWS):
        yield rows[a : a + ROWS]


def pick_column(names: list[str], column: str | None, what: str) -> str:
    if column is None:
        if len(names) == 1:
            return names[0]
        raise MissingColumn(
            "the domain names no column and {what} has {name_count}: {names}.",
            hint='take the domain from a schema (schema["age"]), or pass one column',
            what=what,
            name_count=len(names),
            names=shorten(names, 120),
        )
    if column not in names:
        near = difflib.get_close_matches(column.lower(), [n.lower() for n in names], 1)
        meant = [n for n in names if near and n.lower() == near[0]]
        raise MissingColumn(
            "{what} has no column {column!r}; it has {names}.",
            hint=Phrase("did you mean {meant!r}?", meant=meant[0])
            if meant
            else "the domain's column must be one of these",
            what=what,
            column=column,
            names=shorten(names, 120),
        )
    return column


def _from_frame(source: Any, column: str | None) -> Any:
    import narwhals as nw

    if type(source).__module__.partition(".")[0] == "pyarrow" and hasattr(source, "schema"):
        import pyarrow as pa

        if isinstance(source, pa.RecordBatch):  # Narwhals knows tables only
            source = pa.Table.from_batches([source])
    try:
        native = nw.from_native(source, allow_series=True)
    except TypeError:
        if hasattr(source, "__len__") and hasattr(source, "__getitem__") and not isinstance(source, dict):
            return source  # an Arrow array, or any other sequence
        raise InvalidParameter(
            "cannot read rows from {kind}.",
            hint="pass a list, an array, a pandas, Polars or Arrow table, a DuckDB relation or a path",
            kind=shorten(type(source).__name__),
        ) from None
    if isinstance(native, nw.Series):
        return native.to_native()
    name = pick_column(native.collect_schema().names(), column, Phrase("the frame"))
    selected = native.select(nw.col(name))
    frame = selected.collect() if isinstance(selected, nw.LazyFrame) else selected
    return frame.get_column(name).to_native()
