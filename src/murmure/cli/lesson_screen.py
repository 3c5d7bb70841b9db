"""What the terminal shows of a lesson: where to answer, how many have, and at the end what the room says.

In a terminal the count is one line that is rewritten; elsewhere each change is a line of its own, at most one a second.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from murmure.cli.language import echo
from murmure.cli.lesson_folder import Stop
from murmure.cli.terminal import console, print_document, print_line
from murmure.cli.terminal_qr import fits_terminal, qr_lines
from murmure.core.errors import Phrase, Plural
from murmure.core.serving.listening import LOOPBACK, listening_socket
from murmure.show.language import language

if TYPE_CHECKING:
    from murmure.collector.http.survey_session import SurveySession
    from murmure.collector.service.results import SurveyResults

USUAL_PORT = 8480  # that of murmure serve
LOOK_SECONDS = 0.2  # how soon a signal is heard
SHOW_SECONDS = 1.0
CLEAR_LINE = "\r\x1b[K"


def usual_port(host: str) -> int:
    """The usual port if it is free, else any: a lesson starts without configuration."""
    from murmure.core.errors import InvalidParameter

    try:
        listening_socket(host, USUAL_PORT).close()
    except InvalidParameter:
        return 0
    return USUAL_PORT


def only_here(session: SurveySession) -> bool:
    """Whether nobody but this machine can open the link."""
    return urlsplit(session.link).hostname in LOOPBACK


def print_places(session: SurveySession) -> None:
    """Where people answer, as a QR code where it can be scanned, and where the projector's page is."""
    if console().is_terminal and not only_here(session) and can_draw(session.link):
        click.echo("\n".join(qr_lines(session.link)), color=True)
    print_line(Phrase("Answer here: {link}", link=session.link))
    print_line(Phrase("The page for the projector (this link signs in, once): {link}", link=session.projector()))
    sys.stdout.flush()


def can_draw(link: str) -> bool:
    encoding = (getattr(sys.stdout, "encoding", None) or "").lower()
    return encoding.startswith("utf") and fits_terminal(link)


def warn_plain_network(session: SurveySession) -> bool:
    """What plain HTTP on the local network means, said once. Returns whether it was said."""
    if session.urls.base.startswith("https:") or only_here(session):
        return False
    echo(
        Phrase(
            "This is plain HTTP on the local network. Answers are randomised on each telephone before they are sent, "
            "but somebody on the network could replace the page itself, and with it the randomising, and can see who "
            "takes part."
        )
    )
    return True


def follow(session: SurveySession, stop: Stop, over: Callable[[], bool] = lambda: False, as_json: bool = False) -> None:
    """Show how many have answered, until somebody stops it or it is over."""
    rewrite = console().is_terminal and not as_json
    shown, due = 0, 0.0
    while True:
        ended = stop.requested or over()
        answers = session.answers
        if answers != shown and (ended or time.monotonic() >= due):
            shown, due = answers, time.monotonic() + SHOW_SECONDS
            print_count(answers, session.record.survey.people, rewrite, as_json)
        if ended:
            break
        time.sleep(LOOK_SECONDS)
    if rewrite and shown:
        click.echo()


def print_count(answers: int, expected: int, rewrite: bool, as_json: bool) -> None:
    if as_json:
        print_event("answers", answers=answers)
        return
    words = Plural("{n:,} has answered", "{n:,} have answered", n=answers)
    if answers <= expected:
        words = Plural(
            "{n:,} of {expected:,} has answered", "{n:,} of {expected:,} have answered", n=answers, expected=expected
        )
    text = language().say(words)
    click.echo(CLEAR_LINE + text if rewrite else text, nl=not rewrite)
    sys.stdout.flush()


def print_results(results: SurveyResults) -> None:
    """The estimate with its interval, and what an attack on these reports finds."""
    from murmure.collector.service.room import Room
    from murmure.collector.service.room_words import room_document

    room = Room.of(results)
    if room is None:
        print_line(Phrase("Nobody has answered."))
        return
    print_document(room_document(room))


def results_json(results: SurveyResults) -> dict[str, Any]:
    from murmure.collector.service.room import Room
    from murmure.collector.service.room_attack import RoomAttack

    room = Room.of(results)
    attack = None if room is None else RoomAttack(room).to_json()
    return {"answers": results.n, "results": results.to_json(), "attack": attack}


def print_event(event: str, **fields: Any) -> None:
    """One line of JSON."""
    click.echo(json.dumps({"event": event, **fields}, allow_nan=False))
    sys.stdout.flush()
