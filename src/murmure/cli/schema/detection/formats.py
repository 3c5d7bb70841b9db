"""How the files of a table are written: all of them alike, or an error."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import reduce
from pathlib import Path
from typing import Any

from murmure.cli.schema.detection.csv_detection import detect_csv
from murmure.cli.schema.detection.database_detection import detect_database
from murmure.cli.schema.detection.detected import Detected
from murmure.cli.schema.detection.spellings import Columns, detect_spelling
from murmure.cli.schema.detection.workbook_detection import detect_workbook
from murmure.core.errors import EmptySource, InvalidParameter
from murmure.core.file_format import FileFormat
from murmure.core.schema import Schema
from murmure.engines.sources.databases import duckdb_tables, sqlite_tables
from murmure.engines.sources.file_tables import TABBED, format_of, source_paths

OF_WORDS = ("units", "missing", "yes", "no")  # settings that add up over files


def detect_format(
    source: Any, sheet: str | None = None, header: bool | None = None, schema: Schema | None = None
) -> Detected:
    """How the files of a source are written. Files with types of their own (Parquet, Arrow) need no settings.

    header: whether the first line names the columns; None: look, and refuse where that is open. schema: the columns
    that matter, and what they are.
    """
    found = [_detect_one(path, sheet, header) for path in source_paths(source)]
    return reduce(_together, (detect_spelling(one, _that_matter(one.columns, schema)) for one in found))


def _that_matter(columns: Columns, schema: Schema | None) -> Columns:
    """What the columns of a schema look like; what they do not hold does not count."""
    if schema is None:
        return columns
    specs = schema.column_specs
    return {name: column.for_domain(specs[name].domain) for name, column in columns.items() if name in specs}


def _detect_one(path: Path, sheet: str | None, header: bool | None) -> Detected:
    kind = format_of(path)
    if path.stat().st_size == 0:
        raise EmptySource(
            "{name!r} is empty: there is nobody to add up.", hint="it does not even have a header", name=path.name
        )
    if kind == "csv":
        found = detect_csv(path, header)
        tabbed = path.name.lower().endswith(TABBED) and found.format.separator == "\t"
        # Tabs are what the ending of the name says: nothing has to be declared.
        return replace(found, format=replace(found.format, separator=",")) if tabbed else found
    if kind == "workbook":
        return detect_workbook(path, sheet, header)
    if kind in ("sqlite", "duckdb"):
        return detect_database(path, sqlite_tables if kind == "sqlite" else duckdb_tables, sheet)
    return Detected()


def _together(one: Detected, other: Detected) -> Detected:
    """What two files say; where they decide differently, an error."""
    settings: dict[str, Any] = {}
    for setting in fields(FileFormat):
        a, b = getattr(one.format, setting.name), getattr(other.format, setting.name)
        if setting.name in OF_WORDS:
            settings[setting.name] = tuple(sorted({*a, *b}))
        elif isinstance(a, bool):
            settings[setting.name] = a or b
        elif a == b or not other.decides(setting.name):
            settings[setting.name] = a
        elif not one.decides(setting.name):
            settings[setting.name] = b
        else:
            raise InvalidParameter(
                "the files are not written alike: {setting} is {a!r} in one and {b!r} in another.",
                hint="save them alike, or describe each by a schema of its own",
                setting=setting.name,
                a=a,
                b=b,
            )
    taken = (*one.taken, *(words for words in other.taken if words not in one.taken))
    doubts = (*one.doubts, *(words for words in other.doubts if words not in one.doubts))
    columns = {**other.columns, **one.columns}
    return replace(
        one,
        format=FileFormat(**settings),
        taken=taken,
        doubts=doubts,
        columns=columns,
        decided=one.decided | other.decided,
        ragged=one.ragged + other.ragged,
    )
