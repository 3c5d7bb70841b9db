"""The page on which a person answers a survey: randomised there, with what is sent, what it tells, and a receipt."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from murmure.collector.pages.answer_words import answer_words
from murmure.collector.pages.shell import collector_page, text_in
from murmure.collector.survey.question import NO_YES, NO_YES_LABELS
from murmure.plan.browser_client import client_digest
from murmure.show.language import Language, LanguageCode

SCRIPT = "answer.js"
MEMOISED = "client/memoised.js"  # only where there are several waves
MAX_ROWS = 15  # options beyond that are a list to choose from
MAX_ACROSS = 64  # letters in one row of a scale: of each option its longest word, and a margin


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
    waves, link = int(document.get("waves", 1)), document.get("link", "open")
    settings = {
        "id": survey,
        "state": state,
        "wave": wave,
        "waves": waves,
        "link": link,
        "plan": digest,
        "coins": coins,
    }
    shown = [_for_script(question, labels=state != "open") for question in questions]
    words = answer_words(
        lang,
        {question["kind"] for question in questions},
        several=len(questions) > 1,
        waves=waves > 1,
        coins=coins,
        personal=link == "invitations",
    )
    return collector_page(
        "answer.html",
        lang,
        script=SCRIPT,
        more_modules=(MEMOISED,) if waves > 1 else (),
        survey=survey,
        state=state,
        wave=wave,
        waves=waves,
        one_time=link == "invitations",
        digest=digest,
        client=client_digest(),
        title=text_in(document["title"], lang),
        intro=text_in(document.get("intro"), lang),
        questions=questions,
        max_rows=MAX_ROWS,
        page_data={"survey": settings | {"questions": shown}, "words": words},
    )


def _question(question: Mapping[str, Any], lang: LanguageCode) -> dict[str, Any]:
    """What the template needs to know of a question, in one language. Labels have the order of the plan's values."""
    texts = question["text"]
    out = {name: question.get(name) for name in ("name", "kind", "low", "high", "step")}
    out |= {"text": text_in(texts, lang), "unit": text_in(question.get("unit"), lang)[0], "labels": [], "across": False}
    # Under this name a device notes what it has spent on a question, in whichever survey it was asked.
    out["digest"] = hashlib.sha256(json.dumps(texts, sort_keys=True).encode()).hexdigest()
    if question["kind"] == "yes-no":
        return out | {"labels": [Language(lang).say(NO_YES_LABELS[value]) for value in NO_YES]}
    labels = [text_in(option.get("label"), lang)[0] or option["value"] for option in question.get("options", ())]
    return out | {"labels": labels, "across": question["kind"] == "scale" and _fits_across(labels)}


def _fits_across(labels: Sequence[str]) -> bool:
    """Whether no word has to be broken where the options stand in one row."""
    longest = max(len(word) for label in labels for word in label.split())
    return len(labels) * (max(longest, 2) + 2.6) <= MAX_ACROSS


def _for_script(question: Mapping[str, Any], labels: bool) -> dict[str, Any]:
    """labels: the page does not show the question, so that the script cannot read them there."""
    names = ["name", "kind", "digest"] + (["low", "high", "step", "unit"] if question["kind"] == "number" else [])
    out = {name: question[name] for name in names} | {"text": question["text"][0]}
    return out | {"labels": question["labels"]} if labels and question["labels"] else out
