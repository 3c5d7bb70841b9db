"""What a worker of Spark does with its partition, called here without Spark: workers are other processes.

Only the number of the partition comes from Spark.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from murmure.core.errors import OutsideDomain
from murmure.core.random import Random
from murmure.core.types import Total
from murmure.engines import spark as engine
from murmure.engines.base.task import Task
from murmure.engines.sources.row_groups import LocatedTask

PART = 7


@pytest.fixture(autouse=True)
def partition(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_partition_id", lambda: PART)
    monkeypatch.setattr(
        engine, "one_thread_here", lambda: None
    )  # a worker's thread ends with it, that of tests does not


def pieces(*batches: Any) -> Iterator[LocatedTask]:
    before = 0
    for batch in batches:
        yield LocatedTask(Task(np.array(batch), Random.seeded(1)), before, "a.parquet")
        before += len(batch)


def sums(task: Task) -> Total:
    return Total(len(task), np.array([task.batch.sum(), (task.batch**2).sum()], np.int64))


def huge(task: Task) -> Total:
    return Total(len(task), np.array([10**30 * int(v) for v in task.batch[:2]], object))


def refusing(value: int) -> Callable[[Task], Any]:
    def step(task: Task) -> Any:
        for row in np.flatnonzero(task.batch == value).tolist():
            raise OutsideDomain.at("column 'age'", row, f"holds {value}.", "clip it yourself")
        return sums(task)

    return step


def rows_of(batches: Iterator[Any]) -> list[dict[str, Any]]:
    return [row for batch in batches for row in batch.to_pylist()]


@pytest.mark.parametrize("step", [sums, huge])
def test_one_row_comes_back_with_the_total_of_all_batches(step: Any) -> None:
    """Also of integers beyond 64 bits, of either sign."""
    batches = [1, 2, 3], [-4, 5], [6, -70]
    (row,) = rows_of(engine._add(step, pieces(*batches)))
    wanted = sum(
        (step(Task(np.array(batch), Random.seeded(1))) for batch in batches[1:]), step(next(pieces(batches[0])).task)
    )

    assert (row["part"], row["n"], row["error"]) == (PART, 7, None)
    assert engine._unpack_sums(row["sum"]).tolist() == wanted.sum.tolist()


def test_no_row_comes_back_of_a_partition_without_batches() -> None:
    """So that nobody is not added up."""
    assert rows_of(engine._add(sums, pieces())) == []


def test_an_error_comes_back_and_names_the_row_of_its_source() -> None:
    (row,) = rows_of(engine._add(refusing(6), pieces([1, 2, 3], [4, 5, 6], [7])))

    assert row["part"] == PART
    with pytest.raises(OutsideDomain, match=r"^a\.parquet, column 'age': row 5 holds 6\.\n  Hint: clip it yourself"):
        engine._raise_first([pickle.loads(row["error"])])


def test_the_error_of_the_first_partition_is_raised() -> None:
    def error(part: int) -> Any:
        raised = engine._pack_error(OutsideDomain(f"of partition {part}."), None)
        return (part, *pickle.loads(raised)[1:])

    engine._raise_first([])
    with pytest.raises(OutsideDomain, match="of partition 2"):
        engine._raise_first([error(5), error(2), error(3)])


@pytest.mark.parametrize("error", [OSError("the disk"), MemoryError()])
@pytest.mark.parametrize("run", ["_add", "_each", "_map"])
def test_what_another_try_may_cure_is_left_to_spark(error: Exception, run: str) -> None:
    def step(task: Task) -> Any:
        raise error

    more = (pa.schema([]),) if run == "_map" else ()
    with pytest.raises(type(error)):
        rows_of(getattr(engine, run)(step, *more, pieces([1])))


def test_what_was_made_comes_back_task_by_task_until_one_fails() -> None:
    """Then the error is the last row."""
    *made, last = rows_of(engine._each(refusing(5), pieces([1, 2], [3], [4, 5], [6])))

    assert [(engine._unpack(row["made"]).n, row["error"]) for row in made] == [(2, None), (1, None)]
    assert last["made"] is None and pickle.loads(last["error"])[:2] == (PART, OutsideDomain)


def test_a_table_is_made_in_the_types_that_were_promised() -> None:
    """Each row with no error; where one is raised, a last row of it alone."""
    plain = pa.schema([("age", pa.int64()), ("name", pa.string())])

    def step(task: Task) -> pa.RecordBatch:
        refusing(5)(task)
        ages = pa.array(task.batch, pa.int32())
        return pa.record_batch({"name": [f"n{age}" for age in ages.to_pylist()], "age": ages, "more": ages})

    batches = list(engine._map(step, plain, pieces([1, 2], [3], [5])))
    *made, last = rows_of(iter(batches))

    assert {batch.schema for batch in batches} == {plain.append(pa.field(engine.ERROR_COLUMN, pa.binary()))}
    assert made == [{"age": age, "name": f"n{age}", engine.ERROR_COLUMN: None} for age in (1, 2, 3)]
    assert last["age"] is last["name"] is None and pickle.loads(last[engine.ERROR_COLUMN])[1] is OutsideDomain


def test_batches_and_their_streams_do_not_depend_on_how_rows_came(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 4 rows each, with the names of the plan, the rows before them, and a stream of their own."""
    monkeypatch.setattr(engine, "ROWS", 4)
    rows = pa.record_batch({"x": list(range(10))})

    def tasks(*cuts: int) -> list[tuple[Any, ...]]:
        ends = [0, *cuts, 10]
        batches = iter([rows.slice(a, b - a) for a, b in pairwise(ends)])
        return [
            (piece.task.batch.to_pydict(), piece.rows_before, piece.source, piece.task.rng.words(1)[0])
            for piece in engine._numbered_tasks(batches, Random.seeded(3), ["age"])
        ]

    found = tasks(3, 9)
    assert [one[:3] for one in found] == [
        ({"age": [0, 1, 2, 3]}, 0, f"partition {PART}"),
        ({"age": [4, 5, 6, 7]}, 4, f"partition {PART}"),
        ({"age": [8, 9]}, 8, f"partition {PART}"),
    ]
    assert tasks() == tasks(1, 2, 7) == found and len({word for *_, word in found}) == 3


def test_a_task_is_sent_with_the_rows_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many at a time as the driver holds; what is empty is not sent, and a task that knows its first row is at 0."""
    rng = Random.seeded(1)
    batches = [[1, 2, 3], [], [4], [5, 6], [7]]
    tasks = [Task(np.array(batch), rng, 100 if batch == [4] else None) for batch in batches]

    def sent() -> list[list[tuple[int, list[int]]]]:
        return [[(before, engine._unpack(raw).batch.tolist()) for before, raw in wave] for wave in engine._waves(tasks)]

    assert sent() == [[(0, [1, 2, 3]), (0, [4]), (4, [5, 6]), (6, [7])]]
    monkeypatch.setattr(engine, "WAVE", 1)
    assert sent() == [[(0, [1, 2, 3])], [(0, [4])], [(4, [5, 6])], [(6, [7])]]
