"""`murmure lectures sheet`: the exercise sheet on randomised response, as a page to print."""

from __future__ import annotations

from pathlib import Path

import click
from click.core import ParameterSource

from murmure.cli.commands import MurmureCommand
from murmure.cli.outputs import draw_off_screen, keep_file_names
from murmure.cli.terminal import print_line
from murmure.core.errors import Phrase
from murmure.show.language import LanguageCode, current_language

NAME = "td-reponse-randomisee"


@click.command("sheet", cls=MurmureCommand, short_help="The exercise sheet, to print.")
@click.option("--solutions", is_flag=True, help="With solutions; without, there is room to write.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="The page to write.  [default: td-reponse-randomisee.html, or td-reponse-randomisee-solutions.html]",
)
@click.pass_context
def sheet(ctx: click.Context, solutions: bool, out: Path | None) -> None:
    """Write the exercise sheet of lecture 001 (randomised response) as a page in one file.

    It is in French unless --lang says otherwise; the page has both languages. Printed from a browser it fits A4. On
    screen, the sheet without solutions checks the answers that are typed into it.
    """
    from murmure.core.files import all_or_nothing
    from murmure.lectures.exercise_sheet.page import sheet_page
    from murmure.run.report.report import check_page_path

    path = out or Path(f"{NAME}{'-solutions' if solutions else ''}.html")
    draw_off_screen()
    with keep_file_names():
        check_page_path(path)
        text = sheet_page(solutions, _asked_language(ctx))
        with all_or_nothing(path) as part:
            part.write_text(text, encoding="utf-8")
    print_line(Phrase("The exercise sheet: {path}. Open it in a browser and print it.", path=str(path)))


def _asked_language(ctx: click.Context) -> LanguageCode:
    """The course is French, whatever the machine speaks."""
    at: click.Context | None = ctx
    while at is not None:
        if at.get_parameter_source("lang") is ParameterSource.COMMANDLINE:
            return current_language()
        at = at.parent
    return "fr"
