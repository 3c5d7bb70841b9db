"""The rows of a filtered DataFrame, by Spark and by workers that read the files: the same, or it is left to Spark."""

from __future__ import annotations

import datetime
import decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import murmure as mu
from murmure.core.errors import EmptySource, InvalidParameter
from murmure.core.random import Random
from murmure.engines.sources import spark_scans
from murmure.engines.sources.row_groups import read_groups, row_groups
from murmure.engines.sources.spark_scans import scanned_groups
from murmure.engines.sources.tables import open_table

RNG = Random.secure()
NAN, INF = float("nan"), float("inf")
D = decimal.Decimal
DAYS = [(1, 1, 1), (1582, 10, 4), (1969, 12, 31), None, (2020, 2, 29), (2024, 1, 1), (9999, 12, 31)]
# Each column with its ends, its odd values and null; of lengths without a common factor, so that they meet one another.
CELLS: dict[str, tuple[list[Any], Any]] = {
    "tiny": ([-128, 127, 0, None, 1], pa.int8()),
    "small": ([-32768, 32767, 0, None, 1, 2, 3], pa.int16()),
    "i": ([-(2**31), 2**31 - 1, None, 0, 1, 2, 3, 4, 10, 11, 12], pa.int32()),
    "big": ([-(2**63), 2**63 - 1, None, 0, 1, 2, 3, 4, 5, 6, 7, 8, 2**53 + 1], pa.int64()),
    "f": ([NAN, -0.0, 0.0, 0.1, None, INF, -INF, 1.5, 3e38, 1e-45, 2.0], pa.float32()),
    "d": ([NAN, -0.0, 0.0, 0.1, None, INF, -INF, 1.5, 1e308, 5e-324, 2.0, -2.0, 7.0], pa.float64()),
    "t": (
        ["", None, "a", "A", "ab", "b", "é", "e\u0301", "z\U0001f600", "\uffff", " a", "a\x00b", "%", "a%b"],
        pa.string(),
    ),
    "flag": ([True, False, None], pa.bool_()),
    "day": (
        [None if day is None else datetime.date(*day) for day in DAYS],
        pa.date32(),
    ),
    "money": ([D("-99999999.99"), D("1.50"), D("0.00"), None, D("1.51"), D("2.00")], pa.decimal128(10, 2)),
}
ROWS = 3 * 5 * 7 * 11 * 3
TABLE = pa.table(
    {"row": np.arange(ROWS)}
    | {name: pa.array([cells[i % len(cells)] for i in range(ROWS)], kind) for name, (cells, kind) in CELLS.items()}
)

READ_BY_WORKERS = """
    i = 1; i <> 1; i < 1; i <= 1; i > 1; i >= 1; 1 < i; 3 >= i; not i = 1; not (i > 1)
    i > 1.5; i < -1.5; i = 2147483647; i >= -2147483648
    tiny = 1; tiny > 126; small <= -32768; big = 9007199254740993; big > 9223372036854775806; big < -9223372036854775807
    tiny < small; i = big; small <> i; i <=> big; tiny <=> small; not (i <=> big)
    i <=> 1; not (i <=> 1); i <=> null; flag <=> true; (i > 1) <=> true; t <=> 'a'
    i is null; i is not null; i is null or i > 3; i is null and t is null
    i > 1 and t = 'a'; i > 1 or t = 'a'; not (i > 1 and t = 'a'); not (i > 1 or t = 'a'); not (flag or i > 1)
    i > 1 or flag; i > 1 and not flag; (i > 1 or small > 1) and (big > 1 or tiny > 0)
    i in (1, 2, 10); i not in (1, 2, 10); i in (1); not (i in (1, 2) and flag)
    big in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12); big not in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)
    i between 1 and 10; i not between 1 and 10
    flag; not flag; flag = true; flag = false; flag <> true; flag is null; flag < true; flag or flag is null
    d = 0; d = -0.0; d <> 0; d < 0.1; d <= 0.1; d = 1.5; d < 1e308; not (d < 1.5); not (d >= 1.5)
    d > 1.5; d >= 1.5; 1.5 < d; not (d > 1.5); d > double('Infinity'); d >= double('Infinity'); d < double('-Infinity')
    d <> 1.5 or d is null; d <=> 1.5; isnan(d); not isnan(d); isnan(d) or d > 1; isnan(f) and i > 1
    f > 0.1; f >= 0.1; f < 0.1; f = float(0.1); f > float(0.1); f <= float(0.1); f = 1.5; f > 0; i > 1 and f > 1.5
    t = 'a'; t = ''; t <> ''; t > 'a'; t <= 'a'; t >= 'é'; t < 'Z'; t = 'é'; t > ''; 'a' < t
    t in ('a', '', 'é'); t not in ('a', ''); t in ('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', '')
    t like 'a%'; t like '%b'; t like '%a%'; not (t like 'a%'); startswith(t, 'a'); endswith(t, ''); contains(t, 'b')
    t like 'a'; contains(t, '%'); t not like '%a%'
    day = '2020-02-29'; day > date'1970-01-01'; day <= '1582-10-04'; day < '1582-10-15'
    day is null or day > '2000-01-01'; day in (date'2020-02-29', date'2024-01-01')
    day between '0001-01-01' and '2020-02-29'; money > 1.5; money = 1.5; money >= 2; money < 0; money in (1.50, 2.00)
    money <> 0; money <=> 1.51; money > 1.505; money < 100
"""
LEFT_TO_SPARK = """
    i + 1 > 2; i % 2 = 0; -i > 1; abs(i) > 1; length(t) > 1; upper(t) = 'A'; trim(t) = 'a'; t || 'a' = 'aa'
    t like 'a%b'; t rlike 'a'; t like '_'; coalesce(i, 0) > 1; if(flag, i > 1, i < 1); case when i > 1 then flag end
    i in (1, null); not (i in (1, null)); d in (1.5, 0.0); d in (0.0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
    d = double('NaN'); d > double('NaN'); d < double('NaN'); d > f; d = f; d <=> f; nanvl(d, 0) > 1
    cast(t as int) = 1; cast(i as string) = '1'; big > d; cast(big as double) > 1.5; cast(d as int) = 1
    year(day) = 2020; day + 1 > '2020-01-01'; rand(1) < 0.5; i > (select max(id) from range(3)); i in (select 1)
    exists (select 1 where i = 1); t collate UTF8_LCASE = 'a'; money * 2 > 3; money > i; hash(i) > 0
    i > 1 and length(t) > 1; month(day) = 2 or i > 1; input_file_name() like '%b%'
"""


def listed(conditions: str) -> list[str]:
    return [part.strip() for line in conditions.strip().splitlines() for part in line.split(";") if part.strip()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two files of several row groups, without the largest and least numbers that make Spark skip a row group."""
    place = tmp_path_factory.mktemp("scans")
    half = ROWS // 2
    for name, part in (("a", TABLE.slice(0, half)), ("b", TABLE.slice(half))):
        pq.write_table(part, place / f"{name}.parquet", row_group_size=700, write_statistics=False)
    return place


def kept(frame: Any) -> list[int] | None:
    """The rows that workers would read, or None where this is left to Spark."""
    groups = scanned_groups(frame.select("row"))
    if groups is None:
        return None
    pieces = read_groups(list(groups.groups), groups.schema, Random.secure(), selection=groups.selection)
    return sorted(row for piece in pieces for row in piece.task.batch.column("row").to_pylist())


def by_spark(frame: Any) -> list[int]:
    return sorted(row[0] for row in frame.select("row").collect())


@pytest.mark.parametrize("condition", listed(READ_BY_WORKERS))
def test_workers_keep_the_rows_that_spark_keeps(spark: Any, folder: Path, condition: str) -> None:
    """Over nulls, NaN, infinities, both zeros, empty and composed text, days before 1582: row by row."""
    frame = spark.read.parquet(str(folder)).where(condition)

    assert kept(frame) == by_spark(frame)


@pytest.mark.parametrize("condition", listed(LEFT_TO_SPARK))
def test_what_arrow_might_answer_otherwise_is_left_to_spark(spark: Any, folder: Path, condition: str) -> None:
    assert kept(spark.read.parquet(str(folder)).where(condition)) is None


def test_conditions_of_any_shape(spark: Any, folder: Path) -> None:
    """Sixty conditions made of those above by and, or and not, from a seed: what Spark calls true is kept."""
    leaves, rng = listed(READ_BY_WORKERS), np.random.default_rng(20)

    def made(depth: int) -> str:
        if depth == 0:
            return f"({leaves[rng.integers(len(leaves))]})"
        shape = rng.integers(4)
        if shape == 0:
            return f"(not {made(depth - 1)})"
        return f"({made(depth - 1)} {'and' if shape == 1 else 'or'} {made(depth - 1)})"

    conditions = [made(depth) for depth in (1, 2, 3) for _ in range(20)]
    frame = spark.read.parquet(str(folder))
    truths = frame.selectExpr("row", *(f"{condition} as c{i}" for i, condition in enumerate(conditions))).collect()
    possible = 0
    for i, condition in enumerate(conditions):
        rows = kept(frame.where(condition))
        if rows is not None:  # None: Spark sees that nobody can fulfil it, and the plan has no scan
            possible += 1
        assert (rows or []) == sorted(row[0] for row in truths if row[i + 1]), condition
    assert possible > 50


def test_nan_that_spark_may_skip_is_left_to_it(spark: Any, tmp_path: Path) -> None:
    """Spark skips a row group whose stated largest number is too small, although NaN is larger than any number.

    What it calls true and which rows it has are then not the same. (Its own files state no numbers beside NaN.)
    """
    table = pa.table({"row": [0, 1, 2, 3], "d": [1.0, NAN, None, 3.0]})
    pq.write_table(table, tmp_path / "arrow.parquet")
    frame = spark.read.parquet(str(tmp_path / "arrow.parquet"))
    frame.coalesce(1).write.parquet(str(tmp_path / "spark"))
    again = spark.read.parquet(str(tmp_path / "spark"))

    assert [row[0] for row in frame.selectExpr("d > 5").collect()] == [False, True, None, False]
    assert by_spark(frame.where("d > 5")) == [] and kept(frame.where("d > 5")) is None
    assert kept(frame.where("d > 2")) == by_spark(frame.where("d > 2")) == [1, 3]
    for condition in ("d > 5", "d > 2", "d <> 1", "d < 5", "isnan(d)"):
        assert kept(again.where(condition)) == by_spark(again.where(condition)), condition
    pq.write_table(table, tmp_path / "pages.parquet", write_page_index=True)
    assert kept(spark.read.parquet(str(tmp_path / "pages.parquet")).where("d > 2")) is None
    pq.write_table(table.slice(0, 2), tmp_path / "one.parquet")
    one = spark.read.parquet(str(tmp_path / "one.parquet")).where("d <> 1")
    assert kept(one) is None


def test_columns_are_renamed_after_the_condition(spark: Any, folder: Path) -> None:
    """A condition is about the columns of the file, whatever the frame calls them."""
    frame = spark.read.parquet(str(folder))
    swapped = frame.select(frame.i.alias("small"), frame.small.alias("i"), "row").where("i > 1").select("row", "small")
    groups = scanned_groups(swapped)

    assert groups is not None and groups.selection is not None
    assert (groups.selection.names, groups.selection.columns) == (("row", "small"), ("row", "i"))
    assert kept(swapped) == by_spark(frame.where("small > 1"))
    assert kept(frame.where("i > 1").where("small > 1").where("flag")) == by_spark(
        frame.where("i > 1 and small > 1 and flag")
    )


def test_days_that_spark_moves_are_left_to_it(spark: Any, folder: Path, tmp_path: Path) -> None:
    """Spark 2 wrote days before 1582 in another calendar; a setting makes Spark read all files so."""
    frame = spark.read.parquet(str(folder)).where("day < '1582-10-15'")
    usual = spark.conf.get(spark_scans.REBASE_MODE)
    spark.conf.set(spark_scans.REBASE_MODE, "LEGACY")
    try:
        assert kept(frame) is None
        assert kept(frame.sparkSession.read.parquet(str(folder)).where("i > 1")) is not None
    finally:
        spark.conf.set(spark_scans.REBASE_MODE, usual)
    for name, note in (
        ("old", {spark_scans.WRITER: "2.4.8"}),
        ("marked", {spark_scans.WRITER: "3.5.0", spark_scans.OLD_DATES: ""}),
    ):
        pq.write_table(TABLE.replace_schema_metadata(note), tmp_path / f"{name}.parquet")
        old = spark.read.parquet(str(tmp_path / f"{name}.parquet"))

        assert kept(old.where("day < '1582-10-15'")) is None
        assert kept(old.where("i > 1")) == by_spark(old.where("i > 1"))


def test_files_whose_types_differ_are_left_to_spark(spark: Any, tmp_path: Path) -> None:
    """A number that is made to fit the type of another file could fulfil another condition."""
    pq.write_table(pa.table({"row": [0], "x": pa.array([1], pa.int64())}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"row": [1], "x": pa.array([2], pa.int32())}), tmp_path / "b.parquet")
    frame = spark.read.parquet(str(tmp_path))

    assert kept(frame) is not None
    assert kept(frame.where("x > 1")) is None


def test_an_error_names_the_row_of_the_file(spark: Any, tmp_path: Path) -> None:
    """Not that of the rows that were kept; and a filter that keeps nobody is an empty source."""
    ages = pa.array([30, 17, 40, 17, 50, 200], pa.int64())
    pq.write_table(pa.table({"age": ages}), tmp_path / "people.parquet", row_group_size=2)
    plan = mu.Plan(mu.Count(mu.Schema({"age": mu.Integers(18, 99)})["age"]))
    frame = spark.read.parquet(str(tmp_path))
    with pytest.raises(mu.MurmureError, match="row 5 "):
        mu.run(plan, frame.where("age > 17"), mu.Spark(spark))
    with pytest.raises(EmptySource):
        mu.run(plan, frame.where("age > 200"), mu.Spark(spark))

    assert mu.run(plan, frame.where("age > 17 and age < 100"), mu.Spark(spark)).estimate.mean.tolist() == [3.0]


def test_a_file_that_was_replaced_meanwhile_is_refused(tmp_path: Path) -> None:
    """The driver lists the row groups, workers read them later: fewer rows, other groups, or one more column."""
    path = tmp_path / "rows.parquet"
    pq.write_table(TABLE, path, row_group_size=700)
    groups = row_groups(open_table(path))
    assert groups is not None

    def read() -> int:
        return sum(located.task.batch.num_rows for located in read_groups(list(groups.groups), groups.schema, RNG))

    assert read() == ROWS
    for other, size in ((TABLE.slice(1), 700), (TABLE, 701), (TABLE.append_column("more", TABLE["i"]), 700)):
        pq.write_table(other, path, row_group_size=size)
        with pytest.raises(InvalidParameter, match="was replaced after the run had begun"):
            read()
