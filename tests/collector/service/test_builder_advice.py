"""What the author of a survey is told before it is asked, without a browser: margins, epsilons, and what they mean."""

from __future__ import annotations

import math
from typing import Any

import pytest
from tests.collector.documents import CHEATED, HOURS, OFTEN, REGION, SURVEYS, document

from murmure.collector.service.builder_advice import CLOSE, builder_advice
from murmure.collector.survey.errors import SurveyRefused
from murmure.collector.survey.survey import MAX_EPSILON, MIN_EPSILON


@pytest.mark.parametrize("name", SURVEYS)
def test_the_margin_of_an_epsilon_takes_this_epsilon(name: str) -> None:
    """Whichever of the two is typed first."""
    survey = SURVEYS[name][0]
    told = builder_advice(survey, epsilon=survey["epsilon"])

    assert builder_advice(survey, margin=told["margin"]) == told


@pytest.mark.parametrize("wider", [0.8, 1.2, 1.9])
@pytest.mark.parametrize("name", ["yes-no", "number", "several", "waves"])
def test_a_margin_takes_the_smallest_epsilon_of_three_digits(name: str, wider: float) -> None:
    survey = SURVEYS[name][0]
    wanted = wider * builder_advice(survey, epsilon=survey["epsilon"])["margin"]
    told = builder_advice(survey, margin=wanted)
    epsilon = told["epsilon"]
    smaller = epsilon - 10.0 ** (math.floor(math.log10(epsilon)) - 2)

    assert epsilon == float(f"{epsilon:.3g}")
    assert told["margin"] <= CLOSE * wanted < builder_advice(survey, epsilon=smaller)["margin"]
    assert told == builder_advice(survey, epsilon=epsilon)


def test_a_margin_that_nearly_everything_reaches_takes_the_smallest_epsilon_of_all() -> None:
    many = document(CHEATED, people=10**8)

    assert builder_advice(many, margin=49.0)["epsilon"] == MIN_EPSILON


@pytest.mark.parametrize(
    ("survey", "epsilon"),
    [(document(OFTEN), MAX_EPSILON), (document(CHEATED, waves=3, epsilon_total=2.0), 0.999 * 2.0)],
)
def test_a_margin_out_of_reach_is_refused_with_the_nearest(survey: dict[str, Any], epsilon: float) -> None:
    """That of the largest epsilon; of waves, the largest below the total."""
    nearest = builder_advice(survey, epsilon=epsilon)["margin"]

    assert builder_advice(survey, margin=1.01 * nearest)["epsilon"] <= epsilon
    with pytest.raises(SurveyRefused, match=r"margin must be at least [\d.]+ with 500 answers, got") as refused:
        builder_advice(survey, margin=0.99 * nearest)
    said = float(str(refused.value).split("at least ")[1].split(" ")[0])
    assert nearest <= said <= 1.01 * nearest and builder_advice(survey, margin=said)["margin"] <= CLOSE * said


@pytest.mark.parametrize("name", ["yes-no", "scale", "choice by OLH", "several by SPL", "waves"])
def test_twice_the_precision_takes_four_times_as_many_answers(name: str) -> None:
    survey = SURVEYS[name][0]
    few, many = (builder_advice({**survey, "people": people}, epsilon=1.0) for people in (500, 2000))

    assert few["margin"] == pytest.approx(2 * many["margin"]) and (few["people"], many["people"]) == (500, 2000)


def test_the_margin_of_two_coins_is_that_of_the_formula() -> None:
    """e^epsilon = 3: a quarter of reports lie, and the variance about these people is (3/4 * 1/4) / (1/2)^2 / n."""
    told = builder_advice(document(CHEATED, people=400), epsilon=math.log(3))

    assert told["margin"] == pytest.approx(100 * 1.96 * math.sqrt(0.75 / 400), rel=1e-4)
    assert told["odds"] == pytest.approx(3) and told["belief"] == pytest.approx(0.75)
    assert (told["unit"], told["mechanism"], told["waves"]) == ("points", "GRR", None)
    assert told["questions"]["cheated"]["hundred"] == pytest.approx((75, 25))
    assert told["questions"]["cheated"]["forged_1_percent"] == told["forged_1_percent"] == pytest.approx(1.5)


def test_each_of_several_questions_has_its_own_figures() -> None:
    """Shares in points, a number in its unit with no hundred; the whole is as wide as its widest figure."""
    told = builder_advice(document(CHEATED, OFTEN, HOURS, epsilon=2.0), epsilon=2.0)
    by_name = told["questions"]
    parts = [one["margin"] / (40 if name == "hours" else 100) for name, one in by_name.items()]

    assert {name: one["unit"] for name, one in by_name.items()} == {
        "cheated": "points",
        "often": "points",
        "hours": "value",
    }
    assert [one["hundred"] is None for one in by_name.values()] == [False, False, True]
    assert told["unit"] == "percent" and told["mechanism"] == "SMP, 1 of 3"
    assert told["margin"] == pytest.approx(100 * max(parts))
    assert told["leverage"] == max(one["leverage"] for one in by_name.values())


def test_what_all_waves_reveal_together_is_told_too() -> None:
    told = builder_advice(document(CHEATED, waves=3, epsilon_total=2.0), epsilon=1.0)
    waves = told["waves"]

    assert told["mechanism"] == "RAPPOR" and waves["count"] == 3
    assert told["certificate"]["epsilon"] <= 1.0 < waves["epsilon"] <= 2.0
    assert waves["odds"] == pytest.approx(math.exp(waves["epsilon"]))
    assert waves["belief"] == pytest.approx(waves["odds"] / (1 + waves["odds"]))


@pytest.mark.parametrize(
    ("survey", "why"),
    [
        (document(REGION, mechanism="OLH"), "You chose it."),
        (document(CHEATED, waves=3, epsilon_total=2.0), "RAPPOR does this."),
        (document(CHEATED, OFTEN), "Of the ways to report several answers under one epsilon"),
        (document(CHEATED), "500"),
    ],
)
def test_why_this_mechanism(survey: dict[str, Any], why: str) -> None:
    assert why in builder_advice(survey, epsilon=1.0)["why"]


def test_texts_that_are_not_written_yet_change_no_figure() -> None:
    survey = document(CHEATED, OFTEN)
    unwritten = {**survey, "title": {}, "questions": [{**one, "text": {}} for one in survey["questions"]]}

    assert builder_advice(unwritten, epsilon=1.0) == builder_advice(survey, epsilon=1.0)


@pytest.mark.parametrize("given", [{}, {"epsilon": 1.0, "margin": 5.0}])
def test_one_of_epsilon_and_margin_is_given(given: dict[str, float]) -> None:
    with pytest.raises(SurveyRefused, match="not both"):
        builder_advice(document(CHEATED), **given)


@pytest.mark.parametrize("survey", [None, [], "survey", document(1), document(None)])
def test_what_is_no_survey_is_refused(survey: Any) -> None:
    with pytest.raises(SurveyRefused):
        builder_advice(survey, epsilon=1.0)
