"""A survey is data: it has one JSON, its plan follows from it, and what cannot be asked is refused by field."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from tests.collector.documents import CHEATED, HOURS, OFTEN, SURVEYS, document

import murmure as mu
from murmure.collector.pages.shell import text_in
from murmure.collector.service.builder_advice import builder_advice
from murmure.collector.survey.errors import SurveyRefused
from murmure.collector.survey.survey import MAX_EPSILON, Survey
from murmure.collector.survey.texts import read_texts
from murmure.plan.public_coins import has_public_coins
from murmure.show.language import Language


@pytest.mark.parametrize("name", SURVEYS)
def test_a_survey_survives_its_json(name: str) -> None:
    survey = Survey.from_dict(SURVEYS[name][0])

    again = Survey.from_dict(survey.to_dict())

    assert again == survey and again.digest == survey.digest and again.plan.digest == survey.plan.digest


@pytest.mark.parametrize("name", SURVEYS)
def test_the_plan_costs_no_more_than_was_asked(name: str) -> None:
    survey = Survey.from_dict(SURVEYS[name][0])

    assert all(certificate.epsilon <= survey.epsilon for certificate in survey.plan.guarantees().values())


@pytest.mark.parametrize("name", SURVEYS)
def test_public_coins_are_the_collectors(name: str) -> None:
    """Wherever a plan has them, so that a forger cannot choose a hash or a column."""
    plan = Survey.from_dict(SURVEYS[name][0]).plan

    assert (plan.coins == "collector") == has_public_coins(plan)


def test_waves_cost_their_total_and_no_more() -> None:
    survey = Survey.from_dict(SURVEYS["waves"][0])

    assert mu.certify(survey.plan.person.for_ever).epsilon <= 2.0


def test_the_mechanism_is_the_most_precise_unless_it_is_named() -> None:
    named = Survey.from_dict(document(OFTEN, mechanism="GRR"))
    best = mu.advise(named.domain, epsilon=1.0, people=500).best["mechanism"]

    assert type(named.plan.person).__name__ == "GRR"
    assert type(Survey.from_dict(document(OFTEN)).plan.person).__name__ == best


def test_what_people_read_is_not_part_of_the_plan_but_of_the_survey() -> None:
    one, other = document(CHEATED), document({**CHEATED, "text": {"en": "Have you ever lied?"}})

    assert Survey.from_dict(one).plan.digest == Survey.from_dict(other).plan.digest
    assert Survey.from_dict(one).digest != Survey.from_dict(other).digest


def changed(survey: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {**copy.deepcopy(survey), **fields}


def options(*values: Any) -> dict[str, Any]:
    return {**OFTEN, "options": list(values)}


ONE = document(CHEATED)
BAD = {
    "not an object": ([], "survey"),
    "another version": (changed(ONE, murmure_survey=2), "murmure_survey"),
    "an unknown field": (changed(ONE, colour="red"), "survey"),
    "no title": (changed(ONE, title={}), "title"),
    "a title in another language": (changed(ONE, title={"de": "Umfrage"}), "title"),
    "a title that moves the cursor": (changed(ONE, title={"en": "a\x1b[2J"}), "title"),
    "a long title": (changed(ONE, title={"en": "x" * 201}), "title"),
    "no question": (document(), "questions"),
    "too many questions": (document(*({**CHEATED, "name": f"q{i}"} for i in range(51))), "questions"),
    "a name twice": (document(CHEATED, CHEATED), "questions[1].name"),
    "a name with a space": (document({**CHEATED, "name": "a b"}), "questions[0].name"),
    "an unknown kind": (document({**CHEATED, "kind": "essay"}), "questions[0].kind"),
    "options of a yes-no": (document({**CHEATED, "options": ["a", "b"]}), "questions[0]"),
    "one option": (document(options("a")), "questions[0].options"),
    "an option twice": (document(options("1", "01")), "questions[0].options"),
    "an option that means nothing": (document(options("nan", "a")), "questions[0].options"),
    "an empty option": (document(options("", "a")), "questions[0].options[0].value"),
    "bounds upside down": (document({**HOURS, "low": 41}), "questions[0].high"),
    "an endless bound": (document({**HOURS, "high": float("inf")}), "questions[0].high"),
    "a step of a third": (document({**HOURS, "step": 1 / 3}), "questions[0].step"),
    "a bound beside the grid": (document({**HOURS, "low": 0.5}), "questions[0].low"),
    "nobody": (changed(ONE, people=0), "people"),
    "half a person": (changed(ONE, people=1.5), "people"),
    "true people": (changed(ONE, people=True), "people"),
    "no epsilon": (changed(ONE, epsilon=0), "epsilon"),
    "too much epsilon": (changed(ONE, epsilon=MAX_EPSILON + 1), "epsilon"),
    "epsilon that is not a number": (changed(ONE, epsilon=float("nan")), "epsilon"),
    "a total of one wave": (changed(ONE, epsilon_total=2.0), "epsilon_total"),
    "waves without a total": (changed(ONE, waves=2), "epsilon_total"),
    "a total below one wave": (changed(ONE, waves=2, epsilon_total=1.0), "epsilon_total"),
    "waves of several questions": (document(CHEATED, OFTEN, waves=2, epsilon_total=2.0), "waves"),
    "waves of a number": (document(HOURS, waves=2, epsilon_total=2.0), "waves"),
    "a mechanism of records for one question": (changed(ONE, mechanism="smp"), "mechanism"),
    "columns in turn": (document(CHEATED, OFTEN, mechanism="smp-round-robin"), "mechanism"),
    "a total too large for a float": (document(CHEATED, waves=2, epsilon_total=10**400), "epsilon_total"),
    "an epsilon too large for a float": (document(CHEATED, epsilon=10**400), "epsilon"),
    "a bound too large for a float": (document({**HOURS, "high": 10**400}), "questions[0].high"),
    "another link": (changed(ONE, link="secret"), "link"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_asked_is_refused_by_field(name: str) -> None:
    survey, where = BAD[name]

    with pytest.raises(SurveyRefused) as refused:
        Survey.from_dict(survey)

    assert refused.value.where == where


@pytest.mark.parametrize(("question", "wanted"), [(CHEATED, "a number between 0 and 50"), (HOURS, "a positive number")])
@pytest.mark.parametrize("margin", [True, "5", [5], {}, 0, -1, float("nan"), float("inf"), 10**400])
def test_a_margin_that_is_none_is_refused_by_its_field(question: Any, wanted: str, margin: Any) -> None:
    """Of shares, from 50 on too; of a number, any margin in its unit will do."""
    refusals = [margin, 50] if question is CHEATED else [margin]
    for one in refusals:
        with pytest.raises(SurveyRefused, match=f"margin must be {wanted}") as refused:
            builder_advice(document(question), margin=one)
        assert refused.value.where == "margin"


@pytest.mark.parametrize(("questions", "margin"), [((CHEATED,), 5), ((CHEATED,), 20), ((OFTEN,), 7.5), ((HOURS,), 3)])
def test_a_margin_takes_the_smallest_epsilon_that_gives_it(questions: Any, margin: float) -> None:
    """To three digits: it is reached, but for a part in two thousand, and with one per cent less it is not."""
    told = builder_advice(document(*questions), margin=margin)
    less = builder_advice(document(*questions), epsilon=0.99 * told["epsilon"])

    assert told["margin"] <= 1.0005 * margin < less["margin"]
    assert told["epsilon"] == float(f"{told['epsilon']:.3g}")


@pytest.mark.parametrize("total", [10**400, float("nan"), True, "2", None])
def test_a_margin_of_waves_refuses_a_total_that_is_none_by_its_field(total: Any) -> None:
    with pytest.raises(SurveyRefused) as refused:
        builder_advice(document(CHEATED, waves=2, epsilon_total=total), margin=10.0)
    assert refused.value.where == "epsilon_total"


def test_answers_that_are_one_are_shown_with_the_reason() -> None:
    """Not "must be a list of different answers (...), got nothing."."""
    with pytest.raises(SurveyRefused) as refused:
        Survey.from_dict(document(options("1", "01")))

    assert str(refused.value.message).endswith("must be a list of different answers, got ['1', '01'].")
    assert "labels must differ" in str(refused.value.hint)


def test_texts_fall_back_to_the_language_that_there_is() -> None:
    survey = Survey.from_dict(document({**CHEATED, "text": {"fr": "Avez-vous triché {?} ?"}}))
    text = survey.questions[0].text

    assert text.in_language("en") == "Avez-vous triché {?}\u202f?"
    assert Language("en").say(text.phrase) == Language("fr").say(text.phrase) == "Avez-vous triché {?}\u202f?"


def test_a_text_is_shown_in_the_language_of_the_reader() -> None:
    title = Survey.from_dict(ONE).title.phrase

    assert (Language("en").say(title), Language("fr").say(title)) == ("A survey", "Une enquête")


def test_french_marks_do_not_begin_a_line() -> None:
    """A question mark with a plain space before it, as keyboards write it, stood on a line of its own on telephones.
    What is stored, and digests of it, are as they were typed."""
    typed = {"en": "Is it « so » ?", "fr": "Est-ce « vrai » : oui ; non ! peut-être ?"}
    texts = read_texts(typed, "text", 100)
    shown = "Est-ce «\u202fvrai\u202f»\u00a0: oui\u202f; non\u202f! peut-être\u202f?"

    assert texts.in_language("fr") == shown and text_in(typed, "fr") == (shown, "fr")
    assert Language("fr").say(texts.phrase) == shown
    assert texts.in_language("en") == typed["en"] and text_in(typed, "en") == (typed["en"], "en")
    assert texts.to_dict() == typed
