"""A file together with how it is written: what a path is to a file without [file]."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from murmure.core.errors import InvalidParameter, shorten
from murmure.core.file_format import PLAIN_FILE, FileFormat
from murmure.core.schema import Schema
from murmure.engines.sources.spelling import Spelling, spellings


def is_path(source: Any) -> bool:
    """A path, a pattern, a folder, or several of these."""
    if isinstance(source, str | os.PathLike):
        return True
    return isinstance(source, list | tuple) and bool(source) and all(isinstance(s, str | os.PathLike) for s in source)


@dataclass(frozen=True)
class DataFile:
    """A file and the schema whose [file] says how it is written; goes wherever a path goes.

    With a FileFormat instead of a schema all columns are text, as they are before a schema is drafted.

    >>> import murmure as mu
    >>> schema = mu.Schema({"smoker": mu.Categories(["non", "oui"])}, file=mu.FileFormat(separator=";"))
    >>> print(mu.DataFile("visits.csv", schema))
    visits.csv
    """

    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
    schema: Schema | FileFormat = field(repr=False)

    def __post_init__(self) -> None:
        if not is_path(self.source):
            raise InvalidParameter(
                "DataFile.source must be a path, or a list of paths, got {got}.", got=shorten(self.source)
            )
        if not isinstance(self.schema, Schema | FileFormat):
            raise InvalidParameter(
                "DataFile.schema must be a Schema or a FileFormat, got {got}.", got=shorten(self.schema)
            )

    @property
    def format(self) -> FileFormat:
        return self.schema.file if isinstance(self.schema, Schema) else self.schema

    @property
    def spellings(self) -> dict[str, Spelling]:
        """How the cells of each column are written, by its domain."""
        return spellings(self.schema) if isinstance(self.schema, Schema) else {}

    @property
    def paths(self) -> list[Any]:
        return [self.source] if isinstance(self.source, str | os.PathLike) else list(self.source)

    def __str__(self) -> str:
        return ", ".join(str(path) for path in self.paths)


def described(source: Any, schema: Schema) -> Any:
    """The source as the schema's [file] describes it, if it is a path and there is something to describe."""
    return DataFile(source, schema) if schema.file != PLAIN_FILE and is_path(source) else source
