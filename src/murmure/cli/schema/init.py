"""`murmure schema init`: a draft of a schema, from a look at the table; with --guide, a schema from a few questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from murmure.cli.commands import MurmureCommand, UsageError
from murmure.cli.options import json_option, split_columns
from murmure.cli.outputs import refuse_existing
from murmure.cli.schema.words import draft_heading, print_detected, print_notes, print_warnings
from murmure.cli.terminal import print_json, print_line
from murmure.core.errors import Phrase
from murmure.core.files import all_or_nothing
from murmure.show.phrase import Several

if TYPE_CHECKING:
    from murmure.cli.schema.detection.detected import Detected
    from murmure.cli.schema.drafts import Draft
    from murmure.core.column import Column


@click.command(cls=MurmureCommand, short_help="Draft a schema from a table, to be corrected by hand or by questions.")
@click.argument("table", metavar="DATA")  # a file may be called adult.data, which is not this argument
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("schema.toml"),
    show_default=True,
    metavar="FILE",
    help="Where the draft goes.",
)
@click.option("--guide", is_flag=True, help="Ask for public bounds and labels, column by column.")
@click.option("--columns", metavar="A,B,...", help="The columns to draft.  [default: all]")
@click.option("--sheet", metavar="NAME", help="The sheet of a workbook, the table of a database.  [default: the first]")
@click.option(
    "--header/--no-header", default=None, help="Whether the first line names the columns.  [default: it is looked at]"
)
@click.option("--force", is_flag=True, help="Overwrite FILE.")
@json_option
def init(
    table: str,
    output: Path,
    guide: bool,
    columns: str | None,
    sheet: str | None,
    header: bool | None,
    force: bool,
    as_json: bool,
) -> None:
    """Draft a schema from DATA: a CSV, a workbook, a Parquet, Arrow, SQLite or DuckDB file, a folder or a pattern.

    How the file is written (separators, decimal marks, encoding, dates, words for missing values) is found out, said,
    and written into [file] of the schema. No other command looks for itself: all of them read by what is written there.

    The bounds and labels of a draft are read off the data: they say something about the people in them. Replace them by
    public ones (a code book, the questionnaire) and remove the marks, or answer the questions of --guide; until then
    nothing else takes the schema.

    At most 1000 different values of a column are kept. Text that differs in almost every row looks like an identifier
    and is left out.
    """
    refuse_existing(output, force)
    from murmure.cli.schema.detection.formats import detect_format
    from murmure.core.schema import Schema

    wanted = None if columns is None else split_columns(columns)
    detected = detect_format(table, sheet, header)
    print_detected(table, detected)
    if guide:
        from murmure.cli.schema.guide import Guide

        asked = Guide()
        detected = asked.missing_words(detected)
    draft = DraftedTable.read(table, wanted, detected)
    if any(output.exists() and path.samefile(output) for path in draft.paths):
        raise UsageError("{output!r} is the data.", "name another file with -o", output=str(output))
    kept, left_out = draft.columns(table)
    if guide:
        kept, left_out = asked.columns(kept, left_out, draft.drafts)
    drafted = Schema(kept, file=detected.format)
    text = draft_heading(table, drafted, left_out, detected) + drafted.to_toml()
    with all_or_nothing(output) as part:
        part.write_text(text, encoding="utf-8")
    missing = {name: column.missing for name, column in draft.drafts.items() if column.missing and name in kept}
    print_warnings(drafted, left_out, missing, output)
    blanks = {name: sorted(column.blanks) for name, column in draft.drafts.items() if column.blanks}
    print_notes({name: column for name, column in draft.drafts.items() if name in kept}, blanks)
    if as_json:
        from murmure.cli.schema.drafts import MAX_LABELS

        print_json(
            {
                "schema": str(output),
                "rows": draft.rows,
                "columns": list(drafted),
                "must_replace": list(drafted.drafted),
                "left_out": left_out,
                "missing": missing,
                "looks_missing": blanks,
                "most_labels": MAX_LABELS,
                "file": detected.format.to_dict(),
                "taken": list(detected.taken),
                "doubts": list(detected.doubts),
            }
        )
    else:
        print_line(
            Phrase(
                "Wrote {output}: {kept} of {columns} columns, drafted from {rows:,} rows.",
                output=str(output),
                kept=len(kept),
                columns=len(draft.drafts),
                rows=draft.rows,
            )
        )


@dataclass(frozen=True)
class DraftedTable:
    """A draft of every column, and how many rows there are."""

    drafts: dict[str, Draft]
    rows: int
    paths: tuple[Path, ...]

    @classmethod
    def read(cls, data: str, wanted: Sequence[str] | None, detected: Detected) -> DraftedTable:
        from murmure.cli.schema.drafts import draft_columns

        return cls(*draft_columns(data, wanted, detected))

    def columns(self, data: str) -> tuple[dict[str, Column], dict[str, str]]:
        """The columns that can be drafted, and why the others cannot."""
        kept: dict[str, Column] = {}
        left_out: dict[str, str] = {}
        for name, draft in self.drafts.items():
            column = draft.column() if name else Phrase("it has no name")
            if isinstance(column, str):
                left_out[name] = column
            else:
                kept[name] = column
        if not kept:
            some = [Phrase("{name!r}: {why}", name=name, why=why) for name, why in list(left_out.items())[:5]]
            raise UsageError(
                "no column of {data!r} can be drafted ({reasons}).",
                "write the schema by hand",
                data=data,
                reasons=Several(some, Phrase(", ")),
            )
        return kept, left_out
