"""Rows of regressions, the same for Murmure and for its peer: normal columns within public bounds, and an outcome."""

import numpy as np

COLUMNS, BOX, OUTCOME = 20, 8, 50  # numbers lie within -8 and 8, outcomes within -50 and 50: public
DECIMALS = 12  # of the grid that Murmure is told
FEW = 10  # columns of the iterated regressions
ITERATED = ("logit", "probit", "poisson", "gamma", "nb2")
MOST, LEAST = 1000, 0.001  # public too: of counts and of positive numbers, and of the latter the least
BATCH = 1 << 18


def batches(n):
    """(columns, rows) and the outcome, some rows at a time."""
    rng = np.random.default_rng(7)
    slopes = np.linspace(-1, 1, COLUMNS)
    for start in range(0, n, BATCH):
        rows = min(BATCH, n - start)
        x = rng.normal(size=(COLUMNS, rows)).clip(-BOX, BOX)
        yield x, (1 + slopes @ x + rng.normal(size=rows)).clip(-OUTCOME, OUTCOME)


def iterated(n):
    """(columns, rows), and an outcome of each iterated regression by name."""
    rng = np.random.default_rng(7)
    x = rng.normal(size=(FEW, n)).clip(-BOX, BOX)
    eta = np.linspace(-1, 1, FEW) @ x / 2
    mean = np.exp(eta / 2 + 0.5)
    return x, {
        "logit": (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(np.int64),
        "probit": (rng.normal(size=n) < eta).astype(np.int64),
        "poisson": rng.poisson(mean).clip(0, MOST),
        "gamma": rng.gamma(2, mean / 2).clip(LEAST, MOST),
        "nb2": rng.poisson(mean * rng.gamma(2, 0.5, n)).clip(0, MOST),
    }


def names(k):
    return [f"x{j + 1}" for j in range(k)]


def formula(k, outcome="y"):
    return f"{outcome} ~ {' + '.join(names(k))}"
