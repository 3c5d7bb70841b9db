"""A person may have several rows, and a guarantee for people needs to know how many at most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from murmure.core.errors import InvalidParameter, OutsideDomain
from murmure.engines.sources.arrow_cells import decoded, inexact_names, is_text, plain_type

InvalidPolicy = Literal["refuse", "drop"]
TEXT = (".csv", ".csv.gz")


def with_unit(columns: Sequence[str], unit: str) -> list[str]:
    """The columns to read when rows are counted by this one."""
    return [*columns] if unit == "row" or unit in columns else [*columns, unit]


def refuse_inexact_names(table: Any, unit: str) -> None:
    """Whole numbers that were made floats, for the sake of one missing cell, are not whole any more beyond 2**53.

    Different people then have one name, and one person decides how many others are counted. So a column of floats names
    nobody, whatever is in it. A CSV holds text, which no reader of ours makes a float of.
    """
    import pyarrow as pa

    kind = plain_type(table.schema.field(unit).type)
    if pa.types.is_floating(kind) and not any(path.name.lower().endswith(TEXT) for path in table.paths):
        raise inexact_names(kind, f'load the column as text: dtype={{"{unit}": "string"}} in pandas', unit)


class RowsPerPerson:
    """Refuses, or leaves out, the rows of a person beyond the bound, in the very pass that randomises them.

    Memory grows with the number of people: every name is kept with the number of its rows. nobody="drop" leaves out
    the rows that do not say whose they are: where noise protects the sum, no row may decide whether there is an error.
    """

    def __init__(self, column: str, at_most: int, invalid: InvalidPolicy, nobody: InvalidPolicy = "refuse") -> None:
        self.column, self.at_most, self.invalid, self.nobody = column, at_most, invalid, nobody
        self.seen: dict[Any, int] = {}

    def admit(self, batch: Any, first: int) -> Any:
        """The rows of the batch that its people may still have."""
        import pyarrow as pa
        import pyarrow.compute as pc

        ids = decoded(batch.column(self.column))
        if is_text(ids.type):
            ids = ids.cast(pa.large_binary())  # a name may hold bytes that are no letters
        unnamed = self._unnamed(ids)
        if unnamed is not None:
            if self.nobody == "refuse":
                row = first + int(np.argmax(unnamed.to_numpy(zero_copy_only=False)))
                raise OutsideDomain.at(f"column {self.column!r}", row, "says not who it is about.", "give it a value")
            named = pc.invert(unnamed)
            batch, ids = batch.filter(named), ids.filter(named)
        found = ids.value_counts()
        names, counts = found.field("values").to_pylist(), found.field("counts").to_pylist()
        over = [i for i, name in enumerate(names) if self._count(name, counts[i]) > self.at_most]
        if not over:
            return batch
        rows = np.flatnonzero(pc.is_in(ids, found.field("values").take(pa.array(over))).to_numpy(zero_copy_only=False))
        before = {names[i]: self.seen[names[i]] - counts[i] for i in over}
        kept = np.ones(batch.num_rows, bool)
        for row, name in zip(rows.tolist(), ids.take(pa.array(rows)).to_pylist(), strict=True):  # of those few
            before[name] += 1
            kept[row] = before[name] <= self.at_most
        if self.invalid == "refuse":
            raise OutsideDomain.at(
                f"column {self.column!r}",
                first + int(np.argmin(kept)),
                f"is row {self.at_most + 1} of one person; at most {self.at_most} were declared.",
                "declare a larger bound (it costs more), or drop the rest with invalid=drop",
            )
        return batch.filter(pa.array(kept))

    def _count(self, name: Any, more: int) -> int:
        self.seen[name] = count = self.seen.get(name, 0) + more
        return count

    def _unnamed(self, ids: Any) -> Any:
        """Which rows do not say whose they are; None: all do."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if pa.types.is_nested(ids.type):
            raise InvalidParameter(
                f"column {self.column!r} holds {ids.type}; wanted names or numbers that tell people apart."
            )
        nobody = ids.is_null(nan_is_null=True)
        return nobody if pc.any(nobody).as_py() else None
