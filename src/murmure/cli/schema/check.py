"""`murmure schema check`: all rows of a table held against a schema, and how the file is written against its [file]."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from murmure.cli.commands import EXIT_USAGE, MurmureCommand
from murmure.cli.language import echo
from murmure.cli.options import json_option
from murmure.cli.schema.words import print_detected, print_doubts
from murmure.cli.terminal import print_document, print_json
from murmure.core.errors import MurmureError, Phrase, Plural, shorten
from murmure.show.document import Block, Document, Items, Paragraph, Section, paragraphs

if TYPE_CHECKING:
    from murmure.cli.schema.detection.detected import Detected
    from murmure.cli.schema.mismatches import ColumnMismatches, Mismatches
    from murmure.cli.schema.row_places import RowPlace
    from murmure.core.column import Column
    from murmure.core.schema import Schema

Places = Mapping[tuple[str, int], "RowPlace"]
CURATOR_RULES = Phrase(
    "Rows that are not valid are refused where each row is randomised, and by parties. Queries and learners refuse no "
    "row: a number beyond its bounds counts as the nearest bound, a row with a missing or unreadable one is left out."
)


@click.command(cls=MurmureCommand, short_help="Check data against a schema.")
@click.argument("file", metavar="SCHEMA", type=click.Path(path_type=Path))
@click.argument("table", metavar="DATA")  # a file may be called adult.data, which is not this argument
@click.option("--no-write", is_flag=True, help="Only say how the file is written; leave SCHEMA as it is.")
@json_option
@click.pass_context
def check(ctx: click.Context, file: Path, table: str, no_write: bool, as_json: bool) -> None:
    """Check all of DATA against SCHEMA: how many rows of each column do not match, and the first three of them, by the
    line of the file and the cell as it is written there; and how many are moved to the nearest bound or left out, where
    the schema says so (outside = "clamp" or "drop").

    Where SCHEMA has no [file] and DATA is not written as every command expects it (UTF-8, commas, decimal points), it
    is found out how it is written, said, and put into [file] of SCHEMA; nothing else in SCHEMA changes.

    For the holder of the data: the answer quotes rows, and its counts are exact. Exit code 2 when a row is not valid.
    """
    from murmure.cli.schema.mismatches import Mismatches
    from murmure.cli.schema.row_places import find_places
    from murmure.core.schema import Schema
    from murmure.engines.base.progress import with_progress
    from murmure.engines.sources.data_file import DataFile
    from murmure.engines.sources.file_tables import format_of, source_paths
    from murmure.engines.sources.tables import open_table

    loaded = Schema.load(file)
    declared, detected = loaded.file, _look(table, loaded)
    undeclared = "[file]" not in _tables(file) and detected.format != declared
    if undeclared:
        print_detected(table, detected)
        loaded = Schema(loaded.column_specs, file=detected.format)
    else:
        print_doubts((*detected.doubts, *_disagreements(loaded, detected)))
    # Read as text: a cell of another type is then counted as invalid instead of ending the reading. Rows of a CSV with
    # too many or too few fields are counted by the look at the file.
    source = DataFile(table, loaded)
    by_line = {format_of(path) for path in source_paths(source)} == {"csv"}
    opened = open_table(source, columns=list(loaded), kinds=dict.fromkeys(loaded, "text"), lenient=by_line)
    batches = with_progress(opened.batches(), opened.rows, Phrase("reading {table}", table=opened.source_name))
    found = Mismatches.count(loaded, batches)
    places = find_places(source, {name: column.listed for name, column in found.columns.items()})
    wrote = undeclared and not no_write
    if wrote:
        _write(file, detected)
    found.rows += detected.ragged
    if as_json:
        columns = {name: _column_to_dict(name, column, places) for name, column in found.columns.items()}
        print_json(
            {
                "rows": found.rows,
                "valid": found.valid,
                "columns": columns,
                "drafted": list(loaded.drafted),
                "file": loaded.file.to_dict(),
                "wrote_file": wrote,
                "taken": list(detected.taken) if undeclared else [],
                "doubts": list(detected.doubts),
                "other_widths": detected.ragged,
            }
        )
    else:
        print_document(check_document(loaded, found, places, detected.ragged))
    if found.valid < found.rows:
        ctx.exit(EXIT_USAGE)


def _look(data: str, loaded: Schema) -> Detected:
    """How the file is written. Where the schema says it, nothing that is found out can be an error."""
    from murmure.cli.schema.detection.detected import Detected
    from murmure.cli.schema.detection.formats import detect_format
    from murmure.core.file_format import PLAIN_FILE

    try:
        return detect_format(data, loaded.file.sheet, header=not loaded.file.names, schema=loaded)
    except MurmureError:
        if loaded.file == PLAIN_FILE:
            raise
        return Detected(loaded.file)


def _tables(file: Path) -> set[str]:
    """The tables that a schema has, as they are written: `[file]` may be there and hold nothing."""
    import tomllib

    return {f"[{key}]" for key in tomllib.loads(file.read_text(encoding="utf-8-sig"))}


def _write(file: Path, detected: Detected) -> None:
    from murmure.cli.schema.file_section import write_file_section

    problem = write_file_section(file, detected.format)
    if problem is None:
        echo(Phrase("Wrote this into [file] of {file}.", file=str(file)))
    else:
        print_doubts([problem])


def _disagreements(loaded: Schema, detected: Detected) -> list[Phrase]:
    """Where the file looks otherwise than its schema says."""
    out = []
    for setting in ("separator", "encoding", "decimal", "thousands", "dates", "skip"):
        says, looks = getattr(loaded.file, setting), getattr(detected.format, setting)
        if detected.decides(setting) and says != looks and {says, looks} != {"windows-1252", "latin-1"}:
            out.append(
                Phrase(
                    "{setting} is {says!r} in the schema, which is how the file is read; it looks like {looks!r}",
                    setting=setting,
                    says=says,
                    looks=looks,
                )
            )
    more = [word for word in detected.format.missing if word not in loaded.file.missing]
    if more and loaded.file.to_dict():
        words = ", ".join(map(repr, more))
        out.append(
            Phrase("{words} may mean that a value is missing, and missing in [file] does not say so", words=words)
        )
    return out


# -- the answer --------------------------------------------------------------------------------------------------------


def check_document(loaded: Schema, found: Mismatches, places: Places, ragged: int) -> Document:
    blocks: list[Block] = []
    for name, column in found.columns.items():
        if column.counts["invalid"]:
            heading = Plural(
                "{name}: {n:,} row does not match. Wanted: {domain}.",
                "{name}: {n:,} rows do not match. Wanted: {domain}.",
                n=column.counts["invalid"],
                name=name,
                domain=loaded.columns[name].describe(),
            )
            hints = [Phrase("Hint: {hint}", hint=hint) for hint in _hints(loaded.column_specs[name], column)]
            blocks.append(Section(heading, (_listed(name, column, "invalid", places), *paragraphs(hints))))
    for name, column in found.columns.items():
        if column.counts["clamped"]:
            clamped = Plural(
                "{name}: {n:,} row is moved to the nearest bound, as the schema says.",
                "{name}: {n:,} rows are moved to the nearest bound, as the schema says.",
                n=column.counts["clamped"],
                name=name,
            )
            blocks += [Paragraph(clamped), _listed(name, column, "clamped", places)]
    for name, column in found.columns.items():
        if column.counts["dropped"]:
            dropped = Plural(
                "{name}: {n:,} row is left out, as the schema says.",
                "{name}: {n:,} rows are left out, as the schema says.",
                n=column.counts["dropped"],
                name=name,
            )
            blocks += [Paragraph(dropped), _listed(name, column, "dropped", places)]
    if ragged:
        fields = Plural(
            "{n:,} row has another number of fields than the header.",
            "{n:,} rows have another number of fields than the header.",
            n=ragged,
        )
        blocks.append(Paragraph(fields))
    if found.valid < found.rows:
        blocks.append(Paragraph(CURATOR_RULES, "note"))
    if loaded.drafted:
        drafted = Phrase("Read off the data, still to be replaced: {columns}", columns=", ".join(loaded.drafted))
        blocks.append(Paragraph(drafted, "warning"))
    title = Phrase("{valid:,} of {rows:,} rows are valid.", valid=found.valid, rows=found.rows)
    return Document(title, tuple(blocks))


def _hints(spec: Column, column: ColumnMismatches) -> list[Phrase]:
    """Ways out, in the words of schema.toml."""
    from murmure.core.domain import Categories

    hints = []
    missing = column.counts["missing"] if spec.missing == "refuse" else 0
    if missing and isinstance(spec.domain, Categories) and not spec.domain.ordered:
        hints.append(Phrase('missing = "value" makes an answer of its own of missing values ({n:,} here)', n=missing))
    elif missing:
        hints.append(
            Phrase(
                'missing = "constant" and a public missing_value say what counts for missing values ({n:,} here)',
                n=missing,
            )
        )
    if column.counts["invalid"] > missing:
        words = Phrase('correct wrong values, or say outside = "drop"')
        if not isinstance(spec.domain, Categories) or spec.domain.ordered:
            words = Phrase('correct wrong values, widen the bounds, or say outside = "clamp" or outside = "drop"')
        elif column.first is not None and column.first.hint is not None and not missing:
            words = column.first.hint
        hints.append(words)
    return hints


def _listed(name: str, column: ColumnMismatches, what: str, places: Places) -> Items:
    """The first rows, a line each."""
    return Items(tuple(_row_words(row, places.get((name, row)), column) for row in column.rows[what]))


def _row_words(row: int, place: RowPlace | None, column: ColumnMismatches) -> Phrase:
    if place is None:  # a format without lines: the message of the first row quotes its cell
        if column.first is not None and column.first.row is not None and column.first.row[1] == row:
            return Phrase("row {row:,} {rest}", row=row, rest=column.first.row[2])
        return Phrase("row {row:,}, counted from 0", row=row)
    cell = Phrase("it is empty") if not place.cell else shorten(place.cell, 60)
    if place.file is not None:
        return Phrase("{file}, line {line:,}: {cell}", file=place.file, line=place.line, cell=cell)
    return Phrase("line {line:,}: {cell}", line=place.line, cell=cell)


def _column_to_dict(name: str, column: ColumnMismatches, places: Places) -> dict[str, Any]:
    from murmure.cli.schema.row_places import RowPlace

    rows = {
        what: [places.get((name, row), RowPlace(row, None, None)).to_dict() for row in rows]
        for what, rows in column.rows.items()
    }
    return {**column.counts, "first": _refusal_to_dict(column.first), "rows": rows}


def _refusal_to_dict(refusal: Any) -> dict[str, Any] | None:
    if refusal is None:
        return None
    row = None if refusal.row is None else refusal.row[1]
    return {"row": row, "message": refusal.message, "hint": refusal.hint}
