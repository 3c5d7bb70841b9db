"""A table written batch by batch, all of it or nothing.

Rows go to a hidden name in the same folder (".NAME.XXXX.part"), reach the disk, and only then take the name that was
asked for. Whatever fails in between (a full disk, the caller, Ctrl-C) removes the hidden file; kill -9 leaves it, and
nobody can take it for the result. Encoding and writing happen in a thread, while the caller makes the next batch.
"""

from __future__ import annotations

import errno
import glob
import json
import os
import queue
import tempfile
import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

from murmure.core.errors import CannotWrite, InvalidParameter, MissingExtra, shorten
from murmure.core.files import cannot_write
from murmure.engines.sources.column_batches import ROWS

FORMAT_OF_ENDING = {".parquet": "parquet", ".csv": "csv", ".arrow": "ipc", ".feather": "ipc", ".ipc": "ipc"}
METADATA_MARK = "murmure:table"  # a table that we wrote: what stands beside it in the schema's metadata is ours
GROUP_ROWS, GROUP_BYTES = 1 << 20, 1 << 27  # a Parquet row group, whichever comes first
WAITING = 2  # batches between the caller and the thread
NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK, errno.EXDEV)


def write_table(
    path: str | os.PathLike[str],
    schema: Any,
    metadata: Mapping[str, str],
    overwrite: bool = False,
    sources: Iterable[str | os.PathLike[str]] = (),
) -> TableWriter:
    """Open a table for writing; `with write_table(...) as out: out.write(batch)`.

    Parquet, CSV or Arrow IPC by the name's ending. `metadata` is embedded in the schema; a CSV has no place for it, so
    it stands beside, in NAME.csv-metadata.json. Fixed-size binary columns become hexadecimal text in a CSV. A target
    that exists is refused unless `overwrite`, and one that is among `sources` always.
    """
    return TableWriter(Path(path), schema, dict(metadata), overwrite, [Path(s) for s in sources])


class BatchEncoder(Protocol):
    def write(self, batch: Any) -> None: ...
    def flush(self) -> None: ...
    def close(self) -> None: ...


# -- three formats ----------------------------------------------------------------------------------------------------


class ParquetEncoder:
    """Snappy, row groups of about a million rows; checksums, so that a reader sees a page that has rotted."""

    def __init__(self, sink: Any, schema: Any) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        # Reports in binary are close to random bits: a dictionary of them is tried in vain.
        coded = [f.name for f in schema if not pa.types.is_fixed_size_binary(f.type)]
        self.writer = pq.ParquetWriter(
            sink, schema, compression="snappy", use_dictionary=coded, write_page_checksum=True
        )
        self.held: list[Any] = []
        self.rows = self.bytes = 0

    def write(self, batch: Any) -> None:
        self.held.append(batch)
        self.rows += batch.num_rows
        self.bytes += batch.nbytes
        if self.rows >= GROUP_ROWS or self.bytes >= GROUP_BYTES:
            self.flush()

    def flush(self) -> None:
        import pyarrow as pa

        if self.held:
            # One dictionary a row group: the writer keeps its codes only while the dictionary stays.
            self.writer.write_table(pa.Table.from_batches(self.held).unify_dictionaries(), row_group_size=GROUP_ROWS)
        self.held, self.rows, self.bytes = [], 0, 0

    def close(self) -> None:
        self.writer.close()


class ArrowEncoder:
    """LZ4: a third of the bytes, quicker than writing all of them, and every reader of Arrow files knows it."""

    def __init__(self, sink: Any, schema: Any) -> None:
        import pyarrow as pa
        import pyarrow.ipc as ipc

        how = ipc.IpcWriteOptions(compression="lz4", emit_dictionary_deltas=True)
        self.writer = ipc.new_file(sink, schema, options=how)
        self.schema = schema
        self.coded = [i for i, f in enumerate(schema) if pa.types.is_dictionary(f.type)]
        self.known: dict[int, Any] = {}  # by column: no rows, and the dictionary so far

    def write(self, batch: Any) -> None:
        """A file holds one dictionary a column, which may grow and not change: later batches are coded by it."""
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
    """Text in quotes, a missing value as nothing at all: so that "" and missing stay two things."""

    def __init__(self, sink: Any, schema: Any) -> None:
        import pyarrow as pa
        import pyarrow.csv as pc

        self.fixed = [i for i, f in enumerate(schema) if pa.types.is_fixed_size_binary(f.type)]
        for i in self.fixed:
            schema = schema.set(i, pa.field(schema.field(i).name, pa.large_string()))
        for f in schema:
            if pa.types.is_nested(f.type) or pa.types.is_binary(f.type) or pa.types.is_large_binary(f.type):
                raise InvalidParameter(
                    f"column {f.name!r} holds {f.type}, for which CSV has no text.", hint="write Parquet instead"
                )
        self.schema = schema
        self.writer = pc.CSVWriter(sink, schema)

    def write(self, batch: Any) -> None:
        import pyarrow as pa

        columns = list(batch.columns)
        for i in self.fixed:
            columns[i] = in_hex(columns[i])
        self.writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=self.schema))

    def flush(self) -> None:
        pass

    def close(self) -> None:
        self.writer.close()


def in_hex(column: Any) -> Any:
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


# -- all or nothing ---------------------------------------------------------------------------------------------------


class HiddenFile:
    """A hidden file beside `path` that becomes `path`, or nothing."""

    def __init__(self, path: Path, overwrite: bool) -> None:
        self.path, self.overwrite = path, overwrite
        self.handle, name = tempfile.mkstemp(".part", f".{path.name[:100]}.", path.parent)
        self.name = Path(name)  # nobody else may read it before it is finished, and charged

    def settle(self) -> None:
        """To the disk, then to its name."""
        os.fsync(self.handle)
        mask = os.umask(0)
        os.umask(mask)
        mode = 0o666 & ~mask
        if self.overwrite and self.path.exists():
            mode = self.path.stat().st_mode & 0o777  # a table that was private stays private
        os.fchmod(self.handle, mode)
        self._close()
        if self.overwrite:
            os.replace(self.name, self.path)
        else:
            try:
                os.link(self.name, self.path)  # unlike a rename, this refuses a file that came meanwhile
            except OSError as error:
                if error.errno not in NO_LINKS:
                    raise
                os.rename(self.name, self.path)

    def drop(self) -> None:
        """No hidden file any more."""
        with suppress(OSError):
            self._close()
        with suppress(OSError):
            os.unlink(self.name)

    def _close(self) -> None:
        handle, self.handle = self.handle, -1
        if handle >= 0:
            os.close(handle)


class TableWriter:
    """What `write_table` opens. Leaving the `with` block without an error makes the file appear."""

    def __init__(self, path: Path, schema: Any, metadata: dict[str, str], overwrite: bool, sources: list[Path]) -> None:
        try:
            import pyarrow as pa
        except ImportError:
            raise MissingExtra("writing files", "pyarrow", "tables") from None
        self._pa = pa
        self.kind = FORMAT_OF_ENDING.get(path.suffix.lower(), "")
        if not self.kind:
            raise InvalidParameter(
                f"cannot write {path.name!r}: wanted a name ending in {', '.join(FORMAT_OF_ENDING)}."
            )
        self.path, self.overwrite, self.metadata = path, overwrite, metadata
        self.target = Path(os.path.realpath(path))  # a link stays a link
        self.beside = path.with_name(path.name + "-metadata.json") if self.kind == "csv" else None
        self.schema = schema.with_metadata({METADATA_MARK: "1", **metadata} if metadata else None)
        self.rows = 0
        self._parts: list[HiddenFile] = []
        self._sink: Any = None
        self._encoder: BatchEncoder | None = None
        self._batches: queue.Queue[Any] = queue.Queue(WAITING)
        self._failed: BaseException | None = None
        self._stop = False
        self._thread: threading.Thread | None = None
        try:
            self._check(sources)
        except OSError as error:
            raise cannot_write(path, error) from error

    def _check(self, sources: list[Path]) -> None:
        targets = [self.target] if self.beside is None else [self.target, self.beside]
        if not self.target.parent.is_dir():
            raise CannotWrite(
                f"cannot write {str(self.path)!r}: there is no folder {str(self.path.parent)!r}.",
                hint="make the folder first, or name one that exists",
            )
        for target in targets:
            if not target.exists():
                continue
            if any(source.exists() and os.path.samefile(target, source) for source in sources):
                raise CannotWrite(
                    f"{str(self.path)!r} is one of the tables that are read: it would be lost.",
                    hint="write under another name",
                )
            if not target.is_file():
                raise CannotWrite(f"cannot write {str(target)!r}: it is not a file.", hint="name a file")
            if not self.overwrite:
                raise CannotWrite(
                    f"{str(target)!r} exists already.", hint="write under another name, or ask to overwrite it"
                )

    def __enter__(self) -> TableWriter:
        try:
            if self.beside is not None and self.metadata:
                self._parts.append(HiddenFile(self.beside, self.overwrite))
            self._parts.append(HiddenFile(self.target, self.overwrite))
            self._sink = self._pa.OSFile(str(self._parts[-1].name), "wb")
            self._encoder = ENCODERS[self.kind](self._sink, self.schema)
            self._thread = threading.Thread(target=self._run, name=f"writes {self.path.name}", daemon=True)
            self._thread.start()
        except BaseException as error:
            self._drop()
            raise self._said(error) from error
        return self

    def write(self, batch: Any) -> None:
        """Hand over a RecordBatch (or Table); what went wrong with an earlier one is raised here."""
        if self._thread is None:
            raise InvalidParameter("this table is not open.", hint="with write_table(...) as out: out.write(batch)")
        if not batch.schema.equals(self.schema):
            raise InvalidParameter(
                f"the batch does not fit the table {self.path.name!r}: wanted {shorten(_types(self.schema), 200)}, "
                f"got {shorten(_types(batch.schema), 200)}."
            )
        self._raise()
        table = batch if isinstance(batch, self._pa.Table) else self._pa.Table.from_batches([batch])
        for part in table.to_batches(ROWS):  # readers of Arrow files hold what was written at once
            self._batches.put(part)  # the thread empties the queue even after a failure: this cannot hang
        self.rows += batch.num_rows

    def finish(self) -> None:
        """Everything on the disk, under the hidden name: from here on only the name is missing."""
        self._end()
        self._raise()
        try:
            for part in self._parts:
                os.fsync(part.handle)
        except OSError as error:
            raise self._said(error) from error

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            self._stop = error is not None
            self._end()
            if error is None:
                self._raise()
                self._settle()
        except BaseException as failure:
            self._stop = True
            self._end()  # Ctrl-C while it was waited for: nothing is closed under the thread's hands
            raise self._said(failure) from failure
        finally:
            self._drop()

    # -- the thread

    def _run(self) -> None:
        assert self._encoder is not None
        while (batch := self._batches.get()) is not None:
            if self._failed is None and not self._stop:
                try:
                    self._encoder.write(batch)
                except BaseException as error:
                    self._failed = error
        if self._failed is None and not self._stop:
            try:
                self._encoder.flush()
                self._encoder.close()
                self._sink.close()
            except BaseException as error:
                self._failed = error

    def _end(self) -> None:
        if self._thread is not None:
            self._batches.put(None)
            self._thread.join()
            self._thread = None

    def _raise(self) -> None:
        if self._failed is not None:
            raise self._said(self._failed) from self._failed

    # -- the end

    def _settle(self) -> None:
        if self.beside is not None and self.metadata:
            with open(self._parts[0].handle, "w", encoding="utf-8", closefd=False) as file:
                file.write(self._about())
        done: list[HiddenFile] = []
        try:
            for part in self._parts:
                part.settle()
                done.append(part)
        except BaseException:
            for part in done:
                if not self.overwrite:  # metadata without their table
                    part.path.unlink(missing_ok=True)
            raise
        if self.beside is not None and not self.metadata:
            self.beside.unlink(missing_ok=True)  # of the table that was here before
        with suppress(OSError):  # some file systems know no such thing
            folder = os.open(self.target.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def _about(self) -> str:
        """What stands beside a CSV, as https://www.w3.org/TR/tabular-metadata/ has it: ours is a note."""
        about = {
            "@context": "http://www.w3.org/ns/csvw",
            "url": self.path.name,
            "tableSchema": {"columns": [{"name": name} for name in self.schema.names]},
            # The size ties it to this very table, should a crash come between the two renames.
            "notes": [
                {METADATA_MARK: "1", "bytes": os.fstat(self._parts[-1].handle).st_size, "metadata": self.metadata}
            ],
        }
        return json.dumps(about, indent=2)

    def _drop(self) -> None:
        for thing in (self._encoder, self._sink):
            if thing is not None:
                with suppress(Exception):
                    thing.close()
        for part in self._parts:
            part.drop()

    def _said(self, error: BaseException) -> BaseException:
        """An error in words, if it is the disk's or pyarrow's."""
        if isinstance(error, OSError):
            return cannot_write(self.path, error)
        if isinstance(error, self._pa.ArrowException):
            return InvalidParameter(f"cannot write {str(self.path)!r}: {shorten(str(error), 160)}")
        return error


def leftover_files(path: Path) -> list[Path]:
    """What runs that were killed left of this table: sanitised rows under a hidden name."""
    return sorted(path.parent.glob(f".{glob.escape(path.name[:100])}.*.part")) if path.parent.is_dir() else []


def _types(schema: Any) -> dict[str, str]:
    return {field.name: str(field.type) for field in schema}
