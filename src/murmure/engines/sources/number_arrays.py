"""A mapping of NumPy arrays of numbers: its columns as they lie, in slices, without a copy and without Arrow.

For sums of rows that nobody randomises: they are the same however rows are cut. What a cell means does not depend on
the frame that it came in (core/cells/meaning.py), so the codes are those of a table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

MIN_ROWS, MAX_ROWS = 1 << 13, 1 << 16  # rows of a slice: worth a kernel, and codes that stay in the cache
MAX_QUICK_ROWS = 1 << 23  # rows that are added up before a progress bar would appear


def number_arrays(frame: Any, columns: Sequence[str]) -> dict[str, Any] | None:
    """The columns, if they are arrays of one length whose cells are all numbers of one type; None: they are not."""
    if not isinstance(frame, Mapping) or list(map(str, frame)) != list(frame):
        return None
    out = {name: frame[name] for name in columns if name in frame}
    plain = len(out) == len(columns) > 0 and all(map(_is_plain, out.values()))
    lengths = {len(values) for values in out.values()}
    return out if plain and len(lengths) == 1 and max(lengths) <= MAX_QUICK_ROWS else None


def _is_plain(values: Any) -> bool:
    kind: Any = getattr(values, "dtype", None)
    return type(values) is np.ndarray and values.ndim == 1 and kind.isnative and kind.kind in "biuf" and kind != "g"


def row_slices(arrays: Mapping[str, Any], workers: int) -> Iterator[dict[str, Any]]:
    """A few slices for each worker; all but the last have the same length."""
    n = len(next(iter(arrays.values())))
    rows = min(MAX_ROWS, max(MIN_ROWS, -(-n // workers)))
    for a in range(0, n, rows):
        yield {name: values[a : a + rows] for name, values in arrays.items()}
