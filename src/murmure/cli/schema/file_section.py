"""[file] put into a schema that people wrote: their comments and their layout stay as they are."""

from __future__ import annotations

import re
from pathlib import Path

from murmure.core.errors import MurmureError, Phrase
from murmure.core.file_format import FileFormat
from murmure.core.files import all_or_nothing
from murmure.core.schema import Schema
from murmure.core.schema_format import file_to_toml

TABLE = re.compile(r"[ \t]*\[")
HEADING = "# How the file is written, as murmure schema check found it."


def insert_file_section(text: str, file: FileFormat) -> str:
    """The text of a schema with the table [file] before the first other table, or after everything."""
    ending = "\r\n" if "\r\n" in text else "\n"
    section = f"{HEADING}\n{file_to_toml(file)}".replace("\n", ending)
    lines = text.splitlines(keepends=True)
    first = next((i for i, line in enumerate(lines) if TABLE.match(line)), len(lines))
    while first and lines[first - 1].lstrip().startswith("#"):  # comments right above a table belong to it
        first -= 1
    placed = "".join(lines[:first]) + section + ending + "".join(lines[first:])
    if _reads_as(placed, text, file):
        return placed
    # A line of a text with several lines may look like a table: then [file] goes to the end.
    return text.rstrip() + 2 * ending + section


def _reads_as(placed: str, text: str, file: FileFormat) -> bool:
    try:
        return Schema.from_toml(placed).file == file and Schema.from_toml(placed) == Schema.from_toml(text)
    except MurmureError:
        return False


def write_file_section(path: Path, file: FileFormat) -> Phrase | None:
    """Write [file] into a schema; a sentence that says why, if that cannot be done."""
    target = path.resolve()  # a link stays a link
    raw = target.read_bytes()
    mark = raw.startswith(b"\xef\xbb\xbf")
    text = insert_file_section(raw.decode("utf-8-sig"), file)
    if not _reads_as(text, raw.decode("utf-8-sig"), file):
        return Phrase("[file] could not be put into {path}: write it there by hand", path=str(path))
    with all_or_nothing(target) as part:
        part.write_bytes(text.encode("utf-8-sig" if mark else "utf-8"))
    return None
