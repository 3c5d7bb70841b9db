"""Checks of counts before they are allocated or estimated: wrong counts would give figures that look right."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from murmure.core.errors import InvalidParameter, shorten
from murmure.core.types import Ints

MAX_TABLE = 1 << 20  # rows of a law
MAX_CELLS = 1 << 22  # figures at once: a label, a count, an estimate and two bounds of each are about a gigabyte


def room_for_cells(owner: str, cells: int) -> None:
    """Refuse, before anything is allocated, more counts than are kept at once."""
    if cells > MAX_CELLS:
        raise InvalidParameter(
            "{owner} counts {cells:_} values, more than the maximum of {max_cells:_}.",
            hint="use fewer values: wider cells (Interval(low, high, cells=...)) or groups of labels; or ask for a "
            "mean",
            owner=owner,
            cells=cells,
            max_cells=MAX_CELLS,
        )


def room_for_table(owner: str, rows: int) -> None:
    """Refuse a law that would be a table with too many rows, one for each value."""
    if rows > MAX_TABLE:
        raise InvalidParameter(
            "{owner} stores one row of its law for each of {rows:_} values, more than the maximum of {max_table:_} "
            "rows.",
            hint="use a coarser grid, Interval(low, high, cells=...), or Piecewise, which stores none",
            owner=owner,
            rows=rows,
            max_table=MAX_TABLE,
        )


def check_counts(owner: str, counts: Any, n: int, cells: int, each: Fraction | int | None) -> Ints:
    """Whole numbers from 0 to n, one for each cell; where every report supports `each` cells, n times that in all."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise InvalidParameter(
            "{owner}.estimate: n, the number of reports, must be at least 1, got {got}.", owner=owner, got=shorten(n)
        )
    tally = np.asarray(counts)
    if tally.shape != (cells,) or tally.dtype.kind not in "iu":
        raise InvalidParameter(
            "{owner}.estimate takes {cells} whole numbers, one count for each cell, got {dtype} of shape {shape}.",
            hint="tally(reports) returns them",
            owner=owner,
            cells=cells,
            dtype=tally.dtype,
            shape=tally.shape,
        )
    if len(tally) and not 0 <= int(tally.min()) <= int(tally.max()) <= n:
        raise InvalidParameter(
            "{owner}.estimate: each count of {n} reports must lie between 0 and {n}, got {tally_min} to {tally_max}.",
            hint="n is the number of reports that were counted",
            owner=owner,
            n=n,
            tally_min=tally.min(),
            tally_max=tally.max(),
        )
    whole = sum(int(v) for v in tally.tolist()) if n > 2**40 else int(tally.sum())
    if each is not None and whole != each * n:
        raise InvalidParameter(
            "{owner}.estimate: the counts of {n} reports must add up to {number}, got {got}.",
            hint="n is the number of reports that were counted; give the counts of all cells",
            owner=owner,
            n=n,
            number=each * n,
            got=whole,
        )
    return tally.astype(np.int64, copy=False)
