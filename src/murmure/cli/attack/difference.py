"""`murmure attack difference`: rows from two sums that differ in one person."""

from __future__ import annotations

from pathlib import Path

import click

from murmure.cli.attack_options import check_outputs, generator, output_options, seed_option, show
from murmure.cli.commands import MurmureCommand
from murmure.cli.options import NumberList, require_options, split_columns
from murmure.core.errors import Phrase

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
@seed_option
@output_options
def command(
    table: str | None,
    schema_file: Path | None,
    knows: str | None,
    wants: str | None,
    epsilon: list[float] | None,
    targets: int,
    minimum: int,
    seed: int | None,
    html: Path | None,
    plot: Path | None,
    as_json: bool,
    **heading: str | None,
) -> None:
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
    check_outputs(html, plot, **heading)
    from murmure.attacks.parties.differences import differencing
    from murmure.core.schema import Schema

    wanted = None if wants is None else split_columns(wants)
    result = differencing(
        table, Schema.load(schema_file), split_columns(knows), wanted, epsilon or (), targets, minimum, generator(seed)
    )
    show(result, as_json, html, plot, **heading)
