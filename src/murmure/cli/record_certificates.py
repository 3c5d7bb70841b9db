"""What whoever sees a randomised table can learn: about a whole row, and about one attribute of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from murmure.core.errors import Phrase, Plural
from murmure.show.document import Block, Paragraph, Section

if TYPE_CHECKING:
    from murmure.core.types import Certificate


def both_certificates(plan: Any, guarantees: Mapping[Any, Certificate]) -> tuple[Block, ...]:
    """Of a whole row and of one attribute; what is public to both is said once."""
    from murmure.core.certificate_blocks import certificate_blocks
    from murmure.show.phrase import apart

    record, attribute = guarantees["reader"], guarantees["either, about one attribute"]
    rows = int(plan.rows_per_person)
    whole = (
        Phrase("A whole row") if rows == 1 else Plural("All {n} row of a person", "All {n} rows of a person", n=rows)
    )
    public = Phrase("Public: {public}.", public=apart(record.public))
    return (
        Section(whole, certificate_blocks(record, public=False, asked=True)),
        Section(Phrase("One attribute"), certificate_blocks(attribute, public=False, asked=True)),
        Paragraph(public, "note"),
    )
