"""Tables of any kind as Arrow batches of some of their columns: files, folders, frames, mappings.

Every batch but the last holds exactly `rows` rows, whatever the source: so a seed gives the same reports. Files are
streamed, and memory is bounded by a batch (of Arrow IPC files: by the batches that they were written in).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from murmure.core.errors import InvalidParameter, MissingExtra, Phrase
from murmure.engines.sources.column_batches import ROWS
from murmure.engines.sources.data_file import is_path
from murmure.engines.sources.file_tables import from_files
from murmure.engines.sources.frame_tables import from_frame
from murmure.engines.sources.table_reader import TableReader, wanted_names


def column_names(source: Any) -> list[str]:
    """The names of the columns of any source that open_table takes; no cell of a frame is read."""
    if isinstance(source, Mapping):
        return list(source)
    if isinstance(source, str | os.PathLike | list | tuple):
        return list(open_table(source, lenient=True).names)
    if hasattr(source, "collect_schema"):  # a lazy frame warns if its schema is read in another way
        return list(source.collect_schema().names())
    for names in (getattr(source, "column_names", None), getattr(getattr(source, "schema", None), "names", None)):
        if isinstance(names, list):  # Arrow
            return names
    import narwhals as nw

    return list(nw.from_native(source).collect_schema().names())


def open_table(
    source: Any,
    columns: Sequence[str] | None = None,
    kinds: Mapping[str, str] | None = None,
    rows: int = ROWS,
    lenient: bool = False,
) -> TableReader:
    """The wanted columns of a path, a pattern, a folder, several of these, a DataFile, a frame, a relation, a mapping.

    `kinds` says what cells are ("text", "integer", "real", "decimal", "boolean", and "name" of a person); no type is
    guessed. Columns of kind "text" come as dictionary arrays from CSV and Parquet, where that saves reading the same
    words again and again. A column that a CSV or Python's own values bring, and that `kinds` does not mention, is text
    or what Arrow makes of it.

    lenient: no row decides whether the table can be read (see lenient_encoding.py). A cell that should be a number and
    is not is null, bytes that are not text are an unknown label, a row with too many or too few fields is left out; a
    column of numbers is double, since one row may hold a fraction. What still fails: no file, no table, no such column,
    quotes of a CSV that do not close.
    """
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise MissingExtra(Phrase("reading tables"), "pyarrow", "tables") from None
    if rows < 1:
        raise InvalidParameter("open_table.rows must be at least 1, got {got!r}.", got=rows)
    wanted = wanted_names(columns)
    if is_path(source):
        return from_files(source, wanted, dict(kinds or {}), rows, lenient)
    return from_frame(source, wanted, rows, dict(kinds or {}))
