"""`murmure attack poison`: how far forged reports move the figures of a survey, and whether anybody notices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from murmure.cli.attack_options import epsilon_option, repetitions_option, shows_result
from murmure.cli.commands import MurmureCommand
from murmure.cli.options import (
    DOMAIN_OPTIONS,
    NumberList,
    WholeNumber,
    domain_options,
    require_options,
    split_columns,
)
from murmure.core.errors import Phrase

if TYPE_CHECKING:
    from murmure.attacks.base.attack_result import AttackResult
    from murmure.core.random import Random

DEFAULT_MECHANISMS = "GRR,OUE,OLH"


@click.command(cls=MurmureCommand, short_help="How far forged reports move a figure.")
@domain_options
@click.option(
    "--mechanism", "names", metavar="A,B,...", help="The mechanisms to compare.  [default: GRR,OUE,OLH; mean: Hybrid]"
)
@epsilon_option
@click.option("--people", type=WholeNumber(), default=10_000, show_default=True, metavar="N", help="How many reports.")
@click.option("--forged", type=WholeNumber(), metavar="M", help="How many of them are forged.  [default: 5 in 100]")
@click.option(
    "--targets", default="1", show_default=True, metavar="T", help="What forgers raise: so many answers, or A,B,..."
)
@click.option("--shares", type=NumberList(), metavar="F1,F2,...", help="Shares among honest people.  [default: even]")
@click.option("--test-level", type=float, default=0.01, show_default=True, metavar="P", help="False alarms, at most.")
@repetitions_option
@shows_result
def command(
    categories: int | None,
    labels: str | None,
    integers: tuple[int, int] | None,
    interval: tuple[float, float] | None,
    cells: int | None,
    names: str | None,
    epsilon: list[float] | None,
    people: int,
    forged: int | None,
    targets: str,
    shares: list[float] | None,
    test_level: float,
    repetitions: int,
    rng: Random,
) -> AttackResult:
    """Forge some of the reports of a survey: what do they add to the answers that they are for, compared with honest
    people, and how often do tests at a stated level notice?

    \b
    murmure attack poison --categories 16 --epsilon 1 --forged 500 --targets 3
    murmure attack poison --categories 128 --epsilon 0.5,1,2,4 --mechanism GRR --plot gain.svg
    murmure attack poison --interval 0:100 --epsilon 1 --mechanism Duchi,Piecewise
    """
    from murmure.attacks.person.forgeries import poisoning
    from murmure.cli.certify import build_mechanism, exact_name

    has_domain = any(value is not None for value in (categories, labels, integers, interval))
    require_options(
        Phrase("murmure attack poison"),
        {"--epsilon": epsilon},
        Phrase("murmure attack poison --categories 16 --epsilon 1"),
        () if has_domain else DOMAIN_OPTIONS,
    )
    assert epsilon is not None
    domain = (categories, labels, integers, interval, cells)
    default = DEFAULT_MECHANISMS if interval is None else "Hybrid"
    mechanisms = [
        build_mechanism(exact_name(name), domain, {"epsilon": each}, "murmure attack poison --mechanism ")
        for name in split_columns(names or default)
        for each in epsilon
    ]
    wanted: Any = int(targets) if targets.isdecimal() else split_columns(targets)
    return poisoning(
        mechanisms,
        people=people,
        forged=max(1, people // 20) if forged is None else forged,
        targets=wanted,
        shares=shares,
        level=test_level,
        repetitions=repetitions,
        rng=rng,
    )
