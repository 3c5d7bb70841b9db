"""Frames, relations, readers and mappings as tables."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from murmure.core.cells.parsed_columns import library, one_column
from murmure.core.errors import InvalidParameter, MurmureError, Phrase, shorten
from murmure.engines.sources.arrow_cells import arrow_cells
from murmure.engines.sources.table_reader import (
    BUFFER,
    TableReader,
    cast_batch,
    choose_names,
    murmure_metadata,
    read_errors,
    select_fields,
)


def from_frame(source: Any, wanted: list[str] | None, rows: int, kinds: dict[str, str] | None = None) -> TableReader:
    """kinds: what the columns are to be; each cell is then parsed separately, whatever the others hold."""
    import pyarrow as pa

    what = "the frame"
    if isinstance(source, Mapping):
        source = _from_mapping(source, wanted, kinds)
    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    if isinstance(source, pa.Table):
        schema = select_fields(source.schema, choose_names(source.column_names, wanted, what))
        table = source.select(schema.names)
        return _reader(what, schema, len(table), source.schema.metadata, lambda: table.to_batches(rows), rows)
    if isinstance(source, pa.RecordBatchReader):
        schema = select_fields(source.schema, choose_names(source.schema.names, wanted, what))
        return _reader(what, schema, None, source.schema.metadata, _once(source), rows)
    # Who holds a dataset has imported its module. For others that would take longer than most fits: it brings pandas.
    datasets = sys.modules.get("pyarrow.dataset")
    if datasets is not None and isinstance(source, datasets.Dataset):
        return _from_dataset(source, wanted, rows)
    return _from_narwhals(source, wanted, rows, kinds)


def _from_dataset(source: Any, wanted: list[str] | None, rows: int) -> TableReader:
    import pyarrow.dataset as ds

    what = Phrase("the dataset")
    schema = select_fields(source.schema, choose_names(source.schema.names, wanted, what))
    states_rows = isinstance(source, ds.FileSystemDataset) and source.format.default_extname != "csv"
    with read_errors(what, Phrase("a table")):
        count = source.count_rows() if states_rows else None

    # little readahead, or pyarrow would hold much of the dataset in memory
    options: dict[str, Any] = {"batch_size": rows, "batch_readahead": 1, "fragment_readahead": 1}
    if states_rows and source.format.default_extname == "parquet":
        options["fragment_scan_options"] = ds.ParquetFragmentScanOptions(
            pre_buffer=False, use_buffered_stream=True, buffer_size=BUFFER
        )

    def read() -> Iterable[Any]:
        return source.to_batches(columns=schema.names, **options)

    return _reader(what, schema, count, source.schema.metadata, read, rows)


def _from_narwhals(source: Any, wanted: list[str] | None, rows: int, kinds: dict[str, str] | None) -> TableReader:
    import narwhals as nw
    import pyarrow as pa

    what = Phrase("the frame")
    try:
        frame: Any = nw.from_native(source)
        names = choose_names(frame.collect_schema().names(), wanted, what)
    except TypeError:
        frame = None
    except nw.exceptions.DuplicateError as error:
        raise InvalidParameter(
            "{what} has two columns with the same name: {error}", what=what, error=shorten(str(error), 160)
        ) from error
    if frame is None:
        try:
            return from_frame(pa.RecordBatchReader.from_stream(source), wanted, rows, kinds)
        except (TypeError, ValueError, pa.ArrowException):
            raise InvalidParameter(
                "cannot read a table from {kind}.",
                hint="pass a pandas, Polars or Arrow table, a DuckDB relation, a mapping of columns, or a path",
                kind=shorten(type(source).__name__),
            ) from None
    selected = frame.select(names)
    types = selected.collect_schema()
    if selected.implementation.is_polars():  # Arrow has no whole numbers of 128 bits: they pass as text
        wide = [n for n in names if types[n] in (nw.Int128, nw.UInt128)]
        selected = selected.with_columns(nw.col(n).cast(nw.String) for n in wide)
    if not isinstance(selected, nw.LazyFrame):
        if kinds and (selected.implementation.is_pandas() or nw.Object in types.values()):
            native = selected.to_native()
            return from_frame({name: native[name] for name in names}, names, rows, kinds)
        return from_frame(_arrow_table(selected), names, rows)
    native = selected.to_native()
    if hasattr(native, "collect_batches"):  # Polars
        schema = native.head(0).collect().to_arrow().schema

        def read() -> Iterator[Any]:
            for part in native.collect_batches(chunk_size=rows, maintain_order=True):
                yield from part.to_arrow().to_batches()

        return _reader(what, schema, None, None, read, rows)
    if hasattr(native, "to_arrow_table") and hasattr(native, "fetch_record_batch"):  # DuckDB
        stream = getattr(native, "to_arrow_reader", native.fetch_record_batch)
        return _reader(what, native.limit(0).to_arrow_table().schema, None, None, lambda: stream(rows), rows)
    return from_frame(_arrow_table(selected.collect("pyarrow")), names, rows)


def _arrow_table(frame: Any) -> Any:
    import pyarrow as pa

    try:
        if frame.implementation.is_pandas():  # without the index, which is not a column
            return pa.Table.from_pandas(frame.to_native(), preserve_index=False)
        return frame.to_arrow()
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise InvalidParameter(
            "the frame does not fit Arrow: {error}", hint="give every column one type", error=shorten(str(error), 160)
        ) from error


MAPPING = Phrase("the mapping")


def _from_mapping(source: Mapping[Any, Any], wanted: list[str] | None, kinds: dict[str, str] | None) -> Any:
    """A mapping name -> values; None and, as in pandas, NaN are missing."""
    import pyarrow as pa

    columns = {}
    for name in choose_names(list(source), wanted, MAPPING):
        try:
            columns[str(name)] = _arrow_column(source[name], (kinds or {}).get(str(name)))
        except MurmureError:
            raise
        except (pa.ArrowException, TypeError, ValueError) as error:
            raise InvalidParameter(
                "column {name!r} of the mapping is not a column: {error}",
                hint="give a list or an array of one dimension and one type",
                name=name,
                error=shorten(str(error), 160),
            ) from error
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) != 1:
        raise InvalidParameter(
            "the columns of the mapping must have the same length, got {got}.",
            hint="each needs one value per person",
            got=shorten(lengths, 160),
        )
    return pa.table(columns)


def _arrow_column(values: Any, kind: str | None) -> Any:
    """A typed column as Arrow converts it; a column of Python objects cell by cell. kind None: always as Arrow does."""
    import pyarrow as pa

    values = one_column(values) if library(values) == "polars" else values
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    if hasattr(values, "sparse") and hasattr(getattr(values, "dtype", None), "fill_value"):
        values = values.sparse.to_dense()
    if kind is None:
        return pa.array(values, from_pandas=True)
    inner = getattr(values, "array", values)
    if hasattr(inner, "categories") and hasattr(inner, "codes"):  # a pandas Categorical
        codes = np.asarray(inner.codes)
        return _arrow_column(inner.categories, kind).take(pa.array(codes, mask=codes < 0))
    typed = getattr(values, "dtype", None)
    if hasattr(typed, "pyarrow_dtype") or getattr(typed, "storage", None) == "pyarrow":
        return inner.__arrow_array__()
    if getattr(typed, "kind", "O") in "OUST":
        if len(getattr(values, "shape", (0,))) != 1:
            raise InvalidParameter("a column must have one dimension, got shape {shape}.", shape=values.shape)
        missing = np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else None
        items = values.tolist() if hasattr(values, "tolist") else list(values)
        if missing is not None:
            items = [None if masked else item for item, masked in zip(items, missing, strict=True)]
        return arrow_cells(items, kind)
    if isinstance(values, np.ndarray) and values.dtype == np.float64:
        return pa.array(values)  # without a copy: every reader of numbers takes NaN for missing
    return pa.array(values, from_pandas=True)


def _once(reader: Any) -> Callable[[], Iterator[Any]]:
    """A stream can be read once. A second time it would give no rows, without an error."""
    used: list[bool] = []

    def read() -> Iterator[Any]:
        if used:
            raise InvalidParameter(
                "this reader was already read, and can be read only once.", hint="create it again, or pass a table"
            )
        used.append(True)
        yield from reader

    return read


def _reader(
    what: str, schema: Any, count: int | None, metadata: Any, read: Callable[[], Iterable[Any]], rows: int
) -> TableReader:
    """A reader of batches that are not in files. Views of text become text, since not every kernel knows them."""
    import pyarrow as pa

    for i, field in enumerate(schema):
        if str(field.type) == "string_view":
            schema = schema.set(i, pa.field(field.name, pa.large_string()))

    def fitted() -> Iterator[Any]:
        for batch in read():
            yield cast_batch(batch.select(schema.names), schema)

    return TableReader(what, schema, count, murmure_metadata(metadata), (), fitted, rows)
