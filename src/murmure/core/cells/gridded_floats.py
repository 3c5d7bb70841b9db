"""Floats within the bounds of a domain of decimals: they become codes when they are read, a block at a time.

Codes of a whole batch fill the memory that the next pass reads again. Where no row can be refused, nothing needs them
before they are added up, so a column keeps its floats, and a block of codes lives in the cache for as long as it is
used. The codes are those that the domain gives (parsed_decimals.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from murmure.core.cells.parsed_columns import from_arrow, is_arrow
from murmure.core.cells.parsed_decimals import MAX_STEPS, codes_within
from murmure.core.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class GriddedFloats:
    """A column of floats, as the codes of their nearest values."""

    domain: Any
    array: Floats

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, rows: Any) -> GriddedFloats:
        return GriddedFloats(self.domain, self.array[rows])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Ints:
        return np.asarray(codes_within(self.domain, self.array), dtype)

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.int64)


def gridded_floats(domain: Any, values: Any) -> GriddedFloats | None:
    """The column, if it is Arrow's doubles, none of them missing, and each of them in the domain (decimals that are
    rounded to the nearest); or None."""
    if not is_arrow(values) or str(values.type) != "double":
        return None
    if not len(values) or values.null_count or hasattr(values, "chunks"):
        return None
    if not -MAX_STEPS <= domain.first <= domain.first + domain.size - 1 <= MAX_STEPS:
        return None
    x = from_arrow(values).array
    inside = x.min() >= float(domain.low) and x.max() <= float(domain.high)  # not if one of them is NaN
    return GriddedFloats(domain, x) if inside else None
