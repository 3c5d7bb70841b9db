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
            f"{owner} counts each of {cells:_} values, more than the {MAX_CELLS:_} that are kept at once.",
            hint="fewer values: wider cells (Interval(low, high, cells=...)), groups of labels; or a mean of numbers",
        )


def room_for_table(owner: str, rows: int) -> None:
    """Refuse a law that would be a table with too many rows, one for each value."""
    if rows > MAX_TABLE:
        raise InvalidParameter(
            f"{owner} keeps a row of its law for each of {rows:_} values, and at most {MAX_TABLE:_} rows.",
            hint="a coarser grid: Interval(low, high, cells=...); or Piecewise, which keeps none",
        )


def check_counts(owner: str, counts: Any, n: int, cells: int, each: Fraction | int | None) -> Ints:
    """Whole numbers from 0 to n, one for each cell; where every report supports `each` cells, n times that in all."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise InvalidParameter(f"{owner}.estimate takes n, the number of reports, at least 1, got {shorten(n)}.")
    tally = np.asarray(counts)
    if tally.shape != (cells,) or tally.dtype.kind not in "iu":
        raise InvalidParameter(
            f"{owner}.estimate takes {cells} whole numbers, one count for each cell, got {tally.dtype} of shape "
            f"{tally.shape}.",
            hint="tally(reports) makes them",
        )
    if len(tally) and not 0 <= int(tally.min()) <= int(tally.max()) <= n:
        raise InvalidParameter(
            f"{owner}.estimate: of {n} reports each count lies between 0 and {n}, got {tally.min()} to {tally.max()}.",
            hint="n is the number of reports that were counted",
        )
    whole = sum(int(v) for v in tally.tolist()) if n > 2**40 else int(tally.sum())
    if each is not None and whole != each * n:
        raise InvalidParameter(
            f"{owner}.estimate: counts of {n} reports add up to {each * n}, got {whole}.",
            hint="n is the number of reports that were counted, and all cells are counted",
        )
    return tally.astype(np.int64, copy=False)
