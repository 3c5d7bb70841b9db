"""`murmure attack link`: whose row of a sanitised table is this? By the exact posterior."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from murmure.cli.attack_options import shows_result
from murmure.cli.commands import MurmureCommand, UsageError
from murmure.cli.options import NumberList, WholeNumber
from murmure.core.errors import Phrase

if TYPE_CHECKING:
    from murmure.attacks.base.attack_result import AttackResult
    from murmure.core.random import Random

EXAMPLE = Phrase("murmure attack link sanitised.parquet people.csv --same-order")


@click.command("link", cls=MurmureCommand, short_help="Whose row of a sanitised table is this?")
@click.argument("sanitised")
@click.argument("identified")
@click.option("--same-order", is_flag=True, help="Row i of both is the same person: then hits are counted.")
@click.option("--top", type=NumberList(), default="1,10", show_default=True, metavar="K,...", help="Among the first K.")
@click.option("--targets", type=WholeNumber(), metavar="N", help="Look at a random sample of N rows.")
@shows_result
def command(
    sanitised: str,
    identified: str,
    same_order: bool,
    top: list[float],
    targets: int | None,
    rng: Random,
) -> AttackResult:
    """Link a SANITISED table with an IDENTIFIED one that holds the true records. Nobody's link is shown, only how many.

    Whether a link is right is known only if both tables hold the same people in the same order (--same-order). If not,
    the figure is what the posterior itself promises.

    \b
    murmure attack link sanitised.parquet people.csv --same-order
    murmure attack link sanitised.parquet people.csv --top 1,5,20 --targets 2000
    """
    if any(k != int(k) for k in top):
        raise UsageError("--top must be whole numbers, such as 1,10.", EXAMPLE)
    from murmure.attacks.person.linking import linkage

    return linkage(
        sanitised,
        identified,
        top=[int(k) for k in top],
        same_order=same_order,
        targets=targets,
        rng=rng,
    )
