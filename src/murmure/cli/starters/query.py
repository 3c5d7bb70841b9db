"""`murmure new query`: questions to a table, each paid from a budget."""

from __future__ import annotations

from random import Random
from types import SimpleNamespace

from murmure.cli.starters.invented_people import people, people_schema
from murmure.cli.starters.starter import Starter, Step
from murmure.cli.starters.table import SCHEMA, SCHEMA_CONTENT
from murmure.show.phrase import Code, Phrase

ROWS, SEED = 2000, 22


def query(names: SimpleNamespace) -> Starter:
    asked = f"murmure query mean {names.people_file} --column {names.income} --by {names.region} --schema {SCHEMA}"
    return Starter(
        title=Phrase("Questions within a budget"),
        about=Phrase(
            "You may hold the rows, and you publish figures about them. Each answer carries noise, and costs part of a "
            "budget. A ledger keeps account, and refuses what the budget does not cover."
        ),
        extras=("tables",),
        files={
            names.people_file: people(names, ROWS, Random(SEED)),
            SCHEMA: people_schema(names).to_toml(),
        },
        contents={
            names.people_file: Phrase("{rows:,} invented people, one to a row.", rows=ROWS),
            SCHEMA: SCHEMA_CONTENT,
        },
        steps=(
            Step(
                Phrase("The first question sets the budget"),
                Phrase(
                    "The mean income of each region, for epsilon 1 of 3 in all. The answer is also the page {report}, "
                    "in English and French: open it in a browser.",
                    report=Code(names.report_file),
                ),
                f"{asked} --epsilon 1 --budget 3 --html {names.report_file}",
            ),
            Step(
                Phrase("Another question"),
                Phrase("How many people smoke, for epsilon 0.5."),
                f"murmure query histogram {names.people_file} --column {names.smoker} --schema {SCHEMA} --epsilon 0.5",
            ),
            Step(
                Phrase("The same question again is free"),
                Phrase("The ledger repeats the answer that was paid for: asking twice does not wear the noise down."),
                f"{asked} --epsilon 1",
            ),
            Step(
                Phrase("What is left"),
                Phrase("What was asked, what it cost, and what remains."),
                "murmure ledger show",
            ),
        ),
        next_steps=(
            Phrase("{command} lists the questions: counts, sums, quantiles, tables.", command=Code("murmure query")),
            Phrase(
                "{command} drafts a schema from your file. Replace every bound and label that it read off the data by "
                "a public one, and go on with step 1.",
                command=Code("murmure schema init FILE -o mine.toml"),
            ),
            Phrase(
                "The budget belongs to the people: if the same people are in another file, give it the same {option}.",
                option=Code("--dataset"),
            ),
            Phrase("The tutorial {page} explains each step.", page=Code("tutorial-private-queries-and-models")),
        ),
    )
