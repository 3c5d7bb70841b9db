"""A file together with how it is written: what a path is to a file without [file]."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from murmure.core.domain import Domain
from murmure.core.errors import InvalidParameter, shorten
from murmure.core.file_format import PLAIN_FILE, FileFormat
from murmure.core.schema import Schema
from murmure.engines.sources.spelling import Spelling, spellings


@dataclass(frozen=True)
class DataFile(os.PathLike[str]):
    """A path (a file, a folder or a pattern) and the schema whose [file] says how the files are written.

    It goes wherever a path goes. With a FileFormat instead of a schema, what reads the file adds the domains that it
    knows; without any, all columns are text.

    >>> import murmure as mu
    >>> schema = mu.Schema({"smoker": mu.Categories(["non", "oui"])}, file=mu.FileFormat(separator=";"))
    >>> print(mu.DataFile("visits.csv", schema))
    visits.csv
    """

    path: str | os.PathLike[str]  # a file, a folder or a pattern
    schema: Schema | FileFormat = field(repr=False)  # whose [file] says how they are written, or the format alone

    def __post_init__(self) -> None:
        if isinstance(self.path, DataFile) or not isinstance(self.path, str | os.PathLike):
            raise InvalidParameter("DataFile.path must be a path, got {got}.", got=shorten(self.path))
        if not isinstance(self.schema, Schema | FileFormat):
            raise InvalidParameter(
                "DataFile.schema must be a Schema or a FileFormat, got {got}.", got=shorten(self.schema)
            )

    @property
    def format(self) -> FileFormat:
        """How the files are written."""
        return self.schema.file if isinstance(self.schema, Schema) else self.schema

    @property
    def spellings(self) -> dict[str, Spelling]:
        """How the cells of each column are written, by its domain."""
        return spellings(self.schema) if isinstance(self.schema, Schema) else {}

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    def __str__(self) -> str:
        return str(self.path)


def is_path(source: Any) -> bool:
    """A path, a pattern, a folder, or several of these."""
    if isinstance(source, str | os.PathLike):
        return True
    return isinstance(source, list | tuple) and bool(source) and all(isinstance(s, str | os.PathLike) for s in source)


def described(source: Any, about: Any) -> Any:
    """Paths, also among other tables in a list, as the schema's [file] describes them; anything else as it is.

    about: a schema, or the domain of one column. A DataFile that came with a format only gets to know the domains.
    """
    if isinstance(source, list | tuple):
        described_list = [described(one, about) for one in source]
        return described_list if any(isinstance(one, DataFile) for one in described_list) else source
    if isinstance(source, DataFile):
        if isinstance(source.schema, Schema):
            return source
        if isinstance(about, Domain) and about.column is not None:
            about = Schema({about.column: about})
        return DataFile(source.path, about.with_file(source.schema)) if isinstance(about, Schema) else source
    path = isinstance(source, str | os.PathLike) and isinstance(about, Schema) and about.file != PLAIN_FILE
    return DataFile(source, about) if path else source
