"""People who count with public weights: unbiased, as noisy as is said, and the plain estimate when all are equal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import murmure as mu
from murmure.core.errors import InvalidParameter, OutsideDomain, PlanRefused
from murmure.local.base.weighted_columns import WeightedEstimator

SCHEMA = mu.Schema(
    {
        "smoker": mu.Categories(["no", "yes"]),
        "region": mu.Categories(4),
        "income": mu.Interval(0, 10, cells=50),
        "weight": mu.Column(mu.Interval(0, 5), public=True),
    }
)
MECHANISMS = [
    mu.SPL(SCHEMA, 3.0),
    mu.SPL(SCHEMA, 3.0, oracle="OUE", numeric="Piecewise"),
    mu.SMP(SCHEMA, 2.0),
    mu.RSFD(SCHEMA, 4.0, ("GRR", "OUE-z", "OUE-r")),
]


def people(n: int = 1500) -> dict[str, Any]:
    """Smokers weigh more, so that the weighted share is not the plain one."""
    u = mu.Random.seeded(5).words(4 * n).astype(np.float64).reshape(4, n) / 2**64
    weight = np.round(5 * u[0] ** 2, 3)
    smokes = (u[1] < np.where(weight > 1, 0.5, 0.2)).astype(int)
    return {
        "smoker": np.array(["no", "yes"])[smokes],
        "region": (4 * u[2]).astype(int),
        "income": 5 * u[3] * (1 + smokes),
        "weight": weight,
    }


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda m: type(m).__name__)
def test_weighted_shares_are_unbiased_and_as_noisy_as_they_say(mechanism: Any) -> None:
    """400 seeded runs; every bound is 5 standard errors, so a case fails by chance about once in a million."""
    frame, runs = people(), 400
    plan = mu.Plan(mu.Marginals(SCHEMA, weights="weight"), person=mechanism)
    w = np.rint(frame["weight"] * 1000)
    truth = float((w * (frame["smoker"] == "yes")).sum() / w.sum())
    got, said, covered = [], [], 0
    for seed in range(runs):
        e = mu.run(plan, frame, rng=mu.Random.seeded(seed)).estimate["smoker"]
        got.append(e.mean[1])
        said.append(e.variance()[1])
        low, high = e.interval()[1]
        covered += low <= truth <= high
    ratio = np.var(got) / np.mean(said)

    assert abs(np.mean(got) - truth) < 5 * np.sqrt(np.mean(said) / runs)
    assert abs(ratio - 1) < 5 * np.sqrt(2 / runs)
    assert covered / runs > 0.95 - 5 * np.sqrt(0.95 * 0.05 / runs)


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda m: type(m).__name__)
def test_equal_weights_are_no_weights(mechanism: Any) -> None:
    """Everybody counts 1.5: the same shares, means and variances as without weights."""
    frame = {**people(), "weight": np.full(1500, 1.5)}
    seed = mu.Random.seeded
    plain = mu.run(mu.Plan(mu.Marginals(SCHEMA), person=mechanism), frame, rng=seed(1)).estimate
    weighted = mu.run(mu.Plan(mu.Marginals(SCHEMA, weights="weight"), person=mechanism), frame, rng=seed(1)).estimate

    for name in SCHEMA.private:
        assert weighted[name].mean == pytest.approx(plain[name].mean)
        for target in ("fixed", "superpopulation"):
            assert weighted[name].covariance(target) == pytest.approx(plain[name].covariance(target))


@pytest.mark.parametrize("target", ["fixed", "superpopulation"])
@pytest.mark.parametrize(("p", "q"), [(0.75, 0.25), (0.5, 0.05), (0.9, 0.3)])
def test_a_weighted_interval_ends_where_the_estimate_is_z_standard_errors_away(p: float, q: float, target: Any) -> None:
    """The variance of supports and of sampling as it is at the end itself, where it is defined, and not at the middle.

    Shares by the weights and by their squares differ by the same everywhere.
    """
    f, f2, n, z = np.array([0.2, 0.3, 0.5]), np.array([0.25, 0.35, 0.4]), 900.0, 1.959963984540054
    coins = np.full(3, p), np.full(3, q)
    estimator = WeightedEstimator(q + (p - q) * f, q + (p - q) * f2, n, *coins, cross=None)
    ends, _ = estimator.interval(0.95, target, False)

    for cell in range(3):
        for end in ends[cell]:
            by_square = end + f2[cell] - f[cell]
            variance = (by_square * p * (1 - p) + (1 - by_square) * q * (1 - q)) / (p - q) ** 2
            if target == "superpopulation":
                variance += by_square * (1 - end) ** 2 + (1 - by_square) * end**2
            assert abs(end - f[cell]) == pytest.approx(z * np.sqrt(variance / n), rel=1e-9)


def test_a_sanitised_table_carries_its_weights() -> None:
    """The public column travels; estimating from the table gives the same figures as the run."""
    frame, mechanism = people(), MECHANISMS[0]
    statistic = mu.Marginals(SCHEMA, weights="weight")
    table = mu.sanitise(frame, mechanism, rng=mu.Random.seeded(2))

    assert table.column("weight").to_pylist() == frame["weight"].tolist()
    got = mu.estimate(table, statistic=statistic).estimate["smoker"].mean
    plain = mu.estimate(table).estimate["smoker"].mean
    assert not np.allclose(got, plain)


@pytest.mark.parametrize("column", ["smoker", "income", "nothing", None.__class__])
def test_weights_must_be_a_public_column_of_numbers(column: Any) -> None:
    with pytest.raises(InvalidParameter, match="public column"):
        mu.Marginals(SCHEMA, weights=column)


def test_weights_outside_their_bounds_are_refused() -> None:
    frame = people()
    frame["weight"][7] = 6.0
    plan = mu.Plan(mu.Marginals(SCHEMA, weights="weight"), person=MECHANISMS[0])

    with pytest.raises(OutsideDomain, match="row 7"):
        mu.run(plan, frame)


def test_what_cannot_be_weighted_says_so() -> None:
    with pytest.raises(PlanRefused, match="HadamardResponse"):
        mu.Plan(mu.Marginals(SCHEMA, weights="weight"), person=mu.SPL(SCHEMA, 3.0, oracle="HadamardResponse"))
    with pytest.raises(PlanRefused, match="weights"):
        mu.Plan(mu.Marginals(SCHEMA, weights="weight"))
