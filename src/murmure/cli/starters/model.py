"""`murmure new model`: a model that learns from a table, with noise."""

from __future__ import annotations

from types import SimpleNamespace

from murmure.cli.starters.people_table import LEDGER_STEP, SCHEMA, SCHEMA_DRAFT, table_contents, table_files
from murmure.cli.starters.starter import Starter, Step
from murmure.show.phrase import Code, Phrase

ROWS, OTHER_ROWS, SEED = 4000, 1000, 23
MODEL = "model.json"


def model(names: SimpleNamespace) -> Starter:
    return Starter(
        title=Phrase("A model within a budget"),
        about=Phrase(
            "You train a model on rows of people, and the model leaves. Noise on the sums that it learns from "
            "limits what it can give away about any of them, and a ledger notes what it cost."
        ),
        extras=("tables",),
        files=table_files(names, {names.training_file: ROWS, names.test_file: OTHER_ROWS}, SEED),
        contents=table_contents(
            {
                names.training_file: Phrase("{rows:,} invented people, from whom the model learns.", rows=ROWS),
                names.test_file: Phrase("{rows:,} others, to see how well it guesses.", rows=OTHER_ROWS),
            }
        ),
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
            LEDGER_STEP,
        ),
        next_steps=(
            Phrase(
                "{command} lists the others: linear and logistic regression, k-means.", command=Code("murmure train")
            ),
            SCHEMA_DRAFT,
            Phrase("The tutorial {page} explains each step.", page=Code("tutorial-private-queries-and-models")),
        ),
    )
