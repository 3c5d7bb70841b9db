"""Intervals widened for forged reports hold under the worst attack, and are no wider than the theorem needs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import murmure as mu
from murmure.core.errors import InvalidParameter, NoUnbiasedEstimate
from murmure.core.estimates.forged_reports import set_aside

THREE = mu.Categories(["never", "once", "often"])
TEN = mu.Integers(0, 9)
N, M = 400, 40


@pytest.mark.parametrize("target", ["fixed", "superpopulation"])
@pytest.mark.parametrize("mechanism", [mu.GRR(THREE, 1.0), mu.SUE(THREE, 1.0)])
def test_shares_are_two_exact_inversions(mechanism: Any, target: Any) -> None:
    """The definition, computed a second time: n - m people, tallies T - m and T, and m people who hold anything."""
    reports = mechanism.report(["never"] * 300 + ["often"] * 100, mu.Random.seeded(1))
    tally = mechanism.tally(reports)
    estimate = mechanism.estimate(tally, N)
    fewest, most = np.maximum(tally - M, 0), np.minimum(tally, N - M)
    base = estimate.estimator
    low = replace(base, tally=fewest, n=N - M).interval(0.95, target, False)[0][:, 0]
    high = replace(base, tally=most, n=N - M).interval(0.95, target, False)[0][:, 1]
    if target == "fixed":
        low, high = low * (N - M) / N, (high * (N - M) + M) / N
    ends = estimate.interval(target=target, forged=M)

    assert np.allclose(ends, np.stack([low, high], 1))
    plain = estimate.interval(target=target)
    assert (ends[:, 0] <= plain[:, 0]).all() and (ends[:, 1] >= plain[:, 1]).all()
    assert (estimate.interval(target=target, forged=0) == plain).all()
    assert (estimate.interval(target=target, forged=N) == [[0, 1]] * 3).all()
    # The move is that of the leverage: m (1-q)/(p-q) / n down, m q/(p-q) / n up, and m / n for those set aside.
    q, slope = float(mechanism.supports.q), float(mechanism.supports.p - mechanism.supports.q)
    widest = M / N * np.array([(1 - q) / slope, q / slope + 1])
    assert (plain[:, 0] - ends[:, 0] <= widest[0] + 0.03).all() and (ends[:, 1] - plain[:, 1] <= widest[1] + 0.03).all()


def worst(reports: Any, m: int, forged: Any) -> Any:
    out = reports.copy()
    out[:m] = forged
    return out


@pytest.mark.parametrize("runs", [12, pytest.param(300, marks=pytest.mark.slow)])
@pytest.mark.parametrize("up", [True, False])
@pytest.mark.parametrize("target", ["fixed", "superpopulation"])
@pytest.mark.parametrize("mechanism", [mu.GRR(THREE, 1.0), mu.OUE(THREE, 1.0), mu.OLH(THREE, 1.0)])
def test_shares_are_covered_under_the_worst_attack(mechanism: Any, target: Any, up: bool, runs: int) -> None:
    """m of n reports are forged as far up or down as they go: the plain interval fails, the wide one does not.

    At 95%, more than 3 misses in 12 runs have a chance of 0.2%, more than 30 in 300 below 1e-4.
    """
    values = np.array(["never", "once", "often"])[np.repeat([0, 1, 2], [240, 120, 40])]
    cells = {True: 1, False: 0}
    inside = plain = 0
    attack = _supports(mechanism, 2, cells[up])
    for seed in range(runs):
        order = np.random.default_rng(seed).permutation(N)
        reports = worst(mechanism.report(values[order].tolist(), mu.Random.seeded(seed)), M, attack)
        estimate = mechanism.estimate(mechanism.tally(reports), N)
        low, high = estimate.interval(target=target, forged=M)[2]
        share = 0.1
        inside += low <= share <= high
        low, high = estimate.interval(target=target)[2]
        plain += low <= share <= high

    assert runs - inside <= max(3, runs // 10)
    if up:
        assert plain < 0.7 * runs


def _supports(mechanism: Any, cell: int, wanted: int) -> Any:
    """A report that supports this cell, or one that does not."""
    for y in mechanism.report(["often", "never"] * 50, mu.Random.seeded(9)):
        if mechanism.tally(y[None])[cell] == wanted:
            return y
    raise AssertionError


@pytest.mark.parametrize("target", ["fixed", "superpopulation"])
@pytest.mark.parametrize(
    "mechanism", [mu.Hybrid(TEN, 1.0), mu.Duchi(TEN, 1.0), mu.Piecewise(TEN, 1.0), mu.GRR(TEN, 2.0), mu.OUE(TEN, 2.0)]
)
@pytest.mark.parametrize("n", [pytest.param(200, marks=pytest.mark.slow), 2000])
def test_means_are_covered_under_the_worst_attack(mechanism: Any, target: Any, n: int) -> None:
    """A few surveys each, in which a tenth of the reports are the most extreme one there is.

    (The attack leaves room: it does not know what its honest reports would have been. One miss is allowed.)
    """
    m = n // 10
    values = np.repeat([2, 3, 4, 9], n // 4)
    plan = mu.Plan(mu.Mean(TEN), person=mechanism)
    candidates = mechanism.report([0, 9] * 200, mu.Random.seeded(3))
    each = [plan.statistic.finish(mechanism.estimate(mechanism.tally(y[None]), 1)).mean[0] for y in candidates]
    for forged in (candidates[int(np.argmax(each))], candidates[int(np.argmin(each))]):
        missed = 0
        for seed in range(3):
            order = np.random.default_rng(seed).permutation(n)
            reports = worst(mechanism.report(values[order].tolist(), mu.Random.seeded(seed)), m, forged)
            estimate = plan.statistic.finish(mechanism.estimate(mechanism.tally(reports), n))
            low, high = estimate.interval(target=target, forged=m)[0]
            missed += not low <= 4.5 <= high
            wide, plain = high - low, estimate.interval(target=target)[0]
            assert wide >= plain[1] - plain[0] and low >= 0 and high <= 9
        assert missed <= 1


def test_columns() -> None:
    """Sampling: forgers choose the column. Hidden draws: everybody sends every column. Means follow their shares."""
    schema = mu.Schema(
        {"smoker": mu.Categories(["no", "yes"]), "age": mu.Integers(0, 3), "pay": mu.Interval(0, 10, 50)}
    )
    people = {"smoker": ["no", "yes"] * 150, "age": [1, 3] * 150, "pay": [2.0, 6.0] * 150}
    for mechanism in (mu.SMP(schema, 2.0, numeric="Duchi"), mu.RSFD(schema, 2.0)):
        estimates = mu.run(mu.Plan(mu.Marginals(schema), person=mechanism), people, rng=mu.Random.seeded(1)).estimate
        wide = estimates.interval(forged=20)
        for name, plain in estimates.interval().items():
            assert (wide[name][:, 0] <= plain[:, 0]).all() and (wide[name][:, 1] >= plain[:, 1]).all()
        shown = estimates.with_forged(20)
        assert "widened for up to 20 forged reports" in str(shown)
        both = shown.means["age"].interval()[0], estimates.means["age"].interval()[0]
        assert both[0][0] < both[1][0] and both[0][1] > both[1][1]
        assert (shown.with_forged(0).interval()["smoker"] == estimates.interval()["smoker"]).all()
        everyone = estimates.interval(forged=300)
        assert (everyone["smoker"] == [[0, 1]] * 2).all()


def test_in_the_clear() -> None:
    """A false row is one row."""
    estimate = mu.run(mu.Plan(mu.Histogram(THREE)), ["never"] * 6 + ["once"] * 3 + ["often"]).estimate

    assert np.allclose(estimate.interval(forged=2), [[0.4, 0.8], [0.1, 0.5], [0.0, 0.3]])
    assert "what 2 forged reports can change" in str(estimate.with_forged(2))


def test_set_aside() -> None:
    counts = np.array([3.0, 0.0, 2.0, 5.0])

    assert set_aside(counts, -np.arange(4.0), 6).tolist() == [3, 0, 1, 0]
    assert set_aside(counts, np.arange(4.0), 4).tolist() == [0, 0, 1, 5]
    assert set_aside(counts, np.arange(4.0), 0).tolist() == counts.tolist()


def test_other_estimates_refuse() -> None:
    schema = mu.Schema({"a": mu.Categories(2), "b": mu.Categories(2)})
    people = {"a": [0, 1] * 50, "b": [0, 1] * 50}
    shares = mu.run(mu.Plan(mu.Histogram(THREE), person=mu.GRR(THREE, 1.0)), ["never"] * 50).estimate
    refusing = [
        mu.run(mu.Plan(mu.Pair(schema, "a", "b"), person=mu.SPL(schema, 2.0)), people).estimate,
        mu.run(mu.Plan(mu.Histogram(THREE), curator=mu.DiscreteLaplace(1.0)), ["never"] * 50).estimate,
        mu.run(mu.Plan(mu.Mean(TEN)), [1, 2, 3]).estimate,
        mu.TwoSamples(yes=(120, 90), n=(300, 300), truth=(0.7, 0.3)).estimate(),
        shares.linear([0, 1, 1], ["ever"]),
        shares.with_forged(5).linear([0, 1, 1], ["ever"]),
    ]
    for estimate in refusing:
        with pytest.raises(NoUnbiasedEstimate, match=r"(?s)cannot be widened.*Histogram, Mean and Marginals"):
            estimate.interval(target="superpopulation", forged=3)
    for wrong in (-1, 1.5, True, "3"):
        with pytest.raises(InvalidParameter, match="whole number, at least 0"):
            shares.interval(forged=wrong)  # type: ignore[arg-type]
