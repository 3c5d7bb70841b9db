"""The surveys of an analyst: the newest first, each with its state and how many have answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from murmure.collector.pages.analyst_words import REQUESTS, words_in
from murmure.collector.pages.shell import collector_page
from murmure.collector.service.surveys import STATE_NAMES, SurveyRecord
from murmure.show.language import LanguageCode

SCRIPT = "analyst.js"


def list_page(
    lang: LanguageCode, analyst_name: str, surveys: Sequence[SurveyRecord], counts: Mapping[int, int], csrf: str
) -> str:
    """counts: answers by number of the survey."""
    data = {"csrf": csrf, "words": words_in(lang, REQUESTS)}
    rows = [_row(record, counts.get(record.number, 0)) for record in surveys]
    return collector_page("list.html", lang, script=SCRIPT, page_data=data, analyst=analyst_name, rows=rows)


def _row(record: SurveyRecord, count: int) -> dict[str, Any]:
    survey = record.survey
    return {
        "id": record.id,
        "title": survey.title.phrase,
        "state": record.state,
        "state_name": STATE_NAMES[record.state],
        "questions": len(survey.questions),
        "wave": record.wave,
        "waves": survey.waves,
        "count": count,
        "people": survey.people,
        "share": round(min(100.0, 100 * count / survey.people), 2),
        "address": f"/surveys/{record.id}/edit" if record.state == "draft" else f"/surveys/{record.id}",
    }
