"""Columns of one's own table that hold the same in all rows, as the schema that was read off the table notes them.

A domain has two values at least, so the other one is made up (own_column.py): nobody has it, and no model may take it
for the event, for a group or for the outcome.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from murmure.core.domain import Integers
from murmure.core.schema import Schema
from murmure.econometrics.errors import NoVariation

CONSTANT_NOTE = "read off the table: every row holds "


def constant_value(schema: Schema, name: str) -> str | None:
    """What all rows of the table hold in this column, as people write it; None where they differ or nobody looked."""
    note = schema.column_specs[name].note
    return note.removeprefix(CONSTANT_NOTE) if note.startswith(CONSTANT_NOTE) else None


def above_zero(schema: Schema, names: Iterable[str]) -> Schema:
    """Of these columns, one of ones is no column of no and yes: weights and exposures of 1 are never 0."""
    ones = {name for name in names if constant_value(schema, name) == "1"}
    widened = {name: replace(about, domain=Integers(1, 2)) for name, about in schema.column_specs.items() if name in ones}
    return Schema({**schema.column_specs, **widened}) if widened else schema


def refuse_constant(schema: Schema, name: str, what: str, hint: str) -> None:
    """Refuse a column whose rows are all alike, where two values are needed. what: whose part it would play."""
    value = constant_value(schema, name)
    if value is not None:
        raise NoVariation(f"{what}: every row of column {name!r} holds {value}.", hint=hint, columns=[name])
