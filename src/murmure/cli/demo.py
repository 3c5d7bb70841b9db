"""`murmure demo`: a first look at Murmure. It prints a simulated survey and writes it as a page in two languages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from murmure.cli.commands import MurmureCommand
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


@click.command(cls=MurmureCommand, short_help="A first look: a simulated survey, from the coins to the report.")
@click.option(
    "--people", type=click.IntRange(2, 1_000_000), default=2000, show_default=True, help="Simulated students."
)
@click.option(
    "--epsilon", type=float, default=TWO_COINS, show_default="ln 3, two fair coins", help="A question's budget."
)
@click.option("--seed", type=int, help="Make an experiment that can be repeated; it is marked as such.")
@click.option("--open/--no-open", "show_page", default=None, help="Open the page.  [default: in a terminal, if it can]")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=".",
    metavar="DIR",
    help="Where to leave murmure-demo.html.  [default: .]",
)
@json_option
@click.pass_context
def demo(
    ctx: click.Context,
    people: int,
    epsilon: float,
    seed: int | None,
    show_page: bool | None,
    out: Path,
    as_json: bool,
) -> None:
    """A first look at Murmure: a simulated class, asked about cheating at exams."""
    from murmure.lectures.demo.document import demo_document

    survey = run_survey(people, epsilon, seed)
    document = demo_document(survey)
    if not as_json:
        print_document(document)
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
        open_page(path)


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


def has_window_browser() -> bool:
    """A browser that opens its own window; one that runs in the terminal would take the terminal over."""
    import webbrowser

    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return False
    return type(browser) is not webbrowser.GenericBrowser


def open_page(path: Path) -> None:
    """In a separate process: the command does not wait for the browser."""
    subprocess.Popen(
        [sys.executable, "-m", "webbrowser", path.as_uri()],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


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
