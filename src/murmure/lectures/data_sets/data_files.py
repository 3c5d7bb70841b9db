"""A data set in files: read as it was published, and refused if it is another version."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import zlib
from collections.abc import Sequence
from pathlib import Path

from murmure.core.errors import MurmureError, Phrase
from murmure.core.files import all_or_nothing, cannot_write
from murmure.lectures.data_sets.rows import Row, canonical, digest_of
from murmure.lectures.data_sets.sources import DataSource


class DataNotFound(MurmureError):
    """A data set of the lectures that is not on this machine."""


class OtherVersion(MurmureError):
    """A file with the name of a data set that holds something else."""


def rows_of_files(source: DataSource, folder: Path) -> list[Row] | None:
    """The rows of the files in a folder; None if one of them is missing."""
    places = [_place(folder, name) for name in source.files]
    files = [place for place in places if place is not None]
    if len(files) < len(places):
        return None
    contents = [_content(file) for file in files]
    try:
        rows = canonical(source, [row for content in contents for row in _parsed(source, content)])
    except ValueError:  # another number of columns, a word among numbers, bytes that are no text
        rows = []
    if digest_of(rows) != source.digest:
        raise _other_version(source, files, contents)
    return rows


def _place(folder: Path, name: str) -> Path | None:
    return next((file for file in (folder / name, folder / f"{name}.gz") if file.is_file()), None)


def _content(file: Path) -> bytes:
    try:
        content = file.read_bytes()
        return gzip.decompress(content) if file.suffix == ".gz" else content
    except (OSError, EOFError, zlib.error) as error:  # gzip's own error is an OSError
        raise OtherVersion(
            "{file} cannot be read: {why}.",
            hint="check its permissions, or copy the file again from its origin",
            file=str(file),
            why=str(error),
        ) from None


def _parsed(source: DataSource, content: bytes) -> list[list[str]]:
    """The cells of a file. UCI's adult.test starts with a comment, and its labels end in a full stop."""
    lines = content.decode("utf-8-sig").splitlines()
    rows = [row for row in csv.reader(lines, skipinitialspace=True) if row and not row[0].startswith("|")]
    rows = rows[1:] if source.header else rows
    return [[*row[:-1], row[-1].rstrip(".")] for row in rows]


def _other_version(source: DataSource, files: Sequence[Path], contents: Sequence[bytes]) -> OtherVersion:
    """Names the first file whose bytes are others."""
    marks = [hashlib.sha256(content).hexdigest() for content in contents]
    wanted = list(source.files.values())
    i = next((i for i, mark in enumerate(marks) if mark != wanted[i]), 0)
    return OtherVersion(
        "{file} is another version of the data set {name!r}: its SHA-256 (uncompressed) must be {wanted}, got {got}.",
        hint="replace it by the version with that SHA-256, or move it away",
        file=str(files[i]),
        name=source.name,
        wanted=wanted[i],
        got=marks[i],
    )


# -- the cache


def cached_rows(source: DataSource, folder: Path) -> list[Row] | None:
    """Rows that were fetched before; None if there are none, or not all of them."""
    try:
        text = (folder / f"{source.name}.csv").read_text(encoding="utf-8")
        rows = canonical(source, list(csv.reader(io.StringIO(text)))[1:])
    except (OSError, ValueError):
        return None
    return rows if digest_of(rows) == source.digest else None


def keep_rows(source: DataSource, rows: Sequence[Row], folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error) from None
    with (
        all_or_nothing(folder / f"{source.name}.csv") as part,
        part.open("w", encoding="utf-8", newline="") as file,
    ):
        csv.writer(file, lineterminator="\n").writerows([source.columns, *rows])


def not_found(source: DataSource, why: str | None = None) -> DataNotFound:
    """Says what was looked for, and how to get it. why: what went wrong when it was fetched."""
    files = " + ".join(source.files)
    if source.open_ml is None:
        hint = Phrase(
            "put {files} (from {origin}) into a folder and set MURMURE_DATA to it. It is not fetched: its origin "
            "has no fixed version. --stand-in runs with invented rows",
            files=files,
            origin=source.origin,
        )
        return DataNotFound("the data set {name!r} is not on this machine.", hint=hint, name=source.name)
    hint = Phrase(
        "put {files} (or .gz) into a folder and set MURMURE_DATA to it, or try again with a network. --stand-in runs "
        "with invented rows",
        files=files,
    )
    return DataNotFound(
        "the data set {name!r} is not on this machine and could not be fetched from OpenML: {why}.",
        hint=hint,
        name=source.name,
        why=why,
    )
