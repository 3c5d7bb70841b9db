"""Lecture 001: facts of its items, exact where the sheet is, and answers of its exercises that were computed again."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import murmure as mu
from murmure.lectures.course.found import lectures
from murmure.lectures.course.item import Measured
from murmure.lectures.course.writing import Settings, measure
from murmure.lectures.exercise_sheet import coin_law
from murmure.lectures.exercise_sheet.class_draws import drawn_classes, estimates_of_classes, same_class
from murmure.show.figures import Branch, Tree

COINS = mu.Warner(mu.Categories([False, True]))


def tiny(item: str) -> Measured:
    return measure(f"001/{item}", Settings("tiny"), None).measured


def leaves(branch: Branch) -> list[str]:
    return [leaf for inner in branch.branches for leaf in leaves(inner)] or [branch.leaf]


def test_the_leaves_of_the_tree() -> None:
    """1/4, 1/4, f/(2N), (N - f)/(2N): they add up to one for any f."""
    [tree] = tiny("coin-tree").figures
    assert isinstance(tree, Tree)
    found = [leaf for branch in tree.branches for leaf in leaves(branch)]

    assert found == ["1/4", "1/4", "f/(2N)", "(N - f)/(2N)"]


def test_the_four_probabilities_and_epsilon() -> None:
    assert tiny("four-probabilities").data["probability"] == ["3/4", "1/4", "1/4", "3/4"]
    assert coin_law.largest_ratio() == 3
    assert coin_law.certified_epsilon() == pytest.approx(math.log(3), rel=1e-15)


def test_another_coin_costs_more() -> None:
    """Break it: epsilon of a second coin that says YES with probability s is ln((1/2 + s/2) / (s/2))."""
    table = tiny("four-probabilities").broken[1]

    for coin, epsilon, _ in table.rows:  # type: ignore[union-attr]
        s = Fraction(coin)
        assert epsilon.value == pytest.approx(math.log((1 + s) / s))


@pytest.mark.parametrize("N", [1, 2, 7, 30])
def test_expectation_estimator_and_variance(N: int) -> None:
    """E[o] = N/4 + f/2, fhat = 2o - N/2, E[fhat] = f, Var(fhat) = 3N/4: exactly, and as `mu.Warner` says."""
    for f in range(N + 1):
        law = coin_law.law_of_yes(N, f)

        assert sum(law) == 1
        assert coin_law.expected_yes(N, f) == Fraction(N, 4) + Fraction(f, 2)
        assert coin_law.moments(law) == (f, Fraction(3 * N, 4))
    assert [coin_law.exact_estimate(o, N) for o in range(N + 1)] == [2 * o - Fraction(N, 2) for o in range(N + 1)]
    assert coin_law.share_deviation(N) ** 2 == pytest.approx(3 / (4 * N))


@pytest.mark.parametrize("p", [Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(1)])
def test_the_variance_of_a_sample(p: Fraction) -> None:
    """N(3/4 + p(1 - p)) around N p."""
    mean, variance = coin_law.moments(coin_law.law_of_yes_in_a_sample(12, p))

    assert (mean, variance) == (12 * p, 12 * (Fraction(3, 4) + p * (1 - p)))


def test_simulated_classes_follow_the_two_laws() -> None:
    """20,000 classes, seed 5: means and variances within five standard errors (failure rate below 1e-5)."""
    n, N, p = 20_000, 20, Fraction(1, 4)
    rng = mu.Random.seeded(5)
    for meant, variance in (
        (same_class(n, N, 5), Fraction(3 * N, 4)),
        (drawn_classes(n, N, p, rng), N * (Fraction(3, 4) + p * (1 - p))),
    ):
        estimates = estimates_of_classes(meant, rng)

        assert abs(estimates.mean() - 5) < 5 * math.sqrt(variance / n)
        assert abs(estimates.var() / float(variance) - 1) < 5 * math.sqrt(2 / n)


def test_shares_of_nobody_and_of_everybody() -> None:
    rng = mu.Random.seeded(1)

    assert not drawn_classes(10, 4, Fraction(0), rng).any() and drawn_classes(10, 4, Fraction(1), rng).all()


def test_a_biased_estimator_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The verdict follows the numbers: an estimator that forgets the coins is called biased."""
    honest = tiny("unbiased")
    monkeypatch.setattr(coin_law, "estimation_nbre_oui_initiaux", lambda answers: float(sum(answers)))
    wrong = tiny("unbiased")

    assert honest.why is None and set(honest.data["bias"]) == {"0"}
    assert wrong.why is not None and set(wrong.data["bias"]) != {"0"}


def test_cutting_makes_a_bias() -> None:
    """Of 30 people nobody means yes: E[max(fhat, 0)] > 0, and the page shows that number."""
    law = coin_law.law_of_yes(30, 0)
    expected = sum(float(chance) * max(2 * o - 15, 0) for o, chance in enumerate(law))

    [told] = tiny("unbiased").broken
    assert f"{expected:.2f} instead of 0" in told.text  # type: ignore[union-attr]


def test_the_sample_varies_more() -> None:
    data = tiny("two-variances").data

    assert data["same people, exact"] == [75.0, 75.0, 75.0]
    assert data["drawn people, exact"] == [75.0, 100.0, 75.0]


def test_the_counts_of_many_classes() -> None:
    data = tiny("many-classes").data

    assert sum(data["found"]) == 200 and sum(data["exact"]) == pytest.approx(200)
    assert data["estimate"][0] == -15 and data["estimate"][-1] == 45


def test_the_answers_of_the_exercises() -> None:
    """Every number in them, computed again."""
    answers = [exercise.answer for exercise in lectures()["001"].exercises]

    assert coin_law.exact_estimate(13, 40) == 6 and f"{math.sqrt(30):.1f}" == "5.5"
    assert "= 6 people" in answers[0] and "5.5" in answers[0]

    deviation = math.sqrt(coin_law.moments(coin_law.law_of_yes(40, 0))[1]) / 2  # of o, which fhat doubles
    assert coin_law.exact_estimate(8, 40) == -4 and coin_law.expected_yes(40, 0) == 10 and f"{deviation:.1f}" == "2.7"
    assert "-4" in answers[1] and "10 YES" in answers[1] and "2.7" in answers[1]

    die = mu.Warner(mu.Categories([False, True]), truth=Fraction(1, 2), yes_coin=Fraction(1, 6))
    yes, no = die.yes
    # a sixth is rounded to a multiple of 2**-64
    assert np.allclose([float(v) for v in (yes, no)], [7 / 12, 1 / 12]) and (1 - no) / (1 - yes) == pytest.approx(2.2)
    assert mu.certify(die).epsilon == pytest.approx(math.log(7)) and f"{math.log(7):.2f}" == "1.95"
    assert "ln 7" in answers[2] and "1.95" in answers[2] and "2.2" in answers[2]

    assert round(10 * mu.certify(COINS).epsilon) == 11 and "about 11" in answers[3]
