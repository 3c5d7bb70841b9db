"""The page for a projector: a room answers, its share appears with an honest interval, and the room attacks itself."""

from __future__ import annotations

from typing import Any

from murmure.collector.pages.analyst_words import LIVE, REQUESTS, words_in
from murmure.collector.pages.qr_code import qr_svg
from murmure.collector.pages.shell import FOLDER, collector_page
from murmure.collector.service.results import SurveyResults
from murmure.collector.service.room import Room
from murmure.collector.service.surveys import SurveyRecord
from murmure.core.errors import Phrase
from murmure.show.html import from_template
from murmure.show.language import LanguageCode

SCRIPT = "class_room.js"


def class_page(lang: LanguageCode, record: SurveyRecord, results: SurveyResults, link: str, csrf: str) -> str:
    """link: for the telephones of the room. Its letters are large enough for the last row."""
    data = {
        "csrf": csrf,
        "live": f"/surveys/{record.id}/class/live?lang={lang}",
        "words": words_in(lang, REQUESTS, LIVE),
    }
    return collector_page(
        "class.html",
        lang,
        script=SCRIPT,
        page_data=data,
        link=link,
        short=link.partition("#")[0].partition("//")[2],
        qr=qr_svg(link),
        id=record.id,
        **_context(record, results, False),
    )


def class_part(lang: LanguageCode, record: SurveyRecord, results: SurveyResults, attack: bool) -> str:
    """What changes with every report. attack: with what an attacker can do to these very reports."""
    return str(from_template(FOLDER, "class_part.html", lang, **_context(record, results, attack)))


def _context(record: SurveyRecord, results: SurveyResults, attack: bool) -> dict[str, Any]:
    question = record.survey.questions[0]
    return {
        "title": record.survey.title.phrase,
        "question": question.text.phrase,
        "state": record.state,
        "answers": results.n,
        "expected": record.survey.people,
        "room": None if results.total is None else Room(results),
        "document": results.document(),
        "attack": attack,
        "written": _mean if question.by_mean else _share,
    }


def _share(value: float) -> Phrase:
    return Phrase("{share:.0%}", share=value)


def _mean(value: float) -> Phrase:
    return Phrase("{value:.3g}", value=value)
