"""A table written batch by batch, all of it or nothing.

Rows go to a hidden file in the same folder (".NAME.XXXX.part"), which is flushed to the disk and only then gets its
name. Any failure in between (a full disk, the caller, Ctrl-C) removes the hidden file; kill -9 leaves it, and nobody
can mistake it for the result. Encoding and writing happen in a thread, while the caller makes the next batch.
"""

from __future__ import annotations

import errno
import glob
import json
import os
import queue
import tempfile
import threading
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from murmure.core.errors import CannotWrite, InvalidParameter, MissingExtra, Phrase, shorten
from murmure.core.files import cannot_write
from murmure.engines.sources.batch_encoders import ENCODERS, BatchEncoder
from murmure.engines.sources.column_batches import ROWS

FORMAT_OF_ENDING = {".parquet": "parquet", ".csv": "csv", ".arrow": "ipc", ".feather": "ipc", ".ipc": "ipc"}
METADATA_MARK = "murmure:table"  # in the metadata of a table that we wrote: the other keys are ours too
QUEUE_LENGTH = 2  # batches between the caller and the thread
NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK, errno.EXDEV)  # the file system has no hard links


def write_table(
    path: str | os.PathLike[str],
    schema: Any,
    metadata: Mapping[str, str],
    overwrite: bool = False,
    sources: Iterable[str | os.PathLike[str]] = (),
    reports: Collection[str] = (),
) -> TableWriter:
    """Open a table for writing; `with write_table(...) as out: out.write(batch)`.

    Parquet, CSV or Arrow IPC by the name's ending. `metadata` is embedded in the schema; a CSV has no place for it, so
    it goes to NAME.csv-metadata.json in the same folder. Fixed-size binary columns become hexadecimal text in a CSV. A
    target that exists is refused unless `overwrite`, and one that is among `sources` always. `reports`: the columns
    that were drawn at random.
    """
    return TableWriter(Path(path), schema, dict(metadata), overwrite, [Path(s) for s in sources], reports)


class HiddenFile:
    """A hidden file beside `path` that becomes `path`, or nothing."""

    def __init__(self, path: Path, overwrite: bool) -> None:
        self.path, self.overwrite = path, overwrite
        self.handle, name = tempfile.mkstemp(".part", f".{path.name[:100]}.", path.parent)
        self.name = Path(name)  # nobody else may read it before it is finished, and charged

    def commit(self) -> None:
        """Flush it to the disk, then give it its name."""
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
                os.link(self.name, self.path)  # unlike a rename, this fails if the file has appeared meanwhile
            except OSError as error:
                if error.errno not in NO_LINKS:
                    raise
                os.rename(self.name, self.path)

    def drop(self) -> None:
        """Remove the hidden file, if it is still there."""
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

    def __init__(
        self,
        path: Path,
        schema: Any,
        metadata: dict[str, str],
        overwrite: bool,
        sources: list[Path],
        reports: Collection[str] = (),
    ) -> None:
        try:
            import pyarrow as pa
        except ImportError:
            raise MissingExtra(Phrase("writing files"), "pyarrow", "tables") from None
        self._pa = pa
        self.kind = FORMAT_OF_ENDING.get(path.suffix.lower(), "")
        if not self.kind:
            raise InvalidParameter(
                "cannot write {name!r}: wanted a name ending in {format_of_ending}.",
                name=path.name,
                format_of_ending=", ".join(FORMAT_OF_ENDING),
            )
        self.path, self.overwrite, self.metadata = path, overwrite, metadata
        # The file behind a link is replaced, and the link stays.
        self.target = Path(os.path.realpath(path))
        self.metadata_path = path.with_name(path.name + "-metadata.json") if self.kind == "csv" else None
        self.schema = schema.with_metadata({METADATA_MARK: "1", **metadata} if metadata else None)
        self.rows, self.reports = 0, reports
        self._hidden_files: list[HiddenFile] = []
        self._sink: Any = None
        self._encoder: BatchEncoder | None = None
        self._batches: queue.Queue[Any] = queue.Queue(QUEUE_LENGTH)
        self._failed: BaseException | None = None
        self._stop = False
        self._thread: threading.Thread | None = None
        try:
            self._check(sources)
        except OSError as error:
            raise cannot_write(path, error) from error

    def _check(self, sources: list[Path]) -> None:
        targets = [self.target] if self.metadata_path is None else [self.target, self.metadata_path]
        if not self.target.parent.is_dir():
            raise CannotWrite(
                "cannot write {path!r}: there is no folder {parent!r}.",
                hint="create the folder first, or choose one that exists",
                path=str(self.path),
                parent=str(self.path.parent),
            )
        for target in targets:
            if not target.exists():
                continue
            if any(source.exists() and os.path.samefile(target, source) for source in sources):
                raise CannotWrite(
                    "{path!r} is one of the tables being read: it would be overwritten.",
                    hint="choose another name",
                    path=str(self.path),
                )
            if not target.is_file():
                raise CannotWrite("cannot write {target!r}: it is not a file.", hint="name a file", target=str(target))
            if not self.overwrite:
                raise CannotWrite(
                    "{target!r} already exists.",
                    hint="choose another name, or ask to overwrite it",
                    target=str(target),
                )

    def __enter__(self) -> TableWriter:
        try:
            if self.metadata_path is not None and self.metadata:
                self._hidden_files.append(HiddenFile(self.metadata_path, self.overwrite))
            self._hidden_files.append(HiddenFile(self.target, self.overwrite))
            self._sink = self._pa.OSFile(str(self._hidden_files[-1].name), "wb")
            self._encoder = ENCODERS[self.kind](self._sink, self.schema, self.reports)
            self._thread = threading.Thread(target=self._run, name=f"writes {self.path.name}", daemon=True)
            self._thread.start()
        except BaseException as error:
            self._drop()
            raise self._explain(error) from error
        return self

    def write(self, batch: Any) -> None:
        """Hand over a RecordBatch (or Table). An error with an earlier one is raised here."""
        if self._thread is None:
            raise InvalidParameter("this table is not open.", hint="with write_table(...) as out: out.write(batch)")
        if not batch.schema.equals(self.schema):
            raise InvalidParameter(
                "the batch does not fit the table {name!r}: wanted {types}, got {got}.",
                name=self.path.name,
                types=shorten(_types(self.schema), 200),
                got=shorten(_types(batch.schema), 200),
            )
        self._raise()
        table = batch if isinstance(batch, self._pa.Table) else self._pa.Table.from_batches([batch])
        for part in table.to_batches(ROWS):  # readers of Arrow files hold what was written at once
            self._batches.put(part)  # the thread empties the queue even after a failure: this cannot hang
        self.rows += batch.num_rows

    def finish(self) -> None:
        """Everything is on the disk, in the hidden file: only the name is missing."""
        self._end()
        self._raise()
        try:
            for part in self._hidden_files:
                os.fsync(part.handle)
        except OSError as error:
            raise self._explain(error) from error

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            self._stop = error is not None
            self._end()
            if error is None:
                self._raise()
                self._commit()
        except BaseException as failure:
            self._stop = True
            self._end()  # after Ctrl-C in a wait: no file may be closed while the thread still writes to it
            raise self._explain(failure) from failure
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
            raise self._explain(self._failed) from self._failed

    # -- the end

    def _commit(self) -> None:
        if self.metadata_path is not None and self.metadata:
            with open(self._hidden_files[0].handle, "w", encoding="utf-8", closefd=False) as file:
                file.write(self._csv_metadata())
        done: list[HiddenFile] = []
        try:
            for part in self._hidden_files:
                part.commit()
                done.append(part)
        except BaseException:
            for part in done:
                if not self.overwrite:  # no metadata without their table
                    part.path.unlink(missing_ok=True)
            raise
        if self.metadata_path is not None and not self.metadata:
            self.metadata_path.unlink(missing_ok=True)  # of the table that was overwritten
        with suppress(OSError):  # some file systems cannot sync a folder
            folder = os.open(self.target.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def _csv_metadata(self) -> str:
        """The metadata file of a CSV, after https://www.w3.org/TR/tabular-metadata/: ours is a note in it."""
        document = {
            "@context": "http://www.w3.org/ns/csvw",
            "url": self.path.name,
            "tableSchema": {"columns": [{"name": name} for name in self.schema.names]},
            # The size ties it to this table, in case of a crash between the two renames.
            "notes": [
                {
                    METADATA_MARK: "1",
                    "bytes": os.fstat(self._hidden_files[-1].handle).st_size,
                    "metadata": self.metadata,
                }
            ],
        }
        return json.dumps(document, indent=2)

    def _drop(self) -> None:
        for thing in (self._encoder, self._sink):
            if thing is not None:
                with suppress(Exception):
                    thing.close()
        for part in self._hidden_files:
            part.drop()

    def _explain(self, error: BaseException) -> BaseException:
        """An error of the disk or of pyarrow as one of ours; any other as it is."""
        if isinstance(error, OSError):
            return cannot_write(self.path, error)
        if isinstance(error, self._pa.ArrowException):
            return InvalidParameter(
                "cannot write {path!r}: {error}", path=str(self.path), error=shorten(str(error), 160)
            )
        return error


def leftover_files(path: Path) -> list[Path]:
    """Hidden files of this table that killed runs left behind: they hold sanitised rows."""
    return sorted(path.parent.glob(f".{glob.escape(path.name[:100])}.*.part")) if path.parent.is_dir() else []


def _types(schema: Any) -> dict[str, str]:
    return {field.name: str(field.type) for field in schema}
