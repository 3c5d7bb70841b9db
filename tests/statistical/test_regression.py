"""Regression under noise: error bars cover, and predictions on Pima are better than the peer's.

Seeded. Failure rates are those of the seed's being unlucky, had it been drawn anew: see each test.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import murmure as mu
from murmure.learn.linear import LinearRegression
from murmure.learn.logistic import LogisticRegression
from murmure.plan.privacy import Central

PIMA = Path(__file__).parents[3] / "shared" / "data" / "diabetes.csv"

# Clinical bounds, written down without a look at the data.
CLINICAL = {
    "Pregnancies": mu.Integers(0, 20),
    "Glucose": mu.Integers(0, 200),
    "BloodPressure": mu.Integers(0, 140),
    "SkinThickness": mu.Integers(0, 100),
    "Insulin": mu.Integers(0, 900),
    "BMI": mu.Interval(0.0, 70.0),
    "DiabetesPedigreeFunction": mu.Interval(0.0, 2.5),
    "Age": mu.Integers(21, 90),
}

# diffprivlib 0.6.6, LinearRegression, the same bounds, 5-fold, 50 runs (standard errors .005 to .010)
PEER = {0.5: 0.514, 1.0: 0.536, 3.0: 0.579, 10.0: 0.596}


pytestmark = pytest.mark.filterwarnings("ignore::murmure.core.errors.SchemaWarning")  # arrays, on purpose


def covered(runs, n, d, privacy, shape=None, method="functional"):
    """How often the bars of 1.96 standard errors cover each true coefficient."""
    schema = mu.Schema({**{f"x{j}": mu.Interval(-1, 1) for j in range(d)}, "y": mu.Interval(-3, 3)})
    truth, hits = np.append(0.5, np.linspace(-1, 1, d)), []
    for run in range(runs):
        g = np.random.default_rng(run)
        X = g.uniform(-1, 1, (n, d))
        y = np.clip(truth[0] + X @ truth[1:] + 0.3 * g.normal(size=n), -3, 3)
        m = LinearRegression(schema, "y", privacy, method=method, shape=shape, rng=mu.Random.seeded(run)).fit(X, y)
        assert m.bse_ is not None
        hits.append(np.abs(np.append(m.intercept_, m.coef_) - truth) <= 1.96 * m.bse_)
    return np.mean(hits)


@pytest.mark.parametrize(
    "privacy, shape, method",
    [
        (Central(1.0), None, "functional"),
        (Central(1.0), "box", "functional"),
        (Central(1.0, relation="replace"), "box", "functional"),
        (Central(1.0, 1e-6), None, "gaussian"),
        (Central(5.0, 1e-6), None, "adassp"),
    ],
)
def test_standard_errors_cover_sampling_and_noise_together(privacy, shape, method):
    """150 runs of 3 coefficients, which move together: 0.95 +- 0.018 a coefficient; below 0.90 about once in 10^3.

    Bars that are far too wide are refused as well; the negative control below forgets the noise.
    """
    assert 0.90 <= covered(150, 3000, 2, privacy, shape, method) <= 0.995


def test_bars_without_the_noise_would_not_cover():
    """The negative control: the same simulation with the bars that lstsq prints."""
    schema = mu.Schema({"x": mu.Interval(-1, 1), "y": mu.Interval(-3, 3)})
    hits = []
    for run in range(100):
        g = np.random.default_rng(run)
        x = g.uniform(-1, 1, 3000)
        y = np.clip(x + 0.3 * g.normal(size=3000), -3, 3)
        m = LinearRegression(schema, "y", Central(0.5), rng=mu.Random.seeded(run)).fit(x[:, None], y)
        naive = 0.3 / np.sqrt((x**2).sum())
        hits.append(abs(m.coef_[0] - 1) <= 1.96 * naive)
    assert np.mean(hits) < 0.8


def folds(rows, run):
    order = np.random.default_rng(run).permutation(rows)
    for part in np.array_split(order, 5):
        yield np.setdiff1d(order, part), part


def pima_accuracy(make, runs):
    held = np.loadtxt(PIMA, delimiter=",", skiprows=1)
    X, y = held[:, :8], held[:, 8].astype(int)
    found = []
    for run in range(runs):
        scores = []
        for fold, (train, test) in enumerate(folds(len(y), run)):
            m = make(mu.Random.seeded(10 * run + fold)).fit(X[train], y[train])
            said = m.predict(X[test])
            scores.append(np.mean((said > 0.5 if m.kind == "regressor" else said == 1) == (y[test] == 1)))
        found.append(np.mean(scores))
    return float(np.mean(found)), float(np.std(found) / np.sqrt(runs))


@pytest.mark.skipif(not PIMA.exists(), reason="the Pima data are not part of the repository")
@pytest.mark.parametrize("epsilon", PEER)
@pytest.mark.parametrize("runs", [8, pytest.param(50, marks=pytest.mark.slow)])
def test_pima_is_predicted_better_than_by_the_peer_at_every_epsilon(epsilon, runs):
    """Linear about 0.66 0.68 0.74 0.76, logistic 0.65 0.66 0.73 0.76 at epsilon 0.5 1 3 10; 0.77 in the clear.

    Saying "no" to everybody is right for 0.651: at epsilon 0.5 there is little to gain on 614 rows.

    Standard errors of 8 runs are below 0.007; the peer is 0.13 away or more.
    """
    numbers = mu.Schema({**CLINICAL, "Outcome": mu.Integers(0, 1)})
    classes = mu.Schema({**CLINICAL, "Outcome": mu.Categories([0, 1])})
    linear, error = pima_accuracy(lambda rng: LinearRegression(numbers, "Outcome", Central(epsilon), rng=rng), runs)
    logistic, _ = pima_accuracy(lambda rng: LogisticRegression(classes, "Outcome", Central(epsilon), rng=rng), runs)

    assert linear > PEER[epsilon] + 0.1
    assert logistic > PEER[epsilon] + 0.1
    assert error < 0.015
