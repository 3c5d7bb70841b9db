"""An engine that somebody else wrote: `run`, `sanitise` and `estimate` work on it as on this machine."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import murmure as mu
from murmure.core.errors import InvalidParameter
from murmure.core.random import Random
from murmure.core.types import Engine, FrameEngine, Total
from murmure.engines.base.task import Task
from murmure.engines.sources.tables import open_table
from murmure.run.billing import TablePayment

SCHEMA = mu.Schema(
    {
        "smoker": mu.Categories(["no", "yes"]),
        "age": mu.Column(mu.Integers(18, 99), outside="clamp"),
        "town": mu.Column(mu.Categories(["north", "south"]), public=True),
    }
)
PEOPLE = {"smoker": ["no", "yes", "no"] * 100, "age": [10, 40, 70] * 100, "town": ["north", "south", "north"] * 100}
MECHANISM = mu.SPL(SCHEMA, epsilon=4.0)


class Backwards(Engine):
    """Adds the last batch first; what it did not write itself it inherits."""

    def total(self, step: Any, source: Iterable[Any]) -> Total:
        parts = [step(batch) for batch in source][::-1]
        return sum(parts[1:], start=parts[0])


class Structural:
    """Inherits nothing: it has the methods of an engine."""

    def accepts(self, frame: Any) -> bool:
        return False

    def total(self, step: Any, source: Iterable[Any]) -> Total:
        return mu.Memory().total(step, source)

    def each(self, work: Any, source: Iterable[Any]) -> Iterator[Any]:
        return iter([work(task) for task in source])


@dataclass(frozen=True)
class Shelf:
    """A frame that only one engine can read."""

    pages: tuple[Any, ...]
    metadata: Mapping[str, str]


class Library(FrameEngine):
    """Reads its own frames, page by page."""

    def accepts(self, frame: Any) -> bool:
        return isinstance(frame, Shelf)

    def _tasks(self, shelf: Shelf, rng: Random | None) -> Iterator[Task]:
        rng = rng or Random.secure()
        return (Task(page, rng.child(i)) for i, page in enumerate(shelf.pages))

    def total(self, step: Any, source: Any, rng: Random | None = None) -> Total:
        return mu.Memory().total(step, self._tasks(source, rng) if isinstance(source, Shelf) else source)

    def map(self, function: Any, frame: Any, schema: Any, rng: Any = None, metadata: Any = None) -> Shelf:
        return Shelf(tuple(function(task) for task in self._tasks(frame, rng)), dict(metadata or {}))

    def metadata(self, frame: Any) -> Mapping[str, str]:
        return frame.metadata

    def arrow_types(self, frame: Any, columns: Iterable[str] | None = None) -> dict[str, Any]:
        schema = frame.pages[0].schema
        return {name: schema.field(name).type for name in (schema.names if columns is None else columns)}

    def bounded(self, source: Any, columns: Any, unit: str, rows: int) -> Any:
        raise NotImplementedError


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """70 rows a batch."""
    for name in ("murmure.run.tables.sanitiser", "murmure.run.tables.estimator"):
        monkeypatch.setattr(importlib.import_module(name), "open_table", functools.partial(open_table, rows=70))


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("engine", [Backwards(), Structural(), mu.Memory(threads=3)], ids=lambda e: type(e).__name__)
def test_a_seed_gives_the_same_table_on_every_engine(engine: Any, tmp_path: Path) -> None:
    """As a table and as a file, in several batches; and the same figures are read off it."""
    wanted = mu.sanitise(PEOPLE, MECHANISM, rng=Random.seeded(3))
    table = mu.sanitise(PEOPLE, MECHANISM, rng=Random.seeded(3), engine=engine)
    receipt = mu.sanitise(PEOPLE, MECHANISM, tmp_path / "out.parquet", rng=Random.seeded(3), engine=engine)

    assert table.equals(wanted, check_metadata=True) and table.num_rows == 300
    assert (receipt.rows, receipt.dropped, dict(receipt.moved)) == (300, 0, {"age": 100})
    for source in (table, tmp_path / "out.parquet"):
        assert mu.estimate(source, engine=engine).to_json() == mu.estimate(wanted).to_json()


def test_an_engine_with_frames_of_its_own(tmp_path: Path) -> None:
    """A frame in, a frame out: it carries its plan, is charged before it is returned, and `run` reads the same rows."""
    engine, pages = Library(), pa.table(PEOPLE).to_batches(max_chunksize=70)
    shelf = Shelf(tuple(pages), {})
    ledger = mu.Ledger(tmp_path / "ledger.db")
    out = mu.sanitise(shelf, MECHANISM, rng=Random.seeded(3), engine=engine, ledger=ledger.account("people"))
    here = pa.Table.from_batches(out.pages)

    assert [entry.seeded for entry in ledger.history()] == [True] and here.num_rows == 300
    assert here["town"].to_pylist() == PEOPLE["town"]
    plan = mu.Plan(mu.Marginals(SCHEMA), person=MECHANISM)
    assert mu.estimate(out, engine=engine).to_json() == mu.estimate(here, plan).to_json().replace("false", "true", 1)
    exact = mu.Plan(mu.Histogram(SCHEMA["smoker"]))
    assert mu.run(exact, shelf, engine=engine).estimate.mean.tolist() == mu.run(exact, PEOPLE).estimate.mean.tolist()
    with pytest.raises(InvalidParameter, match="carries no plan"):
        mu.estimate(shelf, engine=engine)
    with pytest.raises(InvalidParameter, match="writes no file"):
        mu.sanitise(shelf, MECHANISM, tmp_path / "out.parquet", engine=engine)


@pytest.mark.parametrize("out", [None, "out.parquet", "out.csv"])
def test_nothing_is_returned_or_named_if_it_cannot_be_charged(
    out: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the output: the charge comes when all rows are randomised, and its refusal leaves nothing behind."""

    def refuse(payment: TablePayment) -> None:
        assert payment.plan.person == MECHANISM and not list(tmp_path.glob("out*"))
        raise InvalidParameter("no budget")

    monkeypatch.setattr(TablePayment, "pay", refuse)
    path = None if out is None else tmp_path / out
    with pytest.raises(InvalidParameter, match="no budget"):
        mu.sanitise(PEOPLE, MECHANISM, path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("engine", ["spark", object(), mu.Spark])
def test_what_is_not_an_engine_is_refused(engine: Any) -> None:
    plan = mu.Plan(mu.Histogram(SCHEMA["smoker"]))
    table = mu.sanitise(PEOPLE, MECHANISM)
    for attempt in (
        lambda: mu.run(plan, PEOPLE, engine=engine),
        lambda: mu.sanitise(PEOPLE, MECHANISM, engine=engine),
        lambda: mu.estimate(table, engine=engine),
    ):
        with pytest.raises(InvalidParameter, match="engine must be an engine"):
            attempt()
