"""Tables for a terminal: names and values, figures under headings, and certificates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

    from murmure.core.types import Certificate


def name_table() -> Table:
    """Two columns: a name, and what it is."""
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    return table


def headed_table() -> Table:
    """A line under the headings, and no other."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    return Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="dim")


def certificate_table(certificate: Certificate, reports: int | None = None) -> Table:
    """The parts of a certificate, aligned."""
    from rich.text import Text

    asked = "" if certificate.asked is None else f"  (asked for {certificate.asked:.10g})"
    if certificate.asked is not None and reports is not None and reports > 1:
        asked = f"  ({reports} reports of at most {certificate.asked:.10g} each)"
    table = name_table()
    table.add_row("epsilon", Text(f"{certificate.epsilon:.10g}", style="bold").append(asked, style="not bold"))
    table.add_row("delta", f"{certificate.delta:g}")
    table.add_row("relation", f"{certificate.relation} one person")
    table.add_row("unit", "the whole record" if certificate.unit == "record" else "one attribute of the record")
    _add_public(table, certificate)
    table.add_row("method", certificate.method)
    if certificate.witness_text is not None:
        table.add_row("witness", certificate.witness_text[0])
        table.add_row("", certificate.witness_text[1])
    if certificate.assumption:
        table.add_row("provided", certificate.assumption)
    return table


def both_certificates(plan: Any, guarantees: Mapping[str, Certificate]) -> Table:
    """What a whole row and what one attribute of it can lose; what the two share is printed once."""
    from rich.text import Text

    table = name_table()
    rows = int(plan.rows_per_person)
    names = ("a whole row", "one attribute") if rows == 1 else (f"all {rows} rows", "one attribute")
    record = guarantees["reader"]
    for name, c in zip(names, (record, guarantees["either, about one attribute"]), strict=True):
        asked = "" if c.asked is None else f" (asked for {c.asked:.10g}{' a row' if rows > 1 else ''})"
        words = Text().append(f"epsilon = {c.epsilon:.10g}", "bold").append(f"{asked}, delta = {c.delta:g}; {c.method}")
        table.add_row(name, words)
        if c.witness_text is not None:
            table.add_row("  witness", f"{c.witness_text[0]} {c.witness_text[1]}")
    table.add_row("relation", f"{record.relation} one person")
    _add_public(table, record)
    if record.assumption:
        table.add_row("provided", record.assumption)
    return table


def _add_public(table: Table, certificate: Certificate) -> None:
    for i, item in enumerate(certificate.public):
        table.add_row("public" if i == 0 else "", item)
