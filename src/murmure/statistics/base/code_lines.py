"""Codes of several columns as one array, as the compiled kernels of sums read them (laws/sum_kernels.py)."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from murmure.core.types import Array
from murmure.laws.kernel_loader import sum_kernels_for

MAX_LINE_VALUES = 1 << 15  # values of a column whose codes are read in two bytes

Lines = NDArray[np.int16]


def lines_for_kernels(columns: Sequence[Array], values: int) -> tuple[ModuleType, Lines] | None:
    """The kernels and one line of codes for each column; None where NumPy adds: few rows, or a fine column.

    values: how many the finest of these columns can have.
    """
    kernels = sum_kernels_for(len(columns[0])) if len(columns) else None
    if kernels is None or values >= MAX_LINE_VALUES:
        return None
    return kernels, code_lines(columns)


def code_lines(columns: Sequence[Array]) -> Lines:
    if isinstance(columns, np.ndarray) and columns.dtype == np.int16:
        return columns
    return np.stack([np.asarray(codes) for codes in columns], dtype=np.int16, casting="unsafe")
