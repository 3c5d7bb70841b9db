"""Batches as the bytes of a file, in three formats: Parquet, Arrow and CSV."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Protocol

from murmure.core.errors import InvalidParameter

GROUP_ROWS, GROUP_BYTES = 1 << 20, 1 << 27  # a Parquet row group, whichever comes first


class BatchEncoder(Protocol):
    def write(self, batch: Any) -> None: ...
    def flush(self) -> None: ...
    def close(self) -> None: ...


class ParquetEncoder:
    """Snappy, row groups of about a million rows; checksums, so that a reader notices a damaged page.

    The smallest and the largest of many reports are the ends of the domain. To look for them would take a quarter of
    the writing, so the file states them of other columns only.
    """

    def __init__(self, sink: Any, schema: Any, reports: Collection[str] = ()) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        # Binary reports are close to random bits: a dictionary of them saves nothing.
        coded = [f.name for f in schema if not pa.types.is_fixed_size_binary(f.type)]
        stated = [f.name for f in schema if f.name not in reports]
        self.writer = pq.ParquetWriter(
            sink,
            schema,
            compression="snappy",
            use_dictionary=coded,
            write_statistics=stated or False,
            write_page_checksum=True,
        )
        self.pending: list[Any] = []
        self.rows = self.bytes = 0

    def write(self, batch: Any) -> None:
        self.pending.append(batch)
        self.rows += batch.num_rows
        self.bytes += batch.nbytes
        if self.rows >= GROUP_ROWS or self.bytes >= GROUP_BYTES:
            self.flush()

    def flush(self) -> None:
        import pyarrow as pa

        if self.pending:
            # One dictionary per row group: the writer keeps codes only while the dictionary stays the same.
            self.writer.write_table(pa.Table.from_batches(self.pending).unify_dictionaries(), row_group_size=GROUP_ROWS)
        self.pending, self.rows, self.bytes = [], 0, 0

    def close(self) -> None:
        self.writer.close()


class ArrowEncoder:
    """LZ4: a third of the bytes, faster than writing all of them, and every reader of Arrow files knows it."""

    def __init__(self, sink: Any, schema: Any, reports: Collection[str] = ()) -> None:
        import pyarrow as pa
        import pyarrow.ipc as ipc

        how = ipc.IpcWriteOptions(compression="lz4", emit_dictionary_deltas=True)
        self.writer = ipc.new_file(sink, schema, options=how)
        self.schema = schema
        self.coded = [i for i, f in enumerate(schema) if pa.types.is_dictionary(f.type)]
        self.known: dict[int, Any] = {}  # by column: no rows, and the dictionary so far

    def write(self, batch: Any) -> None:
        """A file has one dictionary per column, which may grow but not change: later batches are coded by it."""
        import pyarrow as pa

        columns = list(batch.columns)
        for i in self.coded:
            known = self.known.get(i)
            if known is not None and not known.dictionary.equals(columns[i].dictionary):
                columns[i] = pa.chunked_array([known, columns[i]]).unify_dictionaries().chunk(1)
            self.known[i] = columns[i].slice(0, 0)
        self.writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=self.schema))

    def flush(self) -> None:
        pass

    def close(self) -> None:
        self.writer.close()


class CsvEncoder:
    """Text in quotes, a missing value as an empty field: so that "" and missing stay different."""

    def __init__(self, sink: Any, schema: Any, reports: Collection[str] = ()) -> None:
        import pyarrow as pa
        import pyarrow.csv as pc

        self.fixed = [i for i, f in enumerate(schema) if pa.types.is_fixed_size_binary(f.type)]
        for i in self.fixed:
            schema = schema.set(i, pa.field(schema.field(i).name, pa.large_string()))
        for f in schema:
            if pa.types.is_nested(f.type) or pa.types.is_binary(f.type) or pa.types.is_large_binary(f.type):
                raise InvalidParameter(
                    "column {name!r} holds {type}, for which CSV has no text.",
                    hint="write Parquet instead",
                    name=f.name,
                    type=f.type,
                )
        self.schema = schema
        self.writer = pc.CSVWriter(sink, schema)

    def write(self, batch: Any) -> None:
        import pyarrow as pa

        columns = list(batch.columns)
        for i in self.fixed:
            columns[i] = hex_column(columns[i])
        self.writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=self.schema))

    def flush(self) -> None:
        pass

    def close(self) -> None:
        self.writer.close()


def hex_column(column: Any) -> Any:
    """Fixed-size binary as lower-case hexadecimal text, without a loop over rows."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    width = column.type.byte_width
    data = column.buffers()[1]
    raw = b"" if data is None else data.slice(column.offset * width, len(column) * width).to_pybytes()
    ends = pa.py_buffer(np.arange(len(column) + 1, dtype=np.int64) * (2 * width))
    text = pa.LargeStringArray.from_buffers(len(column), ends, pa.py_buffer(raw.hex().encode()))
    return pc.if_else(column.is_valid(), text, pa.scalar(None, text.type)) if column.null_count else text


ENCODERS: dict[str, Any] = {"parquet": ParquetEncoder, "csv": CsvEncoder, "ipc": ArrowEncoder}
