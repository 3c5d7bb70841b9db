"""Reports as rows of one length: they can be picked, shuffled and put on a disk, whatever law drew them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from murmure.core.types import Array
from murmure.laws.records import Records
from murmure.plan.reports import Reports

SHOWN = "shown"  # of records that show some columns only: which


@dataclass(frozen=True)
class ReportRows:
    """The layout of these rows: a field for each column, taken from a first block of reports."""

    example: Reports

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        data = self.example.data
        parts = data.parts if isinstance(data, Records) else (data,)
        fields: list[Any] = [(_field(i), part.dtype, part.shape[1:]) for i, part in enumerate(parts)]
        if self._shows_some:
            fields.append((SHOWN, np.bool_, (len(parts),)))
        return np.dtype(fields)

    def pack(self, reports: Reports) -> Array:
        """One row for each person."""
        data, rows = reports.data, np.zeros(len(reports), self.dtype)
        if not isinstance(data, Records):
            rows[_field(0)] = data
        elif data.rows is None:
            for i, part in enumerate(data.parts):
                rows[_field(i)] = part
        else:
            for i, (part, people) in enumerate(zip(data.parts, data.rows, strict=True)):
                rows[_field(i)][people] = part
                rows[SHOWN][people, i] = True
        return rows

    def unpack(self, rows: Array) -> Reports:
        """The reports of these rows."""
        example = self.example
        if not isinstance(example.data, Records):
            return Reports(np.ascontiguousarray(rows[_field(0)]), example.plan, example.seeded)
        columns = [rows[_field(i)] for i in range(len(example.data.parts))]
        people = None
        if self._shows_some:
            people = tuple(np.flatnonzero(rows[SHOWN][:, i]) for i in range(len(columns)))
            columns = [column[shown] for column, shown in zip(columns, people, strict=True)]
        parts = tuple(np.ascontiguousarray(column) for column in columns)
        return Reports(Records(len(rows), parts, people, law=example.data.law), example.plan, example.seeded)

    @property
    def _shows_some(self) -> bool:
        data = self.example.data
        return isinstance(data, Records) and data.rows is not None


def _field(column: int) -> str:
    return f"column{column}"
