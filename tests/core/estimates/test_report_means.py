"""The parts that intervals of means are made of, against exact laws."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import special, stats  # type: ignore[import-untyped, unused-ignore]

import murmure as mu
from murmure.core.estimates.intervals import clopper_pearson
from murmure.core.estimates.report_means import dirichlet_below, gaffke
from murmure.core.estimates.sampling_limits import garwood, mover, two_moments

UNIT = mu.Interval(0.0, 1.0, cells=41)
MECHANISMS = [m(UNIT, e) for m in (mu.Piecewise, mu.Hybrid, mu.SquareWave) for e in (1.0, 8.0)]


@pytest.mark.parametrize("n", [5, 20, 100])
def test_the_saddlepoint_against_beta(n: int) -> None:
    """With two values the sum is a beta variable: its tails are never smaller, and a few per cent larger."""
    for ones in {0, 1, n // 3, n - 1}:
        for tail, most in ((0.025, 1.04), (1e-4, 1.08)):
            t = special.betainccinv(ones + 1, n - ones, tail)
            below = dirichlet_below(np.array([[1.0, 0.0]]), np.array([[ones + 1.0, n - ones]]), np.array([t]))

            assert 1.0 <= (1 - below[0]) / tail < most


def test_the_saddlepoint_against_draws() -> None:
    """Of many values: within four standard errors of 400,000 draws (seed 1), and 2 %."""
    g = np.random.default_rng(1)
    x = np.append(g.exponential(size=11), 6.0)
    sums = g.dirichlet(np.ones(12), 400_000) @ x
    for tail in (0.5, 0.1, 0.025):
        t = float(np.quantile(sums, 1 - tail))
        above = 1 - dirichlet_below(x[None], np.ones((1, 12)), np.array([t]))[0]

        assert abs(above - tail) < 0.02 * tail + 4 * np.sqrt(tail * (1 - tail) / 400_000)


def test_two_values_have_clopper_pearson() -> None:
    """Gaffke's bound and two moments, of people at both ends: Clopper and Pearson's interval."""
    for n, ones in ((5, 0), (60, 1), (60, 59), (400, 133)):
        exact = clopper_pearson([ones], n, 0.95)[0]
        low, high = gaffke(np.array([0.0, 1.0]), np.array([n - ones, ones], float), (0.0, 1.0), 0.95)
        share = ones / n
        two, _ = two_moments(share, share * (1 - share), n, (0.0, 1.0), 0.95)

        assert two == pytest.approx(tuple(exact), abs=1e-12)
        assert (low, high) == pytest.approx(tuple(exact), rel=0.05, abs=1e-9)
        assert low <= exact[0] + 1e-6 and exact[1] - 1e-6 <= high


def test_bounds_do_not_depend_on_the_unit() -> None:
    """Numbers times 3 less 7: ends times 3 less 7; mirrored numbers: mirrored ends."""
    x, w = np.array([0.1, 0.4, 0.7]), np.array([3.0, 5.0, 2.0])
    low, high = gaffke(x, w, (0.0, 1.0), 0.95)

    assert gaffke(3 * x - 7, w, (-7.0, -4.0), 0.95) == pytest.approx((3 * low - 7, 3 * high - 7), abs=1e-6)
    assert gaffke(-x, w, (-1.0, 0.0), 0.95) == pytest.approx((-high, -low), abs=1e-6)
    levels = [gaffke(x, w, (0.0, 1.0), level) for level in (0.5, 0.9, 0.99, 0.999999)]
    assert all(a[0] > b[0] and a[1] < b[1] for a, b in pairwise(levels))


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
@pytest.mark.parametrize("n", [1, 7, 100])
def test_the_law_of_a_sum(mechanism: Any, n: int) -> None:
    """Mean exactly n times the mean; variance as the mechanism states it for these people, and at most 4 % more."""
    law, top = mechanism.report_law, UNIT.size - 1
    v0, v1, v2 = mechanism.variance_polynomial
    for mean in (0.0, 0.3, 13.37, top / 2, float(top)):
        for ends in (0, n // 2, n):
            sums = law.sums(mean, n, top, ends)
            at = n * law.ends[0] + law.step(n) * np.arange(len(sums))
            first = float(sums @ at)
            second = float(sums @ (at - first) ** 2)
            high = min(int(ends * mean / top), ends)
            rest = ends * mean - high * top
            codes = [0.0] * max(ends - high - 1, 0) + [float(top)] * high + [rest] * (ends > high) + [mean] * (n - ends)
            noise = sum(v0 + v1 * c + v2 * c * c for c in codes)

            assert sums.sum() == pytest.approx(1.0) and len(codes) == n
            assert first == pytest.approx(n * mean, abs=1e-6 * n * top)
            # people between two codes hold one of both: up to a quarter each
            assert noise - 1e-6 <= second <= 1.04 * noise + n * (0.25 + law.step(n) ** 2 / 4)


def test_garwood_is_exact() -> None:
    """Each end has the tail alpha / 2 of a Poisson law."""
    counts = np.array([0, 1, 5, 300])
    low, high = garwood(counts, 0.95).T

    assert stats.poisson.cdf(counts, high) == pytest.approx(np.full(4, 0.025))
    assert stats.poisson.sf(counts[1:] - 1, low[1:]) == pytest.approx(np.full(3, 0.025))
    assert low[0] == 0


def test_limits_together() -> None:
    """A right-angled triangle on either side; a missing error changes nothing."""
    ends = mover(10.0, np.array([7.0, 13.0]), 10.0, np.array([6.0, 14.0]))

    assert ends.tolist() == [5.0, 15.0]
    assert mover(10.0, np.array([10.0, 10.0]), 10.0, np.array([6.0, 14.0])).tolist() == [6.0, 14.0]


@pytest.mark.parametrize("n", [1, 5, 60, 3000])
@pytest.mark.parametrize("domain", [mu.Integers(3, 9), mu.Interval(0.0, 1.0, cells=8)], ids=repr)
def test_a_mean_of_true_shares_is_that_of_true_answers(domain: Any, n: int) -> None:
    """For these people both are known but for the grid; for others, as uncertain as the mean of a sample is."""
    x = np.random.default_rng(n).choice(domain.numbers(), n).tolist()
    shares = mu.run(mu.Plan(mu.Marginals(mu.Schema({"x": domain}))), {"x": x}).estimate.means["x"]
    mean = mu.run(mu.Plan(mu.Mean(domain)), x).estimate
    rounding = domain.scale()[2]

    expected = [max(np.mean(x) - rounding, domain.low), min(np.mean(x) + rounding, domain.high)]
    assert expected == pytest.approx(shares.interval(target="fixed")[0], abs=1e-12)
    assert expected == pytest.approx(mean.interval(target="fixed")[0], abs=1e-12)
    (low, high), (other_low, other_high) = (of.interval(target="superpopulation")[0] for of in (shares, mean))
    assert low < expected[0] and expected[1] < high
    assert high - low - 2 * rounding == pytest.approx(other_high - other_low - 2 * rounding, rel=0.1)
