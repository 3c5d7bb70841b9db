"""The page on which a person answers a survey: randomised there, with what is sent, what it tells, and a receipt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from murmure.collector.pages.answer_words import answer_words
from murmure.collector.pages.shell import collector_page, text_in
from murmure.collector.survey.question import NO_YES, NO_YES_LABELS
from murmure.plan.browser_client import client_digest
from murmure.show.language import Language, LanguageCode

SCRIPT = "answer.js"
MEMOISED = "client/memoised.js"  # only where there are several waves
MAX_ROWS = 15  # options beyond that are a list to choose from


def answer_page(
    document: Mapping[str, Any],
    survey: str,
    *,
    state: str,
    wave: int,
    digest: str,
    coins: bool,
    lang: LanguageCode,
) -> str:
    """HTML of the page of the survey with this id. digest: of its plan. coins: whether the collector gives them out."""
    questions = [_question(question, lang) for question in document["questions"]]
    waves = int(document.get("waves", 1))
    settings = {
        "id": survey,
        "state": state,
        "wave": wave,
        "waves": waves,
        "link": document.get("link", "open"),
        "plan": digest,
        "coins": coins,
        "questions": [
            {**question, "text": question["text"][0], "texts": texts}
            for question, texts in zip(questions, [question["text"] for question in document["questions"]], strict=True)
        ],
    }
    return collector_page(
        "answer.html",
        lang,
        script=SCRIPT,
        more_modules=(MEMOISED,) if waves > 1 else (),
        survey=survey,
        state=state,
        wave=wave,
        waves=waves,
        one_time=settings["link"] == "invitations",
        digest=digest,
        client=client_digest(),
        title=text_in(document["title"], lang),
        intro=text_in(document.get("intro"), lang),
        questions=questions,
        max_rows=MAX_ROWS,
        page_data={"survey": settings, "words": answer_words(lang)},
    )


def _question(question: Mapping[str, Any], lang: LanguageCode) -> dict[str, Any]:
    """What the template and the script need to know of a question, in one language."""
    out: dict[str, Any] = {"name": question["name"], "kind": question["kind"], "text": text_in(question["text"], lang)}
    if question["kind"] == "number":
        unit = text_in(question.get("unit"), lang)[0]
        return out | {name: question[name] for name in ("low", "high", "step")} | {"unit": unit}
    if question["kind"] == "yes-no":
        say = Language(lang).say
        return out | {"options": [{"value": value, "label": say(NO_YES_LABELS[value])} for value in NO_YES]}
    options = [(option["value"], text_in(option.get("label"), lang)[0]) for option in question["options"]]
    return out | {"options": [{"value": value, "label": label or value} for value, label in options]}
