"""The Pima table, its public bounds, and the folds of every run: the same in all environments (NumPy alone)."""

import csv
import tomllib
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
DATA = HERE.parents[2] / "shared" / "data" / "diabetes.csv"
SCHEMA = HERE / "schema.toml"
EPSILONS = (0.5, 1.0, 3.0, 10.0)
RUNS, FOLDS = 50, 5

COLUMNS = tomllib.loads(SCHEMA.read_text())["columns"]
TARGET = "Outcome"
FEATURES = tuple(name for name in COLUMNS if name != TARGET)
LOW = np.array([float(COLUMNS[name]["low"]) for name in FEATURES])
HIGH = np.array([float(COLUMNS[name]["high"]) for name in FEATURES])


def table():
    """Rows of features, with NaN where the table writes 0 for `not measured`, and the outcomes."""
    with DATA.open() as file:
        rows = list(csv.DictReader(file))
    x = np.array([[float(row[name]) for name in FEATURES] for row in rows])
    for j, name in enumerate(FEATURES):
        if "missing_value" in COLUMNS[name]:
            x[x[:, j] == 0, j] = np.nan
    return x, np.array([int(row[TARGET]) for row in rows])


def filled(x):
    """With the schema's public constants for what is missing, for software that knows no schema."""
    constants = np.array([COLUMNS[name].get("missing_value", np.nan) for name in FEATURES])
    return np.where(np.isnan(x), constants, x)


def folds(n, run):
    """(rows to learn from, rows to test on), five times; run 0, 1, ... shuffles in its own way."""
    parts = np.array_split(np.random.default_rng(run).permutation(n), FOLDS)
    for i, test in enumerate(parts):
        yield np.concatenate(parts[:i] + parts[i + 1 :]), test


def accuracies(fit, x, y, runs=RUNS):
    """The share of right answers in every run; fit(x, y, seed) returns what answers for rows."""
    out = []
    for run in range(runs):
        right = 0
        for i, (learn, test) in enumerate(folds(len(y), run)):
            answer = fit(x[learn], y[learn], run * FOLDS + i)
            right += int((answer(x[test]) == y[test]).sum())
        out.append(right / len(y))
    return out
