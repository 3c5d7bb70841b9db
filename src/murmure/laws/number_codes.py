"""Codes of a column of floats from a compiled kernel; columns that hold anything special are left to the domain."""

from __future__ import annotations

from typing import Any

import numpy as np

from murmure.core.cells.meaning import CLOSE
from murmure.core.cells.parsed_columns import Codes
from murmure.core.domain import Domain, Interval
from murmure.laws.kernel_loader import kernels_for_pieces


def codes_of(domain: Domain, values: Any) -> Codes:
    """domain.encode(values): the same codes, and the same refusals."""
    if type(domain) is Interval and type(values) is np.ndarray and values.ndim == 1 and values.dtype == np.float64:
        kernels = kernels_for_pieces(len(values))
        if kernels is not None:
            out = np.empty(len(values), np.min_scalar_type(domain.cells - 1))
            if not kernels.interval_codes(values, *grid_of(domain), domain.low, domain.high, out):
                return out
    return domain.encode(values)


def grid_of(domain: Interval) -> tuple[float, float, float, float]:
    """low, cells in one unit, cells, and how near a cell's edge a number is rounded first: as in Interval.cells_of."""
    times = domain.cells / (domain.high - domain.low)
    close = CLOSE * (max(abs(domain.low), abs(domain.high)) * times + domain.cells)
    return domain.low, times, float(domain.cells), close
