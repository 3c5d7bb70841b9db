"""The steps of floats that stayed floats (gridded_floats.py), from compiled kernels where they are worth it."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from murmure.core.cells.gridded_floats import GriddedFloats
from murmure.core.cells.parsed_decimals import has_overshoot, steps_by_text
from murmure.core.types import Ints
from murmure.laws.kernel_loader import SMALL, available


def kernels_of_digits(rows: int) -> ModuleType | None:
    """The compiled kernels, when they are installed and so many rows are worth loading them."""
    if rows < SMALL or not available():
        return None
    return importlib.import_module("murmure.statistics.expressions.digit_kernels")


@dataclass(frozen=True, eq=False)
class Scratch:
    """Arrays to work in, for blocks of so many rows that come one after the other."""

    near: NDArray[np.bool_]
    again: Ints

    @classmethod
    def of(cls, rows: int) -> Scratch:
        return cls(np.empty(rows, np.bool_), np.empty(rows, np.int64))


def steps_of(
    column: GriddedFloats, add: int, kernels: ModuleType | None, out: Ints | None = None, scratch: Scratch | None = None
) -> Ints:
    """`add` and the steps of every float, as its domain reads it: the nearest, and in the middle what 15 digits say."""
    domain, x = column.domain, column.array
    if kernels is None:
        return np.asarray(column) + (domain.first + add)
    out, scratch = np.empty(len(x), np.int64) if out is None else out, scratch or Scratch.of(len(x))
    first, last, ten = domain.first, domain.first + domain.size - 1, float(10**domain.places)
    kernel = kernels.steps_to_15_digits if domain.short else kernels.steps
    left = kernel(x, ten, first, last, has_overshoot(first, last), add, out, scratch.near, scratch.again)
    if left:
        rows = scratch.again[:left]
        out[rows] = steps_by_text(x[rows], x[rows] * ten, ten).astype(np.int64) + add
    return out
