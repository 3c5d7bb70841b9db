"""`murmure attack reconstruct`: the last honest rows of a regression."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from murmure.cli.attack_options import shows_result
from murmure.cli.commands import MurmureCommand
from murmure.cli.options import NumberList, require_options
from murmure.core.errors import Phrase

if TYPE_CHECKING:
    from murmure.attacks.base.attack_result import AttackResult
    from murmure.core.random import Random

EXAMPLE = Phrase('murmure attack reconstruct "stay ~ age + ward" visits.csv --schema schema.toml')


@click.command(cls=MurmureCommand, short_help="The last honest rows of a regression.")
@click.argument("formula", required=False)
@click.argument("table", metavar="DATA", required=False)
@click.option("--schema", "schema_file", type=click.Path(path_type=Path), metavar="FILE", help="TOML.  [required]")
@click.option(
    "--honest",
    type=NumberList(),
    default="1:4:1",
    show_default=True,
    metavar="M",
    help="How many rows are not the colluders': 2, or a list 1,2,3, or FROM:TO:STEP.",
)
@click.option(
    "--epsilon", type=NumberList(), metavar="E", help="Also with noise: 1, or a list 0.5,1,2, or FROM:TO:STEP."
)
@click.option(
    "--repetitions", type=int, default=10, show_default=True, metavar="R", help="How often the experiment is repeated."
)
@shows_result
def command(
    formula: str | None,
    table: str | None,
    schema_file: Path | None,
    honest: list[float],
    epsilon: list[float] | None,
    repetitions: int,
    rng: Random,
) -> AttackResult:
    """Take all rows of DATA but a few, and the exact sums of a regression over all: which rows are missing?

    The attacker subtracts the rows of the colluders and searches for whole rows within public bounds that have the sums
    which are left. No protocol for exact sums prevents it: enough honest rows do, and noise.

    \b
    murmure attack reconstruct "stay ~ age + ward" visits.csv --schema schema.toml
    murmure attack reconstruct "stay ~ age" visits.csv --schema schema.toml --honest 1:6:1 --epsilon 1
    """
    needed = {Phrase("a formula"): formula, Phrase("a table DATA"): table, "--schema": schema_file}
    require_options(Phrase("murmure attack reconstruct"), needed, EXAMPLE)
    assert formula is not None and schema_file is not None
    from murmure.attacks.parties.last_records import reconstruction
    from murmure.core.schema import Schema

    sizes: list[Any] = [int(m) if float(m).is_integer() else m for m in honest]
    return reconstruction(
        table,
        Schema.load(schema_file),
        formula,
        sizes,
        epsilon or (),
        repetitions,
        rng,
    )
