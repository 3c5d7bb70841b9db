"""Rows as text in one form wherever they come from, so that their digest says whether they are the same."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

import numpy as np

from murmure.core.types import Array
from murmure.lectures.data_sets.sources import DataSource

Row = tuple[str, ...]
MISSING = {"?", "", "nan", "None", "<NA>"}


def canonical(source: DataSource, rows: Iterable[Sequence[str]]) -> list[Row]:
    """Each cell in its shortest form; rows with a missing cell are left out. A ValueError for other rows."""
    numeric = [column in source.numbers for column in source.columns]
    out = []
    for row in rows:
        if len(row) != len(numeric):
            raise ValueError(f"a row of {len(row)} cells")
        cells = [cell.strip().strip("'") for cell in row]
        if not MISSING.isdisjoint(cells):
            continue
        out.append(tuple(_number(cell) if number else cell for cell, number in zip(cells, numeric, strict=True)))
    return out if source.in_order else sorted(out, key=_place)


def _number(cell: str) -> str:
    return format(float(cell), ".12g")


def _place(row: Row) -> bytes:
    """Copies differ in the order of their rows. By this one the first rows are as good as drawn at random."""
    return hashlib.sha256(",".join(row).encode()).digest()


def digest_of(rows: Sequence[Row]) -> str:
    return hashlib.sha256("\n".join(map(",".join, rows)).encode()).hexdigest()


def columns_of(source: DataSource, rows: Sequence[Row]) -> dict[str, Array]:
    """Whole numbers, numbers and labels; read-only, since every experiment gets the same arrays."""
    out = {}
    for name, cells in zip(source.columns, zip(*rows, strict=True), strict=True):
        column = np.array(cells)
        if name in source.numbers:
            column = column.astype(float)
            whole = column.astype(np.int64)
            column = whole if np.array_equal(whole, column) else column
        column.flags.writeable = False
        out[name] = column
    return out
