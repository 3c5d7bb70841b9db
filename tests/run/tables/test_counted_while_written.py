"""What a run counts while it writes a table is what the file holds: its figures are those of `estimate` of the file."""

from __future__ import annotations

import functools
import importlib
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.run.tables.test_sanitiser import PEOPLE, SCHEMA, SOLUTIONS, people, plan_for

import murmure as mu
from murmure.engines.memory import Memory
from murmure.engines.sources.tables import open_table
from murmure.run.tables import sanitiser
from murmure.run.tables.asked_plans import asked_plans

pa = pytest.importorskip("pyarrow")

ENDINGS = ["parquet", "csv", "arrow"]
CLAMPING = mu.Schema(
    {
        "smoker": mu.Column(mu.Categories(["no", "yes, a lot"]), outside="drop"),
        "age": mu.Column(mu.Integers(2, 7), outside="clamp"),
        "weight": mu.Column(mu.Interval(0.0, 4.0), public=True, outside="drop"),
    }
)


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """70 rows a batch, so that there are five."""
    small = functools.partial(open_table, rows=70)
    for name in ("murmure.run.tables.sanitiser", "murmure.run.tables.estimator"):
        monkeypatch.setattr(importlib.import_module(name), "open_table", small)


def questions(mechanism: Any) -> list[Any]:
    """Every column; columns by weight; every pair: those that this mechanism can answer."""
    schema = mechanism.domain
    weighted = [functools.partial(mu.Marginals, schema, "weight")] * ("weight" in schema)
    pairs = [functools.partial(mu.Pair, schema, a, b) for a, b in pairwise(schema.private)]
    out = []
    for statistic in [functools.partial(mu.Marginals, schema), *weighted, *pairs]:
        try:
            out += [plan.statistic for plan in asked_plans(plan_for(mechanism), statistic())]
        except mu.MurmureError:
            continue
    return out


def same(receipt: Any, path: Path, statistics: list[Any]) -> None:
    for statistic in statistics:
        assert receipt.estimate(statistic).to_json() == mu.estimate(path, statistic=statistic).to_json()


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("name", SOLUTIONS)
def test_every_mechanism_in_every_format(name: str, ending: str, tmp_path: Path) -> None:
    mechanism, path = SOLUTIONS[name], tmp_path / f"out.{ending}"
    asked = questions(mechanism)
    receipt = mu.sanitise(people(), mechanism, path, rng=mu.Random.seeded(3), estimate=asked)

    assert isinstance(asked[0], mu.Marginals)
    assert receipt.estimate().to_json() == receipt.estimate(asked[0]).to_json()
    same(receipt, path, asked)


def test_weights_and_pairs_are_among_the_questions() -> None:
    """Otherwise the test above would say less than it seems to."""
    asked = [question for mechanism in SOLUTIONS.values() for question in questions(mechanism)]

    assert sum(isinstance(q, mu.Marginals) and q.weights is not None for q in asked) >= 5
    assert sum(isinstance(q, mu.Pair) for q in asked) >= 10


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("engine", [Memory(1), Memory(2), Memory(3), "plug-in"])
@pytest.mark.parametrize("name", ["SPL", "SMP turns", "RSFD OUE-z"])
def test_every_engine_and_any_number_of_threads(name: str, engine: Any, tmp_path: Path) -> None:
    class OneByOne(mu.Memory):  # an engine that brings no `each` of its own
        def each(self, work: Any, source: Any) -> Any:
            return map(work, source)

    where = OneByOne() if engine == "plug-in" else engine
    path = tmp_path / "out.parquet"
    receipt = mu.sanitise(people(), SOLUTIONS[name], path, rng=mu.Random.seeded(3), engine=where, estimate=True)

    same(receipt, path, questions(SOLUTIONS[name])[:1])


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("kind", ["SPL", "SMP", "RSFD"])
def test_rows_that_are_dropped_are_not_counted_and_those_that_are_clamped_are(
    kind: str, ending: str, tmp_path: Path
) -> None:
    """By `outside` of the schema, by invalid="drop", a whole batch of them, and beyond the rows of one person."""
    mechanism = getattr(mu, kind)(CLAMPING, 3.0)
    rows = people()
    smoker = ["?"] * 80 + rows["smoker"].to_pylist()[80:]
    age = [None if i % 50 == 0 else age for i, age in enumerate(rows["age"].to_pylist())]
    rows = rows.set_column(rows.column_names.index("smoker"), "smoker", pa.array(smoker))
    rows = rows.set_column(rows.column_names.index("age"), "age", pa.array(age))
    rows = rows.append_column("id", pa.array([i % 120 for i in range(PEOPLE)]))
    path, asked = tmp_path / f"out.{ending}", questions(mechanism)
    receipt = mu.sanitise(
        rows, mechanism, path, invalid="drop", unit="id", rows_per_person=2, rng=mu.Random.seeded(3), estimate=asked
    )

    assert receipt.dropped > 100 and receipt.beyond > 0 and receipt.moved["age"] > 0
    assert receipt.estimate().estimate.n == receipt.rows
    same(receipt, path, asked)


def test_rows_of_one_person_are_said_as_by_estimate(tmp_path: Path) -> None:
    ids = people().append_column("id", pa.array([i // 2 for i in range(PEOPLE)]))
    mechanism, path = SOLUTIONS["SPL"], tmp_path / "out.parquet"
    receipt = mu.sanitise(ids, mechanism, path, unit="id", rows_per_person=2, estimate=True)

    assert "rows, of which one person has up to 2" in receipt.estimate().estimate.remark
    same(receipt, path, [None])
    assert not receipt.estimate().seeded


def test_the_file_holds_no_count_and_is_counted_anew(tmp_path: Path) -> None:
    """A table that was edited gives the figures of what it holds now, and the receipt those of what was written."""
    path, plain = tmp_path / "out.parquet", tmp_path / "plain.parquet"
    receipt = mu.sanitise(people(), SOLUTIONS["SPL GRR"], path, rng=mu.Random.seeded(3), estimate=True)
    mu.sanitise(people(), SOLUTIONS["SPL GRR"], plain, rng=mu.Random.seeded(3))
    written = receipt.estimate().to_json()
    assert path.read_bytes() == plain.read_bytes()
    import pyarrow.parquet as pq

    pq.write_table(pq.read_table(path).slice(0, 200), path)

    assert mu.estimate(path).estimate.n == 200
    assert receipt.estimate().to_json() == written


def test_a_parquet_file_states_the_ends_of_public_columns_only(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    mu.sanitise(people(), SOLUTIONS["SPL"], tmp_path / "out.parquet")
    mu.sanitise(people(), SOLUTIONS["SPL numbers"], tmp_path / "numbers.parquet")
    group = pq.read_metadata(tmp_path / "out.parquet").row_group(0)
    columns = [group.column(i) for i in range(group.num_columns)]

    assert {c.path_in_schema for c in columns if c.statistics is not None} == set(SCHEMA.open)
    group = pq.read_metadata(tmp_path / "numbers.parquet").row_group(0)
    assert all(group.column(i).statistics is None for i in range(group.num_columns))


def test_what_was_not_counted_is_not_guessed(tmp_path: Path) -> None:
    mechanism = SOLUTIONS["SPL GRR"]
    pair = mu.Pair(SCHEMA, "smoker", "region")
    silent = mu.sanitise(people(), mechanism, tmp_path / "1.parquet")
    one = mu.sanitise(people(), mechanism, tmp_path / "2.parquet", estimate=pair)

    for receipt, statistic in ((silent, None), (silent, pair), (one, mu.Marginals(SCHEMA))):
        with pytest.raises(mu.MurmureError, match="did not count"):
            receipt.estimate(statistic)
    assert one.estimate().to_json() == mu.estimate(tmp_path / "2.parquet", statistic=pair).to_json()


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("smoker", "must be True, a statistic or several"),
        (None, "must be True, a statistic or several"),
        ([mu.Pair(SCHEMA, "smoker", "region")], "no information about pairs"),
        (mu.Marginals(mu.Schema({"a": mu.Categories(2)})), "Plan refused"),
    ],
)
def test_what_cannot_be_estimated_is_refused_before_a_row_is_read(asked: Any, words: str, tmp_path: Path) -> None:
    with pytest.raises(mu.MurmureError, match=words):
        mu.sanitise(tmp_path / "nowhere.parquet", SOLUTIONS["SMP"], tmp_path / "out.parquet", estimate=asked)


def test_without_a_path_there_is_no_receipt(tmp_path: Path) -> None:
    with pytest.raises(mu.MurmureError, match="written to a path"):
        mu.sanitise(people(), SOLUTIONS["SMP"], estimate=True)


def test_a_ledger_is_charged_once_whatever_is_counted(tmp_path: Path) -> None:
    ledger = mu.Ledger(tmp_path / "ledger.db")
    receipt = mu.sanitise(
        people(), SOLUTIONS["SPL"], tmp_path / "out.parquet", ledger=ledger.account("people"), estimate=True
    )
    for _ in range(3):
        receipt.estimate()

    assert ledger.spent("people").charges == 1


@pytest.mark.usefixtures("small_batches")
def test_a_count_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the fourth batch: no file, no hidden file, no charge."""
    ledger, calls = mu.Ledger(tmp_path / "ledger.db"), []
    ledger.set_budget("people", 100, relation="replace")
    before = sorted(tmp_path.iterdir())

    class Failing(sanitiser.Total):
        def __init__(self, *of: Any) -> None:
            calls.append(of)
            if len(calls) == 4:
                raise MemoryError
            super().__init__(*of)

    monkeypatch.setattr(sanitiser, "Total", Failing)
    with pytest.raises(MemoryError):
        mu.sanitise(
            people(), SOLUTIONS["SPL"], tmp_path / "out.parquet", ledger=ledger.account("people"), estimate=True
        )

    assert sorted(tmp_path.iterdir()) == before
    assert ledger.spent("people").charges == 0
