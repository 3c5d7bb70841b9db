"""Where a row is in its file: the line that an editor or a spreadsheet shows, and the cell as it is written there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from murmure.core.file_format import FileFormat
from murmure.engines.sources.data_file import DataFile
from murmure.engines.sources.file_header import header_names
from murmure.engines.sources.file_tables import TABBED, format_of, source_paths


@dataclass(frozen=True)
class RowPlace:
    """A row, counted from 0, the line of the file, counted from 1, and its cell; None where the file has no lines."""

    row: int
    line: int | None
    cell: str | None
    file: str | None = None  # its name, where the table has several

    def to_dict(self) -> dict[str, Any]:
        return {"row": self.row, "line": self.line, "cell": self.cell} | ({"file": self.file} if self.file else {})


def find_places(source: DataFile, rows: Mapping[str, Sequence[int]]) -> dict[tuple[str, int], RowPlace]:
    """The places of some rows of each column; one pass over the file, and none if no row is asked for."""
    wanted = {row for listed in rows.values() for row in listed}
    found: dict[tuple[str, int], RowPlace] = {}
    paths = source_paths(source)
    row = 0
    for path in paths:
        if not wanted or row > max(wanted):
            break
        lines = _lines(path, source.format)
        if lines is None:
            break
        names, records = lines
        for line, cells in records:
            if row in wanted:
                for name, listed in rows.items():
                    if row in listed:
                        cell = cells[names.index(name)]
                        found[name, row] = RowPlace(row, line, cell, path.name if len(paths) > 1 else None)
            row += 1
    return found


def _lines(path: Path, file: FileFormat) -> tuple[list[str], Iterator[tuple[int, list[str]]]] | None:
    """The names of the columns, and every row with its line, as the readers of tables count rows."""
    kind = format_of(path)
    if kind == "csv":
        return _lines_of_csv(path, file)
    return _lines_of_sheet(path, file) if kind == "workbook" else None


def _lines_of_csv(path: Path, file: FileFormat) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    from murmure.cli.schema.detection.dialects import records

    tabbed = path.name.lower().endswith(TABBED) and file.separator == ","
    rows = records(path, file.encoding, "\t" if tabbed else file.separator, file.skip)
    names = list(file.names) if file.names else header_names(next(rows)[1], file)
    return names, ((line, fields) for line, fields in rows if len(fields) == len(names))


def _lines_of_sheet(path: Path, file: FileFormat) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    from murmure.engines.sources.object_rows import text_of_cell
    from murmure.engines.sources.workbooks import open_sheet, sheet_rows

    numbered = enumerate(sheet_rows(open_sheet(path, file.sheet)), 1)
    rows = ((line, row) for line, row in numbered if line > file.skip)
    names = list(file.names) if file.names else header_names([text_of_cell(c) or "" for c in next(rows)[1]], file)
    full = ((line, row) for line, row in rows if any(cell is not None and cell != "" for cell in row))
    return names, ((line, [text_of_cell(cell) or "" for cell in row]) for line, row in full)
