"""Rows of regressions, the same for Murmure and for its peer: normal columns within public bounds, and an outcome."""

import numpy as np

COLUMNS, BOX, OUTCOME = 20, 8, 50  # numbers lie within -8 and 8, outcomes within -50 and 50: public
DECIMALS = 12  # of the grid that Murmure is told
FEW = 10  # columns of the logistic regression
BATCH = 1 << 18


def batches(n):
    """(columns, rows) and the outcome, some rows at a time."""
    rng = np.random.default_rng(7)
    slopes = np.linspace(-1, 1, COLUMNS)
    for start in range(0, n, BATCH):
        rows = min(BATCH, n - start)
        x = rng.normal(size=(COLUMNS, rows)).clip(-BOX, BOX)
        yield x, (1 + slopes @ x + rng.normal(size=rows)).clip(-OUTCOME, OUTCOME)


def classes(n):
    """(columns, rows) and 0 or 1 for each row."""
    rng = np.random.default_rng(7)
    x = rng.normal(size=(FEW, n)).clip(-BOX, BOX)
    return x, (rng.random(n) < 1 / (1 + np.exp(-np.linspace(-1, 1, FEW) @ x / 2))).astype(np.int64)


def names(k):
    return [f"x{j + 1}" for j in range(k)]


def formula(k):
    return f"y ~ {' + '.join(names(k))}"
