"""Which label the others are compared with, and why: a note of every result with labels.

Columns of labels are coded against their first label (coding.py). A schema determines which one is first, in the clear,
between parties and in a study alike. A table without a schema has no order (except in a categorical column of pandas),
so its labels are sorted, and the result says so: with a schema in another order, the same formula has another base.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from murmure.core.errors import MurmureError, Phrase
from murmure.core.schema import Schema
from murmure.econometrics.design.factors import levels_of
from murmure.show.phrase import Several

if TYPE_CHECKING:
    from murmure.econometrics.design.design_matrix import Design

SORTED = "read off the table: labels in sorted order"
LISTED = "read off the table: labels in the order of the column"
FIRST = {
    SORTED: Phrase("the first in sorted order, since no schema was given"),
    LISTED: Phrase("the first of the categorical column, since no schema was given"),
}
BY_SCHEMA, BY_FORMULA = Phrase("the first in the schema"), Phrase("the one that the formula names")


def base_notes(design: Design) -> list[str]:
    """One sentence for each reason, such as "Labels are compared with the first in the schema: ward with 'A'." """
    found: dict[str, list[str]] = {}
    for name in design.columns:
        base = _base(design.domain, name, design.terms)
        if base is not None:
            label, is_first = base
            why = FIRST.get(design.domain.column_specs[name].note, BY_SCHEMA) if is_first else BY_FORMULA
            found.setdefault(why, []).append(Phrase("{name} with {label!r}", name=name, label=label))
    comma = Phrase(", ")
    return [
        Phrase("Labels are compared with {why}: {columns}.", why=why, columns=Several(columns, comma))
        for why, columns in found.items()
    ]


def _base(domain: Schema, name: str, terms: tuple[str, ...]) -> tuple[str, bool] | None:
    """The one label of a column without a term in the design, and whether it is the first; else None."""
    try:
        levels = levels_of(domain, name)
    except MurmureError:  # not a column of labels
        return None
    left = [(label, i == 0) for i, (label, condition) in enumerate(levels) if condition not in terms]
    return left[0] if len(left) == 1 and len(levels) > 1 else None
