"""The page on which an analyst writes a survey: what is asked, of how many, how precise, and what it costs people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from murmure.collector.pages.analyst_words import ADVICE, BUILDER, REQUESTS, words_in
from murmure.collector.pages.shell import collector_page
from murmure.collector.survey.question import MAX_OPTION_LETTERS, MAX_OPTIONS, MAX_QUESTION_LETTERS, STEPS
from murmure.collector.survey.survey import (
    MAX_EPSILON,
    MAX_QUESTIONS,
    MAX_TITLE_LETTERS,
    MAX_WAVES,
    MIN_EPSILON,
    VERSION,
)
from murmure.core.errors import Phrase
from murmure.show.language import LanguageCode

SCRIPT = "builder.js"
PEOPLE = 500  # of a new survey
EPSILON = 1.0
KIND_NAMES = {
    "yes-no": Phrase("Yes or no"),
    "choice": Phrase("One of several answers"),
    "scale": Phrase("A scale, in order"),
    "number": Phrase("A number"),
}


def builder_page(
    lang: LanguageCode, analyst_name: str, document: Mapping[str, Any] | None, survey_id: str | None, csrf: str
) -> str:
    """document: of the draft; None: a new survey, with one empty question."""
    data = {
        "csrf": csrf,
        "id": survey_id,
        "document": dict(document) if document is not None else _new(),
        "fresh": document is None,
        "limits": {
            "questions": MAX_QUESTIONS,
            "options": MAX_OPTIONS,
            "epsilon": [MIN_EPSILON, MAX_EPSILON],
        },
        "words": words_in(lang, REQUESTS, BUILDER, ADVICE),
    }
    return collector_page(
        "builder.html",
        lang,
        script=SCRIPT,
        page_data=data,
        analyst=analyst_name,
        fresh=survey_id is None,
        kinds=KIND_NAMES,
        steps=STEPS,
        max_waves=MAX_WAVES,
        max_title=MAX_TITLE_LETTERS,
        max_question=MAX_QUESTION_LETTERS,
        max_option=MAX_OPTION_LETTERS,
    )


def _new() -> dict[str, Any]:
    return {
        "murmure_survey": VERSION,
        "title": {},
        "intro": {},
        "questions": [{"name": "", "kind": "yes-no", "text": {}}],
        "people": PEOPLE,
        "epsilon": EPSILON,
        "waves": 1,
        "epsilon_total": None,
        "mechanism": None,
        "link": "open",
    }
