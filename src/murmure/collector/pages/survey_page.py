"""The page of one survey (links, what the reports say so far, what its analyst may do), and the public results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from murmure.collector.pages.analyst_words import ADMINISTRATION, LIVE, REQUESTS, words_in
from murmure.collector.pages.qr_code import qr_svg
from murmure.collector.pages.shell import FOLDER, collector_page
from murmure.collector.service.results import SurveyResults
from murmure.collector.service.surveys import STATE_NAMES, SurveyRecord
from murmure.core.errors import Phrase
from murmure.core.serving.listening import LOOPBACK
from murmure.show.html import from_template
from murmure.show.language import LanguageCode
from murmure.show.phrase import Code

SCRIPT = "survey_admin.js"
REFUSALS = {  # by the codes of service/errors.py: what was not counted, in the words of an analyst
    "spent": Phrase("second reports from one link or device"),
    "bad-report": Phrase("reports that the plan cannot have drawn"),
    "bad-json": Phrase("requests that were not JSON"),
    "bad-request": Phrase("requests with wrong fields"),
    "other-plan": Phrase("reports for another plan"),
    "other-wave": Phrase("reports for another wave"),
    "not-open": Phrase("reports while the survey was closed"),
    "unknown-link": Phrase("links that were not given out"),
    "no-coins": Phrase("reports that were drawn without asking for public coins"),
    "too-large": Phrase("requests that were too large"),
    "too-slow": Phrase("requests that did not arrive in time"),
    "too-many": Phrase("requests beyond the limit of one address"),
    "type": Phrase("requests of another type than JSON"),
    "busy": Phrase("reports that were told to try again later, because too many came at once"),
    "disk": Phrase("reports that were told to try again later, because the disk was full"),
}
OTHER = Phrase("other refusals")


def survey_page(
    lang: LanguageCode,
    analyst_name: str,
    record: SurveyRecord,
    results: SurveyResults,
    refusals: Mapping[str, int],
    links: Mapping[str, str],
    csrf: str,
) -> str:
    """links: "answer", the link for respondents; "results", the address of the public results."""
    data = {
        "csrf": csrf,
        "id": record.id,
        "invitations": record.invitations,
        "live": f"/surveys/{record.id}/live?lang={lang}&wave={results.wave}" if record.state == "open" else None,
        "words": words_in(lang, REQUESTS, LIVE, ADMINISTRATION),
    }
    return collector_page(
        "survey.html",
        lang,
        script=SCRIPT,
        page_data=data,
        analyst=analyst_name,
        links=links,
        command=Code("murmure estimate"),
        qr=qr_svg(links["answer"]) if record.survey.link == "open" and record.state == "open" else None,
        refusals=refusals_in_words(refusals),
        here_only=urlsplit(links["answer"]).hostname in LOOPBACK,
        **_context(record, results),
    )


def public_results_page(lang: LanguageCode, record: SurveyRecord, results: SurveyResults) -> str:
    """The same figures for everybody, once they are published."""
    return collector_page("results.html", lang, **_context(record, results))


def live_part(lang: LanguageCode, results: SurveyResults) -> str:
    """The part of both pages that changes with every report."""
    return str(from_template(FOLDER, "live_part.html", lang, document=results.document(), answers=results.n))


def refusals_in_words(refusals: Mapping[str, int]) -> list[tuple[str, int]]:
    """The most frequent first."""
    told: dict[str, int] = {}
    for code, count in refusals.items():
        words = REFUSALS.get(code, OTHER)
        told[words] = told.get(words, 0) + count
    return sorted(((words, count) for words, count in told.items() if count), key=lambda pair: -pair[1])


def _context(record: SurveyRecord, results: SurveyResults) -> dict[str, Any]:
    survey = record.survey
    return {
        "id": record.id,
        "state": record.state,
        "state_name": STATE_NAMES[record.state],
        "title": survey.title.phrase,
        "intro": survey.intro.phrase if survey.intro else None,
        "survey": survey,
        "by_invitation": survey.link == "invitations",
        "invitations": record.invitations,
        "wave": results.wave,
        "current_wave": record.wave,
        "waves": survey.waves,
        "document": results.document(),
        "answers": results.n,
        "digest": results.plan.digest,
    }
