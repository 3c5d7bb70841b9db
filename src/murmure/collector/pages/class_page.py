"""The page for a projector: a room answers, its share appears with an honest interval, and the room attacks itself."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from murmure.collector.pages.analyst_words import LIVE, REQUESTS, words_in
from murmure.collector.pages.qr_code import qr_svg
from murmure.collector.pages.shell import FOLDER, collector_page
from murmure.collector.service.results import SurveyResults
from murmure.collector.service.room import Room
from murmure.collector.service.room_words import RoomWords
from murmure.collector.service.surveys import SurveyRecord
from murmure.core.errors import Phrase, Plural
from murmure.core.serving.listening import LOOPBACK
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
    title, question = record.survey.title, record.survey.questions[0].text
    return collector_page(
        "class.html",
        lang,
        script=SCRIPT,
        page_data=data,
        link=link,
        short=link.partition("#")[0].partition("//")[2],
        qr=qr_svg(link),
        here_only=urlsplit(link).hostname in LOOPBACK,
        one_time=record.survey.link == "invitations",
        eyebrow=None if title == question else title.phrase,
        id=record.id,
        **_context(record, results, False),
    )


def class_part(lang: LanguageCode, record: SurveyRecord, results: SurveyResults, attack: bool) -> str:
    """What changes with every report. attack: with what an attacker can do to these very reports."""
    return str(from_template(FOLDER, "class_part.html", lang, **_context(record, results, attack)))


def _context(record: SurveyRecord, results: SurveyResults, attack: bool) -> dict[str, Any]:
    room = Room.of(results)
    return {
        "title": record.survey.title.phrase,
        "question": record.survey.questions[0].text.phrase,
        "state": record.state,
        "answers": results.n,
        "counted": counted(results.n, record.survey.people),
        "wave": record.wave if record.survey.memoised else None,
        "waves": record.survey.waves,
        "room": room,
        "words": None if room is None else RoomWords(room),
        "attack": attack,
    }


def counted(answers: int, expected: int) -> Phrase:
    """What follows the large number."""
    if answers > expected:
        return Plural("has answered", "have answered", n=answers)
    return Plural("of {expected:,} has answered", "of {expected:,} have answered", n=answers, expected=expected)
