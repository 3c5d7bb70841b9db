"""How many rows of each column do not match a schema, what becomes of them, and the first of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from murmure.core.errors import OutsideDomain
    from murmure.core.schema import Schema

WHAT = ("invalid", "missing", "clamped", "dropped")
LISTED = ("invalid", "clamped", "dropped")  # missing values have no cell to show
SHOWN = 3  # rows of each that are named


@dataclass
class ColumnMismatches:
    """Rows of one column, counted from 0 over the whole table."""

    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(WHAT, 0))
    rows: dict[str, list[int]] = field(default_factory=lambda: {what: [] for what in LISTED})
    first: OutsideDomain | None = None

    def add(self, inspected: Any, rows_before: int) -> None:
        masks = (inspected.refused, inspected.missing, inspected.clamped, inspected.dropped)
        for what, mask in zip(WHAT, masks, strict=True):
            self.counts[what] += int(mask.sum())
            if what in self.rows and len(self.rows[what]) < SHOWN:
                at = np.flatnonzero(mask)[: SHOWN - len(self.rows[what])]
                self.rows[what] += (at + rows_before).tolist()
        if self.first is None and inspected.first is not None:
            self.first = inspected.first.later(rows_before)

    @property
    def listed(self) -> list[int]:
        return sorted({row for rows in self.rows.values() for row in rows})


@dataclass
class Mismatches:
    """All rows of a table held against a schema."""

    columns: dict[str, ColumnMismatches]
    rows: int = 0
    valid: int = 0

    @classmethod
    def count(cls, schema: Schema, batches: Any) -> Mismatches:
        found = cls({name: ColumnMismatches() for name in schema})
        for batch in batches:
            by_column = schema.inspect(batch)
            for name, inspected in by_column.items():
                found.columns[name].add(inspected, found.rows)
            found.rows += batch.num_rows
            found.valid += int((~np.logical_or.reduce([column.refused for column in by_column.values()])).sum())
        return found
