"""SQLite and DuckDB files as tables: one of their tables or views, read and never written."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from murmure.core.errors import EmptySource, InvalidParameter, MissingExtra, Phrase, shorten, suggestion
from murmure.engines.sources.file_header import header_names
from murmure.engines.sources.object_rows import object_batches
from murmure.engines.sources.reading import Reading, rewrite_batch
from murmure.engines.sources.recoded_bytes import SUBSTITUTE
from murmure.engines.sources.table_reader import FileReader, choose_names, select_fields
from murmure.engines.sources.typed_text import arrow_schema


def sqlite_file(path: Path, reading: Reading) -> FileReader:
    kinds, file = reading.kinds, reading.file
    import sqlite3

    with _sqlite(path) as connection:
        table = _choose(path, sqlite_tables(path), file.sheet)
        views = connection.execute("SELECT name FROM sqlite_master WHERE type = 'view'").fetchall()
        _refuse_view(path, table, views, reading)
        try:
            cursor = connection.execute(f"SELECT * FROM {_quoted(table)} LIMIT 0")
            count = connection.execute(f"SELECT count(*) FROM {_quoted(table)}").fetchone()[0]
        except sqlite3.Error as error:
            raise _unreadable(path, error) from None
    header = header_names([str(column[0]) for column in cursor.description], file)
    names = choose_names(header, reading.wanted, path.name)
    places = [header.index(name) for name in names]

    def read() -> Iterator[Any]:
        with _sqlite(path) as connection:
            try:
                # One statement sees the table as it is at one moment, whatever others write meanwhile.
                cells = connection.execute(f"SELECT * FROM {_quoted(table)}")
                yield from object_batches(cells, places, names, reading, f"{path.name}, {table}")
            except sqlite3.Error as error:
                raise _unreadable(path, error, reading.lenient) from None

    return FileReader(header, arrow_schema(names, kinds, reading.lenient), count, {}, read)


def _sqlite(path: Path) -> Any:
    import sqlite3

    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    connection.text_factory = lambda data: codecs.decode(data, "utf-8", SUBSTITUTE)  # no row may cause an error
    return closing(connection)


def sqlite_tables(path: Path) -> list[str]:
    import sqlite3

    with _sqlite(path) as connection:
        try:
            found = connection.execute(
                "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' "
                "ESCAPE '\\' ORDER BY name"
            ).fetchall()
        except sqlite3.Error as error:
            raise _unreadable(path, error) from None
    return [str(name) for (name,) in found]


def duckdb_file(path: Path, reading: Reading) -> FileReader:
    duckdb = _duckdb_library()
    with _duckdb(path) as connection:
        table = _choose(path, duckdb_tables(path), reading.file.sheet)
        views = connection.sql("SELECT table_name FROM information_schema.tables WHERE table_type = 'VIEW'").fetchall()
        _refuse_view(path, table, views, reading)
        try:
            schema = connection.sql(f"SELECT * FROM {_quoted(table)} LIMIT 0").to_arrow_table().schema
            count = connection.sql(f"SELECT count(*) FROM {_quoted(table)}").fetchall()[0][0]
        except duckdb.Error as error:
            raise _unreadable(path, error) from None
    names = choose_names(schema.names, reading.wanted, path.name)

    def read() -> Iterator[Any]:
        with _duckdb(path) as connection:
            columns = ", ".join(map(_quoted, names))
            try:
                reader = connection.sql(f"SELECT {columns} FROM {_quoted(table)}").to_arrow_reader(reading.rows)
                for batch in reader:
                    yield rewrite_batch(batch, reading)
            except duckdb.Error as error:
                raise _unreadable(path, error, reading.lenient) from None

    return FileReader(schema.names, select_fields(schema, names), count, {}, read)


def _duckdb_library() -> Any:
    try:
        import duckdb
    except ImportError:
        raise MissingExtra(Phrase("reading a DuckDB file"), "duckdb", "duckdb") from None
    return duckdb


def _duckdb(path: Path) -> Any:
    duckdb = _duckdb_library()
    try:
        # Without access to other files a view can read this one and nothing else.
        locked_down: Any = {"enable_external_access": "false", "lock_configuration": "true"}
        return closing(duckdb.connect(str(path), read_only=True, config=locked_down))
    except duckdb.Error as error:
        raise _unreadable(path, error) from None


def duckdb_tables(path: Path) -> list[str]:
    with _duckdb(path) as connection:
        found = connection.sql(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = 'main' ORDER BY 1"
        ).fetchall()
    return [str(name) for (name,) in found]


def _choose(path: Path, tables: list[str], name: str | None) -> str:
    if not tables:
        raise EmptySource("{file!r} has no table.", file=path.name)
    if name is None and len(tables) > 1:
        raise InvalidParameter(
            "{file!r} has {n} tables: {names}.",
            hint='say which one in the schema: [file], sheet = "{first}"; murmure schema init does so',
            file=path.name,
            n=len(tables),
            names=shorten(tables, 120),
            first=tables[0],
        )
    if name is not None and name not in tables:
        raise InvalidParameter(
            "{file!r} has no table {name!r}; it has {names}.",
            hint=suggestion(name, tables) or "correct sheet in [file] of the schema",
            file=path.name,
            name=name,
            names=shorten(tables, 120),
        )
    return name or tables[0]


def _refuse_view(path: Path, table: str, views: list[Any], reading: Reading) -> None:
    """A view computes its cells: from other rows too, and with an error at one that cannot be computed."""
    if reading.lenient and (table,) in views:
        raise InvalidParameter(
            "{table!r} of {file!r} is a view: one row may change what its other rows hold, or cause an error.",
            hint="copy it into a table in which each row is about one person: CREATE TABLE ... AS SELECT ...",
            table=table,
            file=path.name,
        )


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _unreadable(path: Path, error: Exception, private: bool = False) -> InvalidParameter:
    """private: the database's own words may quote a cell, and this message may leave the holder."""
    return InvalidParameter(
        "{name!r} cannot be read: {error}.",
        hint="it is in use, damaged, or not in the format that its name says",
        name=path.name,
        error=type(error).__name__ if private else shorten(str(error).split("\n")[0].rstrip("."), 160),
    )
