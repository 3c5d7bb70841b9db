"""`murmure new table`: a table that leaves the organisation, randomised row by row."""

from __future__ import annotations

from types import SimpleNamespace

from murmure.cli.starters.people_table import SCHEMA, SCHEMA_DRAFT, people_file, table_contents, table_files
from murmure.cli.starters.starter import Starter, Step
from murmure.show.phrase import Code, Phrase

ROWS, SEED = 4000, 21


def table(names: SimpleNamespace) -> Starter:
    return Starter(
        title=Phrase("A table that may leave"),
        about=Phrase(
            "You look after a table of people, and others want to work with it. Here every row is randomised by "
            "itself, which limits what the file gives away about anybody in it. Whoever gets it can still estimate "
            "figures, with honest intervals."
        ),
        extras=("tables",),
        files=table_files(names, {names.people_file: ROWS}, SEED),
        contents=table_contents({names.people_file: people_file(ROWS)}),
        steps=(
            Step(
                Phrase("Does the table fit its schema?"),
                Phrase("The command goes through all rows, and names the first one of each column that does not fit."),
                f"murmure schema check {SCHEMA} {names.people_file}",
            ),
            Step(
                Phrase("How exact will the figures be?"),
                Phrase(
                    "Epsilon limits what one row may give away, all columns together. Smaller protects better and "
                    "blurs more. This compares the ways to randomise, before anything is spent."
                ),
                f"murmure advise --schema {SCHEMA} --epsilon 2 --people {ROWS}",
            ),
            Step(
                Phrase("Randomise every row"),
                Phrase(
                    "The file {file} may leave, together with the certificates that the command prints. The ledger "
                    "{ledger} notes what it cost; keep it, as you keep the table.",
                    file=Code(names.sanitised_file),
                    ledger=Code("murmure-ledger.db"),
                ),
                f"murmure sanitise {names.people_file} --schema {SCHEMA} --epsilon 2 --budget 4 "
                f"-o {names.sanitised_file}",
            ),
            Step(
                Phrase("What the other side sees"),
                Phrase(
                    "Whoever has the file needs nothing else: it carries its plan. The figures come with intervals, "
                    "and as the page {report}, in English and French: open it in a browser.",
                    report=Code(names.report_file),
                ),
                f"murmure estimate {names.sanitised_file} --html {names.report_file}",
            ),
        ),
        next_steps=(
            SCHEMA_DRAFT,
            Phrase("The tutorial {page} explains each step.", page=Code("tutorial-sanitise-a-table")),
        ),
    )
