"""Files of three formats, one by one, in folders and by pattern, as one table."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from murmure.core.errors import EmptySource, InvalidParameter, shorten
from murmure.engines.sources.csv_files import csv_file
from murmure.engines.sources.table_reader import (
    BUFFER,
    NAMES,
    FileReader,
    TableReader,
    cast_batch,
    choose_names,
    murmure_metadata,
    read_errors,
    select_fields,
    type_family,
)
from murmure.engines.sources.table_writer import FORMAT_OF_ENDING

Look = Callable[[Path, list[str] | None, dict[str, str], int], FileReader]
FORMATS = {**FORMAT_OF_ENDING, ".csv.gz": "csv"}


def format_of(path: Path) -> str | None:
    name = path.name.lower()
    return next((kind for ending, kind in FORMATS.items() if name.endswith(ending) and name != ending), None)


def from_files(
    sources: Sequence[Any], wanted: list[str] | None, kinds: dict[str, str], rows: int, lenient: bool = False
) -> TableReader:
    paths = [path for source in sources for path in _paths(source)]
    formats = {format_of(path) for path in paths}
    if len(formats) > 1:
        raise InvalidParameter(
            f"the source holds files of several formats: {shorten([p.name for p in paths], 120)}.",
            hint="name those to read, for example with a pattern such as 'folder/*.parquet'; the same people may be in "
            "both",
        )
    seen: dict[tuple[int, int], Path] = {}
    for path in paths:
        with read_errors(path.name, "a table"):
            about = path.stat()
        if (about.st_dev, about.st_ino) in seen:
            raise InvalidParameter(f"{str(path)!r} is read twice: its people would be counted twice.")
        seen[about.st_dev, about.st_ino] = path
        if about.st_size == 0:
            raise EmptySource(f"{path.name!r} is empty: there is nobody to add up.", hint="not even a header is there")
    looks: dict[str, Look] = {"parquet": _parquet, "ipc": _ipc, "csv": partial(csv_file, lenient=lenient)}
    look = looks[next(iter(formats)) or ""]
    files: list[FileReader] = []
    for path in paths:
        with read_errors(path.name, NAMES[format_of(path) or ""]):
            files.append(look(path, wanted or (files[0].schema.names if files else None), kinds, rows))
    schema = _agreed(paths, files, every=wanted is None)

    def read() -> Iterator[Any]:
        for path, one in zip(paths, files, strict=True):
            with read_errors(path.name, NAMES[format_of(path) or ""]):
                for batch in one.read():
                    yield cast_batch(batch, schema, lenient)

    what = paths[0].name if len(paths) == 1 else f"{len(paths)} files"
    counts = [f.rows for f in files]
    total = None if None in counts else sum(n for n in counts if n is not None)
    return TableReader(what, schema, total, files[0].metadata, tuple(paths), read, rows)


def _paths(source: Any) -> list[Path]:
    """A file is itself, a folder its tables by name, a pattern its matches by name."""
    path = Path(source)
    with read_errors(str(path), "a table"):
        if path.is_dir():
            return _in_folder(path)
        found = [path]
        if not os.path.lexists(path) and any(mark in str(path) for mark in "*?["):
            found = [Path(match) for match in sorted(glob.glob(str(path), recursive=True))]
            found = [match for match in found if not match.is_dir()]
            if not found:
                raise InvalidParameter(
                    f"no file matches {str(path)!r}.", hint="check the pattern and the working directory"
                )
        for one in found:
            if format_of(one) is None:
                raise InvalidParameter(f"cannot read {one.name!r}: wanted a file ending in {', '.join(FORMATS)}.")
            _is_there(one)
        return found


def _in_folder(folder: Path) -> list[Path]:
    names = [p for p in sorted(folder.iterdir()) if not p.name.startswith((".", "_"))]
    found = [p for p in names if format_of(p) is not None and not p.is_dir()]
    if not found:
        deeper = any(p.is_dir() for p in names)
        raise InvalidParameter(
            f"the folder {str(folder)!r} holds no file ending in {', '.join(FORMATS)}.",
            hint=f"folders inside it are read by a pattern: {str(folder / '**' / '*.parquet')!r}"
            if deeper
            else "check the path and the working directory",
        )
    for one in found:
        _is_there(one)
    return found


def _is_there(path: Path) -> None:
    if path.is_symlink() and not path.exists():
        raise InvalidParameter(
            f"{str(path)!r} is a link to {os.readlink(path)!r}, which is not there.", hint="repair or remove the link"
        )
    if not path.exists():
        raise InvalidParameter(f"there is no file {str(path)!r}.", hint="check the path and the working directory")
    if not path.is_file():
        raise InvalidParameter(f"{str(path)!r} is not a file.", hint="copy what it gives into a file first")


def _agreed(paths: list[Path], files: list[FileReader], every: bool) -> Any:
    """One schema for all files: they may differ in the width of numbers, in how text is kept, in order."""
    import pyarrow as pa

    first = files[0]
    for path, other in zip(paths, files, strict=True):
        if first.metadata != other.metadata:
            raise InvalidParameter(
                f"{paths[0].name!r} and {path.name!r} were not written by the same run: what they say about themselves "
                "differs.",
                hint="read them one by one",
            )
        if every and set(first.every) != set(other.every):
            odd = sorted(set(first.every) ^ set(other.every))
            raise InvalidParameter(
                f"{paths[0].name!r} and {path.name!r} have not the same columns: {shorten(odd, 120)}.",
                hint="say which columns to read",
            )
    fields = []
    for mine in first.schema:
        kinds = [file.schema.field(mine.name).type for file in files]
        told = [kind for kind in kinds if not pa.types.is_null(kind)] or kinds  # nothing but missing: fits anything
        families = [type_family(kind) for kind in told]
        kind = told[0]
        if set(families) == {"integer", "real"}:
            kind = pa.float64()  # as pandas writes integers with a missing one among them
        elif len(set(families)) > 1:
            other_path, other_kind = next(
                (p, k) for p, k in zip(paths, kinds, strict=True) if k in told and type_family(k) != families[0]
            )
            raise InvalidParameter(
                f"column {mine.name!r} holds {told[0]} in {paths[kinds.index(told[0])].name!r} and {other_kind} in "
                f"{other_path.name!r}.",
                hint="write all files with the same types",
            )
        elif len(set(told)) > 1:
            wide = pa.float64() if pa.uint64() in told else pa.int64()  # a signed word does not hold every unsigned one
            kind = {"integer": wide, "real": pa.float64()}.get(families[0], kind)
        fields.append(pa.field(mine.name, kind))
    return pa.schema(fields)


def _parquet(path: Path, wanted: list[str] | None, kinds: dict[str, str], rows: int) -> FileReader:
    import pyarrow.parquet as pq

    def opened(coded: list[str]) -> Any:
        return pq.ParquetFile(
            path, read_dictionary=coded, buffer_size=BUFFER, pre_buffer=False, page_checksum_verification=True
        )

    with opened([]) as file:
        schema, count = file.schema_arrow, file.metadata.num_rows
    names = choose_names(schema.names, wanted, path.name)
    text = [n for n in names if kinds.get(n) == "text" and type_family(schema.field(n).type) == "text"]
    if text:
        with opened(text) as file:
            schema = file.schema_arrow

    def read() -> Iterator[Any]:
        with opened(text) as file:
            for batch in file.iter_batches(rows, columns=names):
                yield batch.select(names)

    return FileReader(schema.names, select_fields(schema, names), count, murmure_metadata(schema.metadata), read)


def _ipc(path: Path, wanted: list[str] | None, kinds: dict[str, str], rows: int) -> FileReader:
    import pyarrow as pa
    import pyarrow.dataset as ds
    import pyarrow.ipc as ipc

    def opened(included: list[int] | None) -> Any:  # no memory map: a file cut short meanwhile would kill the process
        return ipc.open_file(pa.OSFile(str(path)), options=ipc.IpcReadOptions(included_fields=included or []))

    with opened(None) as file:
        schema = file.schema
    names = choose_names(schema.names, wanted, path.name)
    count = ds.dataset(path, format="ipc").count_rows()

    def read() -> Iterator[Any]:
        with opened([schema.get_field_index(n) for n in names]) as file:
            for i in range(file.num_record_batches):
                batch = file.get_batch(i).select(names)
                batch.validate(full=True)  # the bytes are used as they lie: a code without a word would be a crash
                yield batch

    return FileReader(schema.names, select_fields(schema, names), count, murmure_metadata(schema.metadata), read)
