"""`murmure new model`: a model that learns from a table, with noise."""

from __future__ import annotations

from random import Random
from types import SimpleNamespace

from murmure.cli.starters.invented_people import people, people_schema
from murmure.cli.starters.starter import Starter, Step
from murmure.cli.starters.table import SCHEMA, SCHEMA_CONTENT
from murmure.show.phrase import Code, Phrase

ROWS, OTHER_ROWS, SEED = 4000, 1000, 23
MODEL = "model.json"


def model(names: SimpleNamespace) -> Starter:
    rng = Random(SEED)
    return Starter(
        title=Phrase("A model within a budget"),
        about=Phrase(
            "You train a model on rows of people, and the model leaves. Noise on the sums that it learns from "
            "limits what it can give away about any of them, and a ledger notes what it cost."
        ),
        extras=("tables",),
        files={
            names.training_file: people(names, ROWS, rng),
            names.test_file: people(names, OTHER_ROWS, rng),
            SCHEMA: people_schema(names).to_toml(),
        },
        contents={
            names.training_file: Phrase("{rows:,} invented people, from whom the model learns.", rows=ROWS),
            names.test_file: Phrase("{rows:,} others, to see how well it guesses.", rows=OTHER_ROWS),
            SCHEMA: SCHEMA_CONTENT,
        },
        steps=(
            Step(
                Phrase("Train"),
                Phrase(
                    "Who smokes, guessed from age, region and income. The model in {model} costs epsilon 1 of 3 in "
                    "all. Its accuracy is measured on people that it has not learned from.",
                    model=Code(MODEL),
                ),
                f"murmure train naive-bayes {names.training_file} --target {names.smoker} --schema {SCHEMA} "
                f"--epsilon 1 --budget 3 --test {names.test_file} -o {MODEL}",
            ),
            Step(
                Phrase("Predict"),
                Phrase(
                    "The model may be used as often as you like, at no further cost. The guesses are in {file}.",
                    file=Code(names.predictions_file),
                ),
                f"murmure predict {MODEL} {names.test_file} --proba -o {names.predictions_file}",
            ),
            Step(
                Phrase("What is left"),
                Phrase("What was asked, what it cost, and what remains."),
                "murmure ledger show",
            ),
        ),
        next_steps=(
            Phrase(
                "{command} lists the others: linear and logistic regression, k-means.", command=Code("murmure train")
            ),
            Phrase(
                "{command} drafts a schema from your file. Replace every bound and label that it read off the data by "
                "a public one, and go on with step 1.",
                command=Code("murmure schema init FILE -o mine.toml"),
            ),
            Phrase("The tutorial {page} explains each step.", page=Code("tutorial-private-queries-and-models")),
        ),
    )
