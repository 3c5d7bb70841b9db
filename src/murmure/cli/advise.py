"""`murmure advise`: which mechanism to use, decided before any data is collected."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import click

from murmure.cli.commands import MurmureCommand, UsageError
from murmure.cli.options import (
    DOMAIN_OPTIONS,
    NumberList,
    WholeNumber,
    build_domain,
    domain_options,
    json_option,
    require_options,
)
from murmure.cli.outputs import check_picture_format, draw_off_screen
from murmure.cli.terminal import print_document, print_json, print_line
from murmure.core.errors import Phrase
from murmure.core.files import all_or_nothing


@click.command(cls=MurmureCommand, short_help="Rank mechanisms, before anybody is asked anything.")
@domain_options
@click.option(
    "--schema", "schema_file", type=click.Path(path_type=Path), metavar="FILE", help="Or whole records: a TOML schema."
)
@click.option("--epsilon", type=NumberList(), metavar="E", help="1, or a list 0.5,1,2, or FROM:TO:STEP.")
@click.option(
    "--margin",
    type=float,
    metavar="M",
    help="Or solve epsilon: half the width of the 95% interval, in percentage points; of a mean in its unit.",
)
@click.option("--people", type=WholeNumber(), metavar="N", help="How many will answer: 100000 or 1e5.  [required]")
@click.option("--share", type=float, metavar="F", help="Expected share of the one answer that matters.")
@click.option("--shares", type=NumberList(), metavar="F1,F2,...", help="Expected shares of all answers; they sum to 1.")
@click.option(
    "--statistic",
    type=click.Choice(["histogram", "mean"]),
    help="What is asked of numbers.  [default: mean of an interval, else histogram]",
)
@click.option(
    "--rank-by",
    type=click.Choice(["mean", "worst", "var-star"]),
    help="Variance averaged over answers, at the worst share, or at share 0.  [default: mean; with --margin worst]",
)
@click.option("--plot", type=click.Path(path_type=Path), metavar="FILE", help="Draw the variances to .svg, .png, .pdf.")
@json_option
def advise(
    categories: int | None,
    labels: str | None,
    integers: tuple[int, int] | None,
    interval: tuple[float, float] | None,
    cells: int | None,
    schema_file: Path | None,
    epsilon: list[float] | None,
    margin: float | None,
    people: int | None,
    share: float | None,
    shares: list[float] | None,
    statistic: str | None,
    rank_by: str | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Rank mechanisms by exact variance, before anybody is asked anything.

    \b
    A yes/no question to a class:
      murmure advise --labels no,yes --epsilon 1 --people 200
    The smallest epsilon for 3 percentage points to either side:
      murmure advise --labels no,yes --margin 3 --people 2000
    The lecture's Var* figure (N = 1e5, k = 128):
      murmure advise --categories 128 --epsilon 0.5:5:0.5 --people 1e5 --rank-by var-star --plot var-star.svg
    A table of many columns (splitting, sampling, fake data):
      murmure advise --schema schema.toml --epsilon 1 --people 50000
    """
    example = Phrase("murmure advise --labels no,yes --epsilon 1 --people 1000")
    has_domain = any(value is not None for value in (categories, labels, integers, interval, schema_file))
    if epsilon is not None and margin is not None:
        raise UsageError(
            "--epsilon and --margin exclude one another.",
            "--epsilon asks how precise it is, --margin which epsilon is so precise",
        )
    needed = {"--people": people} if margin is not None else {"--epsilon": epsilon, "--people": people}
    require_options(Phrase("murmure advise"), needed, example, () if has_domain else DOMAIN_OPTIONS)
    assert people is not None
    check_picture_format(plot, "var-star.svg")
    if schema_file is not None:
        single_question = ("categories", "labels", "integers", "interval", "cells", "share", "shares", "statistic")
        options = click.get_current_context().params
        for name in single_question:
            if options[name] is not None:
                raise UsageError(
                    "--{name} is for one question, --schema for whole records.", "give one of them", name=name
                )
        advise_schema(schema_file, epsilon, margin, people, rank_by, plot, as_json)
        return
    domain = build_domain(categories, labels, integers, interval, cells)
    if share is not None and shares is not None:
        raise UsageError(
            "--share and --shares exclude one another.", "--share is for one answer, --shares for all of them"
        )
    from murmure.advise.advice import advise as rank

    advice = rank(  # type: ignore[call-overload,misc]
        domain,
        epsilon,
        people,
        shares=share if shares is None else shares,
        rank_by=rank_by,
        statistic=statistic,
        margin=margin,
    )
    about = {"domain": domain.to_dict(), "people": people, "statistic": advice.statistic}
    rows = [{**row, "standard_error": math.sqrt(row["mean_variance"])} for row in advice.rows]
    show(advice, about, rows, margin, plot, as_json)


def show(
    advice: Any,
    about: dict[str, Any],
    rows: list[dict[str, Any]],
    margin: float | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    """A picture where one is wanted, and text or JSON. about: what JSON says first."""
    draw(advice, plot)
    if as_json:
        print_json(
            {
                **about,
                **({} if margin is None else {"margin": margin}),
                "rank_by": advice.rank_by,
                "rows": rows,
                "sentence": advice.sentence(),
                "caution": advice.caution(),
                "plot": None if plot is None else str(plot),
            }
        )
        return
    print_document(advice.document())
    print_drawn(plot)


def draw(advice: Any, plot: Path | None) -> None:
    if plot is not None:
        draw_off_screen()
        with all_or_nothing(plot) as part:
            advice.plot(part)


def print_drawn(plot: Path | None) -> None:
    if plot is not None:
        print_line(Phrase("Drawn in {path}", path=str(plot)))


# -- whole records ----------------------------------------------------------------------------------------------------


def advise_schema(
    path: Path,
    epsilon: list[float] | None,
    margin: float | None,
    people: int,
    rank_by: str | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Splitting, sampling and fake data for the columns of a schema."""
    from murmure.advise.advice import advise as rank
    from murmure.core.schema import Schema

    schema = Schema.load(path)
    advice = rank(schema, epsilon, people, rank_by=rank_by, margin=margin)  # type: ignore[call-overload]
    show(advice, {"schema": schema.to_dict(), "people": people}, advice.rows, margin, plot, as_json)
