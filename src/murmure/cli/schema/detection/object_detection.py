"""How the cells of a sheet or a database table are written, from rows of Python objects."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from murmure.cli.schema.detection.cell_evidence import ColumnEvidence
from murmure.cli.schema.detection.detected import Detected
from murmure.cli.schema.detection.dialects import CHUNK, Layout
from murmure.cli.schema.detection.headers import with_header
from murmure.engines.sources.file_header import header_names
from murmure.engines.sources.object_rows import text_of_cell


def detect_objects(
    found: Detected, path: Path, first: Sequence[Any], rows: Iterable[Sequence[Any]], skip: int, header: bool | None
) -> Detected:
    """`first`: the record that names the columns, if one does; `rows`: those after it."""
    names = [text_of_cell(cell) or "" for cell in first]
    layout = Layout("", skip, names, len(names))
    evidence = [ColumnEvidence() for _ in names]
    first_rows: list[tuple[str, ...]] = []
    rows = iter(rows)
    while chunk := [tuple(row) for row in itertools.islice(rows, CHUNK)]:
        columns = list(zip(*chunk, strict=True))
        first_rows = first_rows or [tuple(text_of_cell(cell) or "" for cell in column) for column in columns]
        for column, cells in zip(evidence, columns, strict=True):
            column.add_objects(cells)
    found = with_header(found, path, layout, header, evidence, first_rows)
    names = header_names(layout.header, found.format)
    return replace(found, columns=dict(zip(names, evidence, strict=True)))
