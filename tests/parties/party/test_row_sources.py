"""A party's rows from files and databases: the same sums from all of them, nothing written, no password told."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.ledger.conftest import Server

import murmure as mu
from murmure.core.errors import EmptySource, InvalidParameter
from murmure.parties.party.row_sources import open_rows

AGES, STAYS = [23, 41, 41, 87], [0.5, 1.25, 3.0, 0.0]
SCHEMA = mu.Schema({"age": mu.Integers(0, 120, column="age"), "stay": mu.Interval(0.0, 4.0, cells=16, column="stay")})


def sums_of(rows: Any) -> tuple[int, list[int]]:
    """How many, and the sums of ages and stays (in quarters), through the engines that mu.run uses."""
    from murmure.run.totals import total

    found = [total(mu.Plan(mu.Mean(SCHEMA[name])), rows, None, mu.Random.secure()) for name in ("age", "stay")]
    return found[0].n, [int(one.sum[0]) for one in found]


@pytest.fixture(scope="module")
def wanted() -> tuple[int, list[int]]:
    return sums_of({"age": AGES, "stay": STAYS})


def test_files(tmp_path: Path, wanted: Any) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    (tmp_path / "rows.csv").write_text("age,stay\n" + "".join(f"{a},{s}\n" for a, s in zip(AGES, STAYS, strict=True)))
    pq.write_table(pa.table({"age": AGES, "stay": STAYS}), tmp_path / "rows.parquet")

    assert sums_of(open_rows(tmp_path / "rows.csv")) == sums_of(open_rows(str(tmp_path / "rows.parquet"))) == wanted
    with pytest.raises(InvalidParameter, match="--query is for a database"):
        open_rows(tmp_path / "rows.csv", "SELECT 1")


def test_a_file_in_the_partys_own_format(tmp_path: Path, wanted: Any) -> None:
    """The study knows the domains, the party how its file is written: together they read it."""
    lines = [f"{a};{str(s).replace('.', ',')}" for a, s in zip(AGES, STAYS, strict=True)]
    (tmp_path / "rows.csv").write_bytes("\n".join(["age;stay", *lines]).encode("utf-16"))
    file = mu.FileFormat(";", "utf-16", decimal=",")

    assert sums_of(open_rows(tmp_path / "rows.csv", file=file)) == wanted
    with pytest.raises(InvalidParameter, match="is UTF-16"):
        sums_of(open_rows(tmp_path / "rows.csv"))


# -- DuckDB


@pytest.fixture
def duck(tmp_path: Path) -> str:
    import duckdb

    with duckdb.connect(str(tmp_path / "rows.duckdb")) as connection:
        connection.execute("CREATE TABLE patients (age INTEGER, stay DOUBLE, name TEXT)")
        connection.executemany("INSERT INTO patients VALUES (?, ?, 'x')", list(zip(AGES, STAYS, strict=True)))
    return str(tmp_path / "rows.duckdb")


def test_duckdb(duck: str, wanted: Any) -> None:
    """A table of it, or a query; read twice, since a study asks several questions."""
    rows = open_rows(f"{duck}::patients")
    assert sums_of(rows) == sums_of(rows) == wanted
    assert sums_of(open_rows(duck, "SELECT age, stay FROM patients WHERE age > 0")) == wanted


@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM patients",
        "SELECT 1; DELETE FROM patients",
        "COPY patients TO 'out.csv'",
        "ATTACH 'other.duckdb'",
        "SELECT * FROM 'other.csv'",
        "SELECT * FROM nothing",
        "SELECT",
    ],
)
def test_duckdb_is_read_and_no_more(duck: str, query: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("other.csv").write_text("age,stay\n1,1\n")
    with pytest.raises(InvalidParameter):
        open_rows(duck, query)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["other.csv", "rows.duckdb"]


@pytest.mark.parametrize(("table", "query"), [("", None), ("::patients", "SELECT 1"), ("::nothing", None)])
def test_duckdb_needs_to_know_which_rows(duck: str, table: str, query: str | None) -> None:
    with pytest.raises(InvalidParameter):
        open_rows(duck + table, query)


# -- SQLite


@pytest.fixture
def light(tmp_path: Path) -> str:
    connection = sqlite3.connect(tmp_path / "rows.db")
    connection.execute("CREATE TABLE patients (age INTEGER, stay REAL)")
    connection.executemany("INSERT INTO patients VALUES (?, ?)", list(zip(AGES, STAYS, strict=True)))
    connection.commit()
    connection.close()
    return f"sqlite:///{tmp_path / 'rows.db'}"


def test_sqlite(light: str, wanted: Any) -> None:
    assert sums_of(open_rows(light, "SELECT age, stay FROM patients")) == wanted


@pytest.mark.parametrize(
    ("query", "error", "said"),
    [
        (None, InvalidParameter, "need a query"),
        ("DELETE FROM patients", InvalidParameter, "cannot be read"),
        ("ATTACH 'other.db' AS o", InvalidParameter, "cannot be read"),
        ("SELECT age, age FROM patients", InvalidParameter, "two columns with the same name"),
        ("SELECT age FROM patients WHERE age > 200", EmptySource, "nobody"),
        ("SELECT age FROM patients; DELETE FROM patients", InvalidParameter, "cannot be read"),
    ],
)
def test_sqlite_is_read_and_no_more(
    light: str, query: str | None, error: type[Exception], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=said):
        open_rows(light, query)
    assert [p.name for p in tmp_path.iterdir()] == ["rows.db"]
    assert len(open_rows(light, "SELECT age FROM patients")["age"]) == 4


# -- PostgreSQL


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The server of the ledger's tests, with the rows in it; NUMERIC, which comes as Decimal."""
    pytest.importorskip("psycopg")
    import tempfile

    import psycopg

    with tempfile.TemporaryDirectory() as folder:  # a short path: it is that of a socket
        server = Server(Path(folder))
        try:
            url = server.database()
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute("CREATE TABLE patients (age NUMERIC, stay NUMERIC)")
                connection.cursor().executemany(
                    "INSERT INTO patients VALUES (%s, %s)", list(zip(AGES, STAYS, strict=True))
                )
            yield url
        finally:
            server.stop()


def test_postgres(postgres: str, wanted: Any) -> None:
    assert sums_of(open_rows(postgres, "SELECT age, stay FROM patients")) == wanted
    with pytest.raises(InvalidParameter, match="cannot be read"):
        open_rows(postgres, "DELETE FROM patients RETURNING age")
    with pytest.raises(InvalidParameter, match="cannot be read"):
        open_rows(postgres, "SELECT age FROM patients; DELETE FROM patients")
    assert sums_of(open_rows(postgres, "SELECT age, stay FROM patients")) == wanted


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:s3cret@127.0.0.1:1/people",
        "postgresql://me:s3cret@127.0.0.1:notaport/people",
        "postgresql:me:s3cret@host",
        "mysql://me:s3cret@host/people",
        "host=here password=s3cret",
        "postgres://me@h/d?sslpassword=s3cret&nonsense=s3cret",
    ],
)
def test_a_password_is_never_told(url: str) -> None:
    """Whether the address cannot be read, or the server does not answer."""
    with pytest.raises(InvalidParameter) as caught:
        open_rows(url, "SELECT 1 AS s")
    said = caught.value
    chain = [str(said), repr(said), str(said.__cause__), str(said.__context__ if not said.__suppress_context__ else "")]
    assert not any("s3cret" in text for text in chain)
