"""How a CSV is written: its encoding, its layout, and what its cells look like, from passes over the whole file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from murmure.cli.schema.detection.cell_evidence import ColumnEvidence
from murmure.cli.schema.detection.detected import Detected
from murmure.cli.schema.detection.dialects import columns_of, find_layout, refuse_change
from murmure.cli.schema.detection.encodings import detect_encoding
from murmure.cli.schema.detection.headers import with_header
from murmure.cli.schema.detection.spellings import say_rows_that_differ
from murmure.core.errors import Phrase
from murmure.engines.sources.csv_files import SEPARATOR_NAMES
from murmure.engines.sources.file_header import header_names


def detect_csv(path: Path, header: bool | None = None) -> Detected:
    """The format of a CSV. header: whether its first record names the columns; None: look, and refuse to guess."""
    found = detect_encoding(path)
    encoding = found.format.encoding
    layout = find_layout(path, encoding)
    if layout.width > 1:
        words = Phrase("fields are separated by {separator}", separator=SEPARATOR_NAMES[layout.separator])
        found = found.setting(words, separator=layout.separator)
    else:
        found = found.setting(Phrase("there is one column"), separator=layout.separator)
    evidence = [ColumnEvidence() for _ in range(layout.width)]
    first_rows: Sequence[tuple[str, ...]] = ()
    for columns in columns_of(path, encoding, layout):
        first_rows = first_rows or columns
        for column, cells in zip(evidence, columns, strict=True):
            column.add(set(cells))
    refuse_change(path, layout)
    found = with_header(found, path, layout, header, evidence, first_rows)
    lines = [line for line, _ in layout.ragged_fields]
    found = say_rows_that_differ(found, layout.rows, layout.ragged, lines, layout.width)
    names = header_names(layout.header, found.format)
    return replace(found, columns=dict(zip(names, evidence, strict=True)), ragged=layout.ragged)
