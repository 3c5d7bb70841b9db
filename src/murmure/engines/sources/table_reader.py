"""Rows that can be read in batches, all of one size: what every kind of source becomes."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from murmure.core.errors import InvalidParameter, MurmureError, Phrase, shorten
from murmure.engines.sources.column_batches import ROWS, pick_column
from murmure.engines.sources.table_writer import METADATA_MARK

FORMAT_NAMES = {
    "csv": Phrase("a CSV"),
    "parquet": Phrase("a Parquet file"),
    "ipc": Phrase("an Arrow file"),
    "workbook": Phrase("a workbook"),
    "sqlite": Phrase("an SQLite file"),
    "duckdb": Phrase("a DuckDB file"),
}
SPARK_METADATA_KEY = b"org.apache.spark.sql.parquet.row.metadata"
ENOUGH = 8  # a batch of this part of the rows wanted, or more, is not put together with others
BUFFER = 1 << 22  # bytes of a Parquet column that are read ahead


@dataclass(frozen=True)
class TableReader:
    """Rows that can be read in batches. `schema` holds the wanted columns only, and so do the batches."""

    source_name: str
    schema: Any
    rows: int | None
    metadata: dict[str, str] = field(repr=False)
    paths: tuple[Path, ...] = field(repr=False)
    raw_batches: Callable[[], Iterable[Any]] = field(repr=False)
    size: int = field(default=ROWS, repr=False)
    rewritten: bool = field(default=False, repr=False)  # the cells are not those of the files

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.schema.names)

    def batches(self) -> Iterator[Any]:
        """RecordBatches of `size` rows (the last one may be smaller); none when there are no rows."""
        with read_errors(self.source_name, Phrase("a table")):
            yield from rebatched(self.raw_batches(), self.size)

    def pieces(self) -> Iterator[Any]:
        """The same rows as they are stored, for those whom it does not matter where a batch ends: without copies."""
        with read_errors(self.source_name, Phrase("a table")):
            yield from gathered(self.raw_batches(), self.size)


@dataclass(frozen=True)
class FileReader:
    """One file: all its names, its wanted columns, its rows if it states them, our metadata, how to read it."""

    all_names: list[str]
    schema: Any
    rows: int | None
    metadata: dict[str, str]
    raw_batches: Callable[[], Iterator[Any]]


def wanted_names(columns: Sequence[str] | None) -> list[str] | None:
    if columns is None:
        return None
    wanted = [columns] if isinstance(columns, str) else list(columns)
    if not wanted:
        raise InvalidParameter("open_table.columns is empty.", hint="leave it out to read all columns")
    check_distinct(wanted, Phrase("the list of wanted columns"))
    return wanted


def check_distinct(names: Sequence[Any], what: str) -> None:
    odd = [name for name in names if not isinstance(name, str)]
    if odd:
        raise InvalidParameter(
            "{what} has a column called {odd}, wanted text.", hint="rename it", what=what, odd=shorten(odd[0])
        )
    twice = sorted({n for n in names if names.count(n) > 1}) if len(set(names)) < len(names) else []
    if twice:
        raise InvalidParameter(
            "{what} has two columns called {twice}.",
            hint="rename or remove one of them",
            what=what,
            twice=shorten(twice[0]),
        )


def choose_names(names: Sequence[str], wanted: list[str] | None, what: str) -> list[str]:
    check_distinct(names, what)
    return list(names) if wanted is None else [pick_column(list(names), name, what) for name in wanted]


def rebatched(batches: Iterable[Any], rows: int) -> Iterator[Any]:
    """The same rows in batches of exactly `rows`, but for the last."""
    pieces: list[Any] = []
    count = 0
    for batch in batches:
        start = 0
        while start < batch.num_rows:
            part = batch.slice(start, rows - count)
            start += part.num_rows
            count += part.num_rows
            pieces.append(part)
            del part
            if count == rows:
                # The pieces are dropped before the batch is handed out, so that memory is one batch, not two.
                whole, pieces, count = concat_batches(pieces), [], 0
                yield whole
                del whole
    if pieces:
        yield concat_batches(pieces)


def gathered(batches: Iterable[Any], rows: int) -> Iterator[Any]:
    """The same rows in order, at most `rows` at a time: large batches are cut, small ones put together."""
    small: list[Any] = []
    count = 0
    for batch in batches:
        for start in range(0, batch.num_rows, rows):
            part = batch.slice(start, rows)
            if count and (part.num_rows >= rows // ENOUGH or count + part.num_rows > rows):
                yield concat_batches(small)
                small, count = [], 0
            if part.num_rows >= rows // ENOUGH:
                yield part
            else:
                small.append(part)
                count += part.num_rows
            del part
    if small:
        yield concat_batches(small)


def concat_batches(batches: list[Any]) -> Any:
    import pyarrow as pa

    if len(batches) == 1:
        return batches[0]
    schema = batches[0].schema
    columns = [pa.concat_arrays([batch.column(i) for batch in batches]) for i in range(len(schema))]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def parquet_file(path: str | Path, text_columns: list[str]) -> Any:
    """An open Parquet file; these columns come as dictionary arrays, so that each word is decoded once."""
    import pyarrow.parquet as pq

    return pq.ParquetFile(
        path, read_dictionary=text_columns, buffer_size=BUFFER, pre_buffer=False, page_checksum_verification=True
    )


def select_fields(schema: Any, names: list[str]) -> Any:
    import pyarrow as pa

    return pa.schema([schema.field(n) for n in names])


def cast_batch(batch: Any, schema: Any, lenient: bool = False) -> Any:
    """The batch in these types. Lenient: a number that does not fit is rounded or wrapped, and no row is an error."""
    return batch if batch.schema.equals(schema) else batch.cast(schema, safe=not lenient)


def type_family(kind: Any) -> str:
    import pyarrow as pa

    t = pa.types
    if t.is_dictionary(kind):
        kind = kind.value_type
    if t.is_string(kind) or t.is_large_string(kind) or str(kind) == "string_view":
        return "text"
    return "integer" if t.is_integer(kind) else "real" if t.is_floating(kind) else str(kind)


def murmure_metadata(metadata: Mapping[bytes, bytes] | None) -> dict[str, str]:
    """What write_table embedded, without what others did."""
    if metadata and SPARK_METADATA_KEY in metadata:
        return _metadata_from_spark(metadata[SPARK_METADATA_KEY])
    if not metadata or METADATA_MARK.encode() not in metadata:
        return {}
    theirs = (METADATA_MARK.encode(), b"ARROW:schema", b"pandas")
    return {key.decode(): value.decode() for key, value in metadata.items() if key not in theirs}


def _metadata_from_spark(text: bytes) -> dict[str, str]:
    """Spark keeps the metadata of columns, as JSON of its schema: ours is in one of them."""
    try:
        fields = json.loads(text)["fields"]
        ours = next(f["metadata"] for f in fields if METADATA_MARK in f.get("metadata", {}))
        return {str(key): str(value) for key, value in ours.items() if key != METADATA_MARK}
    except (ValueError, KeyError, TypeError, AttributeError, StopIteration):
        return {}


@contextmanager
def read_errors(name: str, what: str) -> Iterator[None]:
    """Errors of pyarrow and of the system as ours, which say what to do."""
    import pyarrow as pa

    try:
        yield
    except MurmureError:
        raise
    except (OSError, EOFError, zlib.error, pa.ArrowException, UnicodeError) as error:
        if isinstance(error, OSError) and error.errno:
            raise InvalidParameter(
                "cannot read {name!r}: {strerror}.",
                hint="check that it still exists and that you can read it",
                name=name,
                strerror=os.strerror(error.errno).lower(),
            ) from error
        raise InvalidParameter(
            "cannot read {name!r} as {what}: {error}",
            hint="it is truncated, damaged, or not in the format that its name says"
            if what in FORMAT_NAMES.values()
            else None,
            name=name,
            what=what,
            error=shorten(str(error), 160),
        ) from error
