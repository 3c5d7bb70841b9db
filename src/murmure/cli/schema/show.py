"""`murmure schema show`: what a schema says, column by column."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from murmure.cli.commands import MurmureCommand
from murmure.cli.options import json_option
from murmure.cli.terminal import print_document, print_json
from murmure.core.errors import Phrase
from murmure.show.document import Document, Items, Paragraph, Section

if TYPE_CHECKING:
    from murmure.core.column import Column

MAX_SHOWN = 100  # labels of a column on the screen


@click.command(cls=MurmureCommand, short_help="Show a schema.")
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
    if not isinstance(domain, Categories) or domain.ordered or isinstance(domain.values, int):
        return domain.describe()
    more = len(domain.values) - MAX_SHOWN
    shown = ", ".join(map(repr, domain.values[:MAX_SHOWN]))
    if more > 0:
        return Phrase("one of {shown} and {more:,} more (--json shows all)", shown=shown, more=more)
    return Phrase("one of {shown}", shown=shown)


def _column_lines(column: Column) -> list[str]:
    from murmure.core.domain import Dates

    lines = [_domain_line(column)]
    if column.missing == "value":
        lines.append(Phrase("missing answers count as {value!r}", value=column.missing_value))
    elif column.missing == "constant":
        lines.append(Phrase("missing answers count as {value!r}, a public constant", value=column.missing_value))
    if column.outside == "clamp":
        dated = isinstance(column.domain, Dates)
        numbers = Phrase("other numbers are moved to the nearest bound")
        lines.append(Phrase("other dates are moved to the nearest end") if dated else numbers)
    elif column.outside == "drop":
        lines.append(Phrase("rows with another value are left out"))
    if column.public:
        lines.append(Phrase("public: carried as it is, never randomised"))
    if column.from_data:
        lines.append(Phrase("READ OFF THE DATA"))
    return lines + ([column.note] if column.note else [])
