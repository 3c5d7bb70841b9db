"""Variances of estimates, against laws that are written out and against what is possible at all."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from scipy import stats  # type: ignore[import-untyped, unused-ignore]

import murmure as mu
from murmure.core.blocks import NoisySum
from murmure.core.estimates.estimate import CellEstimator, SampledEstimator, share_variance
from murmure.core.estimates.intervals import clopper_pearson


def binomial(n: int, chance: Fraction) -> list[Fraction]:
    return [comb(n, j) * chance**j * (1 - chance) ** (n - j) for j in range(n + 1)]


def variance(law: dict[Fraction, Fraction]) -> Fraction:
    mean = sum((x * p for x, p in law.items()), Fraction(0))
    return sum(((x - mean) ** 2 * p for x, p in law.items()), Fraction(0))


@pytest.mark.parametrize(("p", "q"), [("3/4", "1/4"), ("1/2", "1/10"), ("1", "0"), ("9/10", "1/3")])
@pytest.mark.parametrize("holders", [0, 2, 5, 7])
def test_the_variance_of_a_share_is_that_of_its_reports(p: str, q: str, holders: int) -> None:
    """Of seven people `holders` hold the value: Bin(holders, p) + Bin(7 - holders, q) support it."""
    n, of_holders, of_others = 7, Fraction(p), Fraction(q)
    law: dict[Fraction, Fraction] = {}
    for a, chance_a in enumerate(binomial(holders, of_holders)):
        for b, chance_b in enumerate(binomial(n - holders, of_others)):
            estimate = (Fraction(a + b, n) - of_others) / (of_holders - of_others)
            law[estimate] = law.get(estimate, Fraction(0)) + chance_a * chance_b
    stated = share_variance(holders / n, float(of_holders), float(of_others)) / n

    assert float(stated) == pytest.approx(float(variance(law)), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_people_who_are_drawn_add_their_own_variance(share: float) -> None:
    """A report of a person who was drawn supports the value with chance f p + (1 - f) q: the variance of one coin."""
    n, p, q = 1000, 0.75, 0.25
    coin = share * p + (1 - share) * q
    tally = np.rint(n * np.array([coin, 1 - coin])).astype(np.int64)
    estimator = CellEstimator(tally, n, np.array([p, p]), np.array([q, q]), lambda f: np.zeros((2, 2)))

    assert estimator.variance("superpopulation")[0] == pytest.approx(coin * (1 - coin) / (p - q) ** 2 / n, rel=1e-12)


@pytest.mark.parametrize("ages", [[20], [20, 30, 70], [18, 99] * 30, list(range(18, 100))])
def test_the_mean_of_true_answers_has_the_variance_of_a_mean(ages: list[int]) -> None:
    """Without noise: s^2 / n if these people were drawn from others, however few they are, and none in themselves."""
    estimate = mu.run(mu.Plan(mu.Mean(mu.Integers(18, 99))), ages).estimate

    assert estimate.variance("superpopulation")[0] == pytest.approx(np.var(ages) / len(ages), rel=1e-12)
    assert estimate.variance("fixed")[0] == 0


@pytest.mark.parametrize("low, high", [(18, 99), (-3, 4)])
def test_where_there_is_nothing_to_divide_by_the_bar_is_all_that_is_possible(low: int, high: int) -> None:
    """A number between two bounds has a variance of at most a quarter of the squared distance (Popoviciu)."""
    for question, power in ((mu.Mean, 1), (mu.Variance, 2)):
        plan = mu.Plan(question(mu.Integers(low, high)), curator=mu.DiscreteLaplace(1.0))
        sums = np.zeros(sum(block.width for block in plan.bound.blocks), np.int64)
        estimate = plan.statistic.interpret(NoisySum(plan.bound.blocks, sums, plan.bound.laws))

        assert estimate.variance()[0] == pytest.approx(((high - low) ** 2 / 4) ** power, rel=1e-12)
        ends = [low, high] if power == 1 else [0, (high - low) ** 2 / 4]
        assert estimate.interval(0.95)[0] == pytest.approx(ends, rel=1e-12)


@pytest.mark.parametrize(("people", "shown", "holders"), [(10, 5, 4), (1000, 1, 300), (7, 7, 2), (50, 49, 20)])
def test_people_who_are_not_asked_add_what_drawing_without_replacement_adds(
    people: int, shown: int, holders: int
) -> None:
    """True answers of `shown` of these people: the hypergeometric law, with the share that they have of the value."""
    tally = np.array([holders * shown, (people - holders) * shown]) / people
    honest = CellEstimator(tally, shown, np.ones(2), np.zeros(2), lambda f: np.zeros((2, 2)))  # type: ignore[arg-type]
    draws = {
        Fraction(k, shown): Fraction(comb(holders, k) * comb(people - holders, shown - k), comb(people, shown))
        for k in range(shown + 1)
    }

    assert SampledEstimator(honest, shown, people).variance("fixed") == pytest.approx([float(variance(draws))] * 2)
    assert SampledEstimator(honest, shown, people).variance("superpopulation") == pytest.approx(
        [stats.binom(shown, holders / people).var() / shown**2] * 2
    )


def test_counts_beyond_all_counts_have_the_limits_of_a_normal_law() -> None:
    """Clopper and Pearson's interval goes over into it without a step where floats lose the digits of the exact one."""
    for n in (0.99e12, 1.01e12, 1e15):
        for share in (0.1, 0.5, 0.9):
            half = np.diff(clopper_pearson([share * n], n, 0.95))[0, 0] / 2
            wanted = stats.norm.ppf(0.975) * np.sqrt(share * (1 - share) / n)

            assert half == pytest.approx(wanted, rel=1e-3)
            assert clopper_pearson([share * n], n, 0.95).mean() == pytest.approx(share, abs=wanted / 100)
