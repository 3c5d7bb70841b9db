"""Which cohort may be released after which: one rule, for a party and for a coordinator (secure/cohorts.py).

Colluders know their own sums, so to them a difference of few parties is that of even fewer. The smallest difference
that is allowed therefore grows with the colluders that the studies guard against: at least two parties more than these.

A later sum is compared with earlier sums of the same name, or of a common column. The number of rows comes with every
exact sum, so it has a name, and a column, of its own.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from murmure.core.errors import Phrase
from murmure.parties.study.questions import exact_questions
from murmure.secure.cohorts import Cohorts
from murmure.secure.errors import CohortRefused
from murmure.secure.graph import MIN_PARTIES
from murmure.secure.identity import Card
from murmure.statistics.conditions.disclosure import disclosure_counts

if TYPE_CHECKING:
    from murmure.parties.study.document import Study
    from murmure.parties.study.questions import StudyQuestion
    from murmure.parties.study.replay import Turn
    from murmure.plan.plan import Plan

# Stored beside the names of columns. A real column of this name would only be compared more often.
ROW_COUNT_COLUMN = "the number of rows"


@dataclass(frozen=True)
class SumRequest:
    """What the guard of cohorts compares: the sums, their columns, whether they are exact, and who may collude."""

    questions: tuple[str, ...]  # a name for every sum
    columns: tuple[str, ...]  # of exact sums also ROW_COUNT_COLUMN
    exact: bool
    colluders: int
    sums: int = 0  # exact ones, counted by what they carry (statistics/conditions/disclosure.py)


def sum_request(study: Study, turn: Turn) -> SumRequest:
    """What a round of the study asks for."""
    question, exact = study.questions[turn.question - 1], not study.hides_rows[turn.question - 1]
    columns = (*question.columns, ROW_COUNT_COLUMN) if exact else question.columns
    sums = sum(disclosure_counts(turn.plan.statistic)) if exact else 0
    return SumRequest(tuple(sum_names(question)), columns, exact, study.sharing.colluders, sums)


def exact_columns(study: Study) -> set[str]:
    """The columns that exact sums are asked of."""
    return {name for question in exact_questions(study) for name in question.columns}


def check_cohort(
    study: Study,
    new: frozenset[str],
    earlier: Iterable[tuple[frozenset[str], int]],
    known_names: Callable[[], Mapping[str, str]] = dict,
) -> None:
    """Refuse a cohort of this study. earlier: the cohorts of earlier exact sums, each with the number of colluders
    that its study guards against.

    Parties are identified by the digits of their keys, and the error calls them by their names. known_names: the names
    of parties on other rosters.
    """
    released = list(earlier)
    needed, *others = (
        max(MIN_PARTIES, colluders + 2) for colluders in (study.sharing.colluders, *(c for _, c in released))
    )
    # Each earlier study promised its own minimum: a combination must not break the promise of any of them.
    for minimum in sorted({MIN_PARTIES, needed, *others}):
        if minimum <= max(needed, len(new)):
            # A smaller cohort was released under its own terms: it reveals its parties with or without this one.
            cohorts = dict.fromkeys(cohort for cohort, _ in released if len(cohort) >= minimum)
            try:
                Cohorts(tuple(cohorts), minimum).check(new)
            except CohortRefused as error:
                raise _with_names(error, study, known_names()) from None


def _with_names(error: CohortRefused, study: Study, known_names: Mapping[str, str]) -> CohortRefused:
    names = {**known_names, **{card.key.hex(): card.name for card in study.roster}}

    def name(key: re.Match[str]) -> str:
        return names.get(key[0]) or f"the party {Card('x', bytes.fromhex(key[0])).fingerprint}"

    values = error.message.fields
    if "few" in values:
        values = values | {"few": re.sub(r"\b[0-9a-f]{64}\b", name, values["few"])}
    hint = error.hint
    if "few" in values and not study.exact_may_be_noisy:
        hint = Phrase("ask the same parties as before")
    return CohortRefused(Phrase(error.template, **values), hint=hint)


def sum_names(question: StudyQuestion) -> list[str]:
    """The names of a plan's sums. A model's later sums follow from data and never recur: its columns name it."""
    if question.model is None:
        return plan_sum_names(question.plan)
    return [_name({"a model of": sorted(question.columns)})]


def plan_sum_names(plan: Plan) -> list[str]:
    """A name for every sum that a plan asks for: not the plan's digest, which changes with who may drop out.

    Expressions are named one by one: whether a sum is asked for alone or with others, it is the same sum.
    """
    statistic: Any = json.loads(plan.to_json())["statistic"]
    expressions = statistic.get("expressions") if isinstance(statistic, dict) else None
    if not isinstance(expressions, list | tuple):
        return [_name(statistic)]
    rest = {key: value for key, value in statistic.items() if key != "expressions"}
    return [_name({**rest, "expressions": [text]}) for text in sorted(set(map(str, expressions)))]


def _name(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


ROW_COUNT = _name("the number of rows")  # of every exact question
