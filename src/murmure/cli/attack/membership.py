"""`murmure attack membership`: whether a model shows who was in the table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from murmure.cli.attack_options import shows_result
from murmure.cli.commands import MurmureCommand, UsageError
from murmure.cli.options import NumberList, OneOf, require_options
from murmure.cli.train import MODELS, used_columns
from murmure.core.errors import Phrase

if TYPE_CHECKING:
    from murmure.attacks.base.attack_result import AttackResult
    from murmure.core.random import Random

EXAMPLE = Phrase("murmure attack membership naive-bayes people.csv --schema schema.toml --target sick --epsilon 1")


@click.command(cls=MurmureCommand, short_help="Does a model show who was in its table?")
@click.argument(
    "model",
    type=OneOf(
        Phrase("there is no model"),
        Phrase("the models are"),
        tuple(MODELS),
        {long.lower(): short for short, long in MODELS.items()},
    ),
    required=False,
)
@click.argument("table", metavar="DATA", required=False)
@click.option("--schema", "schema_file", type=click.Path(path_type=Path), metavar="FILE", help="TOML.  [required]")
@click.option("--target", metavar="Y", help="The column to predict.  [required, but for kmeans]")
@click.option("--features", metavar="A,B,...", help="The columns to predict from.  [default: all others of the schema]")
@click.option("--clusters", type=int, metavar="K", help="kmeans: how many.  [required]")
@click.option("--epsilon", type=NumberList(), metavar="E", help="1, or a list 0.5,1,2, or FROM:TO:STEP.  [required]")
@click.option(
    "--knows",
    type=click.Choice(["table", "population"]),
    default="table",
    show_default=True,
    help="What the attacker knows: all other rows, or a table that they are drawn from.",
)
@click.option(
    "--row", type=int, metavar="I", help="The row in question, counted from 0.  [default: all columns at their highest]"
)
@click.option(
    "--repetitions", type=int, default=100, show_default=True, metavar="R", help="How many models are attacked."
)
@click.option(
    "--shadows",
    type=int,
    default=50,
    show_default=True,
    metavar="S",
    help="With --knows population: models to compare with.",
)
@shows_result
def command(
    model: str | None,
    table: str | None,
    schema_file: Path | None,
    target: str | None,
    features: str | None,
    clusters: int | None,
    epsilon: list[float] | None,
    knows: Any,
    row: int | None,
    repetitions: int,
    shadows: int,
    rng: Random,
) -> AttackResult:
    """Learn from DATA with a row and without it: how often does the model show which?

    MODEL is naive-bayes, linear, logistic or kmeans. The table is the attacker's: nothing is charged.

    \b
    murmure attack membership naive-bayes people.csv --schema schema.toml --target sick --epsilon 0.5,1,2
    murmure attack membership kmeans people.csv --schema schema.toml --features age,income --clusters 3 --epsilon 1
    """
    needed = {
        Phrase("a model ({models})", models=", ".join(MODELS)): model,
        Phrase("a table DATA"): table,
        "--schema": schema_file,
        "--target": target if model not in (None, "kmeans") else "none",
        "--clusters": clusters if model == "kmeans" else "none",
        "--epsilon": epsilon,
    }
    require_options(Phrase("murmure attack membership"), needed, EXAMPLE)
    assert model is not None and schema_file is not None and epsilon is not None
    if model == "kmeans" and target is not None:
        raise UsageError("kmeans predicts no column, and takes no --target.", "leave it out")
    if model != "kmeans" and clusters is not None:
        raise UsageError("--clusters is for kmeans.", "leave it out")
    from murmure import learn
    from murmure.attacks.curator.membership import membership_inference
    from murmure.core.schema import Schema

    schema = used_columns(Schema.load(schema_file), features, target)
    settings = {"target": target} if model != "kmeans" else {"n_clusters": clusters}
    learner = getattr(learn, MODELS[model])(schema=schema, **settings)
    result = membership_inference(learner, table, epsilon, knows, row, repetitions, shadows, rng)
    return result
