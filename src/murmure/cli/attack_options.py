"""What all attacks take and print: repetitions, a seed, --json, a page and a picture."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from murmure.cli.commands import UsageError
from murmure.cli.options import NumberList, json_option, option_group, page_heading, page_options
from murmure.cli.outputs import check_picture_format, draw_off_screen
from murmure.cli.terminal import print_document, print_json, print_written
from murmure.core.files import all_or_nothing

if TYPE_CHECKING:
    from murmure.attacks.audits.audit_result import AuditResult
    from murmure.attacks.base.attack_result import AttackResult
    from murmure.core.random import Random

seed_option = click.option(
    "--seed", type=int, metavar="S", help="Draw from this seed: the same figures again.  [default: a new draw]"
)
repetitions_option = click.option(
    "--repetitions", type=int, default=20, show_default=True, metavar="R", help="How often the experiment is repeated."
)
epsilon_option = click.option(
    "--epsilon", type=NumberList(), metavar="E", help="1, or a list 0.5,1,2, or FROM:TO:STEP.  [required]"
)
output_options = option_group(
    click.option("--html", type=click.Path(path_type=Path), metavar="FILE", help="Write a page, in one file."),
    page_options,
    click.option("--plot", type=click.Path(path_type=Path), metavar="FILE", help="Draw to .svg, .png or .pdf."),
    json_option,
)
Result = TypeVar("Result", "AttackResult", "AuditResult")


def shows_result(command: Callable[..., Result]) -> Callable[..., None]:
    """--seed and the outputs, for a command that takes `rng` and returns its result: it is shown and written here."""

    @seed_option
    @output_options
    @wraps(command)
    def run(
        *,
        seed: int | None,
        html: Path | None,
        plot: Path | None,
        as_json: bool,
        title: str | None,
        question: str | None,
        author: str | None,
        **settings: Any,
    ) -> None:
        heading = page_heading(title, question, author)
        check_outputs(html, plot, **heading)
        result = command(rng=generator(seed), **settings)
        show(result, as_json, html, plot, **heading)
        if result.exit_status:
            click.get_current_context().exit(result.exit_status)

    return run


def generator(seed: int | None) -> Random:
    from murmure.core.random import Random

    return Random.secure() if seed is None else Random.seeded(seed)


def check_outputs(html: Path | None, plot: Path | None, **heading: str | None) -> None:
    """Before the attack runs: an output may replace an earlier page or picture, and nothing else."""
    from murmure.run.report.report import check_page_path

    for name, given in heading.items():
        if given is not None and html is None:
            raise UsageError("--{name} is for a page.", "add --html result.html, or leave it out", name=name)
    if html is not None:
        check_page_path(html)
    check_picture_format(plot, "attack.svg")


def show(
    result: AttackResult | AuditResult, as_json: bool, html: Path | None, plot: Path | None, **heading: str | None
) -> None:
    """Print the result, and write its page and its picture."""
    from murmure.show.document import Heading

    if html is not None:
        with all_or_nothing(html) as part:
            part.write_text(result.to_page(Heading(**heading)), encoding="utf-8")  # type: ignore[arg-type]
    if plot is not None:
        draw_off_screen()
        with all_or_nothing(plot) as part:
            figure: Any = result.plot().figure
            figure.savefig(part, format=plot.suffix[1:].lower(), dpi=150, bbox_inches="tight")
    if as_json:
        print_json(result.to_dict())
        return
    print_document(result.document())
    print_written(html, plot)
