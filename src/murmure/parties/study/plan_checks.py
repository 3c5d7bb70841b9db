"""What the plans of a study must be: all between the same parties, and described in full by words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Any

from murmure.catalogue import persisted_name
from murmure.core.domain import Categories
from murmure.core.errors import InvalidParameter, shorten
from murmure.core.schema import Schema
from murmure.parties.study.question_words import DESCRIPTIONS, is_describable
from murmure.plan.plan import Plan
from murmure.secure.identity import is_visible_text
from murmure.show.phrase import visible

MAX_PLANS = 1000
QUOTED = re.compile("`[^`]*`|'[^']*'|\"[^\"]*\"")
MAX_NUMBERS_PER_ROUND = 1 << 20  # of one party


def check_plans(plans: Any, models: Any = ()) -> None:
    if not isinstance(plans, tuple) or not (plans or models) or len(plans) > MAX_PLANS:
        raise InvalidParameter(
            "Study.plans must be 1 to {max_plans} plans, got {got}.", max_plans=MAX_PLANS, got=shorten(plans)
        )
    numbers: dict[str, int] = {}
    for number, plan in enumerate(plans, 1):
        if not isinstance(plan, Plan) or plan.parties is None:
            raise InvalidParameter(
                "Study: question {number} must be a Plan between parties, got {got}.",
                hint="Plan(Sums(schema, ...), parties=PairwiseMasks(5))",
                number=number,
                got=shorten(plan),
            )
        _check_question(number, plan)
        if plan.parties != plans[0].parties:
            raise InvalidParameter(
                "Study: question {number} is shared differently from question 1: {parties} and {plan_parties}.",
                hint="the same parties answer all questions of a study, under the same terms",
                number=number,
                parties=plan.parties,
                plan_parties=plans[0].parties,
            )
        if plan.digest in numbers:
            raise InvalidParameter(
                "Study: question {number} is question {numbers} again.",
                hint="ask it once",
                number=number,
                numbers=numbers[plan.digest],
            )
        numbers[plan.digest] = number
    check_noise(plans)


def check_noise(plans: Iterable[Plan]) -> None:
    """Noise must protect the same in all questions of a study, otherwise their costs do not add up."""
    noisy = [plan for plan in plans if plan.curator is not None]
    if len({(plan.relation, plan.unit, plan.rows_per_person) for plan in noisy}) > 1:
        raise InvalidParameter(
            "Study: the noise of the questions does not protect the same unit, so their costs do not add up.",
            hint="one relation, one unit and one rows_per_person for all of them",
        )


def _passes(letter: str) -> bool:
    """Visible, or half of a surrogate pair: json_codec.py refuses those when the study is written."""
    return visible(letter) == letter != "\n" or unicodedata.category(letter) == "Cs"


def _labels(plan: Plan) -> list[Any]:
    """The labels of all columns of the plan: they appear in the words of a study and in its results."""
    domain: Any = plan.statistic.domain
    parts = [domain[name] for name in domain] if isinstance(domain, Schema) else [domain]
    labels = [part.values for part in parts if isinstance(part, Categories) and not isinstance(part.values, int)]
    return [label for values in labels for label in values]


def _check_question(number: int, plan: Plan) -> None:
    check_model_plan(number, plan)
    if not is_describable(plan.statistic):
        raise InvalidParameter(
            "Study: question {number} asks for {statistic}, which cannot be described in plain words; there are "
            "Sums, {descriptions}.",
            hint='a regression is products = ["1", "age", "stay"]; write everything else as sums',
            number=number,
            statistic=persisted_name(plan.statistic),
            descriptions=", ".join(DESCRIPTIONS),
        )


def check_visible(number: int, text: str) -> None:
    """Refuse invisible letters: the texts of a model appear in the words that people decide by."""
    if not all(map(_passes, text)):
        raise InvalidParameter(
            "Study: question {number} contains invisible characters: {text}.",
            hint="people decide by its words, and read them on a terminal",
            number=number,
            text=shorten(text),
        )


def check_model_plan(number: int, plan: Plan) -> None:
    """All checks of a plan, except that words describe its statistic: for a model, they describe the model."""
    if plan.person is not None or plan.step.columns is None:
        raise InvalidParameter(
            "Study: question {number} randomises rows at the person, or does not name the column it reads.",
            hint="take the domain from a schema; noise between parties is curator=DiscreteLaplace(1.0)",
            number=number,
        )
    for name in plan.step.columns:
        if not isinstance(name, str) or not is_visible_text(name):
            raise InvalidParameter(
                "Study: question {number} reads a column whose name contains invisible characters or several spaces "
                "in a row: {name}.",
                hint="people decide by its words",
                number=number,
                name=shorten(name),
            )
    for label in _labels(plan):
        if isinstance(label, str) and not all(map(_passes, label)):
            raise InvalidParameter(
                "Study: question {number} has a label with invisible characters: {label}.",
                hint="people decide by its words, and read them on a terminal: rename the label",
                number=number,
                label=shorten(label),
            )
    check_expressions(number, plan.statistic.formulas)
    if plan.encoder.entries > MAX_NUMBERS_PER_ROUND:
        raise InvalidParameter(
            "Study: question {number} takes {entries:_} numbers of every party, more than {max_numbers_per_round:_}.",
            hint="fewer cells, or fewer groups",
            number=number,
            entries=plan.encoder.entries,
            max_numbers_per_round=MAX_NUMBERS_PER_ROUND,
        )


def check_expressions(number: int, texts: Iterable[str]) -> None:
    """Outside quotation marks, letters must be what they look like."""
    for text in texts:
        bare = QUOTED.sub("", text)
        if bare != unicodedata.normalize("NFKC", bare):
            raise InvalidParameter(
                "Study: question {number} contains letters that look like others: {text}.",
                hint="write the plain letter, or the name in `backquotes`",
                number=number,
                text=shorten(text, 100),
            )
