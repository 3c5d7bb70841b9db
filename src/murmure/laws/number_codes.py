"""Codes of a column of floats from a compiled kernel; columns that hold anything special are left to the domain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from murmure.core.cells.lenient_encoding import encode_schema_lenient, kind_of_codes
from murmure.core.cells.meaning import CLOSE
from murmure.core.cells.parsed_columns import Codes, is_arrow
from murmure.core.domain import Domain, Interval
from murmure.core.schema import Schema
from murmure.core.types import Floats
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


def lenient_codes_of(schema: Schema, batch: Any) -> tuple[Codes, ...]:
    """encode_schema_lenient(schema, batch): the same codes."""
    return encode_schema_lenient(schema, batch, partial(_codes_of_floats, schema))


def _codes_of_floats(schema: Schema, columns: Mapping[str, Any]) -> dict[str, Codes]:
    """The codes of columns of floats in which every number has a cell."""
    floats, domains = {}, []
    for name, values in columns.items():
        domain = schema.columns[name]
        if type(domain) is Interval and domain.outside != "drop" and (numbers := _floats_in(values)) is not None:
            floats[name] = numbers
            domains.append(domain)
    rows = len(next(iter(floats.values()))) if floats else 0
    kernels = kernels_for_pieces(rows) if rows else None
    if kernels is None or any(len(numbers) != rows for numbers in floats.values()):
        return {}
    # Codes of one type lie in one array, as kernels of sums read them.
    kind = max(kind_of_codes(domain.size) for domain in domains)
    out, odd = np.empty((len(floats), rows), kind), np.zeros(len(floats), np.int64)
    grids = [grid_of(domain) for domain in domains]
    arrays = list(floats.values())
    for part in _tables_in(arrays):
        if part.stop - part.start > 1:
            each = map(np.array, zip(*grids[part], strict=True))
            kernels.matrix_codes(_table_of(arrays[part]), *each, out[part], odd[part])
        else:
            j = part.start
            odd[j] = kernels.interval_codes(arrays[j], *grids[j], -np.inf, np.inf, out[j])
    # A column with a number that is missing, or next to the edge of a cell, is left to the domain.
    return {name: codes for name, codes, special in zip(floats, out, odd, strict=True) if not special}


def _tables_in(columns: list[Floats]) -> Iterator[slice]:
    """The columns in their order, cut wherever one does not lie beside the one before in every row."""
    at = [column.__array_interface__["data"][0] for column in columns]
    start = 0
    for j in range(1, len(columns) + 1):
        if (
            j == len(columns)
            or at[j] - at[j - 1] != columns[j].itemsize
            or columns[j].strides != columns[j - 1].strides
        ):
            yield slice(start, j)
            start = j


def _table_of(columns: list[Floats]) -> Floats:
    """The table that has these columns beside one another."""
    first = columns[0]
    return np.lib.stride_tricks.as_strided(first, (len(first), len(columns)), (*first.strides, first.itemsize))


def _floats_in(values: Any) -> Floats | None:
    """A column of float64 without a missing value, as an array; None: it is anything else."""
    if type(values) is np.ndarray:
        return values if values.ndim == 1 and values.dtype == np.float64 and values.dtype.isnative else None
    if is_arrow(values) and not hasattr(values, "chunks") and str(values.type) == "double" and not values.null_count:
        return np.asarray(np.from_dlpack(values), np.float64)
    return None


def grid_of(domain: Interval) -> tuple[float, float, float, float]:
    """low, cells in one unit, cells, and how near a cell's edge a number is rounded first: as in Interval.cells_of."""
    times = domain.cells / (domain.high - domain.low)
    close = CLOSE * (max(abs(domain.low), abs(domain.high)) * times + domain.cells)
    return domain.low, times, float(domain.cells), close
