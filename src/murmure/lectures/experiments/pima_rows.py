"""The Pima table inside public bounds, and its splits into rows to learn from and rows to test on.

The bounds come from clinical practice and the rules of the study, not from the data: bounds that are read off the rows
would themselves tell something about them. In five columns the table writes 0 for "not measured"; a public constant
stands for that. Both are done row by row, so they cost nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from murmure.core.domain import Categories, Integers, Interval
from murmure.core.random import Random
from murmure.core.schema import Schema
from murmure.core.types import Array
from murmure.lectures.data_sets.tables import DataTable

TARGET = "Outcome"
WHOLE = {"Pregnancies": (0, 15), "Age": (21, 80)}
REAL = {  # low, high, and what stands for "not measured"
    "Glucose": (40.0, 250.0, 120.0),
    "BloodPressure": (40.0, 130.0, 75.0),
    "SkinThickness": (5.0, 60.0, 25.0),
    "Insulin": (10.0, 600.0, 100.0),
    "BMI": (15.0, 60.0, 30.0),
    "DiabetesPedigreeFunction": (0.0, 2.0, None),
}
FEATURES = (*WHOLE, *REAL)
LOW = np.array([bounds[0] for bounds in (*WHOLE.values(), *REAL.values())], float)
HIGH = np.array([bounds[1] for bounds in (*WHOLE.values(), *REAL.values())], float)
CELLS = 256  # of a real number
TEST_SHARE = 0.2  # as in the lecture's listings


def pima_schema(outcome: Any = None) -> Schema:
    """outcome: classes for naive Bayes, the numbers 0 and 1 for a regression."""
    whole = {name: Integers(*bounds) for name, bounds in WHOLE.items()}
    real = {name: Interval(low, high, CELLS) for name, (low, high, _) in REAL.items()}
    return Schema({**whole, **real, TARGET: outcome or Categories([0, 1])})


@dataclass(frozen=True)
class PimaRows:
    """Some rows, as a table for Murmure and as an array for other software."""

    x: Array
    y: Array

    @property
    def table(self) -> dict[str, Array]:
        columns = {name: self.x[:, j] for j, name in enumerate(FEATURES)}
        whole = {name: columns[name].astype(np.int64) for name in WHOLE}
        return {**columns, **whole, TARGET: self.y}

    def part(self, at: Array) -> PimaRows:
        return PimaRows(self.x[at], self.y[at])


def pima_rows(data: DataTable) -> PimaRows:
    """All rows, inside the bounds."""
    columns = {name: np.asarray(data.columns[name], float) for name in FEATURES}
    for name, (_, _, constant) in REAL.items():
        if constant is not None:
            columns[name] = np.where(columns[name] == 0, constant, columns[name])
    x = np.clip(np.stack([columns[name] for name in FEATURES], axis=1), LOW, HIGH)
    return PimaRows(x, np.asarray(data.columns[TARGET]).astype(np.int64))


def split_rows(rows: PimaRows, seed: int, run: int) -> tuple[PimaRows, PimaRows]:
    """Rows to learn from and to test on: the same for every item, epsilon and model, so that they can be compared."""
    learn, test = shuffled(len(rows.y), Random.seeded(seed).child(run))
    return rows.part(learn), rows.part(test)


def shuffled(n: int, rng: Random) -> tuple[Array, Array]:
    """Row numbers to learn from, and to test on: a fifth of them, rounded up."""
    order = np.argsort(rng.words(n), kind="stable")
    tested = int(np.ceil(TEST_SHARE * n))
    return order[tested:], order[:tested]
