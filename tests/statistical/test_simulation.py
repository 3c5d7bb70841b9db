"""Seeded simulations: estimates scatter as the exact variances say, around the truth.

Each figure is compared with its exact value in standard errors of the simulation; the bound of 5 fails by chance with
probability 6e-7 a figure, if figures are normal. There are fewer than 400 of them: 2.4e-4 in all, per choice of seeds.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import murmure as mu

SIGMAS = 5.0
F = np.array([0.5, 0.3, 0.2, 0.0])
FOUR = mu.Categories(4)
OLH_3 = mu.OLH(FOUR, 0.5)  # three bins of unequal size
ORACLES = [
    mu.GRR(FOUR, 1.0),
    mu.SUE(FOUR, 1.0),
    mu.OUE(FOUR, 1.0),
    mu.BLH(FOUR, 1.0),
    mu.OLH(FOUR, 1.0),
    OLH_3,
    mu.SubsetSelection(FOUR, 1.0),
    mu.HadamardResponse(FOUR, 1.0),
    mu.RAPPOR(FOUR, 4.0, 1.0),
]
CODES = mu.Integers(0, 20)
MEANS = [
    mu.Duchi(CODES, 1.0),
    mu.Piecewise(CODES, 1.0),
    mu.Piecewise(CODES, 4.0),
    mu.Hybrid(CODES, 1.0),
    mu.SquareWave(CODES, 1.0),
]


def uniforms(rng: mu.Random, n: int) -> Any:
    return (rng.words(n) >> np.uint64(11)).astype(float) * 2.0**-53


def people(f: Any, n: int) -> Any:
    """n people with exactly these shares."""
    counts = np.rint(np.asarray(f) * n).astype(int)
    assert counts.sum() == n
    return np.repeat(np.arange(len(counts)), counts)


def estimates(mechanism: Any, x: Any, seed: int) -> Any:
    """(R, figures): the estimate of every row of x, from one stream."""
    reports = mechanism.law(x.reshape(-1)).sample(mu.Random.seeded(seed))
    n = x.shape[1]
    return np.array([mechanism.estimate(mechanism.tally(reports[a : a + n]), n).mean for a in range(0, x.size, n)])


def in_sigmas(actual: Any, exact: Any, error: Any) -> float:
    return float((np.abs(np.asarray(actual) - exact) / error).max())


def exact_covariance(mechanism: Any, f: Any) -> Any:
    """N times the covariance of the shares of a fixed population, in closed form."""
    slope = float(mechanism.supports.p - mechanism.supports.q)
    cov = mechanism.cross(f) / slope**2
    np.fill_diagonal(cov, mechanism.variance(f, 1))
    return cov


@pytest.mark.parametrize("mechanism", ORACLES, ids=lambda m: f"{type(m).__name__} {m.epsilon:g}")
def test_shares_scatter_as_they_should(mechanism: Any) -> None:
    """A fixed population of 200, 3,000 times: mean, variance and covariance of the four shares are the exact ones."""
    n, repeats = 200, 3000
    drawn = estimates(mechanism, np.tile(people(F, n), (repeats, 1)), seed=11)
    cov = exact_covariance(mechanism, F) / n
    var = np.diag(cov)
    # of a sample covariance of nearly normal figures: sqrt((V_i V_j + C_ij^2) / R)
    error = np.sqrt((np.outer(var, var) + cov**2) / repeats)

    assert in_sigmas(drawn.mean(axis=0), F, np.sqrt(var / repeats)) < SIGMAS
    assert in_sigmas(np.cov(drawn.T), cov, error) < SIGMAS


@pytest.mark.parametrize(
    "mechanism", [mu.GRR(FOUR, 3.0), mu.OUE(FOUR, 3.0), mu.OLH(FOUR, 3.0)], ids=lambda m: type(m).__name__
)
def test_a_sample_adds_its_own_scatter(mechanism: Any) -> None:
    """200 people drawn anew each time: f(1-f)/N is added to the variance, f_i f_j / N taken from the covariance."""
    n, repeats = 200, 3000
    cumulated = np.cumsum(F)
    x = np.searchsorted(cumulated, uniforms(mu.Random.seeded(5), n * repeats), side="right").reshape(repeats, n)
    drawn = estimates(mechanism, x, seed=12)
    cov = (exact_covariance(mechanism, F) + np.diag(F) - np.outer(F, F)) / n
    var = np.diag(cov)
    error = np.sqrt((np.outer(var, var) + cov**2) / repeats)

    assert in_sigmas(drawn.mean(axis=0), F, np.sqrt(var / repeats)) < SIGMAS
    assert in_sigmas(np.cov(drawn.T), cov, error) < SIGMAS
    wrong = exact_covariance(mechanism, F) / n  # the fixed covariance is told apart: the test has teeth
    assert in_sigmas(np.cov(drawn.T), wrong, error) > SIGMAS


@pytest.mark.parametrize("coins", [(0.5, 0.5), (0.5, 0.25), (0.8, 0.9)])
def test_warner_scatters_as_it_should(coins: tuple[float, float]) -> None:
    """Two coins of any kind, 200 people of whom 60 say yes, 3,000 times."""
    n, repeats, f = 200, 3000, np.array([0.7, 0.3])
    mechanism = mu.Warner(mu.Categories(2), truth=coins[0], yes_coin=coins[1])
    drawn = estimates(mechanism, np.tile(people(f, n), (repeats, 1)), seed=13)
    var = mechanism.variance(f, n)

    assert in_sigmas(drawn.mean(axis=0), f, np.sqrt(var / repeats)) < SIGMAS
    assert in_sigmas(drawn.var(axis=0, ddof=1), var, var * math.sqrt(2 / repeats)) < SIGMAS
    assert np.abs(drawn.sum(axis=1) - 1).max() < 1e-9


@pytest.mark.parametrize("mechanism", MEANS, ids=lambda m: f"{type(m).__name__} {m.epsilon:g}")
def test_means_scatter_as_they_should(mechanism: Any) -> None:
    """A fixed, lopsided population of 200 numbers, 3,000 times: mean and variance of the mean are the exact ones."""
    n, repeats = 200, 3000
    f = np.zeros(21)
    f[[0, 3, 10, 20]] = 0.5, 0.2, 0.2, 0.1
    drawn = estimates(mechanism, np.tile(people(f, n), (repeats, 1)), seed=14)[:, 0]
    truth, var = float(f @ np.arange(21)), float(mechanism.variance(f, n)[0])

    assert in_sigmas(drawn.mean(), truth, math.sqrt(var / repeats)) < SIGMAS
    assert in_sigmas(drawn.var(ddof=1), var, var * math.sqrt(2 / repeats)) < SIGMAS


@pytest.mark.parametrize("mechanism", [*ORACLES, *MEANS], ids=lambda m: f"{type(m).__name__} {m.epsilon:g}")
def test_the_reported_variance_is_the_exact_one(mechanism: Any) -> None:
    """With 200,000 people the variance that an estimate reports is within 3 % of the exact one, for both targets."""
    n, k = 200_000, mechanism.domain.size
    f = np.append(F, np.zeros(k - 4))
    x = people(f, n)
    estimate = mechanism.estimate(mechanism.tally(mechanism.law(x).sample(mu.Random.seeded(15))), n)
    fixed = mechanism.variance(f, n)
    sampling = f * (1 - f) / n if estimate.unit == "share" else np.var(x) / n

    assert estimate.variance("fixed") == pytest.approx(fixed, rel=0.03)
    assert estimate.variance("superpopulation") == pytest.approx(fixed + sampling, rel=0.03)


@pytest.mark.parametrize("mechanism", MEANS, ids=lambda m: f"{type(m).__name__} {m.epsilon:g}")
def test_the_scatter_of_a_sample_is_read_off_the_reports(mechanism: Any) -> None:
    """A tally that is its own expectation, half of the people at each bound: mean and both variances are exact."""
    n, f = 10**12, np.zeros(21)
    f[[0, 20]] = 0.5
    y = np.arange(mechanism.outputs)
    law = sum(f[c] * np.exp(mechanism.channel.log_prob(np.full(len(y), c), y)) for c in (0, 20))
    tally = np.rint(n * law).astype(np.int64)
    if mechanism.outputs > 2:
        tally[np.argmax(tally)] += n - tally.sum()  # what rounding left over
    estimate = mechanism.estimate(tally, n)
    fixed = float(mechanism.variance(f, n)[0])

    assert estimate.mean[0] == pytest.approx(10.0, abs=1e-6)
    assert estimate.variance("superpopulation")[0] == pytest.approx(fixed + 100 / n, rel=1e-6)
    if isinstance(mechanism, mu.Duchi):  # a bit tells nothing of the square: the largest variance stands in
        assert estimate.variance("fixed")[0] == pytest.approx(fixed + 100 / n, rel=1e-6)
    else:
        assert estimate.variance("fixed")[0] == pytest.approx(fixed, rel=1e-6)


# ---- section 2: small N

HALVES = 0.5 ** np.arange(8) / (2 - 0.5**7)  # the "geometric f" of the reference


def whole_people(f: Any, n: int) -> Any:
    """n people with about these shares: what rounding leaves goes to the largest remainders."""
    counts = np.floor(f * n).astype(int)
    counts[np.argsort(counts - f * n)[: n - counts.sum()]] += 1
    return np.repeat(np.arange(len(f)), counts)


@pytest.mark.parametrize(
    ("n", "raw", "clip", "simplex", "em"),
    [(20, 0.168, 0.039, 0.050, 0.044), (100, 0.034, 0.015, 0.017, 0.016), (1000, 0.0034, 0.0024, 0.0023, 0.0023)],
)
def test_post_processing_helps_when_people_are_few(n: int, raw: float, clip: float, simplex: float, em: float) -> None:
    """Mean squared error a cell, GRR, k = 8, eps = 1, halving shares: within 15 % of the printed figures (400 runs).

    The reference does not say how shares of 20 people were rounded. The standard error of a figure is below 3 %.
    """
    mechanism, x = mu.GRR(mu.Categories(8), 1.0), whole_people(HALVES, n)
    truth = np.bincount(x, minlength=8) / n
    rng, errors = mu.Random.seeded(16), []
    for _ in range(400):
        tally = mechanism.tally(mechanism.law(x).sample(rng))
        estimate = mechanism.estimate(tally, n)
        ways = (estimate, mu.clip_renormalise(estimate), mu.project_simplex(estimate), mu.em(mechanism, tally))
        errors.append([((way.mean - truth) ** 2).mean() for way in ways])
    found = np.mean(errors, axis=0)

    assert found == pytest.approx([raw, clip, simplex, em], rel=0.15)
    assert found[0] > found[1:].max()


def test_what_post_processing_returns() -> None:
    """Shares that are not negative and sum to one, the nearest ones for the simplex; none carries an error bar."""
    mechanism, x = mu.GRR(mu.Categories(8), 1.0), whole_people(HALVES, 50)
    tally = mechanism.tally(mechanism.law(x).sample(mu.Random.seeded(17)))
    estimate = mechanism.estimate(tally, 50)
    nearest = mu.project_simplex(estimate).mean
    for way in (mu.clip_renormalise(estimate), mu.project_simplex(estimate), mu.em(mechanism, tally)):
        assert way.mean.min() >= 0 and way.mean.sum() == pytest.approx(1.0, abs=1e-9)
        assert way.estimator is None and "biased" in str(way.reason)
        assert ((nearest - estimate.mean) ** 2).sum() <= ((way.mean - estimate.mean) ** 2).sum() + 1e-12
    assert estimate.mean.min() < 0  # there was something to repair


def test_em_climbs_the_likelihood() -> None:
    """EM's shares are likelier than the projected ones and than a thousand neighbours; smoothing keeps the sum."""
    domain = mu.Integers(0, 15)
    mechanism = mu.SquareWave(domain, 1.0)
    x = np.repeat(np.arange(16), np.arange(16) * 10 + 5)
    tally = mechanism.tally(mechanism.law(x).sample(mu.Random.seeded(18)))
    P = np.exp(
        [mechanism.channel.log_prob(np.full(mechanism.outputs, c), np.arange(mechanism.outputs)) for c in range(16)]
    )

    def likelihood(f: Any) -> float:
        return float(tally @ np.log(f @ P))

    found = mu.em(mechanism, tally).mean
    assert likelihood(found) >= likelihood(np.bincount(x) / len(x))
    rng = mu.Random.seeded(19)
    for _ in range(1000):
        other = np.maximum(found + 0.01 * (uniforms(rng, 16) - 0.5), 1e-12)
        assert likelihood(found) >= likelihood(other / other.sum()) - 1e-3
    assert mu.em(mechanism, tally, smooth=True).mean.sum() == pytest.approx(1.0)
