"""Which table of a SQLite or DuckDB file, and how text is written in its cells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from murmure.cli.schema.detection.cell_evidence import ColumnEvidence
from murmure.cli.schema.detection.detected import Detected
from murmure.core.errors import EmptySource, Phrase, shorten
from murmure.core.file_format import FileFormat
from murmure.engines.sources.data_file import DataFile
from murmure.engines.sources.tables import open_table


def detect_database(path: Path, tables: Callable[[Path], list[str]], sheet: str | None) -> Detected:
    names = tables(path)
    if not names:
        raise EmptySource("{file!r} has no table.", file=path.name)
    found, chosen = Detected(), sheet or names[0]
    if len(names) > 1:
        others = [name for name in names if name != chosen]
        how = Phrase("asked for") if sheet else Phrase("the first by name")
        found = found.setting(
            Phrase(
                "table: {sheet!r}, {how}; the others are {others}", sheet=chosen, how=how, others=shorten(others, 120)
            ),
            sheet=chosen,
        )
    table = open_table(DataFile(path, FileFormat(sheet=chosen)))
    evidence = {name: ColumnEvidence() for name in table.names}
    for batch in table.batches():
        for column, cells in zip(evidence.values(), batch.columns, strict=True):
            column.add_objects(cells.unique().to_pylist())
    return replace(found, columns=evidence)
