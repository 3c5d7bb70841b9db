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
            "{owner} counts each of {cells:_} values, more than the {max_cells:_} that are kept at once.",
            hint="fewer values: wider cells (Interval(low, high, cells=...)), groups of labels; or a mean of numbers",
            owner=owner,
            cells=cells,
            max_cells=MAX_CELLS,
        )


def room_for_table(owner: str, rows: int) -> None:
    """Refuse a law that would be a table with too many rows, one for each value."""
    if rows > MAX_TABLE:
        raise InvalidParameter(
            "{owner} keeps a row of its law for each of {rows:_} values, and at most {max_table:_} rows.",
            hint="a coarser grid: Interval(low, high, cells=...); or Piecewise, which keeps none",
            owner=owner,
            rows=rows,
            max_table=MAX_TABLE,
        )


def check_counts(owner: str, counts: Any, n: int, cells: int, each: Fraction | int | None) -> Ints:
    """Whole numbers from 0 to n, one for each cell; where every report supports `each` cells, n times that in all."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise InvalidParameter(
            "{owner}.estimate takes n, the number of reports, at least 1, got {got}.", owner=owner, got=shorten(n)
        )
    tally = np.asarray(counts)
    if tally.shape != (cells,) or tally.dtype.kind not in "iu":
        raise InvalidParameter(
            "{owner}.estimate takes {cells} whole numbers, one count for each cell, got {dtype} of shape {shape}.",
            hint="tally(reports) makes them",
            owner=owner,
            cells=cells,
            dtype=tally.dtype,
            shape=tally.shape,
        )
    if len(tally) and not 0 <= int(tally.min()) <= int(tally.max()) <= n:
        raise InvalidParameter(
            "{owner}.estimate: of {n} reports each count lies between 0 and {n}, got {tally_min} to {tally_max}.",
            hint="n is the number of reports that were counted",
            owner=owner,
            n=n,
            tally_min=tally.min(),
            tally_max=tally.max(),
        )
    whole = sum(int(v) for v in tally.tolist()) if n > 2**40 else int(tally.sum())
    if each is not None and whole != each * n:
        raise InvalidParameter(
            "{owner}.estimate: counts of {n} reports add up to {number}, got {got}.",
            hint="n is the number of reports that were counted, and all cells are counted",
            owner=owner,
            n=n,
            number=each * n,
            got=whole,
        )
    return tally.astype(np.int64, copy=False)
