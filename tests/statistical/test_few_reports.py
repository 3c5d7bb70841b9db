"""Cells with few reports among many people: intervals of shares for a fixed population, above 2,000 people.

The law of a count, Bin(f, p) + Bin(N - f, q), is known, so coverage is enumerated: nothing here is left to chance, but
for the last test. 0.5.0 took the score interval for all cells of more than 2,000 people and covered .84 of the cells
that nobody holds where N q is near .17; at a level for 20,000 cells it missed 100 times too often and more.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

import murmure as mu
from murmure.core.estimates import intervals
from murmure.core.estimates.estimate import CellEstimator

LEVELS = [0.9, 0.95, 0.99, 1 - 0.05 / 20_000]
SCHEMA = mu.Schema({"a": mu.Categories(50), "b": mu.Categories(3)})
PRIORS = {"a": [0.02] * 50, "b": [0.2, 0.3, 0.5]}
MANY = mu.Categories(200)
PARTS = {
    "GRR": lambda e: mu.GRR(MANY, e),
    "SUE": lambda e: mu.SUE(MANY, e),
    "OUE": lambda e: mu.OUE(MANY, e),
    "BLH": lambda e: mu.BLH(MANY, e),
    "OLH": lambda e: mu.OLH(MANY, e),
    "SubsetSelection": lambda e: mu.SubsetSelection(MANY, e),
    "HadamardResponse": lambda e: mu.HadamardResponse(MANY, e),
    "Warner": lambda e: mu.Warner(mu.Categories(2), epsilon=e),
    "SPL": lambda e: mu.SPL(SCHEMA, e, oracle="GRR").parts[0],
    "RS+FD, codes": lambda e: mu.RSFD(SCHEMA, e, oracle="GRR").parts[0],
    "RS+FD, zeros": lambda e: mu.RSFD(SCHEMA, e, oracle="OUE-z").parts[0],
    "RS+RFD": lambda e: mu.RSRFD(SCHEMA, e, PRIORS, oracle="GRR").parts[0],
}


def law(N: int, f: int, p: float, q: float) -> tuple[Any, Any]:
    """Counts that matter, and their chances."""
    first, other = stats.binom(f, p), stats.binom(N - f, q)
    a, b = (np.arange(int(d.ppf(1e-13)), int(d.isf(1e-13)) + 1) for d in (first, other))
    mass = np.convolve(first.pmf(a), other.pmf(b))
    return np.arange(a[0] + b[0], a[-1] + b[-1] + 1), mass


def missed(N: int, f: int, p: float, q: float, level: float) -> float:
    """How often the interval of a cell that f of N people hold leaves f / N out."""
    o, mass = law(N, f, p, q)
    reading = CellEstimator(o, N, np.full(len(o), p), np.full(len(o), q), lambda f: np.zeros((len(f), len(f))))
    ends, _ = reading.interval(level, "fixed", False)
    return float(mass[(ends[:, 0] > f / N + 1e-12) | (ends[:, 1] < f / N - 1e-12)].sum())


def coins(part: Any) -> tuple[float, float]:
    """p and q of the first cell, as the oracle's own estimate reads it."""
    k = part.domain.size
    if hasattr(part, "supports"):
        return float(part.supports.p), float(part.supports.q)
    n = 1000  # of hidden draws and of Warner's coins: people who all report the last cell, which may be
    reading = part.estimate(np.array([0] * (k - 1) + [n]), n).estimator
    return float(reading.p[0]), float(reading.q[0])


def generated(seed: int, cases: int) -> list[tuple[int, int, float, float, float]]:
    """N, f, p, q and a level: from .02 to 3,000 reports to be expected of those who do not hold the cell."""
    g = np.random.default_rng(seed)
    out = []
    for _ in range(cases):
        N = int(np.exp(g.uniform(np.log(2001), np.log(3e6))))
        q = min(float(np.exp(g.uniform(np.log(0.02), np.log(3000)))) / N, 0.45)
        p = q + (1 - q) * g.uniform(0.02, 1) if g.random() < 0.5 else min(1.0, q * float(np.exp(g.uniform(0.3, 6))))
        f = int(min(N, g.choice([0, 0, 0, 1, 2, 5, 20, 100, 1000, N // 10, N])))
        out.append((N, f, p, q, float(g.choice(LEVELS))))
    return out


def check(cases: list[tuple[int, int, float, float, float]]) -> None:
    for N, f, p, q, level in cases:
        assert missed(N, f, p, q, level) <= 1.1 * (1 - level), (N, f, p, q, level)


def test_many_people_and_few_reports() -> None:
    """Enumerated: no interval misses 1.1 times more often than it says, at levels of one cell and of 20,000."""
    check(generated(14, 30))


@pytest.mark.slow
def test_many_people_and_few_reports_closely() -> None:
    check(generated(15, 2000))


@pytest.mark.parametrize("name", PARTS)
def test_a_cell_that_nobody_holds(name: str) -> None:
    """Every oracle, at an epsilon and a number of people where few reports or none support the cell by mistake."""
    for epsilon in (4.0, 9.0):
        part = PARTS[name](epsilon)
        p, q = coins(part)
        for expected in (0.05, 0.17, 0.5, 0.95, 4.0):
            N = max(2001, round(expected / q))
            assert max(missed(N, f, p, q, 0.95) for f in (0, 1)) <= 1.1 * 0.05, (epsilon, N)


def test_all_cells_at_once() -> None:
    """20,000 cells that nobody holds, 95 % for all of them together: fewer than one release in twenty misses any."""
    k, N = 20_000, 100_000
    for epsilon in (4.0, 8.0, 12.0):
        s = mu.GRR(mu.Categories(k), epsilon).supports
        assert k * missed(N, 0, float(s.p), float(s.q), 1 - 0.05 / k) <= 0.05


def test_twenty_thousand_cells_of_a_million_people() -> None:
    """The printed intervals, seed 3: of 19,990 empty cells at most 2.5 % and four standard errors leave 0 out."""
    k, N = 20_000, 1_000_000
    g = np.random.default_rng(3)
    for epsilon in (10.0, 14.0):
        oracle = mu.GRR(mu.Categories(k), epsilon)
        people = np.zeros(k, np.int64)
        people[:10] = N // 10
        stay = g.binomial(people, float(oracle.supports.p))
        # those who leave their value go anywhere else alike; of 20,000 cells, missing one's own matters to nobody
        tally = stay + g.multinomial(N - stay.sum(), np.full(k, 1 / k))
        ends, method = oracle.estimate(tally, N).interval_and_method()

        assert method == intervals.MIXED
        assert (ends[10:, 0] > 0).mean() <= 0.025 + 4 * math.sqrt(0.025 * 0.975 / k)
