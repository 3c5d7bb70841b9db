"""A party's rows, wherever they are: files, a DuckDB, a database. Read, never written; no password in a message.

All are turned into what `mu.run` reads: a path, or columns by name. The holder of the rows writes the query; a study
never brings one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from murmure.core.errors import EmptySource, InvalidParameter, MissingExtra, Phrase, shorten
from murmure.core.file_format import PLAIN_FILE, FileFormat
from murmure.engines.sources.data_file import DataFile

DUCKDB_SUFFIXES = (".duckdb", ".ddb")
TABLE_MARK = "::"  # people.duckdb::patients
FETCH_ROWS = 1 << 16  # that a server sends at once
CONNECT_SECONDS = 10  # until a server that does not answer is given up


def open_rows(where: str | os.PathLike[str], query: str | None = None, file: FileFormat = PLAIN_FILE) -> Any:
    """rows.csv, rows.xlsx; rows.duckdb::table or --query; postgresql://... or sqlite:///file with a query.

    file: how a file of rows is written.
    """
    text = os.fspath(where)
    scheme = text.partition("://")[0].lower() if "://" in text else ""
    if scheme in ("postgresql", "postgres"):
        return _postgres(text, _check_query(query, "postgresql://..."))
    if scheme == "sqlite":
        return _sqlite(text, _check_query(query, "sqlite:///..."))
    if scheme or text.lower().startswith(("postgresql:", "postgres:", "sqlite:")) or "password=" in text:
        raise InvalidParameter(  # without quoting it: there may be a password in it
            "the address of the rows cannot be read.",
            hint="give a file, or postgresql://user@host/database or sqlite:///file with --query",
        )
    path, mark, table = text.rpartition(TABLE_MARK)
    if not mark:
        path, table = text, ""
    if path.lower().endswith(DUCKDB_SUFFIXES) and file.sheet is None:
        return _duckdb(path, table, query)
    if query is not None:
        raise InvalidParameter(
            "--query is for a database, but these rows are a file.", hint="leave it out, or name a .duckdb file"
        )
    return Path(text) if file == PLAIN_FILE else DataFile(Path(text), file)


def _check_query(query: str | None, where: str) -> str:
    if query is None or not query.strip():
        raise InvalidParameter(
            "the rows of {where} need a query.",
            hint='--query "SELECT age, stay FROM patients WHERE year = 2025"',
            where=where,
        )
    return query


# -- DuckDB: the relation itself, which streams only what is asked for -------------------------------------------------


def _duckdb(path: str, table: str, query: str | None) -> Any:
    try:
        import duckdb
    except ImportError:
        raise MissingExtra(Phrase("reading a DuckDB file"), "duckdb", "duckdb") from None
    if bool(table) == bool(query):
        raise InvalidParameter(
            "{name!r} holds tables: say which rows to read.",
            hint="{name}{table_mark}patients, or --query; not both",
            name=Path(path).name,
            table_mark=TABLE_MARK,
        )
    if not Path(path).is_file():
        raise InvalidParameter("there is no file {path!r}.", hint="check the path and the working directory", path=path)
    try:
        # Without access to other files a query can read this one and nothing else, and COPY can write nowhere.
        locked_down: Any = {"enable_external_access": "false", "lock_configuration": "true"}
        connection = duckdb.connect(path, read_only=True, config=locked_down)
        if query is None:
            return connection.table(table)
        statements = connection.extract_statements(query)
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise InvalidParameter("--query must be one SELECT.", hint="rows are only read; nothing is written")
        return connection.sql(query)
    except duckdb.Error as error:
        raise InvalidParameter(
            "{name!r} cannot be read: {error}.", name=Path(path).name, error=_first_line(error)
        ) from None


# -- SQLite ------------------------------------------------------------------------------------------------------------


def _sqlite(url: str, query: str) -> Mapping[str, list[Any]]:
    import sqlite3

    parts = urlsplit(url)
    path = Path(unquote(parts.path.removeprefix("/")))
    if parts.netloc or parts.query or not path.name:
        raise InvalidParameter("the address of the rows cannot be read.", hint="write sqlite:///people.db")
    if not path.is_file():
        raise InvalidParameter(
            "there is no file {path!r}.", hint="sqlite:////var/people.db is an absolute path", path=str(path)
        )
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            connection.execute("PRAGMA query_only = ON")
            connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)  # no second file
            # One statement only: sqlite3 refuses a second one in the same text.
            cursor = connection.execute(query)
            return _columns(cursor.description, lambda: cursor.fetchmany(FETCH_ROWS))
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise InvalidParameter("{name!r} cannot be read: {error}.", name=path.name, error=_first_line(error)) from None


# -- PostgreSQL --------------------------------------------------------------------------------------------------------


def _postgres(url: str, query: str) -> Mapping[str, list[Any]]:
    try:
        import psycopg
    except ImportError:
        raise MissingExtra(Phrase("rows in PostgreSQL"), "psycopg", "postgres") from None
    try:
        parameters = psycopg.conninfo.conninfo_to_dict(url)
    except psycopg.Error:  # its message may quote the password
        raise InvalidParameter(
            "the address of the rows cannot be read.", hint="write postgresql://user@host:5432/database"
        ) from None
    secrets = [str(parameters[name]) for name in ("password", "sslpassword") if parameters.get(name)]
    options: Any = {"connect_timeout": CONNECT_SECONDS, "application_name": "murmure party", "client_encoding": "utf8"}
    try:
        with psycopg.connect(url, **options) as connection:
            connection.read_only = True
            connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ  # all rows of one moment
            with connection.cursor("murmure_rows") as cursor:  # at the server: rows come in portions
                cursor.execute(query.encode())
                return _columns(cursor.description, lambda: cursor.fetchmany(FETCH_ROWS))
    except (psycopg.Error, UnicodeError) as error:
        reason = _first_line(error)
        for secret in secrets:
            reason = reason.replace(secret, "***")
        raise InvalidParameter(
            "the rows of postgresql://{parameters}/{parameters_2} cannot be read: {reason}.",
            hint="check that the server accepts this user, and try the query on its own",
            parameters=parameters.get("host") or "",
            parameters_2=parameters.get("dbname") or "",
            reason=reason,
        ) from None


# -- columns -----------------------------------------------------------------------------------------------------------


def _columns(description: Any, fetch: Callable[[], Iterable[Any]]) -> Mapping[str, list[Any]]:
    names = [str(column[0]) for column in description or ()]
    if not names:
        raise InvalidParameter("--query returns no columns.", hint="it must be one SELECT")
    if len(set(names)) < len(names):
        raise InvalidParameter(
            "--query returns two columns with the same name: {names}.",
            hint="rename one: SELECT a.id AS a_id",
            names=shorten(names, 120),
        )
    columns: dict[str, list[Any]] = {name: [] for name in names}
    while rows := list(fetch()):
        for name, values in zip(names, zip(*rows, strict=True), strict=True):
            columns[name].extend(values)
    if not columns[names[0]]:
        raise EmptySource("--query returns no rows: there is nobody to add up.", hint="check the table and its filter")
    return columns


def _first_line(error: BaseException) -> str:
    return shorten(" ".join(str(error).split("\n")[0].split()).rstrip("."), 200)
