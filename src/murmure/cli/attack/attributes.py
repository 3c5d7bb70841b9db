"""`murmure attack attributes`: which attribute of a record of RS+FD or RS+RFD is the real one?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from murmure.catalogue import solution_names
from murmure.cli.attack_options import epsilon_option, repetitions_option, shows_result
from murmure.cli.commands import MurmureCommand, UsageError
from murmure.cli.language import PhraseOption
from murmure.cli.options import OneOf, require_options
from murmure.core.errors import Phrase

if TYPE_CHECKING:
    from murmure.attacks.base.attack_result import AttackResult
    from murmure.core.random import Random
    from murmure.core.schema import Schema

NAMES = tuple(name for name in solution_names() if name.startswith(("rsfd-", "rsrfd-")))
EXAMPLE = Phrase("murmure attack attributes people.csv --schema schema.toml --epsilon 1:10:1")


@click.command(cls=MurmureCommand, short_help="Which attribute of a record with fakes is the real one.")
@click.argument("people", metavar="PEOPLE...", nargs=-1)
@click.option("--schema", "schema_file", type=click.Path(path_type=Path), metavar="FILE", help="TOML.  [required]")
@epsilon_option
@click.option(
    "--solution",
    cls=PhraseOption,
    type=OneOf(Phrase("there is no solution"), Phrase("there are"), NAMES, {"rsfd": "rsfd-grr", "rsrfd": "rsrfd-grr"}),
    default="rsfd-grr",
    metavar="NAME",
    help=Phrase("{names}.  [default: rsfd-grr]", names=", ".join(NAMES)),
)
@click.option(
    "--calibrate",
    type=click.Choice(["record", "attribute", "paper"]),
    help="What epsilon is about; paper states none.  [default: record]",
)
@click.option("--weights", metavar="COLUMN=W,...", help="Unequal chances of being real.")
@click.option("--priors", type=click.Path(path_type=Path), metavar="FILE", help="rsrfd: public shares, JSON or TOML.")
@click.option(
    "--knowledge",
    type=click.Choice(["none", "partial", "hybrid"]),
    default="none",
    show_default=True,
    help="What the attacker knows beside the plan: nothing, or the real attribute of some people.",
)
@click.option(
    "--attackers",
    metavar="A,B",
    help="exact, ceiling, trees, xgboost; rsrfd: exact-uniform, trees-uniform.  [default: all but trees]",
)
@click.option(
    "--synthetic", type=int, default=1, show_default=True, metavar="S", help="trees: profiles for each person."
)
@click.option("--known", type=float, metavar="P", help="partial, hybrid: the share of known people.  [default: 0.1]")
@repetitions_option
@shows_result
def command(
    people: tuple[str, ...],
    schema_file: Path | None,
    epsilon: list[float] | None,
    solution: str,
    knowledge: Any,
    attackers: str | None,
    synthetic: int,
    known: float | None,
    repetitions: int,
    rng: Random,
    **settings: Any,
) -> AttackResult:
    """Guess which attribute of a record is real and which are fakes (RS+FD, RS+RFD).

    The rows of PEOPLE report again and again; the attacker sees the records alone and estimates the shares of every
    attribute from them. With the true shares the exact rule is the best guess; trees are the attack of the literature.

    \b
    murmure attack attributes people.csv --schema schema.toml --epsilon 1:10:1
    murmure attack attributes people.csv --schema schema.toml --epsilon 4 --solution rsfd-oue-z --attackers exact,trees
    """
    require_options(
        Phrase("murmure attack attributes"),
        {Phrase("a table PEOPLE"): people, "--schema": schema_file, "--epsilon": epsilon},
        EXAMPLE,
    )
    assert schema_file is not None and epsilon is not None
    if known is not None and knowledge == "none":
        raise UsageError("--known is for --knowledge partial or hybrid.", "--knowledge partial --known 0.5")
    from murmure.attacks.person.attributes import attribute_inference
    from murmure.core.schema import Schema

    mechanisms = _mechanisms(Schema.load(schema_file), solution, epsilon, settings)
    return attribute_inference(
        mechanisms,
        list(people),
        knowledge,
        None if attackers is None else [name.strip() for name in attackers.split(",")],
        synthetic,
        0.1 if known is None else known,
        repetitions,
        rng,
    )


def _mechanisms(schema: Schema, name: str, epsilons: list[float], settings: dict[str, Any]) -> list[Any]:
    from murmure.advise.solutions import SOLUTIONS
    from murmure.cli.sanitise import parse_setting

    solution = SOLUTIONS[name]
    given = {key: parse_setting(key, value, schema) for key, value in settings.items() if value is not None}
    if "priors" in given and "priors" not in solution.takes:
        raise UsageError("--solution {name} takes no --priors.", "they are for rsrfd", name=name)
    if "priors" in solution.takes and "priors" not in given:
        raise UsageError(
            "--solution {name} needs --priors.", "public shares of every column, or an earlier release", name=name
        )
    given |= given.pop("priors", {})  # an earlier release gives two settings: the priors, and which plan paid for them
    return [solution(schema, epsilon, **given) for epsilon in epsilons]
