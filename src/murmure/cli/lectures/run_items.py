"""`murmure lectures run`: measure items and write their pictures, numbers and pages."""

from __future__ import annotations

from pathlib import Path

import click

from murmure.cli.commands import MurmureCommand
from murmure.cli.language import echo
from murmure.cli.options import WholeNumber, json_option
from murmure.cli.outputs import draw_off_screen
from murmure.cli.terminal import print_json, print_line
from murmure.core.errors import MissingExtra, Phrase
from murmure.core.plotting import pyplot

FOLDER = "murmure-lectures"


@click.command("run", cls=MurmureCommand, short_help="Draw figures and check claims.")
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@click.option("--quick", is_flag=True, help="Fewer repetitions: everything in a few minutes.")
@click.option(
    "--out", type=click.Path(path_type=Path), default=FOLDER, show_default=True, metavar="DIR", help="Where to write."
)
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed gives the same figures.")
@click.option("--jobs", type=WholeNumber(), default=2, show_default=True, metavar="N", help="Processes.")
@click.option("--stand-in", "invent", is_flag=True, help="Invented data where a data set is missing; pages say so.")
@click.option("--fresh", is_flag=True, help="Compute again what an earlier run has finished.")
@json_option
@click.pass_context
def run_items(
    ctx: click.Context,
    names: tuple[str, ...],
    quick: bool,
    out: Path,
    seed: int,
    jobs: int,
    invent: bool,
    fresh: bool,
    as_json: bool,
) -> None:
    """Run items by NAME: all, a lecture (000), or one item (000/warner-tree).

    For each item SVG and PNG pictures, a CSV and a JSON file; for each lecture a page. A run that was interrupted goes
    on where it stopped.
    """
    from murmure.lectures.course.found import named
    from murmure.lectures.course.item_result import without_pictures
    from murmure.lectures.course.writing import LeftOut, Settings, write_items
    from murmure.lectures.course.writing import as_json as item_json

    draw_off_screen()
    items = list(dict.fromkeys(item for name in names for item in named(name)))
    settings = Settings("quick" if quick else "full", seed, jobs, invent, fresh)
    done, left_out = [], []
    try:
        pyplot()
    except MissingExtra as error:
        echo(without_pictures(error))
    try:
        for result in write_items(items, out, settings):
            if isinstance(result, LeftOut):
                left_out.append(result)
                echo(Phrase("{item} is left out: {why}", item=result.name, why=result.why.message))
                if result.why.hint:
                    echo(Phrase("  Hint: {hint}", hint=result.why.hint))
                continue
            done.append(result)
            if not as_json:
                print_line(Phrase("{item}: {found}", item=result.name, found=result.measured.found))
    except KeyboardInterrupt:
        echo(Phrase("Interrupted. What is finished is kept in {folder}; the same command goes on.", folder=str(out)))
        ctx.exit(130)
    if as_json:
        print_json(
            {
                "items": [item_json(result, settings) for result in done],
                "left_out": [{"item": one.name, "why": str(one.why.message)} for one in left_out],
                "folder": str(out),
            }
        )
    elif done:
        for lecture in dict.fromkeys(name.partition("/")[0] for name in items):
            print_line(
                Phrase("The page of lecture {number}: {path}", number=lecture, path=str(out / lecture / "index.html"))
            )
    ctx.exit(1 if left_out else 0)
