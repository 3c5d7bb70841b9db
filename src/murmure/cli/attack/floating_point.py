"""`murmure attack floating-point`: whether the last bits of noise show the true answer."""

from __future__ import annotations

from pathlib import Path

import click

from murmure.cli.attack_options import check_outputs, generator, output_options, seed_option, show
from murmure.cli.commands import MurmureCommand
from murmure.cli.options import NumberList, split_columns


@click.command(cls=MurmureCommand, short_help="Do the last bits of noise show the true answer?")
@click.option(
    "--epsilon",
    type=NumberList(),
    default="1",
    show_default=True,
    metavar="E",
    help="1, or a list 0.5,1,2, or FROM:TO:STEP.",
)
@click.option(
    "--samplers",
    metavar="A,B,...",
    help="textbook, numpy, snapping, DiscreteLaplace, Geometric, Staircase.  [default: all]",
)
@click.option("--count", type=int, default=0, show_default=True, metavar="N", help="The true count is N or N + 1.")
@click.option(
    "--draws", type=int, default=4000, show_default=True, metavar="R", help="How many noisy counts are drawn."
)
@seed_option
@output_options
def command(
    epsilon: list[float],
    samplers: str | None,
    count: int,
    draws: int,
    seed: int | None,
    html: Path | None,
    plot: Path | None,
    as_json: bool,
    **heading: str | None,
) -> None:
    """Add noise to one of two counts, and look which of them can have given the result.

    Laplace noise that is computed in floats has holes, at other places for every true count: often only one of the two
    is possible, whatever epsilon is. Noise of this package is drawn on the whole numbers and has none.

    \b
    murmure attack floating-point
    murmure attack floating-point --epsilon 0.1,1,10 --samplers numpy,DiscreteLaplace
    """
    from murmure.attacks.curator.floats import SAMPLERS, floating_point

    check_outputs(html, plot, **heading)
    names = SAMPLERS if samplers is None else split_columns(samplers)
    result = floating_point(epsilon, names, count, draws, generator(seed))
    show(result, as_json, html, plot, **heading)
