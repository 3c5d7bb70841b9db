"""Error bars of protected sums, against calculus: how far one unit of noise, or one more row, moves each figure.

The derivatives are differences of the figures themselves, so nothing here knows how a statistic reads its sums.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped, unused-ignore]
from tests.frozen.figures import REFUSED, tried
from tests.frozen.rows import frame_of
from tests.listing import STATISTICS, listed
from tests.properties.drawn_rows import few, seeds, taken

import murmure as mu
from murmure.core.blocks import NoisySum
from murmure.core.errors import NoUnbiasedEstimate
from murmure.core.types import Floats
from murmure.run.totals import total

MANY = 400  # times the rows: far from all ends of ranges, and so far that the figures are nearly straight lines
WIDEST = 100  # sums; one derivative each
STEP = 20
BOUNDS = {"Sum", "Variance"}  # the least protected sums that say enough give bounds of what sampling adds


def questions() -> list[Any]:
    """Every question that a curator answers with figures and error bars."""
    found = []
    for name, question in listed(*STATISTICS):
        plan = tried(lambda q=question: mu.Plan(q, curator=mu.DiscreteLaplace(1.0)))
        if plan is not REFUSED and not plan.chooses and estimates(plan, exact_sums(plan)):
            found.append(pytest.param(plan, id=name))
    return found


def exact_sums(plan: Any, rows: int = 150, seed: int = 1) -> Any:
    frame = frame_of(plan.statistic.domain.to_dict(), 150)
    chosen = taken(frame, np.random.default_rng(seed).integers(0, 150, rows))
    return total(plan, chosen, mu.Memory(threads=1), mu.Random.seeded(1)).sum


def estimates(plan: Any, sums: Any, noisy: bool = True) -> list[mu.Estimate]:
    """What is read off these sums, with the noise of the plan or as sums without any."""
    laws = plan.bound.laws if noisy else (None,) * len(plan.bound.laws)
    found = plan.statistic.interpret(NoisySum(plan.bound.blocks, np.asarray(sums, np.int64), laws))
    several = list(found.values()) if isinstance(found, mu.Estimates) else [found]
    return [one for one in several if isinstance(one, mu.Estimate)]


def derivatives(plan: Any, sums: Any) -> list[Floats]:
    """For each estimate: figures by sums."""
    rows = []
    for step in STEP * np.eye(len(sums), dtype=np.int64):
        above, below = estimates(plan, sums + step), estimates(plan, sums - step)
        rows.append([(a.mean - b.mean) / (2 * STEP) for a, b in zip(above, below, strict=True)])
    return [np.stack(column, axis=1) for column in zip(*rows, strict=True)]


def with_covariance(plan: Any) -> bool:
    """A quantile is a cell of a grid, and has no derivative."""
    return type(plan.statistic).__name__ != "Quantile" and len(exact_sums(plan)) <= WIDEST


QUESTIONS = questions()
SMOOTH = [param for param in QUESTIONS if with_covariance(param.values[0])]


def test_many_questions_are_here() -> None:
    assert len(QUESTIONS) >= 35 and len(SMOOTH) >= 30


@pytest.mark.parametrize("plan", SMOOTH)
def test_noise_comes_through_as_calculus_says(plan: Any) -> None:
    """Fixed population: J diag(variances of the noise) J'."""
    sums = MANY * exact_sums(plan)
    of_sums = np.concatenate(
        [np.full(block.width, law.variance) for block, law in zip(plan.bound.blocks, plan.bound.laws, strict=True)]
    )

    for estimate, J in zip(estimates(plan, sums), derivatives(plan, sums), strict=True):
        assert_close(estimate.covariance("fixed"), (J * of_sums) @ J.T)
        assert_close(np.diag(estimate.variance("fixed")), np.diag(np.diag((J * of_sums) @ J.T)))


@pytest.mark.parametrize("plan", SMOOTH)
def test_sampling_comes_through_as_calculus_says(plan: Any) -> None:
    """Superpopulation: each row may as well not have come, or have come twice, which adds J (sum of g g') J'."""
    frame = frame_of(plan.statistic.domain.to_dict(), 150)
    g = np.stack([exact_row(plan, frame, i) for i in range(150)]).astype(float)
    sums = MANY * g.sum(axis=0).astype(np.int64)
    name = type(getattr(plan.statistic, "of", plan.statistic)).__name__

    for estimate, J in zip(estimates(plan, sums, noisy=False), derivatives(plan, sums), strict=True):
        stated, wanted = estimate.covariance("superpopulation"), MANY * J @ (g.T @ g) @ J.T
        if name in BOUNDS:
            assert (wanted <= stated).all() and (stated <= 4 * wanted).all()
        else:
            assert_close(stated, wanted)


def exact_row(plan: Any, frame: Any, i: int) -> Any:
    return total(plan, taken(frame, [i]), mu.Memory(threads=1), mu.Random.seeded(1)).sum


def assert_close(stated: Floats, wanted: Floats) -> None:
    """Of one matrix: figures are curved, by one part in the number of people."""
    assert np.abs(stated - wanted).max() <= 1e-4 * np.abs(wanted).max()


@pytest.mark.parametrize("plan", QUESTIONS)
@few(3)
@given(rows=st.integers(1, 400), seed=seeds)
def test_intervals_of_noisy_figures_contain_them_and_grow(plan: Any, rows: int, seed: int) -> None:
    """With more certainty, with other people in mind, and for all figures at once; few rows too."""
    exact = exact_sums(plan, rows, seed)
    scale = np.concatenate(
        [np.full(b.width, law.variance**0.5) for b, law in zip(plan.bound.blocks, plan.bound.laws, strict=True)]
    )
    noisy = exact + np.rint(np.random.default_rng(seed).laplace(size=len(exact)) * scale).astype(np.int64)
    for estimate in estimates(plan, noisy):
        for target in ("fixed", "superpopulation"):
            try:
                chain = [estimate.interval(level, target) for level in (0.5, 0.9, 0.99)]
            except NoUnbiasedEstimate:
                continue
            chain.append(estimate.interval(0.99, target, simultaneous=True))
            # where there is nothing to divide by there is no figure; a figure out of its range counts as its end
            figure = np.where(np.isnan(estimate.mean), chain[0].mean(axis=1), estimate.mean)
            clipped = np.clip(figure, chain[-1][:, 0], chain[-1][:, 1])
            for inner, outer in pairwise([np.stack([clipped] * 2, axis=1), *chain]):
                slack = 1e-9 * (1 + np.abs(outer).max())
                assert (outer[:, 0] <= inner[:, 0] + slack).all() and (inner[:, 1] <= outer[:, 1] + slack).all()


@pytest.mark.parametrize("plan", SMOOTH)
def test_intervals_are_at_least_as_wide_as_a_normal_one(plan: Any) -> None:
    """Many people: a 95 % interval reaches 1.96 standard deviations up; down it may meet the end of a range."""
    for estimate in estimates(plan, MANY * exact_sums(plan)):
        for target in ("fixed", "superpopulation"):
            up = estimate.interval(0.95, target)[:, 1] - estimate.mean

            assert (up >= stats.norm.ppf(0.975) * np.sqrt(estimate.variance(target)) * (1 - 1e-3)).all()


@pytest.mark.parametrize("plan", QUESTIONS)
@few(3)
@given(rows=st.integers(100, 5000), seed=seeds)
def test_noise_never_makes_an_interval_shorter(plan: Any, rows: int, seed: int) -> None:
    """The same sums, taken as exact: their interval lies within the one that they have as noisy sums."""
    sums = exact_sums(plan, rows, seed)
    for noisy, exact in zip(estimates(plan, sums), estimates(plan, sums, noisy=False), strict=True):
        for target in ("fixed", "superpopulation"):
            inner, outer = exact.interval(0.95, target), noisy.interval(0.95, target)
            slack = 1e-9 * (1 + np.abs(outer).max())

            assert (outer[:, 0] <= inner[:, 0] + slack).all() and (inner[:, 1] <= outer[:, 1] + slack).all()
