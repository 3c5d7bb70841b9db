"""The demo's running survey: what it asks, and the simulated people who answer it beside whoever opens its page.

They are simulated, and everything else is real: each fetches the survey over HTTP, checks its plan, randomises with
secure words, and sends one report, as any respondent does.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from murmure.core.errors import MurmureError, Phrase
from murmure.core.random import Random
from murmure.lectures.demo.survey import CLASS_SEED, simulate_class

INTRO = Phrase("Your answer is randomised in this browser before it is sent. The other people are simulated.")


def crowd_answers(people: int) -> list[str]:
    """The true answers of the simulated people: the same each time, as in the demo's report."""
    return ["yes" if code else "no" for code in simulate_class(people, Random.seeded(CLASS_SEED))]


def live_document(people: int, epsilon: float) -> dict[str, Any]:
    """The survey: everybody who sees its title knows that most of those who answer are simulated."""
    from murmure.collector.http.survey_session import WARNERS_QUESTION, in_languages

    title = Phrase("A demonstration: {people:,} simulated people answer, and so can you", people=people)
    return {
        "murmure_survey": 1,
        "title": in_languages(title),
        "intro": in_languages(INTRO),
        "questions": [{"name": "cheated", "kind": "yes-no", "text": in_languages(WARNERS_QUESTION)}],
        "people": people + 1,
        "epsilon": epsilon,
    }


class _Ended(Exception):
    """The demo is over: a client that waits for another try gives up."""


class Crowd:
    """Simulated people who answer one after the other, `seconds` in all, until they have or `ended` says so."""

    def __init__(self, link: str, people: int, seconds: float, ended: Callable[[], bool]) -> None:
        self.link, self.answers, self._ended = link, crowd_answers(people), ended
        self._pause = seconds / max(1, people)
        self.sent = 0
        self.failed: MurmureError | None = None
        self._thread = threading.Thread(target=self._run, name="crowd", daemon=True)
        self._over = threading.Event()

    def start(self) -> None:
        self._thread.start()

    @property
    def done(self) -> bool:
        return not self._thread.is_alive()

    def leave(self) -> None:
        """Nobody else answers; whoever is sending finishes first."""
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        from murmure.collector.client import SurveyClient

        for answer in self.answers:
            if self._over.wait(self._pause) or self._ended():
                return
            try:
                SurveyClient(self.link, wait=self._wait).answer(answer)
            except _Ended:
                return
            except MurmureError as error:  # the survey was closed on its page, for example
                self.failed = error
                return
            self.sent += 1

    def _wait(self, seconds: float) -> None:
        if self._over.wait(seconds) or self._ended():
            raise _Ended
