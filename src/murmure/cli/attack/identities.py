"""`murmure attack identities`: who is found again from reports to several surveys?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from murmure.cli.attack_options import epsilon_option, repetitions_option, shows_result
from murmure.cli.commands import MurmureCommand
from murmure.cli.options import NumberList, require_options
from murmure.core.errors import Phrase

if TYPE_CHECKING:
    from murmure.attacks.base.attack_result import AttackResult
    from murmure.core.random import Random

EXAMPLE = Phrase("murmure attack identities people.csv --schema schema.toml --epsilon 1,5,10")
SCORES = {"equal": "equal attributes", "exact": "exact posterior"}


@click.command(cls=MurmureCommand, short_help="Who is found again from reports to several surveys.")
@click.argument("people", metavar="PEOPLE...", nargs=-1)
@click.option("--schema", "schema_file", type=click.Path(path_type=Path), metavar="FILE", help="TOML.  [required]")
@epsilon_option
@click.option(
    "--solution",
    type=click.Choice(["smp", "rsfd"]),
    default="smp",
    show_default=True,
    help="A person reports one column; or one real column among invented ones.",
)
@click.option(
    "--oracle", default="GRR", show_default=True, metavar="NAME", help="GRR, OUE, OLH ...; rsfd: GRR, OUE-z ..."
)
@click.option("--surveys", type=int, default=5, show_default=True, metavar="S", help="How many surveys, at most 8.")
@click.option(
    "--metric",
    type=click.Choice(["uniform", "non-uniform"]),
    default="uniform",
    show_default=True,
    help="Nobody reports a column twice; or a column may come again, and its report is repeated.",
)
@click.option(
    "--knowledge",
    type=click.Choice(["full", "partial"]),
    default="full",
    show_default=True,
    help="The attacker knows all columns of everybody, or a random set of them.",
)
@click.option(
    "--score",
    type=click.Choice(["equal", "exact", "both"]),
    default="both",
    show_default=True,
    help="Matching by equal attributes, as the literature does, or by the exact posterior.",
)
@click.option("--top", type=NumberList(), default="1,5,10", show_default=True, metavar="K,K", help="Among the K best.")
@click.option("--targets", type=int, metavar="N", help="How many people are looked for.  [default: everybody]")
@click.option(
    "--calibrate",
    type=click.Choice(["record", "attribute", "paper"]),
    default="paper",
    show_default=True,
    help="rsfd: what epsilon is for.",
)
@click.option(
    "--axis",
    type=click.Choice(["surveys", "epsilon"]),
    default="surveys",
    show_default=True,
    help="What the curves run over.",
)
@repetitions_option
@shows_result
def command(
    people: tuple[str, ...],
    schema_file: Path | None,
    epsilon: list[float] | None,
    surveys: int,
    score: str,
    top: list[float],
    repetitions: int,
    rng: Random,
    **settings: Any,
) -> AttackResult:
    """Find people again: their reports to several surveys are matched with the records of PEOPLE.

    Every survey asks about some of the columns, and each person reports one of them. The attacker knows the records,
    and which reports are of the same person, but not whose.

    \b
    murmure attack identities people.csv --schema schema.toml --epsilon 1,5,10
    murmure attack identities people.csv --schema schema.toml --epsilon 1:10:1 --oracle OUE --top 10 --axis epsilon
    """
    require_options(
        Phrase("murmure attack identities"),
        {Phrase("a table PEOPLE"): people, "--schema": schema_file, "--epsilon": epsilon},
        EXAMPLE,
    )
    assert schema_file is not None and epsilon is not None
    from murmure.attacks.person.identities import reidentification
    from murmure.core.schema import Schema

    return reidentification(
        list(people),
        Schema.load(schema_file),
        epsilon,
        surveys=surveys,
        scores=tuple(SCORES.values()) if score == "both" else (SCORES[score],),  # type: ignore[arg-type]
        top=[int(k) if k == int(k) else k for k in top],  # type: ignore[misc]
        repetitions=repetitions,
        rng=rng,
        **settings,
    )
