"""The smallest epsilon for a margin: it gives the margin, and nothing smaller on a fine grid does."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import murmure as mu
from murmure.advise.advice import _mean_variances, _share_variances
from murmure.advise.margin import JUMP, MAX_EPSILON, limit_of, smallest_epsilon
from murmure.catalogue import load
from murmure.core.errors import InvalidParameter
from murmure.local.base.oracle_choice import MEAN_ORACLES, SHARE_ORACLES

SMALL = 30  # a grid of so many epsilons below the one that was found


@pytest.mark.parametrize("name", SHARE_ORACLES)
@pytest.mark.parametrize(("k", "margin"), [(2, 3.0), (5, 4.0), (16, 5.0), (16, 2.0)])
def test_nothing_smaller_gives_the_margin(name: str, k: int, margin: float) -> None:
    """Whatever the settings; those of subset selection jump, and its variance with them."""
    domain, limit = mu.Categories(k), limit_of(margin / 100)

    def variance(mechanism: Any) -> float:
        return float(_share_variances(mechanism, 2000, None)["worst_variance"] or math.inf)

    found = smallest_epsilon(variance, lambda e: load(name)(domain, e), limit)
    if found is None:
        assert variance(load(name)(domain, MAX_EPSILON)) > limit
        return

    assert variance(load(name)(domain, found)) <= limit
    for smaller in np.geomspace(found / 2, found * 0.998, SMALL):
        assert variance(load(name)(domain, float(smaller))) > limit


@pytest.mark.parametrize("name", MEAN_ORACLES)
def test_of_a_mean(name: str) -> None:
    domain, limit = mu.Integers(0, 20), limit_of(1.0)

    def variance(mechanism: Any) -> float:
        return float(_mean_variances(mechanism, 500, None)["worst_variance"] or math.inf)

    found = smallest_epsilon(variance, lambda e: load(name)(domain, e), limit)
    if found is None:
        assert variance(load(name)(domain, MAX_EPSILON)) > limit
    else:
        assert variance(load(name)(domain, found)) <= limit < variance(load(name)(domain, 0.998 * found))


@pytest.mark.parametrize("key", ["mean_variance", "worst_variance"])
@pytest.mark.parametrize("k", [3, 16, 64])
def test_no_change_of_settings_raises_a_variance_by_more_than_jump(k: int, key: str) -> None:
    """What the search relies on: later, a variance is never more than JUMP times an earlier one."""
    least = math.inf
    for e in np.geomspace(0.05, 6, 400):
        now = float(_share_variances(mu.SubsetSelection(mu.Categories(k), float(e)), 1, None)[key] or math.inf)
        least = min(least, now)

        assert now <= JUMP * least


def test_a_jump_is_found() -> None:
    """A sawtooth: 1 / e, and twice that from e = 1 on. The limit is met just below 1 and not again before 2."""

    class Saw:
        def __init__(self, e: float) -> None:
            self.e, self.detail = e, "a" if e < 1 else "b"

    def variance(saw: Saw) -> float:
        return (1.0 if saw.e < 1 else 2.0) / saw.e

    assert smallest_epsilon(variance, Saw, 1.05) == pytest.approx(1 / 1.05, rel=1e-3)
    assert smallest_epsilon(variance, Saw, 0.9) == pytest.approx(2 / 0.9, rel=1e-3)


def test_advice_for_a_margin() -> None:
    advice = mu.advise(mu.Categories(["no", "yes"]), margin=3, people=2000)

    assert (advice.best["mechanism"], advice.best["epsilon"]) == ("GRR", 1.355)
    assert [row["best"] for row in advice.rows].count(True) == 1
    assert all(row["margin"] <= 3 for row in advice.rows if row["epsilon"] is not None)
    assert "is not included" in str(advice)
    grr = mu.GRR(mu.Categories(2), 1.355)

    assert advice.best["margin"] == pytest.approx(196 * math.sqrt(float(grr.variance(0.0, 2000))), rel=1e-4)


def test_advice_for_a_margin_of_a_mean_is_in_its_unit() -> None:
    years, months = (mu.advise(mu.Interval(0, top), margin=m, people=2000) for top, m in ((10, 0.5), (120, 6)))

    assert years.statistic == "mean"
    assert years.best["epsilon"] == months.best["epsilon"]


def test_advice_for_a_margin_of_records() -> None:
    """SMP asks some of the people about a column, which leaves an error that no epsilon takes away."""
    schema = mu.Schema({"smoker": mu.Categories(["no", "yes"]), "region": mu.Categories(4), "kids": mu.Categories(3)})
    advice, narrow = (mu.advise(schema, margin=m, people=1000) for m in (10, 1.0))
    by_name = {row["solution"]: row for row in narrow.rows}

    assert advice.best["epsilon"] == min(
        r["epsilon"] for r in advice.rows if r["epsilon"] and "RS" not in r["solution"]
    )
    assert by_name["SMP, 1 of 3"]["epsilon"] is None
    assert advice.best["epsilon_record"] <= advice.best["epsilon"]


def test_no_epsilon_gives_it() -> None:
    advice = mu.advise(mu.Integers(0, 100), margin=0.01, people=10, statistic="mean")

    assert advice.best is None
    assert f"no epsilon up to {MAX_EPSILON:g} gives a margin of 0.0100" in str(advice)


@pytest.mark.parametrize("margin", [0, -1, 50, 200, float("nan"), float("inf"), 10**400, True, "3"])
def test_margins_that_are_refused(margin: Any) -> None:
    with pytest.raises(InvalidParameter, match=r"advise\.margin must lie between 0 and 50 percentage points"):
        mu.advise(mu.Categories(2), margin=margin, people=100)


def test_either_epsilon_or_margin() -> None:
    for given in ({}, {"epsilon": 1.0, "margin": 3.0}):
        with pytest.raises(InvalidParameter, match="either an epsilon or a margin"):
            mu.advise(mu.Categories(2), people=100, **given)  # type: ignore[call-overload]
