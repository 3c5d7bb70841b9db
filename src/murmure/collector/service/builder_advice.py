"""What the author of a survey is told before anybody answers: how precise it will be, how well people are protected.

One of two numbers is given, the other follows: epsilon, or the margin of the 95% interval. The margin is that of the
plan which would be opened, so nothing is promised that the service would not do.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from murmure.advise.advice import advise
from murmure.advise.record_advice import figure_variances, summary_variances
from murmure.certify.certificate import certify
from murmure.certify.leverage import leverages
from murmure.collector.survey.errors import SurveyRefused
from murmure.collector.survey.question import Question
from murmure.collector.survey.survey import MAX_EPSILON, MIN_EPSILON, Survey
from murmure.core.certificate_blocks import method_explained
from murmure.core.errors import Phrase
from murmure.core.estimates.margins import margin_of, worst_variance
from murmure.core.fixed import is_finite_number
from murmure.core.types import Affine
from murmure.laws.records import Sampled
from murmure.local.rappor import RAPPOR
from murmure.show.language import Language, LanguageCode

MAX_MARGIN = 50.0  # of shares: an interval that reaches half of the whole to either side says nothing
DIGITS = 3  # significant ones of an epsilon that was looked for; rounded up
CLOSE = 1.0005  # a margin this near to the wanted one is the wanted one: nobody reads so many digits
MAX_STEPS = 12  # of the search: each makes the plan once
FORGED_SHARE = 0.01
UNWRITTEN = {"en": "-"}  # in place of a text that is not written yet, and that no figure depends on


def builder_advice(document: Any, epsilon: Any = None, margin: Any = None, lang: LanguageCode = "en") -> dict[str, Any]:
    """For this survey without its epsilon: what an epsilon gives, or which epsilon a margin takes.

    margin: percentage points of a share, the unit of a number, per cent of the whole for several questions. Of a survey
    in waves, epsilon is that of one wave.
    """
    if (epsilon is None) == (margin is None):
        raise SurveyRefused("epsilon", Phrase("given, or replaced by a margin, and not both"), None)
    draft = _with_texts(document)
    if margin is None:
        survey = Survey.from_dict({**draft, "epsilon": epsilon})
    else:
        survey = _survey_with_margin(draft, margin)
    return _advice(survey, Language(lang).say)


def _with_texts(document: Any) -> Any:
    """While a survey is being written its figures are wanted already: missing texts do not matter to them."""
    if not isinstance(document, dict):
        raise SurveyRefused("survey", Phrase("an object"), document)
    questions = document.get("questions")
    if isinstance(questions, list):
        questions = [{**one, "text": UNWRITTEN} if isinstance(one, dict) else one for one in questions]
    return {**document, "title": UNWRITTEN, "intro": {}, "questions": questions}


# -- the margin of a survey


def _variances(survey: Survey) -> dict[str, float]:
    """The variance of the worst figure of each question, for so many people; of numbers in their unit, squared."""
    person, people = survey.plan.person, survey.people
    if survey.of_records:
        by_column = figure_variances(person, people, _even_shares(survey))
        widths = {one.name: one.high - one.low if one.by_mean else 1.0 for one in survey.questions}
        return {name: float(np.max(v)) * widths[name] ** 2 for name, v in by_column.items() if v is not None}
    first = survey.questions[0]
    if first.by_mean:
        rows = advise(first.domain, epsilon=survey.epsilon, people=people, statistic="mean").rows
        name = type(person).__name__
        return {first.name: next(row["worst_variance"] for row in rows if row["mechanism"] == name)}
    return {first.name: worst_variance(person.variance, first.domain.size) / people}


def _even_shares(survey: Survey) -> list[Any]:
    return [np.full(one.domain.size, 1 / one.domain.size) for one in survey.questions]


def survey_margin(survey: Survey) -> float:
    """Half the width of the 95% interval of the worst figure, in the survey's unit (`unit_of`)."""
    if survey.of_records:
        by_column = figure_variances(survey.plan.person, survey.people, _even_shares(survey))
        worst = summary_variances(by_column)["worst_variance"]
        return math.inf if worst is None else 100 * margin_of(worst)
    (variance,) = _variances(survey).values()
    return margin_of(variance) * (1 if survey.questions[0].by_mean else 100)


def unit_of(survey: Survey) -> str:
    if survey.of_records:
        return "percent"
    return "value" if survey.questions[0].by_mean else "points"


# -- the epsilon of a margin


def _survey_with_margin(draft: dict[str, Any], margin: Any) -> Survey:
    """The survey with the smallest epsilon, to a few digits, that is so precise."""
    top = MAX_EPSILON
    total: Any = draft.get("epsilon_total")
    if draft.get("waves", 1) != 1 and is_finite_number(total):
        top = min(top, 0.999 * total)  # of one wave: below that of all

    def at(epsilon: float) -> Survey:
        return Survey.from_dict({**draft, "epsilon": epsilon})

    widest = at(max(top, MIN_EPSILON))
    wanted = CLOSE * _checked_margin(margin, widest)
    if survey_margin(widest) > wanted:
        nearest = _up(survey_margin(widest))
        raise SurveyRefused(
            "margin",
            Phrase("at least {nearest:g} with {people:,} answers", nearest=nearest, people=widest.people),
            margin,
            Phrase("ask more people, or allow a wider margin: twice the precision takes four times as many answers"),
        )
    if survey_margin(narrow := at(MIN_EPSILON)) <= wanted:
        return narrow
    found = _crossing(lambda epsilon: survey_margin(at(epsilon)), wanted, MIN_EPSILON, widest.epsilon)
    while survey_margin(survey := at(found)) > wanted and found < widest.epsilon:
        found = min(_up(found * (1 + 10.0 ** (1 - DIGITS))), widest.epsilon)
    while (lower := _below(found)) > MIN_EPSILON and survey_margin(less := at(lower)) <= wanted:
        found, survey = lower, less
    return survey


def _checked_margin(margin: Any, survey: Survey) -> float:
    number = is_finite_number(margin)
    if unit_of(survey) == "value":
        if not number or margin <= 0:
            raise SurveyRefused("margin", Phrase("a positive number"), margin)
    elif not number or not 0 < margin < MAX_MARGIN:
        raise SurveyRefused("margin", Phrase("a number between 0 and {most:g}", most=MAX_MARGIN), margin)
    return float(margin)


def _crossing(margin: Callable[[float], float], wanted: float, low: float, high: float) -> float:
    """Where the margin falls to the wanted one, rounded up: a margin is close to a power of epsilon, so its
    logarithm is close to a straight line (false position, with the weight of an end halved that stays: Illinois)."""
    a, b = math.log(low), math.log(high)
    fa, fb = (math.log(min(margin(end), 1e300) / wanted) for end in (low, high))
    side = 0
    for _ in range(MAX_STEPS):
        if b - a < 10.0**-DIGITS:
            break
        middle = (fa * b - fb * a) / (fa - fb) if fa < 200 else (a + b) / 2
        f = math.log(min(margin(math.exp(middle)), 1e300) / wanted)
        if f > 0:
            a, fa = middle, f
            fb, side = (fb / 2 if side == 1 else fb), 1
        else:
            b, fb = middle, f
            fa, side = (fa / 2 if side == -1 else fa), -1
        if -(10.0**-DIGITS) < f <= 0:
            break
    return min(_up(math.exp(b)), high)


def _up(value: float) -> float:
    """To DIGITS significant digits, upwards."""
    unit = 10.0 ** (math.floor(math.log10(value)) - DIGITS + 1)
    return float(f"{math.ceil(value / unit - 1e-9) * unit:.{DIGITS}g}")


def _below(value: float) -> float:
    """The next number of DIGITS significant digits."""
    unit = 10.0 ** (math.floor(math.log10(value * (1 - 1e-9))) - DIGITS + 1)  # that of 0.999 below 1
    return float(f"{value - unit:.{DIGITS}g}")


# -- what is said of it


def _advice(survey: Survey, say: Callable[[str], str]) -> dict[str, Any]:
    plan = survey.plan
    certificate = plan.guarantees()["collector"]
    numbers = [one.name for one in survey.questions if one.by_mean]
    by_column = leverages(plan.person, plan.statistic, numbers if survey.of_records else ())
    variances = _variances(survey)
    parts = dict(zip(plan.person.columns, plan.person.parts, strict=True)) if survey.of_records else {}
    questions: dict[str, Any] = {}
    for question in survey.questions:
        one = by_column.get(question.name, by_column.get(""))
        if one is not None and one.reason is not None:
            one = None
        part = parts.get(question.name, plan.person)
        questions[question.name] = {
            "unit": "value" if question.by_mean else "points",
            "margin": _question_margin(question, variances.get(question.name)),
            "mechanism": type(part).__name__,
            "leverage": None if one is None else one.largest,
            "forged_1_percent": None if one is None else min(FORGED_SHARE * one.bias, 1.0) * _whole(question),
            "hundred": _hundred(part),
        }
    largest = max((one for one in questions.values() if one["leverage"] is not None), key=_leverage, default=None)
    odds = math.exp(certificate.epsilon)
    return {
        "ok": True,
        "epsilon": survey.epsilon,
        "margin": survey_margin(survey),
        "unit": unit_of(survey),
        "people": survey.people,
        "odds": odds,
        "belief": odds / (1 + odds),
        "mechanism": _mechanism_name(survey),
        "why": say(_why(survey)),
        "leverage": None if largest is None else largest["leverage"],
        "forged_1_percent": None if largest is None else largest["forged_1_percent"],
        "certificate": {"epsilon": certificate.epsilon, "method": say(method_explained(certificate.method))},
        "waves": None if not survey.memoised else _waves(survey),
        "questions": questions,
    }


def _leverage(one: dict[str, Any]) -> float:
    return float(one["leverage"])


def _whole(question: Question) -> float:
    """The whole that a bias is a share of: percentage points of a share; of a number, the width of its range."""
    return question.high - question.low if question.by_mean else 100.0


def _question_margin(question: Question, variance: float | None) -> float | None:
    return None if variance is None else margin_of(variance) * (1 if question.by_mean else 100)


def _hundred(part: Any) -> tuple[float, float] | None:
    """Of 100 people who hold an answer, how many send a report that fits it; and of 100 who do not hold it."""
    affine = part.affine()
    if not isinstance(affine, Affine) or affine.of == "code":
        return None
    q, slope = float(affine.offset[0]), float(affine.slope[0])
    return 100 * (q + slope), 100 * q


def _waves(survey: Survey) -> dict[str, Any]:
    person = survey.plan.person
    assert isinstance(person, RAPPOR)
    total = certify(person.for_ever).epsilon
    odds = math.exp(total)
    return {"count": survey.waves, "epsilon": total, "odds": odds, "belief": odds / (1 + odds)}


def _mechanism_name(survey: Survey) -> str:
    person = survey.plan.person
    if not survey.of_records:
        return type(person).__name__
    name = type(person).__name__
    if not isinstance(person.channel, Sampled):
        return name
    return f"{name}, {person.channel.draw.take} of {len(survey.questions)}"


def _why(survey: Survey) -> Phrase:
    if survey.mechanism is not None:
        return Phrase("You chose it.")
    if survey.memoised:
        return Phrase(
            "Several waves ask the same people. The device draws once and keeps the draw, so that reports of many "
            "waves cannot be averaged: RAPPOR does this."
        )
    people = Phrase("{people:,}", people=survey.people)
    if survey.of_records:
        return Phrase(
            "Of the ways to report several answers under one epsilon, it has the least variance for {people} answers, "
            "on average over all figures.",
            people=people,
        )
    return Phrase(
        "Of the mechanisms for this question, it has the least variance for {people} answers at this epsilon.",
        people=people,
    )
