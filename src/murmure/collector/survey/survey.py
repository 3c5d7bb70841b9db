"""A survey: what is asked, of how many people, with which epsilon. Its plan follows from it; both are public.

One question becomes a histogram or a mean through the mechanism with the least variance for so many people; several
become records (Marginals); several waves become one memoised question (RAPPOR). A plan with public coins declares that
the collector gives them out, so that a forger cannot choose a hash or a column.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

from murmure.advise.advice import advise
from murmure.advise.solutions import SOLUTIONS, auto_solution
from murmure.catalogue import load
from murmure.collector.survey.errors import SurveyRefused
from murmure.collector.survey.question import Question, read_question
from murmure.collector.survey.texts import NO_TEXT, Texts, read_texts
from murmure.core.errors import InvalidParameter, Phrase
from murmure.core.fixed import is_finite_number
from murmure.core.schema import Schema
from murmure.local.base.oracle_choice import MEAN_ORACLES, SHARE_ORACLES
from murmure.local.rappor import RAPPOR
from murmure.plan.plan import Plan
from murmure.plan.public_coins import has_public_coins
from murmure.statistics.histogram import Histogram
from murmure.statistics.marginals import Marginals
from murmure.statistics.mean import Mean

VERSION = 1
Link = Literal["open", "invitations"]
MAX_QUESTIONS, MAX_WAVES, MAX_PEOPLE = 50, 100, 10**8
MAX_TITLE_LETTERS, MAX_INTRO_LETTERS = 200, 4000
MIN_EPSILON, MAX_EPSILON = 0.01, 8.0  # beyond, a report tells nothing, or gives its answer away
# Columns in turn need a number for each person, which an open link cannot give out; fakes need shares that are known;
# and a plain table splits nothing.
NOT_ASKED = ("plain", "smp-round-robin", "rsrfd")
FIELDS = {
    "murmure_survey",
    "title",
    "intro",
    "questions",
    "people",
    "epsilon",
    "waves",
    "epsilon_total",
    "mechanism",
    "link",
}


@dataclass(frozen=True)
class Survey:
    """What is asked. epsilon: of one report, all questions together; epsilon_total: of all waves, if there are several.

    mechanism: the name of one, or of a solution for records; None: the most precise for so many people.
    """

    title: Texts
    questions: tuple[Question, ...]
    people: int
    epsilon: float
    intro: Texts = NO_TEXT
    waves: int = 1
    epsilon_total: float | None = None
    mechanism: str | None = None
    link: Link = "open"

    @property
    def of_records(self) -> bool:
        return len(self.questions) > 1

    @property
    def memoised(self) -> bool:
        return self.waves > 1

    @property
    def domain(self) -> Any:
        """Of the one question; of several, their schema."""
        if not self.of_records:
            return self.questions[0].domain
        return Schema({question.name: question.domain for question in self.questions})

    @cached_property
    def plan(self) -> Plan:
        plan = Plan(_statistic(self), person=self._mechanism())
        return Plan(plan.statistic, person=plan.person, coins="collector") if has_public_coins(plan) else plan

    def _mechanism(self) -> Any:
        first = self.questions[0]
        if self.memoised:
            assert self.epsilon_total is not None
            return RAPPOR(first.domain, self.epsilon_total, self.epsilon)
        if self.of_records:
            if self.mechanism is None:
                return auto_solution(self.domain, self.epsilon, self.people)[1]
            return SOLUTIONS[self.mechanism](self.domain, self.epsilon)
        question = "mean" if first.by_mean else "histogram"
        name = self.mechanism
        if name is None:
            advice = advise(first.domain, epsilon=self.epsilon, people=self.people, statistic=question)  # type: ignore[call-overload]
            name = advice.best["mechanism"]
        return load(name)(first.domain, self.epsilon)

    def to_dict(self) -> dict[str, Any]:
        return {
            "murmure_survey": VERSION,
            "title": self.title.to_dict(),
            "intro": self.intro.to_dict(),
            "questions": [question.to_dict() for question in self.questions],
            "people": self.people,
            "epsilon": self.epsilon,
            "waves": self.waves,
            "epsilon_total": self.epsilon_total,
            "mechanism": self.mechanism,
            "link": self.link,
        }

    @cached_property
    def digest(self) -> str:
        """Of everything that a respondent is shown and asked."""
        text = json.dumps([self.to_dict(), self.plan.digest], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()

    @classmethod
    def from_dict(cls, value: Any) -> Survey:
        """From its JSON; refuses what is unknown, missing or cannot be asked, and says where."""
        survey = read_survey(value)
        try:
            _ = survey.plan
        except SurveyRefused:
            raise
        except InvalidParameter as error:
            raise SurveyRefused(
                "survey", Phrase("a survey that can be randomised ({why})", why=error.message)
            ) from None
        return survey


def _statistic(survey: Survey) -> Any:
    if survey.of_records:
        return Marginals(survey.domain)
    first = survey.questions[0]
    return Mean(first.domain) if first.by_mean else Histogram(first.domain)  # type: ignore[arg-type]


def read_survey(value: Any) -> Survey:
    """The same without its plan, which takes longer."""
    if not isinstance(value, dict):
        raise SurveyRefused("survey", Phrase("an object"), value)
    if value.get("murmure_survey") != VERSION:
        raise SurveyRefused("murmure_survey", Phrase("{version}", version=VERSION), value.get("murmure_survey"))
    if unknown := set(value) - FIELDS:
        raise SurveyRefused("survey", Phrase("an object with known fields only"), sorted(map(str, unknown)))
    questions = _questions(value.get("questions"))
    waves = _whole(value.get("waves", 1), "waves", MAX_WAVES)
    link = value.get("link", "open")
    if link not in get_args(Link):
        raise SurveyRefused("link", Phrase("one of {links}", links=", ".join(get_args(Link))), link)
    epsilon = _epsilon(value.get("epsilon"), "epsilon")
    return Survey(
        read_texts(value.get("title"), "title", MAX_TITLE_LETTERS),
        questions,
        _whole(value.get("people"), "people", MAX_PEOPLE),
        epsilon,
        read_texts(value.get("intro"), "intro", MAX_INTRO_LETTERS, required=False),
        waves,
        _total(value.get("epsilon_total"), waves, epsilon, questions),
        _mechanism_name(value.get("mechanism"), questions, waves),
        link,
    )


def _questions(value: Any) -> tuple[Question, ...]:
    if not isinstance(value, list) or not 1 <= len(value) <= MAX_QUESTIONS:
        got = len(value) if isinstance(value, list) else value
        raise SurveyRefused("questions", Phrase("a list of 1 to {n} questions", n=MAX_QUESTIONS), got)
    questions = tuple(read_question(one, f"questions[{i}]") for i, one in enumerate(value))
    names = [question.name for question in questions]
    for i, name in enumerate(names):
        if name in names[:i]:
            raise SurveyRefused(f"questions[{i}].name", Phrase("a name that no other question has"), name)
    return questions


def _whole(value: Any, where: str, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise SurveyRefused(where, Phrase("a whole number from 1 to {most:,}", most=most), value)
    return value


def _epsilon(value: Any, where: str) -> float:
    if not is_finite_number(value) or not MIN_EPSILON <= value <= MAX_EPSILON:
        wanted = Phrase("a number from {low} to {high}", low=MIN_EPSILON, high=MAX_EPSILON)
        raise SurveyRefused(
            where, wanted, value, Phrase("1 is a usual starting point: it moves the odds by at most a factor of 2.72")
        )
    return float(value)


def _total(value: Any, waves: int, epsilon: float, questions: tuple[Question, ...]) -> float | None:
    if waves == 1:
        if value is not None:
            raise SurveyRefused("epsilon_total", Phrase("absent when there is only one wave"), value)
        return None
    if len(questions) > 1 or questions[0].by_mean:
        wanted = Phrase(
            "1 when several questions are asked, or a number: several waves need a single question with options"
        )
        raise SurveyRefused("waves", wanted, waves)
    total = _epsilon(value, "epsilon_total")
    if not epsilon < total:
        raise SurveyRefused("epsilon_total", Phrase("more than the {epsilon:g} of one wave", epsilon=epsilon), total)
    return total


def _mechanism_name(value: Any, questions: tuple[Question, ...], waves: int) -> str | None:
    if value is None:
        return None
    if waves > 1:
        raise SurveyRefused("mechanism", Phrase("absent: several waves are always memoised (RAPPOR)"), value)
    if len(questions) > 1:
        known = [name for name in SOLUTIONS if not name.startswith(NOT_ASKED)]
    else:
        known = list(MEAN_ORACLES if questions[0].by_mean else SHARE_ORACLES)
    if value not in known:
        raise SurveyRefused("mechanism", Phrase("one of {known}", known=", ".join(known)), value)
    return str(value)
