"""What is wanted of a file, and how it is written: what every reader of files is given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from murmure.core.file_format import PLAIN_FILE, FileFormat
from murmure.engines.sources.arrow_cells import is_text
from murmure.engines.sources.column_batches import ROWS
from murmure.engines.sources.spelling import Spelling, rewrite


@dataclass(frozen=True)
class Reading:
    """The wanted columns (None: all) and their kinds, rows of a batch, and whether no row may cause an error."""

    wanted: list[str] | None = None
    kinds: dict[str, str] = field(default_factory=dict)
    rows: int = ROWS
    lenient: bool = False
    file: FileFormat = PLAIN_FILE
    spellings: Mapping[str, Spelling] = field(default_factory=dict)  # a column that is not described is a label

    def spelling(self, name: str) -> Spelling:
        # A name of a person is compared as it is written, whatever the schema says about its column.
        return Spelling() if self.kinds.get(name) == "name" else self.spellings.get(name, Spelling())


def rewrite_batch(batch: Any, reading: Reading) -> Any:
    """The columns of text of a batch, rewritten as the file's format says."""
    import pyarrow as pa

    if not reading.file.rewrites:
        return batch
    columns = [
        rewrite(column, reading.spelling(name), reading.file) if is_text(column.type) else column
        for name, column in zip(batch.schema.names, batch.columns, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)
