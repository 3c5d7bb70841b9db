"""Files of all formats, one by one, in folders and by pattern, as one table."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from murmure.core.errors import EmptySource, InvalidParameter, Phrase, shorten
from murmure.core.file_format import PLAIN_FILE
from murmure.engines.sources.csv_files import csv_file
from murmure.engines.sources.data_file import DataFile
from murmure.engines.sources.databases import duckdb_file, sqlite_file
from murmure.engines.sources.reading import Reading, rewrite_batch
from murmure.engines.sources.table_reader import (
    FORMAT_NAMES,
    FileReader,
    TableReader,
    cast_batch,
    choose_names,
    murmure_metadata,
    parquet_file,
    read_errors,
    select_fields,
    type_family,
)
from murmure.engines.sources.table_writer import FORMAT_OF_ENDING
from murmure.engines.sources.workbooks import workbook_file

OpenFile = Callable[[Path, Reading], FileReader]
TEXT_ENDINGS = (".csv", ".tsv", ".tab", ".txt", ".data")
FORMATS = {
    **FORMAT_OF_ENDING,
    **dict.fromkeys(TEXT_ENDINGS, "csv"),
    **{f"{ending}.gz": "csv" for ending in TEXT_ENDINGS},
    **dict.fromkeys((".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"), "workbook"),
    **dict.fromkeys((".sqlite", ".sqlite3", ".db"), "sqlite"),
    **dict.fromkeys((".duckdb", ".ddb"), "duckdb"),
}
TABBED = (".tsv", ".tab", ".tsv.gz", ".tab.gz")  # their columns are separated by tabs, unless [file] says otherwise
IN_FOLDERS = (
    "csv",
    "parquet",
    "ipc",
)  # what a folder may consist of; a ledger or notes beside the data are no part of it


def format_of(path: Path) -> str | None:
    name = path.name.lower()
    return next((kind for ending, kind in FORMATS.items() if name.endswith(ending) and name != ending), None)


def source_paths(source: Any) -> list[Path]:
    """The files behind a path, a pattern, a folder, or several of these; none is opened."""
    return [path for path, _ in _described_paths(source)]


def _described_paths(source: Any) -> list[tuple[Path, DataFile | None]]:
    """The files, each with the description of its source."""
    sources = [source] if isinstance(source, str | os.PathLike) else source
    return [(path, one if isinstance(one, DataFile) else None) for one in sources for path in _paths(one)]


def from_files(
    source: Any, wanted: list[str] | None, kinds: dict[str, str], rows: int, lenient: bool = False
) -> TableReader:
    described = _described_paths(source)
    paths = [path for path, _ in described]
    reading = Reading(wanted, kinds, rows, lenient)
    formats = {format_of(path) for path in paths}
    if len(formats) > 1:
        raise InvalidParameter(
            "the source holds files of several formats: {paths}.",
            hint="name those to read, for example with a pattern such as 'folder/*.parquet'; the same people may be in "
            "both",
            paths=shorten([p.name for p in paths], 120),
        )
    inodes: set[tuple[int, int]] = set()  # a link or another spelling of a path is the same file
    for path in paths:
        with read_errors(path.name, Phrase("a table")):
            status = path.stat()
        if (status.st_dev, status.st_ino) in inodes:
            raise InvalidParameter("{path!r} is listed twice: its people would be counted twice.", path=str(path))
        inodes.add((status.st_dev, status.st_ino))
        if status.st_size == 0:
            raise EmptySource(
                "{name!r} is empty: there is nobody to add up.", hint="it does not even have a header", name=path.name
            )
    open_file = OPENERS[next(iter(formats)) or ""]
    files: list[FileReader] = []
    for path, data in described:
        with read_errors(path.name, FORMAT_NAMES[format_of(path) or ""]):
            names = wanted or (files[0].schema.names if files else None)
            files.append(open_file(path, replace(_described_reading(reading, path, data), wanted=names)))
    schema = _common_schema(paths, files, every=wanted is None)

    def read() -> Iterator[Any]:
        for path, file in zip(paths, files, strict=True):
            with read_errors(path.name, FORMAT_NAMES[format_of(path) or ""]):
                for batch in file.raw_batches():
                    yield cast_batch(batch, schema, lenient)

    name = paths[0].name if len(paths) == 1 else f"{len(paths)} files"
    # The total is known only if every file states its rows; a CSV does not.
    counts = [f.rows for f in files]
    total = None if None in counts else sum(n for n in counts if n is not None)
    rewritten = any(data is not None and data.format.rewrites for _, data in described)
    return TableReader(name, schema, total, files[0].metadata, tuple(paths), read, rows, rewritten)


def _paths(source: Any) -> list[Path]:
    """A file is itself, a folder its tables by name, a pattern its matches by name."""
    path = Path(source)
    with read_errors(str(path), Phrase("a table")):
        if path.is_dir():
            return _in_folder(path)
        files = [path]
        if not os.path.lexists(path) and any(mark in str(path) for mark in "*?["):
            matches = [Path(match) for match in sorted(glob.glob(str(path), recursive=True))]
            files = [match for match in matches if not match.is_dir()]
            if not files:
                raise InvalidParameter(
                    "no file matches {path!r}.", hint="check the pattern and the working directory", path=str(path)
                )
        for file in files:
            if format_of(file) is None:
                raise InvalidParameter(
                    "cannot read {name!r}: wanted a file ending in {formats}.",
                    name=file.name,
                    formats=", ".join(FORMATS),
                )
            _check_exists(file)
        return files


def _in_folder(folder: Path) -> list[Path]:
    # Names that start with a point or an underscore are not data: hidden files, Spark's _SUCCESS.
    entries = [p for p in sorted(folder.iterdir()) if not p.name.startswith((".", "_"))]
    files = [p for p in entries if format_of(p) in IN_FOLDERS and not p.is_dir()]
    if not files:
        deeper = any(p.is_dir() for p in entries)
        raise InvalidParameter(
            "the folder {folder!r} holds no file ending in {formats}.",
            hint=Phrase("folders inside it are read by a pattern: {folder!r}", folder=str(folder / "**" / "*.parquet"))
            if deeper
            else "check the path and the working directory",
            folder=str(folder),
            formats=", ".join(FORMATS),
        )
    for file in files:
        _check_exists(file)
    return files


def _check_exists(path: Path) -> None:
    if path.is_symlink() and not path.exists():
        raise InvalidParameter(
            "{path!r} is a link to {readlink!r}, which does not exist.",
            hint="repair or remove the link",
            path=str(path),
            readlink=os.readlink(path),
        )
    if not path.exists():
        raise InvalidParameter(
            "there is no file {path!r}.", hint="check the path and the working directory", path=str(path)
        )
    if not path.is_file():
        raise InvalidParameter("{path!r} is not a file.", hint="copy its content into a file first", path=str(path))


def _common_schema(paths: list[Path], files: list[FileReader], every: bool) -> Any:
    """One schema for all files: they may differ in the width of numbers, in how text is kept, in order."""
    import pyarrow as pa

    first = files[0]
    for path, other in zip(paths, files, strict=True):
        if first.metadata != other.metadata:
            raise InvalidParameter(
                "{name!r} and {path_name!r} were not written by the same run: their metadata differs.",
                hint="read them one by one",
                name=paths[0].name,
                path_name=path.name,
            )
        if every and set(first.all_names) != set(other.all_names):
            differing = sorted(set(first.all_names) ^ set(other.all_names))
            raise InvalidParameter(
                "{name!r} and {path_name!r} do not have the same columns: {differing}.",
                hint="say which columns to read",
                name=paths[0].name,
                path_name=path.name,
                differing=shorten(differing, 120),
            )
    fields = []
    for field in first.schema:
        types = [file.schema.field(field.name).type for file in files]
        known = [type_ for type_ in types if not pa.types.is_null(type_)] or types  # a null column fits anything
        families = [type_family(type_) for type_ in known]
        agreed = known[0]
        if set(families) == {"integer", "real"}:
            agreed = pa.float64()  # pandas writes integers with a missing one among them as floats
        elif len(set(families)) > 1:
            other_path, other_type = next(
                (p, t) for p, t in zip(paths, types, strict=True) if t in known and type_family(t) != families[0]
            )
            raise InvalidParameter(
                "column {name!r} holds {known} in {path_name!r} and {other_type} in {other_path_name!r}.",
                hint="write all files with the same types",
                name=field.name,
                known=known[0],
                path_name=paths[types.index(known[0])].name,
                other_type=other_type,
                other_path_name=other_path.name,
            )
        elif len(set(known)) > 1:
            wide = pa.float64() if pa.uint64() in known else pa.int64()  # int64 does not hold every uint64
            agreed = {"integer": wide, "real": pa.float64()}.get(families[0], agreed)
        fields.append(pa.field(field.name, agreed))
    return pa.schema(fields)


def _described_reading(reading: Reading, path: Path, data: DataFile | None) -> Reading:
    file = PLAIN_FILE if data is None else data.format
    if path.name.lower().endswith(TABBED) and file.separator == PLAIN_FILE.separator:
        file = replace(file, separator="\t")
    return replace(reading, file=file, spellings={} if data is None else data.spellings)


def _open_parquet(path: Path, reading: Reading) -> FileReader:
    with parquet_file(path, []) as file:
        schema, count = file.schema_arrow, file.metadata.num_rows
    names = choose_names(schema.names, reading.wanted, path.name)
    text = [n for n in names if reading.kinds.get(n) == "text" and type_family(schema.field(n).type) == "text"]
    if text:
        with parquet_file(path, text) as file:
            schema = file.schema_arrow

    def read() -> Iterator[Any]:
        with parquet_file(path, text) as file:
            for batch in file.iter_batches(reading.rows, columns=names):
                yield rewrite_batch(batch.select(names), reading)

    return FileReader(schema.names, select_fields(schema, names), count, murmure_metadata(schema.metadata), read)


def _open_ipc(path: Path, reading: Reading) -> FileReader:
    import pyarrow as pa
    import pyarrow.dataset as ds
    import pyarrow.ipc as ipc

    def opened(included: list[int] | None) -> Any:
        # no memory map: if the file were cut short meanwhile, the process would be killed
        return ipc.open_file(pa.OSFile(str(path)), options=ipc.IpcReadOptions(included_fields=included or []))

    with opened(None) as file:
        schema = file.schema
    names = choose_names(schema.names, reading.wanted, path.name)
    count = ds.dataset(path, format="ipc").count_rows()

    def read() -> Iterator[Any]:
        with opened([schema.get_field_index(n) for n in names]) as file:
            for i in range(file.num_record_batches):
                batch = file.get_batch(i).select(names)
                batch.validate(full=True)  # Arrow trusts the bytes: a code beyond its dictionary would crash
                yield rewrite_batch(batch, reading)

    return FileReader(schema.names, select_fields(schema, names), count, murmure_metadata(schema.metadata), read)


OPENERS: dict[str, OpenFile] = {
    "csv": csv_file,
    "parquet": _open_parquet,
    "ipc": _open_ipc,
    "workbook": workbook_file,
    "sqlite": sqlite_file,
    "duckdb": duckdb_file,
}
