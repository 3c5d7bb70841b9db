"""`murmure attack deniability`: how long people can deny what they answered, survey after survey."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from murmure.cli.attack_options import epsilon_option, shows_result
from murmure.cli.commands import MurmureCommand, UsageError, did_you_mean
from murmure.cli.options import NumberList, WholeNumber, require_options, split_columns
from murmure.core.errors import Phrase, shorten

if TYPE_CHECKING:
    from murmure.attacks.base.attack_result import AttackResult
    from murmure.core.random import Random

EXAMPLE = Phrase("murmure attack deniability --categories 74,7,16 --epsilon 4")


@click.command("deniability", cls=MurmureCommand, short_help="How long people can deny, survey after survey.")
@click.option("--schema", type=click.Path(path_type=Path), metavar="FILE", help="The columns that are asked (TOML).")
@click.option("--categories", type=NumberList(), metavar="K1,K2,...", help="Or how many answers each question has.")
@epsilon_option
@click.option("--oracle", metavar="A,B,...", help="How answers are randomised.  [default: every frequency oracle]")
@click.option("--surveys", type=int, metavar="S", help="How many surveys.  [default: as many as columns]")
@click.option(
    "--metric",
    type=click.Choice(["uniform", "non-uniform", "memoised", "all"]),
    default="uniform",
    show_default=True,
    help="Never the same attribute twice; or it may repeat: see above.",
)
@click.option("--people", type=WholeNumber(), default=2000, show_default=True, metavar="N", help="Drawn each time.")
@click.option("--repetitions", type=int, default=0, metavar="R", help="Measure it too, R times.")
@shows_result
def command(
    schema: Path | None,
    categories: list[float] | None,
    epsilon: list[float] | None,
    oracle: str | None,
    surveys: int | None,
    metric: str,
    people: int,
    repetitions: int,
    rng: Random,
) -> AttackResult:
    """How often is everything right that an attacker concludes about a person after several surveys?

    Every survey asks a person one question at random. uniform: never the same one twice. non-uniform: it may be the
    same one, and only profiles of different questions count. memoised: it may be the same one, with the same report.

    \b
    murmure attack deniability --categories 74,7,16 --epsilon 4
    murmure attack deniability --schema schema.toml --epsilon 1:10:1 --oracle GRR,OUE --metric all
    """
    require_options(
        Phrase("murmure attack deniability"), {"--epsilon": epsilon, "--categories": schema or categories}, EXAMPLE
    )
    assert epsilon is not None
    if schema is not None and categories is not None:
        raise UsageError("{given} exclude one another.", EXAMPLE, given="--schema, --categories")
    from murmure.attacks.person.deniability import plausible_deniability
    from murmure.attacks.person.guesses.profiles import METRICS
    from murmure.core.domain import Categories
    from murmure.core.schema import Schema
    from murmure.local.base.oracle_choice import SHARE_ORACLES

    if schema is not None:
        columns = Schema.load(schema)
    else:
        sizes = [int(size) for size in categories or ()]
        if any(size != given for size, given in zip(sizes, categories or (), strict=True)):
            raise UsageError("--categories must be whole numbers, such as 74,7,16.", EXAMPLE)
        columns = Schema({f"question {i}": Categories(size) for i, size in enumerate(sizes, 1)})
    by_lower = {name.lower(): name for name in SHARE_ORACLES}
    names = []
    for name in split_columns(oracle) if oracle else SHARE_ORACLES:
        if name.lower() not in by_lower:
            listed = Phrase("oracles: {names}", names=", ".join(SHARE_ORACLES))
            raise UsageError(
                "there is no oracle {name}.", did_you_mean(name, SHARE_ORACLES) or listed, name=shorten(name)
            )
        names.append(by_lower[name.lower()])
    return plausible_deniability(
        columns,
        epsilon,
        names,
        surveys=surveys,
        metric=METRICS if metric == "all" else metric,  # type: ignore[arg-type]
        people=people,
        repetitions=repetitions,
        rng=rng,
    )
