"""`murmure attack difference`: rows from two sums that differ in one person."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from murmure.cli.attack_options import shows_result
from murmure.cli.commands import MurmureCommand
from murmure.cli.options import NumberList, require_options, split_columns
from murmure.core.errors import Phrase

if TYPE_CHECKING:
    from murmure.attacks.base.attack_result import AttackResult
    from murmure.core.random import Random

EXAMPLE = Phrase("murmure attack difference people.csv --schema schema.toml --knows age,region --epsilon 1")


@click.command(cls=MurmureCommand, short_help="One person's row, from two sums that differ in them.")
@click.argument("table", metavar="DATA", required=False)
@click.option("--schema", "schema_file", type=click.Path(path_type=Path), metavar="FILE", help="TOML.  [required]")
@click.option("--knows", metavar="A,B,...", help="Columns by which the attacker recognises people.  [required]")
@click.option("--wants", metavar="C,D,...", help="Columns to recover.  [default: all others]")
@click.option(
    "--epsilon", type=NumberList(), metavar="E", help="Also with noise: 1, or a list 0.5,1,2, or FROM:TO:STEP."
)
@click.option("--targets", type=int, default=50, show_default=True, metavar="T", help="How many people are attacked.")
@click.option(
    "--minimum",
    type=int,
    default=5,
    show_default=True,
    metavar="N",
    help="The rule that sums over fewer rows are refused.",
)
@shows_result
def command(
    table: str | None,
    schema_file: Path | None,
    knows: str | None,
    wants: str | None,
    epsilon: list[float] | None,
    targets: int,
    minimum: int,
    rng: Random,
) -> AttackResult:
    """Subtract a sum over all others from a sum over all of DATA: what is left is one person's row.

    Each person is attacked through sums over their row alone, over all others, and before and after they leave; without
    a guard, under the rules that are usual, and with noise.

    \b
    murmure attack difference people.csv --schema schema.toml --knows age,region --epsilon 1
    murmure attack difference people.csv --schema schema.toml --knows age,region --wants income --targets 200
    """
    needed = {Phrase("a table DATA"): table, "--schema": schema_file, "--knows": knows}
    require_options(Phrase("murmure attack difference"), needed, EXAMPLE)
    assert schema_file is not None and knows is not None
    from murmure.attacks.parties.differences import differencing
    from murmure.core.schema import Schema

    wanted = None if wants is None else split_columns(wants)
    return differencing(
        table, Schema.load(schema_file), split_columns(knows), wanted, epsilon or (), targets, minimum, rng
    )
