"""The table under attack, as codes: the attacker never sees it; the experiment draws reports from it."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from murmure.core.errors import EmptySource
from murmure.core.schema import Schema
from murmure.core.types import Array
from murmure.engines.sources.data_file import described


def codes_of_people(schema: Schema, people: Any) -> list[Array]:
    """Codes of the private columns: of a frame, a mapping of columns, a path, or several paths."""
    if isinstance(people, str | os.PathLike) or (isinstance(people, list | tuple) and len(people)):
        from murmure.engines.sources.tables import open_table

        batches = open_table(described(people, schema), list(schema.private), schema.kinds).batches()
        encoded = [schema.encode(batch) for batch in batches]
        columns = [np.concatenate(parts) for parts in zip(*encoded, strict=True)]
    else:
        columns = [np.asarray(column) for column in schema.encode(people)]
    if not columns or not len(columns[0]):
        raise EmptySource("there is nobody to attack: the table has no rows.")
    return columns
