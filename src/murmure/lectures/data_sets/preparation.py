"""What the lectures do to a table before they use it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from murmure.core.types import Array
from murmure.lectures.data_sets.tables import DataTable

NEVER_ZERO = ("Glucose", "BloodPressure", "SkinThickness", "Insulin", "BMI")  # of Pima: zero means "not measured"


def without_zeros(table: DataTable) -> DataTable:
    """Pima with the median of the other values for each zero that means "not measured"."""
    return replace(table, columns={**table.columns, **{name: _filled(table.columns[name]) for name in NEVER_ZERO}})


def _filled(column: Array) -> Array:
    return np.where(column == 0, np.median(column[column != 0]), column)
