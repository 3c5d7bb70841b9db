"""A table under attack: its rows as Arrow has them, to run questions on, and as codes, to check guesses with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from murmure.core.errors import EmptySource, InvalidParameter, shorten
from murmure.core.schema import Schema
from murmure.core.types import Ints
from murmure.engines.sources.data_file import described


@dataclass(frozen=True)
class TableRows:
    """The rows of a table whose every cell the schema allows. Those are the people that can be attacked."""

    schema: Schema
    table: Any = field(repr=False)  # an Arrow table
    codes: tuple[Ints, ...] = field(repr=False)  # of the schema's columns, in order

    @classmethod
    def read(cls, schema: Schema, source: Any) -> TableRows:
        """From a path, a frame, an Arrow table or a mapping of columns."""
        import pyarrow as pa

        from murmure.engines.sources.tables import open_table

        if not isinstance(schema, Schema):
            raise InvalidParameter("schema must be a Schema, got {got}.", got=shorten(schema))
        reader = open_table(described(source, schema), list(schema.private), schema.lenient_kinds, lenient=True)
        table = pa.Table.from_batches(list(reader.batches()), schema=reader.schema)
        codes, kept = schema.encode_valid(table)
        table = table.filter(pa.array(kept))
        if not table.num_rows:
            raise EmptySource("there is nobody to attack: the table has no rows.")
        return cls(schema, table, tuple(np.asarray(column, np.int64) for column in codes))

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def take(self, rows: Any) -> TableRows:
        """Some of the rows, by number; a row may come twice."""
        import pyarrow as pa

        index = np.asarray(rows, np.int64)
        return TableRows(self.schema, self.table.take(pa.array(index)), tuple(column[index] for column in self.codes))

    def without(self, row: int) -> TableRows:
        return self.take(np.delete(np.arange(len(self)), row))
