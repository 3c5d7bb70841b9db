"""Arrays of numbers are read as they lie: the same sums and the same refusals as of a table, and none is copied."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import murmure as mu
from murmure.core.errors import OutsideDomain
from murmure.engines.sources.number_arrays import MAX_QUICK_ROWS, MAX_ROWS, MIN_ROWS, number_arrays, row_slices
from murmure.laws.kernel_loader import threads
from murmure.run.totals import tasks, total
from murmure.statistics.learning.class_moments import ClassMoments

SCHEMA = mu.Schema({"x": mu.Interval(-1.0, 1.0), "n": mu.Integers(0, 9), "y": mu.Categories(2)})


def table(n: int) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(n, 2))[:, 1]  # a view
    x[::1000] = np.nan
    return {"x": x, "n": rng.integers(-1, 12, n).astype(np.int32), "y": rng.integers(-1, 3, n)}


def test_sums_of_arrays_are_those_of_a_table() -> None:
    """Numbers that are missing, or beyond the bounds, and labels that are not listed included."""
    columns = table(3 * MAX_ROWS + 7)
    plan = mu.Plan(ClassMoments(SCHEMA, "y"), curator=mu.DiscreteLaplace(1.0))
    found = [
        total(plan, frame, engine, mu.Random.seeded(1))
        for frame in (columns, pa.table(columns))
        for engine in (None, mu.Memory(threads=1), mu.Memory(threads=2), mu.Memory(threads=3))
    ]

    for other in found[1:]:
        assert other.n == found[0].n and (other.sum == found[0].sum).all()


def test_batches_are_views_and_all_at_hand() -> None:
    columns = table(3 * MAX_ROWS)
    plan = mu.Plan(ClassMoments(SCHEMA, "y"), curator=mu.DiscreteLaplace(1.0))
    cut = tasks(plan, columns, mu.Random.seeded(1))

    assert isinstance(cut, list) and [task.first for task in cut] == [0, MAX_ROWS, 2 * MAX_ROWS]
    assert all(np.shares_memory(task.batch["x"], columns["x"]) for task in cut)


def test_the_first_row_that_is_refused_is_named() -> None:
    """In the clear; two slices hold such a row, and the second may be read first."""
    columns = {
        "x": np.zeros(4 * MAX_ROWS),
        "n": np.zeros(4 * MAX_ROWS, np.int64),
        "y": np.zeros(4 * MAX_ROWS, np.int64),
    }
    columns["n"][[MAX_ROWS + 3, 3 * MAX_ROWS + 1]] = 77
    with pytest.raises(OutsideDomain, match=f"row {MAX_ROWS + 3:,} ".replace(",", ".?")):
        total(mu.Plan(ClassMoments(SCHEMA, "y")), columns, None, mu.Random.seeded(1))


@pytest.mark.parametrize(
    "changed",
    [
        {"x": [0.5, 0.25]},
        {"x": np.array(["0.5", "0.25"])},
        {"x": np.array([0.5, 0.25], object)},
        {"x": np.ma.array([0.5, 0.25], mask=[True, False])},
        {"x": np.array([0.5, 0.25], ">f8")},
        {"x": np.array([[0.5], [0.25]])},
        {"x": np.array([0.5])},
        {"x": np.array([0.5, 0.25], np.complex128)},
        {"x": np.array(["2024-01-01", "2024-01-02"], "M8[D]")},
    ],
    ids=lambda changed: str(getattr(changed["x"], "dtype", "list")),
)
def test_everything_else_is_read_as_a_table(changed: dict[str, Any]) -> None:
    columns = {"x": np.array([0.5, 0.25]), "n": np.array([1, 2]), "y": np.array([0, 1])}
    names = ("x", "n", "y")

    assert number_arrays(columns, names) == columns
    assert number_arrays(columns | changed, names) is None
    assert number_arrays({"x": columns["x"]}, names) is None
    assert number_arrays(pa.table(columns), names) is None


def test_a_long_table_shows_its_progress() -> None:
    """Rows that take longer than a second are read by the way that has a progress bar."""
    long = np.broadcast_to(np.zeros(1), MAX_QUICK_ROWS + 1)

    assert number_arrays({"x": long[:-1]}, ("x",)) is not None and number_arrays({"x": long}, ("x",)) is None


@pytest.mark.parametrize("n", [0, 1, MIN_ROWS, MIN_ROWS + 1, 100_000, MAX_ROWS * 3 + 1])
def test_slices_are_all_rows_in_order(n: int) -> None:
    parts = [part["x"] for part in row_slices({"x": np.arange(n)}, threads())]

    assert np.concatenate([np.empty(0, int), *parts]).tolist() == list(range(n))
    assert len({len(part) for part in parts[:-1]}) <= 1 and all(len(part) <= MAX_ROWS for part in parts)
