"""The running part of `murmure demo`: a real survey on a temporary folder, a simulated crowd, and you."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from murmure.cli.browser import open_in_browser
from murmure.cli.language import echo
from murmure.cli.lesson_folder import Stop, lesson_folder
from murmure.cli.lesson_screen import follow, only_here, print_places, print_results, warn_plain_network
from murmure.cli.terminal import print_line
from murmure.core.errors import Phrase

WATCHED_SECONDS = 60.0  # in which the crowd answers while somebody watches


@dataclass(frozen=True)
class LiveDemo:
    """stays: until Ctrl-C; else it ends when the crowd has answered, since nobody is there to watch."""

    epsilon: float
    crowd: int
    host: str
    port: int
    opens: bool
    stays: bool

    def run(self) -> bool:
        """Serve, show, end. Returns whether somebody stopped it."""
        from murmure.collector.http.server import ServeSettings
        from murmure.collector.http.survey_session import survey_session
        from murmure.lectures.demo.crowd import Crowd, live_document

        stop = Stop()
        document, settings = live_document(self.crowd, self.epsilon), ServeSettings(self.host, self.port)
        with lesson_folder(None, stop) as folder, survey_session(folder, document, settings) as session:
            print_places(session)
            if only_here(session):
                print_line(Phrase("Only this machine can open it; --host 0.0.0.0 lets telephones of this network in."))
            warn_plain_network(session)
            print_line(Phrase("{n:,} simulated people are answering it, at the same address.", n=self.crowd))
            if self.stays:
                print_line(Phrase("Ctrl-C ends it, shows what the crowd said, and leaves nothing behind."))
            if self.opens:
                open_in_browser(session.projector())
            crowd = Crowd(session.link, self.crowd, WATCHED_SECONDS if self.stays else 0.0, lambda: stop.requested)
            crowd.start()
            try:
                over: Callable[[], bool] = (lambda: False) if self.stays else (lambda: crowd.done)
                follow(session, stop, over)
            finally:
                crowd.leave()
            print_results(session.end())
            _print_truth(crowd.answers[: crowd.sent], session.answers)
            if crowd.failed is not None:
                echo(Phrase("Warning: the simulated people stopped: {why}", why=crowd.failed.message))
        return stop.requested


def _print_truth(crowd: list[str], answers: int) -> None:
    """What only a simulation can know."""
    if not crowd:
        return
    print_line(
        Phrase(
            "{crowd:,} of these {answers:,} people are simulated. {share:.1%} of the simulated ones hold “yes”, "
            "which is known only because they are simulated.",
            crowd=len(crowd),
            answers=answers,
            share=crowd.count("yes") / len(crowd),
        )
    )
