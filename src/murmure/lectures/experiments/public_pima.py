"""The diabetes table with public bounds: from clinical practice and the rules of the study, not read off the data.

Values outside count as the nearest bound. Where the table writes 0 for "not measured", a public constant stands for it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

import murmure as mu
from murmure.lectures.data_sets.tables import DataTable

Floats = NDArray[np.float64]

BOUNDS = {
    "Pregnancies": (0.0, 15.0),  # more are very rare
    "Glucose": (40.0, 250.0),  # mg/dl two hours after glucose: below 40 is an emergency, from 200 on diabetes
    "BloodPressure": (40.0, 130.0),  # diastolic, mmHg: from shock to crisis
    "SkinThickness": (5.0, 60.0),  # mm, what a caliper opens to
    "Insulin": (10.0, 600.0),  # micro-units/ml; 16 to 166 is usual
    "Age": (21.0, 80.0),  # the study took women from 21 on
    "BMI": (15.0, 60.0),  # kg/m2: from severe thinness to extreme obesity
    "DiabetesPedigreeFunction": (0.0, 2.0),  # a score of diabetes in the family
}
USUAL = {"Glucose": 120.0, "BloodPressure": 75.0, "SkinThickness": 25.0, "Insulin": 100.0, "BMI": 30.0}


def public_columns(table: DataTable, names: Sequence[str]) -> dict[str, Floats]:
    """The numbers of the table, with constants for what was not measured, inside the bounds."""
    out = {}
    for name in names:
        values = np.asarray(table.columns[name], np.float64)
        out[name] = np.clip(np.where(values == 0, USUAL.get(name, 0.0), values), *BOUNDS[name])
    return out


def sanitised_columns(
    columns: dict[str, Floats], bounds: dict[str, tuple[float, float]], mechanism: str, epsilon: float, rng: mu.Random
) -> Floats:
    """Each column with epsilon, by a mechanism that is certified to cost no more; one column of the result for each."""
    kind = {"BoundedStaircase": mu.BoundedStaircase, "BoundedLaplace": mu.BoundedLaplace, "Window": mu.Window}[
        mechanism
    ]
    out = []
    for name, values in columns.items():
        part = kind(mu.Interval(*bounds[name], cells=CELLS), epsilon)
        out.append(part.values(part.report(values, rng)))
    return np.stack(out, axis=1)


CELLS = 256  # of each column: rounding moves a value by at most 1/512 of the width, far less than the noise
