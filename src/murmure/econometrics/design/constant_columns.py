"""Columns with one value in all rows, which an inferred schema marks in their notes.

A domain has two values at least, so the other value is made up (column_profile.py). No row has it, and no model may use
it as an event, a group or an outcome.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from murmure.core.domain import Integers
from murmure.core.schema import Schema
from murmure.econometrics.errors import NoVariation

CONSTANT_NOTE = "read off the table: every row holds "


def constant_value(schema: Schema, name: str) -> str | None:
    """The value of all rows of the table in this column, as text; None if rows differ, or the schema was given."""
    note = schema.column_specs[name].note
    return note.removeprefix(CONSTANT_NOTE) if note.startswith(CONSTANT_NOTE) else None


def above_zero(schema: Schema, names: Iterable[str]) -> Schema:
    """The schema in which a column of ones, among these, holds 1 or 2: weights and exposures of 1 are never 0."""
    ones = {name for name in names if constant_value(schema, name) == "1"}
    widened = {
        name: replace(about, domain=Integers(1, 2)) for name, about in schema.column_specs.items() if name in ones
    }
    return schema.with_columns({**schema.column_specs, **widened}) if widened else schema


def refuse_constant(schema: Schema, name: str, what: str, hint: str) -> None:
    """Refuse a column with one value where two are needed. what: the parameter that names it."""
    value = constant_value(schema, name)
    if value is not None:
        raise NoVariation(
            "{what}: every row of column {name!r} holds {value}.",
            hint=hint,
            columns=[name],
            what=what,
            name=name,
            value=value,
        )
