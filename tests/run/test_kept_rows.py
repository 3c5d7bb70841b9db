"""Rows that are kept between questions give the sums of rows that are read again, and are read once."""

from __future__ import annotations

import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import murmure as mu
from murmure import econometrics, learn
from murmure.core.errors import EmptySource
from murmure.engines.memory import Memory
from murmure.engines.sources import number_arrays as arrays
from murmure.engines.sources import tables
from murmure.plan.plan import Plan
from murmure.run import kept_rows
from murmure.run.kept_rows import KeptRows
from murmure.run.totals import tasks
from murmure.statistics.exact.function_sums import FunctionSums

SCHEMA = mu.Schema(
    {"y": mu.Integers(0, 9), "x": mu.Decimals(-4, 4, 6, rounding="nearest"), "ward": mu.Categories(["A", "B"])}
)


def plan_at(*at: str, inputs: tuple[str, ...] = ("y", "1", "x")) -> Plan:
    return Plan(FunctionSums(SCHEMA, "poisson", inputs, at, ("step", "", "0", "0", "2")))


def rows(n: int, seed: int = 1) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    wards = np.array(["A", "B"])[rng.integers(0, 2, n)]
    return {"y": rng.integers(0, 10, n), "x": rng.normal(size=n).clip(-4, 4), "ward": wards}


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The frames that were opened, or read as they lie."""
    found: list[Any] = []
    open_table, as_they_lie = tables.open_table, arrays.number_arrays

    def look(frame: Any, columns: Any) -> Any:
        read = as_they_lie(frame, columns)
        found.extend([] if read is None else [frame])
        return read

    monkeypatch.setattr(tables, "open_table", lambda frame, *a, **k: found.append(frame) or open_table(frame, *a, **k))
    monkeypatch.setattr(arrays, "number_arrays", look)
    return found


def asked(kept: KeptRows | None, plan: Plan, frame: Any, engine: Any) -> tuple[int, list[int]]:
    def read() -> Any:
        return tasks(plan, frame, mu.Random.seeded(1))

    total = engine.total(plan.step, read()) if kept is None else kept.total(plan, frame, engine, read)
    return total.n, [int(v) for v in total.sum]


@pytest.mark.parametrize("budget", [1 << 30, 100_000, 0], ids=["all fits", "the first batch fits", "nothing fits"])
@pytest.mark.parametrize("threads", [1, 3])
def test_kept_or_read_again_the_sums_are_the_same(budget: int, threads: int, tmp_path: Path, opened: list[Any]) -> None:
    """Four rounds over a file of three batches; a fifth asks for another column."""
    n, path = 600_000, tmp_path / "t.parquet"
    pq.write_table(pa.table(rows(n)), path, 1 << 18)
    engine, kept = Memory(threads=threads), KeptRows(budget)
    plans = [plan_at(a, "1/3") for a in ("0", "0.5", "-7", "900")] + [
        plan_at("1", "0", inputs=("y", "1", "ward == 'B'"))
    ]
    for plan in plans:
        assert asked(kept, plan, path, engine) == asked(None, plan, path, engine)

    kept_reads = len(opened) - len(plans)
    assert kept_reads == (2 if budget == 1 << 30 else len(plans))


@pytest.mark.parametrize("threads", [1, 2])
def test_what_does_not_fit_is_not_held_until_the_last_batch(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays are at hand, and an engine may do all their batches before it returns the first."""
    held, most, columns_of = set[int](), 0, FunctionSums.columns_of

    def watched(statistic: FunctionSums, codes: Any) -> Any:
        nonlocal most
        columns = columns_of(statistic, codes)
        held.add(id(columns))
        weakref.finalize(columns, held.discard, id(columns))
        most = max(most, len(held))
        return columns

    monkeypatch.setattr(FunctionSums, "columns_of", watched)
    frame = {"y": np.arange(300_000) % 10, "x": np.arange(300_000) % 7 / 2}
    schema = mu.Schema({name: SCHEMA.column_specs[name] for name in frame})
    plan = Plan(FunctionSums(schema, "poisson", ("y", "1", "x"), ("0", "1/3"), ("step", "", "0", "0", "2")))
    batches = list(tasks(plan, frame, mu.Random.seeded(1)))
    kept = KeptRows(2 * len(batches[0]) * 3 * 8)  # two batches of three columns
    kept.total(plan, frame, Memory(threads=threads), lambda: batches)

    assert len(batches) >= 5 and most <= 2 + threads and not kept.holds(plan, frame, Memory())


def test_tables_are_told_apart(opened: list[Any]) -> None:
    kept, engine, plan = KeptRows(), Memory(), plan_at("0.1", "0.2")
    one, other = rows(1000), rows(1000, seed=2)
    first = [asked(kept, plan, frame, engine) for frame in (one, other)]
    again = [asked(kept, plan, frame, engine) for frame in (one, other)]

    assert first == again and first[0] != first[1] and len(opened) == 2


def test_an_error_keeps_nothing() -> None:
    kept, engine, plan = KeptRows(), Memory(), plan_at("0.1", "0.2")
    frame = rows(100)
    frame["y"][7] = 10
    for _ in range(2):
        with pytest.raises(mu.MurmureError, match="row 7"):
            asked(kept, plan, frame, engine)
    frame["y"][7] = 9

    assert asked(kept, plan, frame, engine) == asked(None, plan, frame, engine)


def test_an_empty_source_is_refused_each_time() -> None:
    kept, engine, plan = KeptRows(), Memory(), plan_at("0.1", "0.2")
    for _ in range(2):
        with pytest.raises(EmptySource):
            asked(kept, plan, {"y": [], "x": [], "ward": []}, engine)


@pytest.mark.parametrize("privacy", [None, mu.Secure(dropouts=0)], ids=["in the clear", "masked"])
def test_a_regression_of_parties_reads_each_table_once(
    privacy: Any, opened: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And has the same coefficients, as fractions, where nothing may be kept."""
    parties = [rows(400, seed) for seed in range(3)]
    fit = econometrics.poisson("y ~ x", parties, schema=SCHEMA, privacy=privacy)
    assert fit.how.rounds > 3 and len(opened) == 3
    monkeypatch.setattr(KeptRows.__init__, "__defaults__", (0,))
    again = econometrics.poisson("y ~ x", parties, schema=SCHEMA, privacy=privacy)

    assert again.coefficients == fit.coefficients and len(opened) > 12
    assert kept_rows.BUDGET == 1 << 29


@pytest.mark.parametrize("as_table", [False, True], ids=["arrays", "a table"])
def test_noise_does_not_depend_on_what_is_kept(as_table: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """k-means with Gaussian noise, which is drawn from a branch for each answer: kept rows once shifted it."""
    frame: Any = {"x": np.arange(500.0) % 7, "y": np.arange(500.0) % 5}
    schema = mu.Schema({"x": mu.Interval(0.0, 7.0), "y": mu.Interval(0.0, 5.0)})
    frame = pa.table(frame) if as_table else frame

    def answers() -> Any:
        learner = learn.KMeans(2, schema, mu.Central(9.0, delta=1e-6), rng=mu.Random.seeded(3))
        return learner.fit(frame).answers_

    kept = answers()
    monkeypatch.setattr(KeptRows.__init__, "__defaults__", (0,))

    assert len(kept) > 2 and answers() == kept
