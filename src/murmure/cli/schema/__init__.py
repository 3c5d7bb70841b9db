"""`murmure schema`: what each column may contain, drafted from data, shown, and checked against data.

A draft is read from the data, so it reveals something about the people in them: the largest income is one person's.
Every drafted column is marked `from_data = true`, and only these commands accept a schema with the mark.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from murmure.cli.commands import EXIT_USAGE, MurmureCommand, MurmureGroup, UsageError
from murmure.cli.language import echo
from murmure.cli.options import json_option, split_columns
from murmure.cli.outputs import refuse_existing
from murmure.cli.terminal import print_document, print_json, print_line
from murmure.core.errors import Phrase, Plural
from murmure.core.files import all_or_nothing
from murmure.show.document import Block, Document, Items, Paragraph, Section, paragraphs
from murmure.show.phrase import Several

if TYPE_CHECKING:
    from murmure.core.column import Column
    from murmure.core.schema import Schema

MAX_LABELS = 1000  # different values of a column that are kept while reading
# Whole numbers with at most FEW values, each occurring MIN_REPEATS times on average, are drafted as categories.
FEW = 10
MIN_REPEATS = 20
# Text looks like an identifier if more than this share of its values, and more than this number, differ.
IDENTIFIER_SHARE = 0.9
MIN_IDENTIFIERS = 4
# What people write where there is no value.
MISSING_WORDS = ["NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", ".", "-", ""]
MAX_SHOWN = 100  # labels of a column on the screen
CURATOR_RULES = Phrase(
    "Rows that are not valid are refused where each row is randomised, and by parties. Queries and learners refuse no "
    "row: a number beyond its bounds counts as the nearest bound, a row with a missing or unreadable one is left out."
)
BOOLEAN_WORDS = {"true", "false", "True", "False", "TRUE", "FALSE"}  # what a CSV may call a boolean


@click.group(cls=MurmureGroup, short_help="Say what each column of a table may contain.")
def schema() -> None:
    """Say what each column of a table may contain: public bounds and labels, in a TOML file.

    \b
    murmure schema init people.parquet       a draft to correct by hand
    murmure schema show schema.toml
    murmure schema check schema.toml people.parquet

    Each of them takes --json.
    """


# -- init --------------------------------------------------------------------------------------------------------------


@schema.command(cls=MurmureCommand, short_help="Draft a schema from a table, to be corrected by hand.")
@click.argument("data")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("schema.toml"),
    show_default=True,
    metavar="FILE",
    help="Where the draft goes.",
)
@click.option("--columns", metavar="A,B,...", help="The columns to draft.  [default: all]")
@click.option("--force", is_flag=True, help="Overwrite FILE.")
@json_option
def init(data: str, output: Path, columns: str | None, force: bool, as_json: bool) -> None:
    """Draft a schema from DATA: a CSV, Parquet or Arrow file, a folder or a pattern.

    The bounds and labels of a draft are read off the data: they say something about the people in them. Replace them by
    public ones (a code book, the questionnaire) and remove the marks; until then nothing else takes the schema.

    At most 1000 different values of a column are kept. Text that differs in almost every row looks like an identifier
    and is left out.
    """
    refuse_existing(output, force)
    from murmure.core.schema import Schema

    wanted = None if columns is None else split_columns(columns)
    drafts, rows, paths = draft_columns(data, wanted)
    if any(output.exists() and path.samefile(output) for path in paths):
        raise UsageError("{output!r} is the data.", "name another file with -o", output=str(output))
    kept, left_out = {}, {}
    for name, draft in drafts.items():
        column = draft.column() if name else Phrase("it has no name")
        if isinstance(column, str):
            left_out[name] = column
        else:
            kept[name] = column
    if not kept:
        some = [Phrase("{name!r}: {why}", name=name, why=why) for name, why in list(left_out.items())[:5]]
        reasons = Several(some, Phrase(", "))
        raise UsageError(
            "no column of {data!r} can be drafted ({reasons}).", "write the schema by hand", data=data, reasons=reasons
        )
    drafted = Schema(kept)
    text = draft_heading(data, drafted, left_out) + drafted.to_toml()
    with all_or_nothing(output) as part:
        part.write_text(text, encoding="utf-8")
    missing = {name: draft.missing for name, draft in drafts.items() if draft.missing and name in kept}
    print_warnings(drafted, left_out, missing, output)
    blanks = {name: sorted(draft.blanks) for name, draft in drafts.items() if draft.blanks}
    for name, texts in blanks.items():
        echo(_missing_note(name, texts))
    if as_json:
        print_json(
            {
                "schema": str(output),
                "rows": rows,
                "columns": list(drafted),
                "must_replace": list(drafted.drafted),
                "left_out": left_out,
                "missing": missing,
                "looks_missing": blanks,
                "most_labels": MAX_LABELS,
            }
        )
    else:
        print_line(
            Phrase(
                "Wrote {output}: {kept} of {columns} columns, drafted from {rows:,} rows.",
                output=str(output),
                kept=len(kept),
                columns=len(drafts),
                rows=rows,
            )
        )


def draft_heading(data: str, drafted: Schema, left_out: dict[str, str]) -> str:
    lines = [f"Drafted by murmure schema init from {Path(data).name}."]
    if drafted.drafted:
        lines += [
            "The columns marked from_data = true were READ OFF THE DATA: they say something about the people in them.",
            "Replace their bounds and labels by public ones and remove the marks: until then nothing can be released.",
        ]
    lines += [f"Left out: {name!r}: {why}" for name, why in left_out.items()]
    return "".join(f"# {_one_line(line)}\n" for line in lines) + "\n"


def _one_line(text: str) -> str:
    """A comment ends with its line, and TOML takes no control character in it."""
    return "".join(c if c.isprintable() else " " for c in text)


def print_warnings(drafted: Schema, left_out: dict[str, str], missing: dict[str, int], output: Path) -> None:
    """On standard error, also when JSON goes to standard output."""
    for name in drafted.drafted:
        what = _drafted_text(drafted.column_specs[name])
        echo(Phrase("READ OFF THE DATA: column {name!r}: {what}", name=name, what=what))
    for name in missing:
        if drafted.column_specs[name].missing == "refuse":
            echo(
                Phrase(
                    'Missing values: column {name!r} refuses them as it stands; say missing = "constant" and a public '
                    "missing_value, or drop those rows.",
                    name=name,
                )
            )
    if drafted.drafted:
        echo(
            Phrase(
                "WARNING: {output} says something about the people in the data. Before anything is released, replace "
                "what is listed above by public bounds and labels, and remove the lines from_data = true.",
                output=str(output),
            )
        )
    for name, why in left_out.items():
        echo(Phrase("Left out: column {name!r}: {why}.", name=name, why=why))


def _missing_note(name: str, texts: list[str]) -> Phrase:
    empty = Phrase("empty fields (without quotation marks)") if "" in texts else Phrase("empty fields")
    return Plural(
        "Note: column {name!r}: {texts} looks like a missing value; {empty} are read as missing.",
        "Note: column {name!r}: {texts} look like missing values; {empty} are read as missing.",
        n=len(texts),
        name=name,
        texts=", ".join(map(repr, texts)),
        empty=empty,
    )


def _drafted_text(column: Column) -> str:
    from murmure.core.domain import Categories

    domain = column.domain
    if isinstance(domain, Categories) and not isinstance(domain.values, int):
        first, last = str(domain.label(0)), str(domain.label(domain.size - 1))
        return Phrase("{n:,} labels, from {first!r} to {last!r}", n=domain.size, first=first, last=last)
    return domain.public()


def draft_columns(data: str, wanted: Sequence[str] | None) -> tuple[dict[str, Draft], int, tuple[Path, ...]]:
    """A draft of each column, in one pass over the table."""
    from murmure.engines.base.progress import with_progress
    from murmure.engines.sources.tables import open_table

    table = open_table(data, columns=wanted)
    text = any(path.name.lower().endswith((".csv", ".csv.gz")) for path in table.paths)
    drafts = {name: Draft(in_text=text) for name in table.names}
    rows = 0
    for batch in with_progress(table.batches(), table.rows, Phrase("reading {table}", table=table.source_name)):
        rows += batch.num_rows
        for i, draft in enumerate(drafts.values()):
            draft.add(batch.column(i))
    return drafts, rows, table.paths


@dataclass
class Draft:
    """What is known of one column so far; at most MAX_LABELS of its values are kept."""

    in_text: bool  # a CSV: numbers and booleans come as text
    rows: int = 0
    missing: int = 0
    kind: str | None = None  # "text", "integer", "real", "boolean", or why there is none
    fractions: bool = False
    differing: int = 0  # different values, summed over batches: an upper bound
    values: set[Any] | None = field(default_factory=set)  # None: too many
    blanks: set[str] = field(default_factory=set)  # text that is there, and looks like a missing value
    low: float = math.inf
    high: float = -math.inf

    def add(self, column: Any) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        t = pa.types
        if t.is_dictionary(column.type):
            column = column.dictionary_decode()
        if t.is_floating(column.type):
            column = pc.if_else(pc.is_nan(column), None, column)
        self.rows += len(column)
        self.missing += column.null_count
        if column.null_count == len(column):
            return
        text = t.is_string(column.type) or t.is_large_string(column.type) or str(column.type) == "string_view"
        if not (text or t.is_boolean(column.type) or t.is_integer(column.type) or t.is_floating(column.type)):
            self.kind = str(column.type)
            return
        different = column.unique().drop_null()
        if text:
            is_missing_word = pc.is_in(different, pa.array(MISSING_WORDS, different.type))
            self.blanks.update(different.filter(is_missing_word).to_pylist())
            self._text(different)
        elif t.is_boolean(column.type):
            self.kind = "boolean"
        else:
            self.kind = "integer" if t.is_integer(column.type) else "real"
            self._range(different)
        self.differing += len(different)
        if self.values is not None:
            # One value too many is enough to know that there are too many.
            self.values.update(different.slice(0, MAX_LABELS + 1).to_pylist())
            if len(self.values) > MAX_LABELS:
                self.values = None

    def _range(self, different: Any) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        if pa.types.is_floating(different.type):
            different = different.cast(pa.float64())
            self.fractions |= not pc.all(pc.equal(pc.floor(different), different)).as_py()
            different = different.filter(pc.is_finite(different))
        ends = pc.min_max(different).as_py()
        if ends["min"] is not None:
            self.low, self.high = min(self.low, ends["min"]), max(self.high, ends["max"])

    def _text(self, different: Any) -> None:
        """Text of a CSV may be numbers or booleans: the first type that fits all of it."""
        import pyarrow as pa
        import pyarrow.compute as pc

        # Types only widen: a later batch cannot make a column narrower again.
        if not self.in_text:
            self.kind = "text"
        if self.kind in (None, "boolean"):
            all_words = pc.all(pc.is_in(different, pa.array(sorted(BOOLEAN_WORDS), different.type))).as_py()
            if all_words:
                self.kind = "boolean"
                return
            self.kind = "integer" if self.kind is None else "text"
        for kind, arrow in (("integer", pa.int64()), ("real", pa.float64())):
            if self.kind == kind:
                # 007 and 0x1f are names written in digits: as numbers they would lose their zeros.
                if pc.any(pc.match_substring_regex(different, r"^[+-]?0[0-9xX]")).as_py():
                    self.kind = "text"
                    return
                try:
                    self._range(different.cast(arrow))
                    return
                except pa.ArrowInvalid:
                    self.kind = "real" if kind == "integer" else "text"

    def _few(self, count: int) -> bool:
        """Few values that repeat, or that are close together."""
        values = len(self.values or range(FEW + 1))
        return values <= FEW and (count >= MIN_REPEATS * values or self.high - self.low < 2 * FEW)

    def column(self) -> Column | str:
        """What to write, or why the column is left out."""
        from murmure.core.column import MISSING_LABEL, Column
        from murmure.core.domain import Categories, Domain, Integers, Interval
        from murmure.core.errors import MurmureError

        count = self.rows - self.missing
        if count == 0:
            return Phrase("it holds nothing")
        if self.kind == "boolean":
            gaps = self.missing > 0
            return Column(Categories([False, True]), missing="value" if gaps else "refuse", from_data=gaps)
        if self.kind not in ("text", "integer", "real"):
            return Phrase(
                "values of type {kind} are neither labels nor numbers; write dates as text or as numbers",
                kind=self.kind,
            )
        if self.values is not None and len(self.values) == 1:
            return Phrase("it holds one value only")
        # pandas stores whole numbers with gaps as floats: a float column with gaps and no fraction was whole.
        whole = self.kind == "integer" or (self.missing > 0 and not self.fractions and not self.in_text)
        domain: Domain
        try:
            if self.kind == "text":
                differing = self.differing if self.values is None else len(self.values)
                if differing > max(MIN_IDENTIFIERS, IDENTIFIER_SHARE * count):
                    return Phrase("almost all of its values differ, as those of an identifier do")
                if self.values is None:
                    return Phrase(
                        "it holds more than {most} different texts; list its public labels by hand", most=MAX_LABELS
                    )
                domain = Categories(sorted(self.values))
            elif whole and self._few(count):
                domain = Categories(sorted({int(value) for value in self.values or ()}))
            elif whole:
                domain = Integers(int(self.low), int(self.high))
            else:
                domain = Interval(self.low, self.high)
        except (MurmureError, ValueError, OverflowError) as error:
            why = str(error).splitlines()[0].rstrip(".")
            return Phrase("no domain can be drafted ({why})", why=why)
        if not isinstance(domain, Categories) or not self.missing:
            return Column(domain, from_data=True)
        labels = domain.labels()
        label = MISSING_LABEL
        while label in labels:
            label = f"no {label}"
        return Column(domain, missing="value", missing_value=label, from_data=True)


# -- show --------------------------------------------------------------------------------------------------------------


@schema.command(cls=MurmureCommand, short_help="Show a schema.")
@click.argument("file", metavar="SCHEMA", type=click.Path(path_type=Path))
@json_option
def show(file: Path, as_json: bool) -> None:
    """Show what SCHEMA (a TOML file) says about each column."""
    from murmure.core.schema import Schema

    loaded = Schema.load(file)
    if as_json:
        lists = {"private": list(loaded.private), "public": list(loaded.open), "drafted": list(loaded.drafted)}
        print_json({**loaded.to_dict(), **lists})
        return
    sections = [Section(name, (Items(tuple(_column_lines(c))),)) for name, c in loaded.column_specs.items()]
    drafted = Phrase(
        "Read off the data, and to be replaced by what is public before anything is released: {columns}",
        columns=", ".join(loaded.drafted),
    )
    warning = [Paragraph(drafted, "warning")] if loaded.drafted else []
    print_document(Document(str(file), (*sections, *warning)))


def _domain_line(column: Column) -> str:
    from murmure.core.domain import Categories

    domain = column.domain
    if not isinstance(domain, Categories) or isinstance(domain.values, int):
        return domain.describe()
    more = len(domain.values) - MAX_SHOWN
    shown = ", ".join(map(repr, domain.values[:MAX_SHOWN]))
    if more > 0:
        return Phrase("one of {shown} and {more:,} more (--json shows all)", shown=shown, more=more)
    return Phrase("one of {shown}", shown=shown)


def _column_lines(column: Column) -> list[str]:
    lines = [_domain_line(column)]
    if column.missing == "value":
        lines.append(Phrase("missing answers count as {value!r}", value=column.missing_value))
    elif column.missing == "constant":
        lines.append(Phrase("missing answers count as {value!r}, a public constant", value=column.missing_value))
    if column.outside == "clamp":
        lines.append(Phrase("other numbers are moved to the nearest bound"))
    elif column.outside == "drop":
        lines.append(Phrase("rows with another value are left out"))
    if column.public:
        lines.append(Phrase("public: carried as it is, never randomised"))
    if column.from_data:
        lines.append(Phrase("READ OFF THE DATA"))
    return lines + ([column.note] if column.note else [])


# -- check -------------------------------------------------------------------------------------------------------------


@schema.command(cls=MurmureCommand, short_help="Check data against a schema.")
@click.argument("file", metavar="SCHEMA", type=click.Path(path_type=Path))
@click.argument("data")
@json_option
@click.pass_context
def check(ctx: click.Context, file: Path, data: str, as_json: bool) -> None:
    """Check DATA against SCHEMA: how many rows are valid, and the first that is not, of each column; and how many are
    moved to the nearest bound or left out, where the schema says so (outside = "clamp" or "drop").

    For the holder of the data: the answer quotes rows, and its counts are exact. Exit code 2 when a row is not valid.
    """
    import numpy as np

    from murmure.core.schema import Schema
    from murmure.engines.base.progress import with_progress
    from murmure.engines.sources.tables import open_table

    loaded = Schema.load(file)
    # Read as text: a cell of another type is then counted as invalid instead of ending the reading.
    table = open_table(data, columns=list(loaded), kinds=dict.fromkeys(loaded, "text"))
    rows = valid = 0
    counts = {name: dict.fromkeys(("invalid", "missing", "clamped", "dropped"), 0) for name in loaded}
    first: dict[str, Any] = {}
    for batch in with_progress(table.batches(), table.rows, Phrase("reading {table}", table=table.source_name)):
        by_column = loaded.inspect(batch)
        for name, inspected in by_column.items():
            masks = (inspected.refused, inspected.missing, inspected.clamped, inspected.dropped)
            for what, mask in zip(counts[name], masks, strict=True):
                counts[name][what] += int(mask.sum())
            if inspected.first is not None:
                first.setdefault(name, inspected.first.later(rows))
        rows += batch.num_rows
        valid += int((~np.logical_or.reduce([inspected.refused for inspected in by_column.values()])).sum())
    if as_json:
        columns = {name: {**n, "first": _refusal_to_dict(first.get(name))} for name, n in counts.items()}
        print_json({"rows": rows, "valid": valid, "columns": columns, "drafted": list(loaded.drafted)})
    else:
        print_document(check_document(loaded, rows, valid, counts, first))
    if valid < rows:
        ctx.exit(EXIT_USAGE)


def check_document(
    loaded: Schema, rows: int, valid: int, counts: dict[str, dict[str, int]], first: dict[str, Any]
) -> Document:
    blocks: list[Block] = []
    for name, refusal in first.items():
        title = Plural(
            "{name}: {n:,} row is not. The first:",
            "{name}: {n:,} rows are not. The first:",
            n=counts[name]["invalid"],
            name=name,
        )
        hint = Phrase("Hint: {hint}", hint=refusal.hint) if refusal.hint else None
        blocks.append(Section(title, paragraphs([refusal.message, hint])))
    for name, n in counts.items():
        if n["clamped"]:
            clamped = Plural(
                "{name}: {n:,} row is moved to the nearest bound, as the schema says.",
                "{name}: {n:,} rows are moved to the nearest bound, as the schema says.",
                n=n["clamped"],
                name=name,
            )
            blocks.append(Paragraph(clamped))
    for name, n in counts.items():
        if n["dropped"]:
            dropped = Plural(
                "{name}: {n:,} row is left out, as the schema says.",
                "{name}: {n:,} rows are left out, as the schema says.",
                n=n["dropped"],
                name=name,
            )
            blocks.append(Paragraph(dropped))
    if valid < rows:
        blocks.append(Paragraph(CURATOR_RULES, "note"))
    if loaded.drafted:
        drafted = Phrase("Read off the data, still to be replaced: {columns}", columns=", ".join(loaded.drafted))
        blocks.append(Paragraph(drafted, "warning"))
    return Document(Phrase("{valid:,} of {rows:,} rows are valid.", valid=valid, rows=rows), tuple(blocks))


def _refusal_to_dict(refusal: Any) -> dict[str, Any] | None:
    if refusal is None:
        return None
    row = None if refusal.row is None else refusal.row[1]
    return {"row": row, "message": refusal.message, "hint": refusal.hint}
