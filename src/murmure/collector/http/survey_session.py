"""One survey for one hour: a folder, an account without a password that anybody knows, an open survey, a service.

`murmure class` and `murmure demo` hold one. The teacher's browser signs in by a ticket, which is good for once.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from murmure.collector.http.api_routes import survey_link
from murmure.collector.http.server import EVERYWHERE, ServeSettings, ServiceUrls, open_collector, serving
from murmure.core.errors import Phrase
from murmure.core.random import fresh_key
from murmure.core.serving.listening import base_url
from murmure.show.language import NAMES, Language

if TYPE_CHECKING:
    from murmure.collector.service.collector import Collector
    from murmure.collector.service.results import SurveyResults
    from murmure.collector.service.surveys import SurveyRecord

TEACHER = "teacher"
PASSWORD_BYTES = 32
LOOPBACK_ADDRESS = "127.0.0.1"
WARNERS_QUESTION = Phrase("Have you ever cheated in an exam?")


@dataclass(frozen=True)
class SurveySession:
    """A survey that is open and served."""

    collector: Collector
    record: SurveyRecord
    settings: ServeSettings
    urls: ServiceUrls

    @property
    def link(self) -> str:
        """For those who answer."""
        return survey_link(self.urls.base, self.record)

    def projector(self) -> str:
        """A new link, good for once, that shows the class page: whoever opens it is signed in as the teacher.

        Where the service listens everywhere without TLS it leads to this machine, so that neither the ticket nor the
        session crosses the network.
        """
        plain = not self.settings.tls and self.settings.public_url is None
        inside = plain and self.settings.host in EVERYWHERE
        base = base_url(LOOPBACK_ADDRESS, self.urls.port, False) if inside else self.urls.base
        ticket = self.collector.analysts.ticket(self.record.owner)
        return f"{base}/sign-in/{ticket}?next=/surveys/{self.record.id}/class"

    @property
    def answers(self) -> int:
        return int(self.collector.intake.tally_of(self.record.number, self.record.wave)[0])

    def end(self) -> SurveyResults:
        """Close the survey, and say what it found: every acknowledged report is counted."""
        return self.collector.results(self.collector.close_survey(self.record))


@contextmanager
def survey_session(folder: Path, document: dict[str, Any], settings: ServeSettings) -> Iterator[SurveySession]:
    """Open a survey in a folder and serve it, for as long as the block lasts."""
    with open_collector(folder) as collector:
        record = collector.open(collector.surveys.create(_teacher(collector), document))
        with serving(collector, settings) as urls:
            yield SurveySession(collector, record, settings, urls)


def _teacher(collector: Collector) -> int:
    """The account of lessons. In a folder that is kept it gets a password by `murmure serve analyst password`."""
    for analyst in collector.analysts.list():
        if analyst.name == TEACHER:
            return analyst.number
    return collector.analysts.create(TEACHER, fresh_key()[:PASSWORD_BYTES].hex()).number


def in_languages(phrase: Phrase) -> dict[str, str]:
    """A sentence of ours as a text of a survey, in every language of the catalogue."""
    return {code: Language(code).say(phrase) for code in NAMES}
