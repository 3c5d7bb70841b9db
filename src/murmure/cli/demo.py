"""`murmure demo`: a first look at Murmure. A survey that runs (demo_live.py), and a report of a simulated one."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from murmure.cli.browser import has_window_browser, open_in_browser
from murmure.cli.commands import MurmureCommand, UsageError
from murmure.cli.language import echo
from murmure.cli.options import json_option
from murmure.cli.terminal import console, print_activation, print_document, print_json, print_line
from murmure.core.errors import MurmureError, Phrase
from murmure.core.files import all_or_nothing, cannot_write
from murmure.lectures.demo.survey import TWO_COINS, run_survey

if TYPE_CHECKING:
    from murmure.lectures.demo.survey import DemoSurvey
    from murmure.show.document import Document

FILE = "murmure-demo.html"
MAX_CROWD = 5000
SERVICE_PACKAGES = ("starlette", "uvicorn", "httptools", "msgspec", "argon2", "segno")


@click.command(cls=MurmureCommand, short_help="A first look: a running survey, and the report of a simulated one.")
@click.option(
    "--serve/--no-serve",
    default=None,
    help="Run the survey until Ctrl-C; or only print the report, and write it as a page.",
)
@click.option(
    "--crowd",
    type=click.IntRange(1, MAX_CROWD),
    default=200,
    show_default=True,
    help="Number of simulated people who answer.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="0.0.0.0 lets telephones of this network in.")
@click.option("--port", type=click.IntRange(0, 65535), help="[default: 8480 if it is free, else any]")
@click.option(
    "--people",
    type=click.IntRange(2, 1_000_000),
    default=2000,
    show_default=True,
    help="Number of students in the report.",
)
@click.option(
    "--epsilon", type=float, default=TWO_COINS, show_default="ln 3, two fair coins", help="A question's budget."
)
@click.option("--seed", type=int, help="Make a report that can be repeated, and is marked as such; with --no-serve.")
@click.option("--open/--no-open", "show_page", default=None, help="Open the page.  [default: in a terminal, if it can]")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Where to write murmure-demo.html.  [default: with --no-serve ., else nowhere]",
)
@json_option
@click.pass_context
def demo(
    ctx: click.Context,
    serve: bool | None,
    crowd: int,
    host: str,
    port: int | None,
    people: int,
    epsilon: float,
    seed: int | None,
    show_page: bool | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """A first look at Murmure: a class is asked about cheating at exams.

    \b
    murmure demo                   a survey that runs here: answer it in your browser, see the crowd's estimate move
    murmure demo --host 0.0.0.0    the same, and telephones of this network may answer
    murmure demo --no-serve        a simulated survey from the coins to the report, also as a page

    The people beside you are simulated. Ctrl-C ends the survey and leaves nothing behind. Without a terminal or a
    browser it ends by itself, with the report of --no-serve. --json and --seed give that report alone.
    """
    repeatable = seed is not None
    if serve and (as_json or repeatable):
        other = "--json" if as_json else "--seed"
        raise UsageError("--serve and {other} exclude one another: a running survey cannot be repeated.", other=other)
    if serve is False or as_json or repeatable:
        _report(ctx, people, epsilon, seed, show_page, out or Path(), as_json)
        return
    if serve is None and not has_collector():
        _report(ctx, people, epsilon, seed, show_page, out or Path(), as_json)
        _advise_collector()
        return
    from murmure.cli.demo_live import LiveDemo
    from murmure.cli.lesson_screen import usual_port
    from murmure.core.serving.listening import LOOPBACK

    terminal, browser = console().is_terminal, has_window_browser()
    opens = bool(show_page) or (show_page is None and terminal and browser)
    stays = bool(serve) or (terminal and (opens or browser or host not in LOOPBACK))
    live = LiveDemo(epsilon, crowd, host, usual_port(host) if port is None else port, opens and stays, stays)
    if not stays:
        print_line(Phrase("No browser was found here, so this ends by itself: --serve keeps it running."))
    if not live.run() and not stays:
        _report(ctx, people, epsilon, seed, False, out, as_json)


def has_collector() -> bool:
    """Whether the packages of the service are installed."""
    return all(find_spec(name) is not None for name in SERVICE_PACKAGES)


def _advise_collector() -> None:
    from murmure.core.installation import install_command

    words = Phrase(
        "There is also a running survey that you can answer: {command}", command=install_command("collector")
    )
    print_line(words)


def _report(
    ctx: click.Context,
    people: int,
    epsilon: float,
    seed: int | None,
    show_page: bool | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """The report of a simulated survey, and the same as a page. out: None for no page."""
    from murmure.lectures.demo.document import demo_document

    survey = run_survey(people, epsilon, seed)
    document = demo_document(survey)
    if not as_json:
        print_document(document)
    if out is None:
        return
    try:
        path = write_page(document, out)
    except MurmureError as error:
        if as_json:
            raise
        # The survey has been shown: a page that cannot be written is only a warning.
        echo(Phrase("Warning: there is no page: {why}", why=error.message))
        hint = Phrase("{command} --out DIR leaves it in DIR", command=ctx.command_path)
        echo(Phrase("  Hint: {hint}", hint=hint))
        ctx.exit(1)
    if as_json:
        print_json(_as_json(survey, path))
    else:
        print_activation()
        print_line(Phrase("The same as a page: {path}", path=str(path)))
    if show_page or (show_page is None and not as_json and console().is_terminal and has_window_browser()):
        open_in_browser(path.as_uri())


# -- the page ----------------------------------------------------------------------------------------------------------


def write_page(document: Document, folder: Path) -> Path:
    """The whole page, or nothing."""
    from murmure.show.html import page

    text = page(document)
    path = folder / FILE
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(path, error) from None
    with all_or_nothing(path) as part:
        part.write_text(text, encoding="utf-8")
    return path.resolve()


# -- the answer --------------------------------------------------------------------------------------------------------


def _as_json(survey: DemoSurvey, path: Path) -> dict[str, Any]:
    from murmure.run.report.certificate_words import certificate_json

    return {
        "people": survey.people,
        "epsilon": survey.epsilon,
        "seed": survey.seed,
        "questions": [
            {
                "mechanism": question.name,
                "plan": question.plan.digest,
                "figures": question.rows(),
                "guarantee": certificate_json(question.certificate),
            }
            for question in survey.questions
        ],
        "ranking": survey.advice.rows,
        "html": str(path),
    }
