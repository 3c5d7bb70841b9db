"""`murmure attack floating-point`: whether the last bits of noise show the true answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from murmure.cli.attack_options import shows_result
from murmure.cli.commands import MurmureCommand
from murmure.cli.options import NumberList, split_columns

if TYPE_CHECKING:
    from murmure.attacks.base.attack_result import AttackResult
    from murmure.core.random import Random


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
@shows_result
def command(
    epsilon: list[float],
    samplers: str | None,
    count: int,
    draws: int,
    rng: Random,
) -> AttackResult:
    """Add noise to one of two counts, and look which of them can have given the result.

    Laplace noise that is computed in floats has holes, at other places for every true count: often only one of the two
    is possible, whatever epsilon is. Noise of this package is drawn on the whole numbers and has none.

    \b
    murmure attack floating-point
    murmure attack floating-point --epsilon 0.1,1,10 --samplers numpy,DiscreteLaplace
    """
    from murmure.attacks.curator.floats import SAMPLERS, floating_point

    names = SAMPLERS if samplers is None else split_columns(samplers)
    result = floating_point(epsilon, names, count, draws, rng)
    return result
