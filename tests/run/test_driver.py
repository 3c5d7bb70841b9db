"""A plan with noise at the curator: one gate, every row read, the same integers everywhere, nothing told by errors."""

from __future__ import annotations

import json
import math
import pickle
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pytest

import murmure as mu
from murmure.central.base.gate import Gate
from murmure.core.errors import InvalidParameter, PlanRefused
from murmure.core.types import Engine
from murmure.run.driver import LedgerRequest, drive
from murmure.run.totals import total

SCHEMA = mu.Schema(
    {
        "age": mu.Integers(0, 100),
        "income": mu.Column(mu.Interval(0.0, 1000.0, cells=100), missing="constant", missing_value=100.0),
        "smoker": mu.Categories(["no", "yes"]),
    }
)
ROWS = {
    "age": [30, -7, 400, 52] * 50,
    "income": [10.0, float("nan"), float("inf"), 990.0] * 50,
    "smoker": ["no", "yes", "pipe", None] * 50,
}
STATISTICS = [
    mu.Count(SCHEMA["smoker"]),
    mu.Mean(SCHEMA["age"]),
    mu.Sum(SCHEMA["income"]),
    mu.Variance(SCHEMA["age"]),
    mu.Histogram(SCHEMA["smoker"]),
    mu.Pair(SCHEMA, "age", "smoker"),
    mu.Quantile(SCHEMA["income"]),
    mu.GroupBy(mu.Mean(SCHEMA["age"]), by=SCHEMA["smoker"]),
]
LAPLACE = mu.DiscreteLaplace(epsilon=1.0)


class Heavy(mu.Histogram):
    """One row adds so much that a large table would leave 63 bits."""

    largest = 1 << 40


def ids(value: Any) -> str:
    return type(value).__name__


# ---- as data


@pytest.mark.parametrize("statistic", STATISTICS, ids=ids)
@pytest.mark.parametrize("noise", [LAPLACE, mu.DiscreteGaussian(epsilon=1.0, delta=1e-6)], ids=ids)
@pytest.mark.parametrize("relation", ["add/remove", "replace"])
def test_a_plan_travels_as_json(statistic: Any, noise: Any, relation: Any) -> None:
    plan = mu.Plan(statistic, curator=noise, relation=relation)
    again = mu.Plan.from_json(plan.to_json())

    assert again == plan and again.digest == plan.digest
    assert pickle.loads(pickle.dumps(plan)).digest == plan.digest
    assert again.bound.epsilon == plan.bound.epsilon <= 1.0


def test_tampered_noise_is_refused() -> None:
    """The integers in the JSON are those of the noise it names, bound to what the statistic says one row moves."""
    plan = mu.Plan(mu.Mean(SCHEMA["age"]), curator=LAPLACE)
    for change in ({"epsilon": 2.0}, {"law": []}):
        held = json.loads(plan.to_json())
        held["curator"] |= change
        with pytest.raises(PlanRefused):
            mu.Plan.from_json(json.dumps(held))


def test_what_a_curator_cannot_take() -> None:
    domain = mu.Categories(3)
    with pytest.raises(PlanRefused, match="randomised at the person already"):
        mu.Plan(mu.Histogram(domain), person=mu.GRR(domain, 1.0), curator=LAPLACE)
    with pytest.raises(InvalidParameter, match="must be noise"):
        mu.Plan(mu.Histogram(domain), curator="laplace")
    with pytest.raises(PlanRefused, match="cannot choose"):
        mu.Plan(mu.Mean(SCHEMA["age"]), curator=mu.PermuteAndFlip(1.0))
    with pytest.raises(PlanRefused, match="coarser grid"):
        mu.Plan(Heavy(domain), curator=LAPLACE)
    with pytest.raises(InvalidParameter, match="relation"):
        mu.Plan(mu.Histogram(domain), curator=LAPLACE, relation="near")  # type: ignore[arg-type]


def test_guarantees_are_per_observer() -> None:
    held = mu.Plan(mu.Mean(SCHEMA["age"]), curator=LAPLACE).guarantees()

    assert math.isinf(held["curator"].epsilon)
    assert 0.999 < held["reader"].epsilon <= 1.0 and held["reader"].relation == "add/remove"


def test_several_rows_of_one_person_cost_no_more_and_get_more_noise() -> None:
    one = mu.Plan(mu.Count(SCHEMA["smoker"]), curator=LAPLACE)
    four = mu.Plan(mu.Count(SCHEMA["smoker"]), curator=LAPLACE, unit="id", rows_per_person=4)

    assert four.bound.epsilon <= 1.0
    assert four.bound.laws[0].variance > 15 * one.bound.laws[0].variance
    assert "id" in str(four.guarantees()["reader"].assumption)


# ---- rows


@pytest.mark.parametrize("statistic", STATISTICS, ids=ids)
@pytest.mark.parametrize("rows", [0, 1, 200])
def test_no_row_decides_about_an_error(statistic: Any, rows: int) -> None:
    """Nobody, one strange row, many strange rows: an answer each time, with the same figures named."""
    plan = mu.Plan(statistic, curator=LAPLACE)
    some = {name: column[:rows] for name, column in ROWS.items()}
    answer, nobody = (plan.release_answer([a] * plan.statistic.width) for a in (5, 0))

    assert type(mu.run(plan, some).estimate) is type(answer.estimate) is type(nobody.estimate)


@pytest.mark.parametrize("statistic", STATISTICS, ids=ids)
def test_files_and_frames_hold_the_same_integers(statistic: Any, tmp_path: Path) -> None:
    """Before noise, the sum is the same: mapping, pandas, Arrow, CSV, Parquet. (Spark: engines/test_spark.py.)"""
    import pandas as pd
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    plan = mu.Plan(statistic, curator=LAPLACE)
    table = pa.table({name: pa.array(column, from_pandas=False) for name, column in ROWS.items()})
    pa.parquet.write_table(table, tmp_path / "rows.parquet", row_group_size=70)
    pa.csv.write_csv(table, tmp_path / "rows.csv")
    rng = mu.Random.seeded(1)
    wanted = total(plan, ROWS, mu.Memory(), rng)

    assert wanted.n == 200
    for frame in (pd.DataFrame(ROWS), table, tmp_path / "rows.csv", tmp_path / "rows.parquet"):
        got = total(plan, frame, mu.Memory(threads=2), rng)
        assert got.n == 200 and (got.sum == wanted.sum).all()


def test_of_a_person_with_many_rows_the_first_are_read() -> None:
    rows = {"id": [1, 1, 1, None, 2], "smoker": ["yes", "no", "yes", "yes", "yes"]}
    plan = mu.Plan(mu.Histogram(SCHEMA["smoker"]), curator=LAPLACE, unit="id", rows_per_person=2)

    assert total(plan, rows, None, mu.Random.seeded(1)).sum.tolist() == [1, 2]


NAMES = [
    (UUID(int=1), UUID(int=2)),
    (Decimal("1.5"), Decimal("2.5")),
    (b"\xff", b"\xfe"),
    ("\ud800", "?"),
    ("01", "1"),
    (7, "007"),
    ("1", "1.0"),
    (Decimal("1.5"), "3/2"),
    (2**53, 2**53 + 1),
    ("9007199254740993", 2**53),
    (date(2020, 1, 1), date(2020, 1, 2)),
]


@pytest.mark.parametrize("names", NAMES, ids=str)
def test_two_people_have_two_names(names: tuple[Any, Any]) -> None:
    """Were they one, adding the first would leave out the second, and move the sum by two rows."""
    plan = mu.Plan(mu.Histogram(SCHEMA["smoker"]), curator=LAPLACE, unit="id", rows_per_person=1)
    one, other = names

    assert total(plan, {"id": [one, other], "smoker": ["no", "yes"]}, None, mu.Random.seeded(1)).sum.tolist() == [1, 1]
    assert total(plan, {"id": [one, one], "smoker": ["no", "yes"]}, None, mu.Random.seeded(1)).sum.tolist() == [1, 0]


def test_one_person_has_one_name_whatever_type_a_reader_gave_it() -> None:
    """pandas reads a large file in chunks: the ids of one may be numbers, and those of another, with a word, text."""
    plan = mu.Plan(mu.Histogram(SCHEMA["smoker"]), curator=LAPLACE, unit="id", rows_per_person=1)
    rows = {"id": [1, "1", b"1", "x", np.int64(1)], "smoker": ["no"] * 5}

    assert total(plan, rows, None, mu.Random.seeded(1)).sum.tolist() == [2, 0]


def test_one_and_one_point_nought_are_one_person_and_an_object_is_nobody() -> None:
    plan = mu.Plan(mu.Histogram(SCHEMA["smoker"]), curator=LAPLACE, unit="id", rows_per_person=1)
    rows = {"id": [1, 1.0, True, object(), [1], float("inf")], "smoker": ["no"] * 6}

    assert total(plan, rows, None, mu.Random.seeded(1)).sum.tolist() == [1, 0]


def test_names_in_another_encoding_stay_apart(tmp_path: Path) -> None:
    """A CSV in Latin-1, read as UTF-8: every letter that cannot be read keeps its own byte."""
    (tmp_path / "rows.csv").write_bytes(b"id,smoker\nJos\xe9,no\nJos\xe8,yes\nJos\xe9,yes\n" * 3)
    plan = mu.Plan(mu.Histogram(SCHEMA["smoker"]), curator=LAPLACE, unit="id", rows_per_person=1)

    assert total(plan, tmp_path / "rows.csv", None, mu.Random.seeded(1)).sum.tolist() == [1, 1]


def test_the_same_question_at_the_same_moment_is_paid_once(tmp_path: Path) -> None:
    """While one reads, another asks the same and pays; the first then hears that answer and is not charged."""
    path = tmp_path / "rows.csv"
    path.write_text("smoker\nno\nyes\n")
    ledger = mu.Ledger(tmp_path / "ledger.db")
    ledger.set_budget("people", epsilon=9.0)
    account = ledger.account("people")
    plan = mu.Plan(mu.Histogram(SCHEMA["smoker"]), curator=LAPLACE)
    other: list[mu.Release] = []

    class Slow(Engine):
        """An engine during whose work somebody else asks the same."""

        def total(self, step: Any, source: Any) -> Any:
            other.append(mu.run(plan, path, ledger=account))
            return mu.Memory().total(step, source)

    gate = Gate()
    mine = mu.run(plan, path, engine=Slow(), ledger=account, gate=gate)

    assert ledger.spent("people").charges == 1 and gate.answers == []
    assert repr(mine.estimate) == repr(other[0].estimate)


def asked_by(ledger: mu.Ledger, steps: Any) -> Any:
    """What a generator of plans returns, charged to an account."""
    cost = mu.Plan(mu.Histogram(SCHEMA["smoker"]), curator=LAPLACE).bound.cost
    return drive(steps, ROWS, None, LedgerRequest("name", "a test", cost), ledger.account("people"))


def test_an_error_after_an_answer_is_paid_for(tmp_path: Path) -> None:
    """Whether it fails, and what it says, may depend on the noisy answer: it is one more way to hear it."""
    ledger = mu.Ledger(tmp_path / "ledger.db")
    ledger.set_budget("people", epsilon=1.5)

    def steps() -> Any:
        found = yield mu.Plan(mu.Histogram(SCHEMA["smoker"]), curator=LAPLACE)
        raise ValueError(f"{found.n} people")

    with pytest.raises(ValueError, match="people"):
        asked_by(ledger, steps)
    assert ledger.spent("people").charges == 1
    with pytest.raises(mu.MurmureError, match="does not cover"):  # and not the learner's own words
        asked_by(ledger, steps)


def test_a_failure_on_an_answer_that_another_paid_for_is_not_heard(tmp_path: Path) -> None:
    """Its words would tell of an answer that nobody paid: it fails anew, on the answer in the ledger."""
    path = tmp_path / "rows.csv"
    path.write_text("smoker\nno\nyes\n")
    ledger = mu.Ledger(tmp_path / "ledger.db")
    ledger.set_budget("people", epsilon=9.0)
    plan = mu.Plan(mu.Histogram(SCHEMA["smoker"]), curator=mu.DiscreteLaplace(0.01))  # no two answers are alike
    fit, account = LedgerRequest("name", "a test", plan.bound.cost), ledger.account("people")

    def steps() -> Any:
        found = yield plan
        raise ValueError(f"{found.counts.tolist()}")

    class Slow(Engine):
        def total(self, step: Any, source: Any) -> Any:
            with pytest.raises(ValueError):
                drive(steps, path, None, fit, account)
            return mu.Memory().total(step, source)

    said = []
    for engine in (Slow(), None):
        with pytest.raises(ValueError) as error:
            drive(steps, path, engine, fit, account)
        said.append(str(error.value))
    assert said[0] == said[1] and ledger.spent("people").charges == 1


def test_a_protected_run_asks_nothing_in_the_clear(tmp_path: Path) -> None:
    ledger = mu.Ledger(tmp_path / "ledger.db")
    ledger.set_budget("people", epsilon=1.5)

    def steps() -> Any:
        return (yield mu.Plan(mu.Histogram(SCHEMA["smoker"])))

    with pytest.raises(PlanRefused, match="in the clear, in a run that should cost"):
        asked_by(ledger, steps)


def test_an_unpaid_answer_is_forgotten(tmp_path: Path) -> None:
    """The budget is enough when it is asked first, and gone when it is asked again: nothing stays in the gate."""
    ledger = mu.Ledger(tmp_path / "ledger.db")
    ledger.set_budget("people", epsilon=1.5)
    account = ledger.account("people")
    plan = mu.Plan(mu.Histogram(SCHEMA["smoker"]), curator=LAPLACE)

    class Slow(dict[str, Any]):
        """A table during whose reading somebody else spends the budget."""

        def __getitem__(self, name: str) -> Any:
            if not ledger.spent("people").charges:
                mu.run(plan, {"smoker": ["no"]}, ledger=account)
            return super().__getitem__(name)

    gate = Gate()
    with pytest.raises(mu.MurmureError, match="does not cover"):
        mu.run(plan, Slow(ROWS), ledger=account, gate=gate)
    assert gate.answers == [] and ledger.spent("people").charges == 1


def test_the_declared_constant_stands_for_a_missing_number() -> None:
    plan = mu.Plan(mu.Sum(SCHEMA["income"]), curator=LAPLACE)
    missing, said = (total(plan, {"income": [v]}, None, mu.Random.seeded(1)).sum for v in (None, 100.0))

    assert (missing == said).all()


# ---- the gate


def test_the_true_number_of_rows_is_nowhere_in_a_release() -> None:
    """Nothing but the noisy answer is read: a release can be made from the answer alone."""
    plan = mu.Plan(mu.Histogram(SCHEMA["smoker"]), curator=LAPLACE)
    gate = Gate(mu.Random.seeded(3))
    release = mu.run(plan, ROWS, gate=gate)

    assert release.seeded
    assert repr(release) == repr(plan.release_answer(gate.answers[0].answer, seeded=True))


def test_the_gate_takes_whole_numbers_only() -> None:
    plan = mu.Plan(mu.Histogram(SCHEMA["smoker"]), curator=LAPLACE)
    for vector in (np.array([1.0, 2.0]), np.array([1, 2, 3]), np.array([1, 2], np.int32)):
        with pytest.raises(TypeError, match="whole numbers"):
            Gate(mu.Random.seeded(1)).add("x", vector, plan.bound)  # type: ignore[arg-type]
