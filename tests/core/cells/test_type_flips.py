"""One row more never changes how the other rows are read, whichever reader, frame library or engine brings the table.

Readers guess the types of columns from all of their rows. So the same table is read with and without one odd row by
each of them, and the replay audit looks at what every question and learner made of it: each true answer may move by
what one row adds, and nothing else may differ. Sanitised rows and parties' sums likewise. (The cells:
tests/core/cells/test_meaning.py.)
"""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import murmure as mu
from murmure.attacks.audits.replay_audit import replay_audit
from murmure.learn import KMeans, LinearRegression, NaiveBayes
from murmure.run.masked_sum import party_sum

SCHEMA = mu.Schema(
    {
        "flag": mu.Categories(["0", "1"]),
        "truth": mu.Categories(["true", "false"]),
        "ward": mu.Categories(["01", "02", "2A"]),
        "grade": mu.Categories([1, 2.5]),
        "level": mu.Categories(3),
        "age": mu.Integers(0, 99),
        "share": mu.Interval(0.0, 1.0, cells=10),
        "price": mu.Decimals(0, 9, 1, rounding="nearest"),
        "day": mu.Dates("2024-01-01", "2024-12-31"),
        "born": mu.Dates("1950", "2020", unit="year"),
    }
)
PEOPLE = [
    {"flag": f, "truth": t, "ward": w, "grade": g, "level": v, "age": a, "share": s, "price": p, "day": d, "born": b}
    for f, t, w, g, v, a, s, p, d, b in [
        ("0", "true", "01", "1", "0", "30", "0.3", "0.35", "2024-03-05", "1990"),
        ("1", "false", "02", "2.5", "1", "41", "0.7", "2.675", "2024-02-29", "1979"),
        ("1", "true", "01", "1", "2", "52", "0.1", "1.0", "2024-12-31", "1968"),
        ("0", "false", "02", "1", "1", "67", "0.6", "8.25", "2024-03-05", "1953"),
    ]
    * 3
]
ODD = {
    "a word": "x",
    "nothing": "",
    "a fraction": "0.5",
    "huge": "99999999999999999999",
    "beyond 2**53": "9007199254740993",
    "a boolean": "True",
    "nan": "nan",
    "minus": "-1",
    "a sign": "+1",
    "an exponent": "1e0",
    "Arabic digits": "٣",
}


ODD_DATES = {
    "another spelling": "05/03/2024",
    "impossible": "2024-02-30",
    "a time": "2024-03-05 10:20:00",
    "a fraction of a second": "2024-03-05T10:20:00.123456789",
    "a zone": "2024-03-05 00:30:00+02:00",
    "Greenwich": "2024-03-05T10:20:00Z",
    "a week": "2024-W10",
    "a month": "2024-03",
    "a year": "2024",
    "year 1": "0001-01-01",
    "the last": "9999-12-31",
    "not a time": "NaT",
}


def text_of(rows: list[dict[str, str]]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(SCHEMA), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def in_file(text: str, folder: Path) -> Path:
    path = folder / "people.csv"
    path.write_text(text, encoding="utf-8")
    return path


def to_parquet(table: Any, folder: Path) -> Path:
    path = folder / "people.parquet"
    pyarrow.parquet.write_table(table, path)
    return path


def by_pandas(text: str, **how: Any) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(text), **how)


def by_columns(text: str) -> dict[str, list[Any]]:
    rows = list(csv.DictReader(io.StringIO(text)))
    return {name: [row[name] for row in rows] for name in SCHEMA}


@cache
def database() -> Any:
    """One for all: to open and close another for each file would take longer than all that is tested."""
    return duckdb.connect(config={"threads": 1})


def by_duckdb(text: str, folder: Path) -> Any:
    return database().sql(f"select * from read_csv('{in_file(text, folder)}', header=true)")


def by_polars(text: str, lazy: bool = False) -> Any:
    data = io.BytesIO(text.encode())
    return pl.scan_csv(data) if lazy else pl.read_csv(data)


HOLDERS: dict[str, Callable[[str, Path], Any]] = {
    "CSV": in_file,
    "columns of text": lambda text, _: by_columns(text),
    "columns of objects": lambda text, _: {name: values.tolist() for name, values in by_pandas(text).items()},
    "pandas": lambda text, _: by_pandas(text),
    "pandas, categorical": lambda text, _: by_pandas(text).astype("category"),
    "pandas, nullable": lambda text, _: by_pandas(text).convert_dtypes(),
    "pandas, object": lambda text, _: by_pandas(text).astype(object),
    "pandas, Parquet": lambda text, folder: to_parquet(pa.Table.from_pandas(by_pandas(text)), folder),
    "pandas, dates": lambda text, _: by_pandas(text, parse_dates=["day"]),
    "polars": lambda text, _: by_polars(text),
    "polars, dates": lambda text, _: pl.read_csv(io.BytesIO(text.encode()), try_parse_dates=True),
    "polars, lazy": lambda text, _: by_polars(text, lazy=True),
    "polars, Parquet": lambda text, folder: to_parquet(by_polars(text).to_arrow(), folder),
    "arrow": lambda text, _: pyarrow.csv.read_csv(io.BytesIO(text.encode())),
    "duckdb": by_duckdb,
}


def changed(name: str, odd: str) -> list[dict[str, str]]:
    """One more person, whose cell in this column is odd."""
    return [*PEOPLE, {**PEOPLE[0], name: odd}]


NOISE = mu.DiscreteLaplace(epsilon=1.0)
QUESTIONS: dict[str, Any] = {
    "marginals": mu.Marginals(SCHEMA),
    **{f"histogram of {name}": mu.Histogram(SCHEMA[name]) for name in SCHEMA},
    **{f"mean of {name}": mu.Mean(SCHEMA[name]) for name in ("age", "share", "price")},
    "pair": mu.Pair(SCHEMA, "flag", "ward"),
    "by ward": mu.GroupBy(mu.Mean(SCHEMA["age"]), SCHEMA["ward"]),
    "where": mu.Where(mu.Count(SCHEMA["age"]), column=SCHEMA["flag"], is_in=("1",)),
    "median of day": mu.Quantile(SCHEMA["day"]),
    "between days": mu.Where(mu.Count(SCHEMA["age"]), SCHEMA["day"], between=("2024-03-01", "2024-03-31")),
}


def asked(statistic: Any, rows: Any, gate: Any) -> Any:
    return mu.run(mu.Plan(statistic, curator=NOISE), rows, gate=gate)


def learned(make: Callable[[], Any], rows: Any, gate: Any) -> Any:
    return make().fit(rows, gate=gate)


CENTRAL = mu.Central(epsilon=1.0)
LEARNERS: dict[str, Callable[[], Any]] = {
    "naive Bayes": lambda: NaiveBayes(SCHEMA, "flag", CENTRAL),
    "regression": lambda: LinearRegression(
        mu.Schema({n: SCHEMA[n] for n in ("age", "share", "price")}), "price", CENTRAL
    ),
    "k-means": lambda: KMeans(2, mu.Schema({n: SCHEMA[n] for n in ("age", "share")}), CENTRAL),
}
ASKS = {name: partial(asked, statistic) for name, statistic in QUESTIONS.items()} | {
    name: partial(learned, make) for name, make in LEARNERS.items()
}


GAVE_UP = (
    pl.exceptions.PolarsError,
    pa.ArrowException,
    OverflowError,
    duckdb.Error,
)  # the reader, on all rows: told to its caller


def audited(ask: Any, holder: str, names: Any, odds: Any, folder: Path) -> int:
    """The audit with each odd cell in each column; how many tables were read."""
    (folder / "one").mkdir()
    (folder / "two").mkdir()
    data, read = HOLDERS[holder](text_of(PEOPLE), folder / "one"), 0
    for name, odd in itertools.product(names, odds):
        try:
            neighbour = HOLDERS[holder](text_of(changed(name, odd)), folder / "two")
            if isinstance(neighbour, pl.LazyFrame):
                neighbour.collect()
            if isinstance(neighbour, duckdb.DuckDBPyRelation):
                neighbour.limit(len(PEOPLE) + 1).fetchall()
        except GAVE_UP:
            continue
        assert replay_audit(ask, data, neighbour, claim=1.0).closest <= 1.0, (name, odd)
        read += 1
    return read


QUICK = {"CSV", "pandas", "polars", "duckdb"}  # the others read by the same functions: with script/test --all


@pytest.mark.parametrize(
    "holder", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in HOLDERS]
)
def test_the_audit_with_one_row_that_changes_types(holder: str, tmp_path: Path) -> None:
    """Every column, every odd cell: with the noisy answers frozen, the second run releases the same."""
    assert audited(ASKS["marginals"], holder, SCHEMA, ODD.values(), tmp_path) >= 40


@pytest.mark.parametrize("holder", HOLDERS)
def test_the_audit_with_one_odd_date(holder: str, tmp_path: Path) -> None:
    """Readers guess dates, times and zones from all rows; the others count on the day that they counted on."""
    assert audited(ASKS["marginals"], holder, ("day", "born"), ODD_DATES.values(), tmp_path) >= 20


@pytest.mark.parametrize("ask", ASKS)
@pytest.mark.parametrize("holder", ["CSV", "pandas", "columns of objects", "polars"])
def test_every_question_and_learner(holder: str, ask: str, tmp_path: Path) -> None:
    assert audited(ASKS[ask], holder, ("flag", "truth", "age", "price", "day", "born"), ("x", "", "0.5"), tmp_path) >= 6


@pytest.mark.parametrize("holder", HOLDERS)
def test_sanitised_rows_do_not_depend_on_one_more(holder: str, tmp_path: Path) -> None:
    """At so large an epsilon everybody says the truth: the others say what they said, and nobody else is dropped."""
    solution = mu.SPL(mu.Schema({name: SCHEMA[name] for name in list(SCHEMA)[:5]}), epsilon=240.0, oracle="GRR")
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()

    def reports(rows: list[dict[str, str]], folder: Path) -> Any:
        return mu.sanitise(HOLDERS[holder](text_of(rows), folder), solution, invalid="drop").to_pylist()

    without = reports(PEOPLE, tmp_path / "one")
    assert [row["ward"] for row in without] == [row["ward"] for row in PEOPLE]
    for name, odd in itertools.product(solution.domain, ODD.values()):
        try:
            after = reports(changed(name, odd), tmp_path / "two")
        except GAVE_UP:
            continue
        assert after[: len(without)] == without and len(after) <= len(without) + 1, (name, odd)


@pytest.mark.parametrize("holder", HOLDERS)
def test_a_party_reads_its_rows_alike(holder: str, tmp_path: Path) -> None:
    """A valid row, spelled as no other is, adds one row to the party's own sum."""
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    asks = [mu.Histogram(SCHEMA[name]) for name in SCHEMA]
    valid = {
        "flag": "1.0",
        "truth": "1",
        "ward": "2A",
        "grade": "2.50",
        "level": "2.0",
        "age": "7e1",
        "share": "1",
        "price": "9",
        "day": "2024-03-06T10:20:00",
        "born": "1.95e3",
    }
    one = HOLDERS[holder](text_of(PEOPLE), tmp_path / "one")
    two = HOLDERS[holder](text_of([*PEOPLE, valid]), tmp_path / "two")
    for statistic in asks:
        plan = mu.Plan(statistic, parties=mu.PairwiseMasks(3))
        without, after = party_sum(plan, one), party_sum(plan, two)

        assert (without.rows, after.rows) == (len(PEOPLE), len(PEOPLE) + 1)
        assert (
            sum(abs(int(b) - int(a)) for a, b in zip(without.values, after.values, strict=True)) == 2
        )  # n, and a cell


@pytest.mark.parametrize("ids", [[2**53 + 1, 2**53 + 2, None], [1, 2, None]])
@pytest.mark.parametrize("frame", ["pandas", "polars", "arrow", "parquet"])
def test_a_column_of_floats_names_nobody(ids: list[Any], frame: str, tmp_path: Path) -> None:
    """One missing id makes floats of all, and different people one: refused by its type, before rows are read."""
    plan = mu.Plan(mu.Histogram(SCHEMA["flag"]), curator=NOISE, unit="id", rows_per_person=1)
    columns = {"id": pd.Series(ids), "flag": ["0", "1", "1"]}
    table: Any = pd.DataFrame(columns)
    if frame == "polars":
        table = pl.DataFrame({"id": [None if i is None else float(i) for i in ids], "flag": columns["flag"]})
    elif frame != "pandas":
        table = pa.table({"id": pa.array([None if i is None else float(i) for i in ids]), "flag": columns["flag"]})
    table = to_parquet(table, tmp_path) if frame == "parquet" else table
    ledger = mu.Ledger(tmp_path / "ledger.db")
    ledger.set_budget("people", epsilon=1.5, unit="id")

    with pytest.raises(mu.MurmureError, match=r"column 'id' holds floats .*\n.*load the column as text"):
        mu.run(plan, table, ledger=ledger.account("people"))
    if frame == "pandas" and ids[0] > 2**53:
        with pytest.raises(mu.MurmureError, match=r"holds floats"):
            mu.run(plan, table.astype({"id": object}))
    with pytest.raises(mu.MurmureError, match=r"column 'id' holds floats"):
        mu.sanitise(table, mu.SPL(mu.Schema({"flag": SCHEMA["flag"]}), 1.0), unit="id")
    assert ledger.spent("people").epsilon == 0


def test_ids_that_a_float_cannot_hold_stay_apart(tmp_path: Path) -> None:
    """As whole numbers, as text, in a file: everybody is somebody, also with one id missing."""
    ids = [2**53 + i for i in range(1000)]
    plan = mu.Plan(mu.Histogram(SCHEMA["flag"]), curator=mu.DiscreteLaplace(epsilon=60.0), unit="id", rows_per_person=1)
    for more in ([], [None], ["x"]):
        rows = {"id": [*ids, *more], "flag": ["1"] * (1000 + len(more))}
        path = tmp_path / "people.csv"
        path.write_text("id,flag\n" + "".join(f"{'' if i is None else i},1\n" for i in rows["id"]))
        objects = pd.DataFrame({"id": pd.Series(rows["id"], dtype=object), "flag": rows["flag"]})
        frames = [rows, path, objects, pd.read_csv(path, dtype={"id": "string"})]
        if more != ["x"]:
            nullable = pd.DataFrame({"id": pd.array(rows["id"], dtype="Int64"), "flag": rows["flag"]})
            frames += [nullable, pl.DataFrame(rows), pa.table(rows)]
        for frame in frames:
            assert abs(mu.run(plan, frame).estimate.counts[1] - 1000) <= 3
