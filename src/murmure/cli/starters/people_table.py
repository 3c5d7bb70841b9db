"""What the folders about a table of people share: the rows, their schema, and how to go on to rows of one's own."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from types import SimpleNamespace

from murmure.cli.starters.invented_people import people, people_schema
from murmure.cli.starters.starter import Step
from murmure.show.phrase import Code, Phrase

SCHEMA = "schema.toml"
SCHEMA_DRAFT = Phrase(
    "{command} drafts a schema from your file. Replace every bound and label that it read off the data by a public "
    "one, and go on with step 1.",
    command=Code("murmure schema init FILE -o mine.toml"),
)
LEDGER_STEP = Step(
    Phrase("What is left"), Phrase("What was asked, what it cost, and what remains."), "murmure ledger show"
)


def table_files(names: SimpleNamespace, rows: Mapping[str, int], seed: int) -> dict[str, str]:
    """A file of so many people under each name, and their schema."""
    rng = Random(seed)
    return {file: people(names, count, rng) for file, count in rows.items()} | {SCHEMA: people_schema(names).to_toml()}


def table_contents(contents: Mapping[str, Phrase]) -> dict[str, Phrase]:
    """What the files are."""
    about = Phrase(
        "what each column may hold. Its bounds and labels are public: they come from the questionnaire, not from the "
        "rows."
    )
    return {**contents, SCHEMA: about}


def people_file(rows: int) -> Phrase:
    return Phrase("{rows:,} invented people, one to a row.", rows=rows)
