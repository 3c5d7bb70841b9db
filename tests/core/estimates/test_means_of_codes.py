"""What a report about a number is worth, for every mechanism that gives a mean: unbiased, whatever is counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.frozen.figures import REFUSED, tried
from tests.listing import listed

import murmure as mu
from murmure.core.estimates.estimate import MIN_FOR_INTERVAL
from murmure.core.estimates.report_means import ReportLaw
from murmure.core.estimates.share_means import CellMeanEstimator, ShareMeanEstimator
from murmure.core.types import Affine, Total

FEW = 1000  # codes: each is asked about


def plans() -> list[Any]:
    found = []
    for name, mechanism in listed("murmure.local"):
        if isinstance(mechanism.domain, mu.Integers | mu.Interval) and isinstance(mechanism.affine(), Affine):
            plan = tried(lambda m=mechanism: mu.Plan(mu.Mean(m.domain), person=m))
            if plan is not REFUSED and mechanism.channel.inputs <= FEW:
                found.append(pytest.param(plan, id=name))
    for epsilon in (0.5, 2.0):
        domain = mu.Integers(3, 9)
        found.append(pytest.param(mu.Plan(mu.Mean(domain), person=mu.GRR(domain, epsilon)), id=f"GRR {epsilon}"))
    return found


PLANS = plans()


def reading(plan: Any, tally: Any, n: int) -> mu.Estimate:
    return plan.settle(Total(n, np.asarray(tally, np.int64))).estimate  # type: ignore[no-any-return]


def some_reports(plan: Any, n: int, seed: int) -> Any:
    codes = np.random.default_rng(seed).integers(0, plan.person.channel.inputs, n)
    return plan.person.tally(plan.person.law(codes).sample(mu.Random.seeded(seed)))


def law_of(plan: Any) -> ReportLaw | None:
    """What a report is worth; None where it supports several values."""
    estimator: Any = reading(plan, some_reports(plan, 50, 1), 50).estimator
    if isinstance(estimator, ShareMeanEstimator):
        base: Any = estimator.base
        if not base.one_each:
            return None
        return CellMeanEstimator(
            base, estimator.matrix[0], float(estimator.mean[0]), estimator.low, estimator.high
        )._law
    return estimator.law  # type: ignore[no-any-return]


def test_both_kinds_are_here() -> None:
    worth = [law_of(param.values[0]) for param in PLANS]

    assert len(PLANS) > 12 and sum(law is not None and law.square is not None for law in worth) > 5


@pytest.mark.parametrize("plan", PLANS)
def test_a_report_is_worth_its_code_and_the_square_of_its_code(plan: Any) -> None:
    """By enumeration: sum over reports of P[report | code] times what it is worth, for every code."""
    law = law_of(plan)
    if law is None:
        return
    for code in range(plan.person.channel.inputs):
        chances = law.probabilities(code)

        assert chances.sum() == pytest.approx(1)
        assert chances @ law.readout == pytest.approx(code, abs=1e-6)
        if law.square is not None:
            assert chances @ law.square == pytest.approx(code**2, abs=1e-5)


def is_mirrored(plan: Any) -> bool:
    """Its k-th report is worth what its k-th last one is worth from the other end."""
    law = law_of(plan)
    return law is None or np.allclose(law.readout + law.readout[::-1], plan.person.channel.inputs - 1, atol=1e-6)


MIRRORED = [param for param in PLANS if is_mirrored(param.values[0])]


@pytest.mark.parametrize("plan", MIRRORED)
@pytest.mark.parametrize("n", [3, 60])
def test_counted_from_the_other_end_everything_is_mirrored(plan: Any, n: int) -> None:
    """A survey of 10 - x gives 10 minus the mean and the interval mirrored.

    Of these people only where they are few: of more, the spread is estimated from squares, which have an origin.
    """
    tally = some_reports(plan, n, 7)
    here, there = reading(plan, tally, n), reading(plan, tally[::-1], n)
    both = float(plan.statistic.domain.low) + float(plan.statistic.domain.high)
    far = 1e-3 * float(plan.statistic.domain.high - plan.statistic.domain.low)  # ends are found by bisection

    assert there.mean[0] == pytest.approx(both - here.mean[0], abs=1e-6 * (1 + abs(here.mean[0])))
    for target in ("superpopulation", "fixed")[: 2 if n < MIN_FOR_INTERVAL else 1]:
        assert there.interval(0.9, target)[0] == pytest.approx(both - here.interval(0.9, target)[0][::-1], abs=far)
