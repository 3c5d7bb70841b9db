"""The names of a file's columns: those of its header, or those of [file] where there is none."""

from __future__ import annotations

from collections.abc import Sequence

from murmure.core.file_format import FileFormat
from murmure.engines.sources.spelling import ALL_BLANKS


def header_names(in_file: Sequence[str], file: FileFormat) -> list[str]:
    """The names of the columns. With `numbered` a repeated name gets a number, and an empty one its place."""
    names = [name.strip(ALL_BLANKS) if file.trim else name for name in (file.names or in_file)]
    if not file.numbered:
        return names
    # A header is no person's: it may decide about names, though never about rows.
    names = [name or f"column_{place}" for place, name in enumerate(names, 1)]
    out: list[str] = []
    for name in names:
        number, candidate = 1, name
        while candidate in out or (number > 1 and candidate in names):
            number += 1
            candidate = f"{name}_{number}"
        out.append(candidate)
    return out
