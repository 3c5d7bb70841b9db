"""`murmure new query`: questions to a table, each paid from a budget."""

from __future__ import annotations

from types import SimpleNamespace

from murmure.cli.starters.people_table import (
    LEDGER_STEP,
    SCHEMA,
    SCHEMA_DRAFT,
    people_file,
    table_contents,
    table_files,
)
from murmure.cli.starters.starter import Starter, Step
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
        files=table_files(names, {names.people_file: ROWS}, SEED),
        contents=table_contents({names.people_file: people_file(ROWS)}),
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
            LEDGER_STEP,
        ),
        next_steps=(
            Phrase("{command} lists the questions: counts, sums, quantiles, tables.", command=Code("murmure query")),
            SCHEMA_DRAFT,
            Phrase(
                "The budget belongs to the people: if the same people are in another file, give it the same {option}.",
                option=Code("--dataset"),
            ),
            Phrase("The tutorial {page} explains each step.", page=Code("tutorial-private-queries-and-models")),
        ),
    )
