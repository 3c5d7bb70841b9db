"""`murmure class`: one question to the telephones of a room, its estimate on the projector, and an attack on it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import click

from murmure.cli.browser import has_window_browser, open_in_browser
from murmure.cli.commands import MurmureCommand, UsageError
from murmure.cli.language import echo
from murmure.cli.options import WholeNumber, json_option, option_group, split_labels
from murmure.cli.terminal import console, print_line
from murmure.core.errors import Phrase, shorten

PATH = click.Path(path_type=Path)
EVERYWHERE = "0.0.0.0"
TWO_COINS = math.log(3)  # heads, the truth; tails, a second coin answers
PEOPLE = 30

question_options = option_group(
    click.option("--question", metavar="TEXT", help="The question.  [default: whether they have cheated in an exam]"),
    click.option("--question-fr", metavar="TEXT", help="The question in French, for telephones set to French."),
    click.option("--choice", metavar="A,B,...", help="The answers, in no particular order.  [default: yes or no]"),
    click.option("--scale", metavar="A,B,...", help="The answers, in order."),
    click.option("--number", metavar="LOW:HIGH", help="The answer is a whole number between these; the mean is shown."),
    click.option(
        "--epsilon", type=float, default=TWO_COINS, show_default="ln 3, two fair coins", help="Epsilon of one report."
    ),
    click.option(
        "--people", type=WholeNumber(), default=PEOPLE, show_default=True, help="Number of people in the room."
    ),
)
service_options = option_group(
    click.option("--host", default=EVERYWHERE, show_default="0.0.0.0, all", help="Address to listen on."),
    click.option("--port", type=click.IntRange(0, 65535), help="[default: 8480 if it is free, else any]"),
    click.option("--certificate", type=PATH, metavar="FILE", help="PEM, for TLS; with --key."),
    click.option("--key", type=PATH, metavar="FILE", help="PEM: the certificate's private key."),
    click.option("--public-url", metavar="URL", help="Public address of the survey, behind a reverse proxy."),
)


@click.command("class", cls=MurmureCommand, short_help="A lesson: a room answers by telephone, then attacks itself.")
@question_options
@service_options
@click.option("--folder", type=PATH, metavar="DIR", help="Keep the survey and its reports here.  [default: nowhere]")
@click.option(
    "--open/--no-open", "show_page", default=None, help="Open the projector's page.  [default: if there is a browser]"
)
@json_option
def class_room(
    question: str | None,
    question_fr: str | None,
    choice: str | None,
    scale: str | None,
    number: str | None,
    epsilon: float,
    people: int,
    host: str,
    port: int | None,
    certificate: Path | None,
    key: Path | None,
    public_url: str | None,
    folder: Path | None,
    show_page: bool | None,
    as_json: bool,
) -> None:
    """Ask a room one question: everybody answers on a telephone, which randomises the answer before it is sent.

    \b
    murmure class                                          Warner's question, to the telephones of this network
    murmure class --question "Do you like this school?" --scale no,rather,yes --people 25
    murmure class --number 0:80 --question "How many hours did you work last week?"
    murmure class --certificate c.pem --key k.pem --port 8480 --public-url https://school.example.org:8480

    Shows a QR code and a link for the projector. Ctrl-C ends the lesson: it prints the estimate and what an attack on
    the room's own reports finds, and removes everything, unless --folder names where to keep it. A second Ctrl-C leaves
    at once. With --json: one line of JSON for each event.
    """
    from murmure.cli.lesson_folder import Stop, lesson_folder
    from murmure.cli.lesson_screen import (
        follow,
        only_here,
        print_event,
        print_places,
        print_results,
        results_json,
        usual_port,
        warn_plain_network,
    )
    from murmure.cli.serve import check_public_url, check_tls_options
    from murmure.collector.http.server import EVERYWHERE as ALL_ADDRESSES
    from murmure.collector.http.server import ServeSettings
    from murmure.collector.survey.survey import Survey

    check_tls_options(certificate, key)
    public = check_public_url(public_url)
    document = survey_document(question, question_fr, choice, scale, number, epsilon, people)
    Survey.from_dict(document)  # before anything is made
    settings = ServeSettings(host, usual_port(host) if port is None else port, certificate, key, public)
    stop = Stop()
    with lesson_folder(folder, stop) as where:
        from murmure.collector.http.survey_session import survey_session

        with survey_session(where, document, settings) as session:
            if as_json:
                places = {"link": session.link, "projector": session.projector()}
                print_event("open", **places, survey=session.record.id, port=session.urls.port)
            else:
                print_places(session)
            if only_here(session) and host in ALL_ADDRESSES:
                echo(
                    Phrase(
                        "This machine is on no network, so no telephone can answer. Connect it and start again, or "
                        "give --public-url."
                    )
                )
            if warn_plain_network(session):
                echo(Phrase("  Hint: {hint}", hint=Phrase("use --certificate and --key to serve it by TLS")))
            if not as_json:
                print_line(Phrase("Ctrl-C ends the lesson and shows what the room says."))
            if show_page or (show_page is None and not as_json and console().is_terminal and has_window_browser()):
                open_in_browser(session.projector())
            follow(session, stop, as_json=as_json)
            results = session.end()
            if as_json:
                print_event("closed", **results_json(results))
            else:
                print_results(results)
    if folder is not None and not as_json:
        print_line(Phrase("Kept in {folder}. A password for its account opens it again:", folder=str(folder)))
        print_line(Phrase("murmure serve analyst password teacher --folder {folder}", folder=str(folder)))
        print_line(Phrase("murmure serve --folder {folder}", folder=str(folder)))


def survey_document(
    question: str | None,
    question_fr: str | None,
    choice: str | None,
    scale: str | None,
    number: str | None,
    epsilon: float,
    people: int,
) -> dict[str, Any]:
    """The survey of the options, as the collector reads it. A text in one language counts for both."""
    kinds = [name for name, given in (("--choice", choice), ("--scale", scale), ("--number", number)) if given]
    if len(kinds) > 1:
        raise UsageError("{first} and {second} exclude one another.", first=kinds[0], second=kinds[1])
    if kinds and question is None and question_fr is None:
        raise UsageError(
            "{kind} gives answers, and there is no question to them.", '--question "How often?"', kind=kinds[0]
        )
    from murmure.collector.http.survey_session import WARNERS_QUESTION, in_languages

    texts: Any = {code: text for code, text in (("en", question), ("fr", question_fr)) if text}
    if not texts:
        texts = in_languages(WARNERS_QUESTION)
    elif len(texts) == 1:
        texts = next(iter(texts.values()))
    asked: dict[str, Any] = {"name": "answer", "kind": "yes-no", "text": texts}
    if choice or scale:
        asked |= {"kind": "choice" if choice else "scale", "options": split_labels(choice or scale or "")}
    elif number:
        low, high = _bounds(number)
        asked |= {"kind": "number", "low": low, "high": high, "step": 1}
    return {"murmure_survey": 1, "title": texts, "questions": [asked], "people": people, "epsilon": epsilon}


def _bounds(text: str) -> tuple[int, int]:
    low, _, high = text.partition(":")
    try:
        return int(low), int(high)
    except ValueError:
        raise UsageError(
            "--number must be two whole numbers, LOW:HIGH, got {got}.", "--number 0:80", got=shorten(text)
        ) from None
