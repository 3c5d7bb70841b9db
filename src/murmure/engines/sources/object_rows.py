"""Rows of Python objects (a sheet's cells, a database's values) as Arrow batches of text, each cell separately.

Numbers, dates and truth values that the file itself holds as such become the text that means them. Only text is
rewritten by the file's format: 1.5 in a sheet is a number, "1,5" is what somebody typed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any

from murmure.core.cells.meaning import MAX_15_DIGITS
from murmure.core.file_format import FileFormat
from murmure.engines.sources.arrow_cells import EXACT_FLOAT_LIMIT
from murmure.engines.sources.reading import Reading
from murmure.engines.sources.recoded_bytes import SUBSTITUTE
from murmure.engines.sources.spelling import Spelling, rewrite
from murmure.engines.sources.typed_text import arrow_schema, parse_lenient, parse_strict


def object_batches(
    rows: Iterable[Sequence[Any]], places: Sequence[int], names: list[str], reading: Reading, file_name: str
) -> Iterator[Any]:
    """Batches of the wanted columns: `places` in every row. A row that holds nothing is nobody."""
    import pyarrow as pa

    schema = arrow_schema(names, reading.kinds, reading.lenient)

    def text_batches() -> Iterator[Any]:
        for part in _parts(rows, reading.rows):
            columns = [
                text_column(
                    [_cell(row[place], reading.kinds.get(name)) for row in part], reading.spelling(name), reading.file
                )
                for name, place in zip(names, places, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(columns, names=names)

    if reading.lenient:
        return (parse_lenient(batch, schema) for batch in text_batches())
    return parse_strict(text_batches(), schema, reading.kinds, file_name, 0)


def _parts(rows: Iterable[Sequence[Any]], size: int) -> Iterator[list[Sequence[Any]]]:
    part: list[Sequence[Any]] = []
    for row in rows:
        if any(cell is not None and cell != "" for cell in row):
            part.append(row)
            if len(part) == size:
                yield part
                part = []
    if part:
        yield part


def _cell(cell: Any, kind: str | None) -> Any:
    """The cell; a float that is the nearest to several whole numbers names nobody, since it may be several people."""
    inexact = kind == "name" and isinstance(cell, float) and abs(cell) >= EXACT_FLOAT_LIMIT
    return None if inexact else cell


def text_column(cells: Sequence[Any], spelling: Spelling, file: FileFormat) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    text = pa.array([text_of_cell(cell) for cell in cells], pa.string())
    if not file.rewrites:
        return text
    typed = pa.array([cell is not None and not isinstance(cell, str) for cell in cells], pa.bool_())
    return pc.if_else(typed, text, rewrite(text, spelling, file))


def text_of_cell(cell: Any) -> str | None:
    """The text that means the cell; an empty cell is missing."""
    if cell is None or cell == "":
        return None
    if isinstance(cell, str):
        return cell.encode("utf-8", "replace").decode()
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):  # spreadsheets have no other numbers: 1.0 is the whole number 1
        return str(int(cell)) if cell.is_integer() and abs(cell) < MAX_15_DIGITS else repr(cell)
    if isinstance(cell, datetime):
        return cell.isoformat() if cell.time() != time.min else cell.date().isoformat()
    if isinstance(cell, date | time):
        return cell.isoformat()
    if isinstance(cell, bytes):
        return cell.decode("utf-8", SUBSTITUTE)
    return str(cell.total_seconds()) if isinstance(cell, timedelta) else str(cell)
