"""What the receipt of a sanitised table shows: rows, columns and their protocols, and what it costs people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from murmure.core.notices import SEEDED
from murmure.local.base.record_mechanism import protocol_names
from murmure.run.report.certificate_words import both_certificates, mechanism_title, promise, protects
from murmure.show.document import Document, Paragraph, Section, Table
from murmure.show.phrase import Code, Phrase, Several, commas

if TYPE_CHECKING:
    from murmure.run.tables.sanitiser import Receipt


def receipt_document(receipt: Receipt, title: str | None = None, how_chosen: Any = None) -> Document:
    """how_chosen: words before the mechanism, where somebody chose it for the holder of the data."""
    plan = receipt.plan
    rows: list[tuple[str, str]] = [
        (
            Phrase("rows"),
            Phrase("{read:,} read, {written:,} written", read=receipt.rows + receipt.dropped, written=receipt.rows),
        )
    ]
    if receipt.dropped:
        rows.append((Phrase("dropped"), _why_dropped(receipt)))
    if receipt.moved:
        counts = commas(Phrase("{column} {rows:,}", column=name, rows=moved) for name, moved in receipt.moved.items())
        rows.append(
            (
                Phrase("clamped"),
                Phrase(
                    "{counts}: rows moved to the nearest bound. Exact counts, for the holder of the data",
                    counts=counts,
                ),
            )
        )
    mechanism = mechanism_title(plan.person)
    rows.append(
        (
            Phrase("solution"),
            Phrase("{chosen}{mechanism}", chosen=how_chosen, mechanism=mechanism) if how_chosen else mechanism,
        )
    )
    by_protocol: dict[str, list[str]] = {}
    for column, protocol in zip(plan.person.columns, protocol_names(plan.person), strict=True):
        by_protocol.setdefault(protocol, []).append(column)
    for protocol, columns in by_protocol.items():
        rows.append((Phrase("columns"), Phrase("{protocol}: {columns}", protocol=protocol, columns=commas(columns))))
    if plan.person.domain.open:
        carried = commas(plan.person.domain.open)
        rows.append((Phrase("public"), Phrase("{columns}: carried as they are, protected by nothing", columns=carried)))
    rows.append((Phrase("protects"), protects(plan)))
    rows.append((Phrase("plan"), Phrase("{plan}", plan=Code(plan.digest[:12]))))
    facts = Table("", ("", ""), tuple(rows), words=True)
    seeded = (Paragraph(SEEDED, "warning"),) if receipt.seeded else ()
    learned = (*both_certificates(plan, receipt.guarantees), Paragraph(promise(receipt.guarantees["reader"])))
    return Document(
        title or Phrase("Sanitised table"),
        (*seeded, facts, Section(Phrase("What anyone who sees it can learn"), learned)),
        "Receipt",
    )


def _why_dropped(receipt: Receipt) -> Phrase:
    outside = receipt.dropped - receipt.beyond
    reasons = [Phrase("{rows:,} outside the schema", rows=outside)] if outside else []
    if receipt.beyond:
        reasons.append(Phrase("{rows:,} beyond the rows of one person", rows=receipt.beyond))
    return Phrase("{reasons}; that a row is not there says that it was one of these", reasons=Several(reasons))
