"""Lecture 000, redrawn: what must hold whatever the seed."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import murmure as mu
from murmure.core.errors import MurmureError
from murmure.lectures import mistakes
from murmure.lectures.course.found import lectures
from murmure.lectures.course.work import Work
from murmure.lectures.data_sets.tables import find_table
from murmure.lectures.experiments import listings_000 as listings
from murmure.lectures.experiments import public_pima
from murmure.lectures.items.lecture_000 import (
    bounded_laplace,
    sanitise_and_learn,
    staircase_density,
    two_gammas,
    warner_estimator,
    warner_tree,
)
from murmure.lectures.items.lecture_000 import utility_of_naive_bayes as utility

MIDDLES = (np.arange(20_000) + 0.5) / 20_000  # evenly spaced quantiles stand for uniform draws


def test_the_leaves_of_the_tree_sum_to_one_for_every_share_and_coin() -> None:
    for truth, yes in warner_estimator.COINS:
        warner = mu.Warner(mu.Categories(2), truth=truth, yes_coin=yes)
        for f in (Fraction(0), Fraction(3, 10), Fraction(1)):
            leaves = warner_tree.leaves(warner, f)

            assert sum(leaves) == 1
            expected = (truth * f, truth * (1 - f), (1 - truth) * yes, (1 - truth) * (1 - yes))
            assert list(map(float, leaves)) == pytest.approx(list(map(float, expected)), abs=1e-15)


def test_warners_estimator_is_unbiased_with_variance_three_quarters_over_n() -> None:
    law = warner_estimator.law_of_yes(mu.Warner(mu.Categories(2)), 20, 7)
    estimates = 2 * np.arange(21) / 20 - 0.5

    assert law @ estimates == pytest.approx(7 / 20, abs=1e-12)
    assert law @ (estimates - 7 / 20) ** 2 == pytest.approx(3 / (4 * 20), abs=1e-12)


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 4.0])
@pytest.mark.parametrize("x", [0.0, 0.3, 1.0])
def test_the_noise_of_the_listings_has_the_law_of_the_certified_mechanisms(epsilon: float, x: float) -> None:
    """One inverse distribution function replaces the loop: its quantiles are those of the exact law.

    The staircase that is asked for epsilon is BoundedStaircase at what it really costs.
    """
    K = 200
    interval = mu.Interval(0.0, 1.0, cells=K)
    cost = listings.staircase_cost(epsilon)
    for noise, mechanism in (
        (listings.laplace_redrawn, mu.BoundedLaplace(interval, epsilon)),
        (listings.staircase_redrawn, mu.BoundedStaircase(interval, cost)),
    ):
        drawn = noise(np.full(len(MIDDLES), x), 0.0, 1.0, epsilon, MIDDLES)
        code = np.full(K, interval.encode([x])[0])
        exact = np.cumsum(np.exp(mechanism.law(code).log_prob(np.arange(K))))
        measured = np.cumsum(np.histogram(drawn, K, (0.0, 1.0))[0]) / len(MIDDLES)

        assert np.abs(measured - exact).max() < 0.02  # the grid moves x by half a cell, at a density of at most 8


def test_the_noise_of_the_listings_is_scaled_to_the_bounds() -> None:
    for noise in (listings.laplace_redrawn, listings.staircase_redrawn, listings.laplace_once):
        unit = noise(np.full(len(MIDDLES), 0.25), 0.0, 1.0, 2.0, MIDDLES)
        wide = noise(np.full(len(MIDDLES), 15.0), 10.0, 30.0, 2.0, MIDDLES)

        assert wide == pytest.approx(10 + 20 * unit, abs=1e-9)


def test_the_loop_as_printed_leaves_the_bounds() -> None:
    drawn = listings.laplace_once(np.zeros(len(MIDDLES)), 0.0, 1.0, 1.0, MIDDLES)

    assert np.mean((drawn < 0) | (drawn > 1)) == pytest.approx(mistakes.share_outside_listing(1.0), abs=1e-3)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_the_cost_of_the_redrawn_staircase_is_the_certified_one(epsilon: float) -> None:
    assert listings.staircase_cost(epsilon) == pytest.approx(
        mu.certify(mistakes.redrawn_staircase(epsilon)).epsilon, abs=1e-6
    )


def test_redrawing_costs_more_where_people_differ_by_less_than_the_width() -> None:
    """math.md, section 3: exactly 1 for the whole width, 1.380 for half of it (in the limit of a fine grid)."""
    law = bounded_laplace.table(mu.BoundedLaplace(mu.Interval(0.0, 1.0, cells=200), 1.0))
    half = bounded_laplace.table(mu.BoundedLaplace(mu.Interval(0.0, 1.0, cells=200), 2.0))

    assert bounded_laplace.loss_within(law, 199) == pytest.approx(1.0, abs=1e-9)
    assert bounded_laplace.loss_within(half, 99) == pytest.approx(1.380, abs=0.01)


def test_the_printed_staircase_weighs_two_and_the_right_one_weighs_one() -> None:
    gamma = two_gammas.gamma(1.0, "variance")
    right = mistakes.StaircaseSteps(1.0, printed=False)

    assert staircase_density.mass(mistakes.StaircaseSteps(1.0)) == pytest.approx(2.0013, abs=1e-4)
    assert staircase_density.mass(right) == pytest.approx(1.0, abs=1e-12)
    assert staircase_density.variance(right, gamma) == pytest.approx(two_gammas.moments(1.0, gamma)[1], rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_each_gamma_is_best_at_its_own_error(epsilon: float) -> None:
    """The slide's minimises the variance, the library's E|noise| = e^(epsilon/2) / (e^epsilon - 1)."""
    slide, library = (two_gammas.gamma(epsilon, kind) for kind in two_gammas.KINDS)
    least_mean, least_variance = two_gammas.moments(epsilon, library)[0], two_gammas.moments(epsilon, slide)[1]

    assert least_mean == pytest.approx(math.exp(epsilon / 2) / math.expm1(epsilon), rel=1e-9)
    for other in np.linspace(0.01, 0.99, 50):
        mean, variance = two_gammas.moments(epsilon, float(other))

        assert mean >= least_mean - 1e-12 and variance >= least_variance - 1e-12


def test_f1_is_that_of_the_slide() -> None:
    """The printed pair is consistent: 93 of 154 right, 4 ill women found, 61 wrong."""
    truth = np.array([1] * 4 + [0] * 89 + [1] * 61)
    predicted = np.array([1] * 4 + [0] * 89 + [0] * 61)

    assert listings.accuracy(truth, predicted) == sanitise_and_learn.PRINTED["accuracy"]
    assert listings.f1_score(truth, predicted) == pytest.approx(sanitise_and_learn.PRINTED["f1"], abs=1e-15)
    assert listings.f1_score(truth, np.zeros_like(truth)) == 0.0


def test_the_split_is_scikit_learns() -> None:
    selection = pytest.importorskip("sklearn.model_selection")
    train, test = selection.train_test_split(np.arange(768), random_state=0, test_size=0.20)
    ours = listings.lecture_split(768)

    assert np.array_equal(ours[0], train) and np.array_equal(ours[1], test)


def test_the_clear_figures_of_the_lecture_come_out_exactly() -> None:
    """0.7857142857142857 and 0.6373626373626374, by scikit-learn's learner and by Murmure's."""
    pytest.importorskip("sklearn")
    try:
        find_table("pima")
    except MurmureError as error:
        pytest.skip(f"no diabetes table here: {error}")
    for scores in sanitise_and_learn.clear_scores(Work("000/sanitise-and-learn")).values():
        assert scores["accuracy"] == 0.7857142857142857
        assert scores["f1"] == pytest.approx(0.6373626373626374, abs=1e-15)


def test_noisy_labels_cap_the_score_and_the_cap_can_be_removed() -> None:
    keep = listings.keep_probability(1.0)

    assert round(keep, 3) == 0.731
    assert listings.judged_by_noise(1.0, keep) == keep
    assert (listings.judged_by_noise(0.78, keep) - (1 - keep)) / (2 * keep - 1) == pytest.approx(0.78)


def test_values_are_moved_into_the_public_bounds_and_the_mechanisms_cost_what_they_are_asked_for() -> None:
    table = find_table("pima", invent=True)
    for name, values in public_pima.public_columns(table, listings.NUMBERS).items():
        low, high = public_pima.BOUNDS[name]

        assert low <= values.min() and values.max() <= high
    for kind in (mu.BoundedStaircase, mu.BoundedLaplace, mu.Window):
        mechanism = kind(mu.Interval(*public_pima.BOUNDS["Age"], cells=public_pima.CELLS), 1.0)

        assert mu.certify(mechanism).epsilon <= 1.0


# -- verdicts follow the numbers


def runs(mean: float) -> list[float]:
    return [mean - 0.01, mean, mean + 0.01]


@pytest.mark.parametrize(
    ("staircase", "laplace", "near", "better"),
    [
        ((0.50, 0.56, 0.78), (0.50, 0.56, 0.75), True, True),
        ((0.50, 0.56, 0.75), (0.50, 0.56, 0.75), True, False),
        ((0.50, 0.56, 0.75), (0.50, 0.56, 0.78), True, False),
        ((0.50, 0.70, 0.75), (0.50, 0.70, 0.75), False, False),  # far above always answering no
        ((0.40, 0.56, 0.75), (0.50, 0.56, 0.75), False, False),  # not similar
    ],
)
def test_the_verdicts_on_both_ranges_follow_the_accuracies(
    staircase: tuple[float, ...], laplace: tuple[float, ...], near: bool, better: bool
) -> None:
    verdict = utility.judged(
        [0.01, 1.0, 10.0], [runs(m) for m in staircase], [runs(m) for m in laplace], [0.5, 0.6, 0.7]
    )

    assert (verdict.near_random, verdict.staircase_better) == (near, better)
    assert verdict.ahead_from == (10.0 if better else None)
    way = dict.fromkeys(utility.WAYS, verdict)
    assert ("near random: holds in all three" in utility.range_claims(way, 3)) == near
    assert ("more useful: holds in all three" in utility.range_claims(way, 3)) == better
    assert ("does not rest on the extra budget" in utility.fairness(way)) == better


def test_the_noise_on_the_labels_alone_is_measured() -> None:
    """Not said: the sentence has the accuracy with clear numbers beside that with sanitised ones."""
    scores = {("public", "staircase"): np.array([[[0.5, 0.6]] * 3, [[0.7, 0.7]] * 3])}

    told = str(utility.which_noise([1.0, 10.0], scores, 0.775))

    assert "0.775 on clear test rows" in told and "it has 0.600 there" in told
    assert 0 <= utility.labels_alone(Work("000/test", invent=True), 2) <= 1


def test_loops_are_told_apart_if_either_score_tells_them_apart() -> None:
    near, far = [0.50, 0.52, 0.54], [0.90, 0.92, 0.94]

    assert sanitise_and_learn.means_are_close({loop: {"accuracy": near, "f1": near} for loop in ("redrawn", "once")})
    assert not sanitise_and_learn.means_are_close(
        {"redrawn": {"accuracy": near, "f1": near}, "once": {"accuracy": near, "f1": far}}
    )


def test_the_answers_of_the_exercises_are_right() -> None:
    answers = " ".join(exercise.answer for exercise in lectures()["000"].exercises)
    keep = listings.keep_probability(1.0)
    low, high = 0.1, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if listings.staircase_cost(middle) > 1 else (middle, high)

    assert f"a = {(0.63 - (1 - keep)) / (2 * keep - 1):.2f}" in answers
    assert f"{listings.keep_probability(1 / 9):.3f}: hardly" in answers
    assert f"About {low:.3f}" in answers
    assert mu.certify(mu.Warner(mu.Categories(2), truth=Fraction(2, 3))).epsilon == pytest.approx(math.log(5))
