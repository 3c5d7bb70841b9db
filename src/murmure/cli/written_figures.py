"""`murmure sanitise --estimate`: the figures of the table that was just written, as `murmure estimate` shows them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from murmure.cli.commands import UsageError
from murmure.cli.estimate import (
    Answer,
    allow_forged,
    answer_json,
    answer_records,
    asked_statistics,
    check_forged,
    check_forged_figures,
    check_page_figures,
    figures_document,
    interval_choice,
    parse_pairs,
    wanted_columns,
    write_figures,
)
from murmure.cli.options import check_level, figure_options, option_group, page_heading
from murmure.cli.outputs import check_outputs, check_picture_format, keep_file_names
from murmure.cli.terminal import print_document, print_written

if TYPE_CHECKING:
    from murmure.core.schema import Schema
    from murmure.run.tables.sanitiser import Receipt

NAMES = (
    "columns",
    "pairs",
    "level",
    "target",
    "simultaneous",
    "forged",
    "consistent",
    "plot",
    "html",
    "title",
    "question",
    "author",
)

written_figure_options = option_group(
    click.option(
        "--estimate", "estimating", is_flag=True, help="Also estimate, from counts that are taken while OUT is written."
    ),
    click.option("--columns", metavar="A,B,...", help="The columns to estimate.  [default: all, or none with --pair]"),
    click.option(
        "--pair", "pairs", multiple=True, metavar="A,B", help="How often values of two columns occur together."
    ),
    figure_options,
)


@dataclass(frozen=True)
class WrittenFigures:
    """Which figures are wanted of the table that is about to be written, and where they go."""

    columns: str | None
    pairs: tuple[str, ...]
    level: float
    target: Any
    simultaneous: bool
    forged: int
    consistent: bool
    plot: Path | None
    html: Path | None
    title: str | None
    question: str | None
    author: str | None

    @classmethod
    def of(cls, settings: dict[str, Any]) -> WrittenFigures | None:
        """Takes its options out of the settings; None without --estimate, which all of them need."""
        given, at = {name: settings.pop(name) for name in NAMES}, click.get_current_context()
        if settings.pop("estimating"):
            return cls(**given)
        for param in at.command.params:
            if param.name in NAMES and at.get_parameter_source(param.name) is not ParameterSource.DEFAULT:
                raise UsageError(
                    "{option} is for --estimate, which is not given.",
                    "murmure estimate OUT reads the table later",
                    option=param.opts[0],
                )
        return None

    def checked(self, source: Any, schema: Schema) -> list[Any]:
        """What is to be counted.

        Before anything is read: nobody pays for a table because of a slip in an option of its figures.
        """
        check_picture_format(self.plot, "estimates.svg")
        check_level(self.level)
        check_forged(self.forged)
        check_forged_figures(self.forged, None, self.pairs)
        check_page_figures(self.html, self.columns, self.pairs)
        with keep_file_names():
            check_outputs(self.plot, self.html, source, None)
        if self.plot is not None:
            from murmure.core.plotting import pyplot

            pyplot()
        wanted_columns(schema, self.columns)
        return asked_statistics(schema, self.columns, parse_pairs(self.pairs), None)

    def answer(self, receipt: Receipt) -> Answer:
        """The figures, with the picture and the page that were asked for."""
        pairs = parse_pairs(self.pairs)
        answer = answer_records(receipt.plan, self.columns, pairs, None, self.target, receipt.estimate)
        allow_forged(answer, self.forged)
        heading = page_heading(self.title, self.question, self.author)
        write_figures(answer, self.level, self.target, self.simultaneous, self.plot, self.html, heading)
        return answer

    def as_json(self, answer: Answer) -> dict[str, Any]:
        return answer_json(answer, self.level, self.target, self.simultaneous, self.consistent, self.plot, self.html)

    def show(self, answer: Answer) -> None:
        """After the receipt, which has said what the table tells about people."""
        choice = interval_choice(answer, self.level, self.target, self.simultaneous, self.consistent)
        print_document(figures_document(answer, choice))
        print_written(self.plot, self.html)
