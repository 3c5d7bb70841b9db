"""A bound on the rows of one person: a guarantee for people with several rows depends on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from murmure.core.errors import InvalidParameter, OutsideDomain, Phrase
from murmure.engines.sources.arrow_cells import decoded, inexact_names, is_text, plain_type

InvalidPolicy = Literal["refuse", "drop"]
TEXT_ENDINGS = (".csv", ".csv.gz")


def with_unit(columns: Sequence[str], unit: str) -> list[str]:
    """The columns to read when rows are counted by this one."""
    return [*columns] if unit == "row" or unit in columns else [*columns, unit]


def refuse_inexact_names(table: Any, unit: str) -> None:
    """Refuse floats as names: pandas makes floats of whole numbers if one cell is missing, and beyond 2**53 they round.

    Different people then have one name, and one person decides how many others are counted. So a column of floats is
    refused whatever it holds. A CSV holds text, which our readers never turn into floats here.
    """
    import pyarrow as pa

    kind = plain_type(table.schema.field(unit).type)
    if pa.types.is_floating(kind) and not any(path.name.lower().endswith(TEXT_ENDINGS) for path in table.paths):
        raise inexact_names(
            kind, Phrase('load the column as text: dtype={{"{unit}": "string"}} in pandas', unit=unit), unit
        )


class RowsPerPerson:
    """Refuses, or leaves out, the rows of a person beyond the bound, in the same pass that randomises them.

    Memory grows with the number of people: every name is kept with the number of its rows. unnamed="drop" leaves out
    the rows that name nobody: where noise protects the sum, no row may decide whether there is an error.
    """

    def __init__(self, column: str, at_most: int, invalid: InvalidPolicy, unnamed: InvalidPolicy = "refuse") -> None:
        self.column, self.at_most, self.invalid, self.unnamed = column, at_most, invalid, unnamed
        self.row_counts: dict[Any, int] = {}

    def admit(self, batch: Any, first: int) -> Any:
        """The rows of the batch that its people may still have."""
        import pyarrow as pa
        import pyarrow.compute as pc

        ids = decoded(batch.column(self.column))
        if is_text(ids.type):
            ids = ids.cast(pa.large_binary())  # a name may hold bytes that are not UTF-8
        missing = self._unnamed_rows(ids)
        if missing is not None:
            if self.unnamed == "refuse":
                row = first + int(np.argmax(missing.to_numpy(zero_copy_only=False)))
                raise OutsideDomain.at(
                    Phrase("column {column!r}", column=self.column),
                    row,
                    Phrase("does not say which person it is about."),
                    Phrase("give it a value"),
                )
            named = pc.invert(missing)
            batch, ids = batch.filter(named), ids.filter(named)
        counted = ids.value_counts()
        names, counts = counted.field("values").to_pylist(), counted.field("counts").to_pylist()
        over = [i for i, name in enumerate(names) if self._count(name, counts[i]) > self.at_most]
        if not over:
            return batch
        of_those = pc.is_in(ids, counted.field("values").take(pa.array(over)))
        rows = np.flatnonzero(of_those.to_numpy(zero_copy_only=False))
        so_far = {names[i]: self.row_counts[names[i]] - counts[i] for i in over}
        kept = np.ones(batch.num_rows, bool)
        # Row by row, in order, but only for the few people who are over the bound.
        for row, name in zip(rows.tolist(), ids.take(pa.array(rows)).to_pylist(), strict=True):
            so_far[name] += 1
            kept[row] = so_far[name] <= self.at_most
        if self.invalid == "refuse":
            raise OutsideDomain.at(
                Phrase("column {column!r}", column=self.column),
                first + int(np.argmin(kept)),
                Phrase(
                    "is row {at_most} of one person; at most {this_at_most} were declared.",
                    at_most=self.at_most + 1,
                    this_at_most=self.at_most,
                ),
                Phrase("declare a larger bound (it costs more), or drop the rest with invalid=drop"),
            )
        return batch.filter(pa.array(kept))

    def _count(self, name: Any, more: int) -> int:
        self.row_counts[name] = count = self.row_counts.get(name, 0) + more
        return count

    def _unnamed_rows(self, ids: Any) -> Any:
        """Which rows name nobody; None if all rows name somebody."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if pa.types.is_nested(ids.type):
            raise InvalidParameter(
                "column {column!r} holds {type}; wanted names or numbers that tell people apart.",
                column=self.column,
                type=ids.type,
            )
        missing = ids.is_null(nan_is_null=True)
        return missing if pc.any(missing).as_py() else None
