"""Learners between parties: what they learn is what the tables in one would have taught, and nobody pooled them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import murmure as mu
from murmure.core.errors import BudgetExhausted, InvalidParameter, MissingColumn, OutsideDomain, PlanRefused
from murmure.learn import KMeans, LinearRegression, LogisticRegression, NaiveBayes, load_model, save_model
from murmure.secure.errors import OutOfBound, TooFewParties

SCHEMA = mu.Schema(
    {
        "age": mu.Integers(18, 90),
        "bmi": mu.Interval(15.0, 45.0, cells=60),
        "smoker": mu.Categories(["no", "once", "daily"]),
        "sick": mu.Categories(["no", "yes"]),
    }
)
NUMBERS = mu.Schema({name: SCHEMA[name] for name in ("age", "bmi")})


def table(i: int, n: int) -> dict[str, list[Any]]:
    """Rows by a rule, so that every party's differ."""
    ages = [18 + (37 * k + 11 * i) % 73 for k in range(n)]
    return {
        "age": ages,
        "bmi": [15.0 + ((17 * k + 5 * i + k * k) % 60 + 0.5) / 2 for k in range(n)],
        "smoker": [("no", "once", "daily")[(k * k + i) % 3] for k in range(n)],
        "sick": ["yes" if age + 29 * (k % 3) > 70 else "no" for k, age in enumerate(ages)],
    }


TABLES = [table(0, 40), table(1, 25), table(2, 61), table(3, 7)]
MAKERS: dict[str, Any] = {
    "naive Bayes": lambda p, **more: NaiveBayes(SCHEMA, "sick", p, **more),
    "naive Bayes, three classes": lambda p, **more: NaiveBayes(SCHEMA, "smoker", p, split="equal", **more),
    "linear": lambda p, **more: LinearRegression(SCHEMA, "bmi", p, **more),
    "linear, diamond": lambda p, **more: LinearRegression(
        SCHEMA, "age", p, shape="diamond", fit_intercept=False, **more
    ),
    "logistic": lambda p, **more: LogisticRegression(SCHEMA, "sick", p, **more),
    "logistic, three classes": lambda p, **more: LogisticRegression(SCHEMA, "smoker", p, **more),
    "k-means": lambda p, **more: KMeans(3, NUMBERS, p, **more),
    "k-means, units": lambda p, **more: KMeans(2, NUMBERS, p, metric="units", **more),
}
ONLY_THERE = {"guarantees_", "plans_", "parties_", "present_", "labels_", "inertia_"}


def pooled(tables: list[Any]) -> dict[str, list[Any]]:
    return {name: [v for t in tables if t is not None for v in t[name]] for name in SCHEMA.private}


def learned(learner: Any) -> dict[str, Any]:
    """All that it learned, as plain values that compare to the last bit."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: plain(held) for name, held in value.items()}
        return value.tolist() if hasattr(value, "tolist") else value

    return {n: plain(v) for n, v in vars(learner).items() if n.endswith("_") and n not in ONLY_THERE}


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("gone", [(), (1,)], ids=["all", "one vanished"])
def test_between_parties_is_learned_what_the_pooled_rows_teach(name: str, gone: tuple[int, ...]) -> None:
    """Every coefficient, centre, count and share, to the last bit, and the same predictions."""
    tables = [None if i in gone else t for i, t in enumerate(TABLES)]
    made = MAKERS[name](mu.Secure(rows_are_public=True)).fit(tables)
    alone = MAKERS[name](mu.Clear()).fit(pooled(tables))

    assert learned(made) == learned(alone)
    assert made.predict(TABLES[3]).tolist() == alone.predict(TABLES[3]).tolist()
    assert (made.parties_, made.present_) == (4, 4 - len(gone)) and len(made.plans_) >= 1
    assert "labels_" not in vars(made) and "inertia_" not in vars(made)  # functions of rows that nobody saw together


@pytest.mark.parametrize("name", MAKERS)
def test_exact_sums_protect_nobody_and_hide_the_parts(name: str) -> None:
    made = MAKERS[name](mu.Secure(colluders=1, coordinator="lying", rows_are_public=True)).fit(TABLES)
    seen = made.guarantees_

    assert list(seen) == ["whoever ran it", "coordinator", "1 colluding party", "reader"]
    assert all(math.isinf(c.epsilon) for c in seen.values()) and math.isinf(made.spent_.epsilon)
    assert "1 of the 4 parties" in (seen["coordinator"].hides or "") and seen["reader"].hides is None
    assert not made.seeded_
    assert "different lists to different parties" in (seen["coordinator"].hides or "")
    said = " ".join(made.summary().split())
    assert "parties: 4; masked sums" in said and "the sum is exact" in said and "coordinator and 1 colluding" in said
    assert "parties=4" in repr(made) and "parties" not in repr(MAKERS[name](mu.Secure(rows_are_public=True)))
    assert "1 vanished" in " ".join(
        MAKERS[name](mu.Secure(rows_are_public=True)).fit([*TABLES, None]).summary().split()
    )


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_noise_in_shares_costs_what_was_asked(name: str, delta: float) -> None:
    """The same questions and the same noise as at a curator, thrown by the parties; costs add up to no more."""
    privacy = mu.Secure(epsilon=4.0, delta=delta, rows=1000)
    made = MAKERS[name](privacy, rng=mu.Random.seeded(7)).fit(TABLES)
    seen = made.guarantees_
    first = next(MAKERS[name](privacy)._steps(made.schema_, privacy.for_parties(4)))
    alone = next(MAKERS[name](privacy)._steps(made.schema_, mu.Central(4.0, delta)))

    assert (first.statistic, first.curator, first.relation) == (alone.statistic, alone.curator, alone.relation)
    assert first.bound.sensitivities() == alone.bound.sensitivities() and first.bound.honest == 2
    assert list(seen) == ["whoever ran it", "coordinator", "1 colluding party", "reader"] and made.seeded_
    ran, *others = seen.values()
    assert math.isinf(ran.epsilon) and all(3.9 < c.epsilon <= 4.0 and c.delta == delta for c in others)
    assert made.spent_.epsilon <= 4.0 if delta == 0 else made.spent_.rho <= mu.Central(4.0, delta).rho
    assert len(made.plans_) == len(made.answers_) and made.plans_[0] == first.digest
    assert "at least 2 parties are honest" in " ".join(made.summary().split())


def test_a_ledger_is_charged_for_noise_between_parties(tmp_path: Path) -> None:
    """Once: the same question is heard again without looking at a table."""
    ledger = mu.Ledger(tmp_path / "ledger.db")
    ledger.set_budget("patients", epsilon=5.0)
    account = ledger.account("patients", fingerprint="the tables of four hospitals")
    made = MAKERS["linear"](mu.Secure(epsilon=3.0, rows=1000), ledger=account).fit(TABLES)
    again = MAKERS["linear"](mu.Secure(epsilon=3.0, rows=1000), ledger=account).fit(TABLES)

    assert made.coef_.tolist() == again.coef_.tolist() and made.answers_ == again.answers_
    with pytest.raises(BudgetExhausted):  # of fewer parties it is another question, with another noise
        MAKERS["linear"](mu.Secure(epsilon=3.0, rows=1000), ledger=account).fit(TABLES[:3])
    with pytest.raises(BudgetExhausted):
        MAKERS["linear"](mu.Secure(epsilon=2.5, rows=1000), ledger=account).fit(TABLES)


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize(
    "privacy", [mu.Secure(rows_are_public=True), mu.Secure(epsilon=3.0, rows=1000)], ids=["exact", "noise"]
)
def test_a_model_of_parties_is_saved_and_read(name: str, privacy: Any, tmp_path: Path) -> None:
    """With how many there were, and what was hidden from whom."""
    made = MAKERS[name](privacy).fit(TABLES)
    loaded: Any = load_model(save_model(made, tmp_path / "model.json"))

    assert loaded.summary() == made.summary() and loaded.parties_ == 4 and loaded.privacy == privacy
    assert loaded.predict(TABLES[0]).tolist() == made.predict(TABLES[0]).tolist()
    assert loaded.guarantees_["coordinator"].hides == made.guarantees_["coordinator"].hides


def test_what_is_no_list_of_tables_is_refused() -> None:
    """Before a row is read: bounds are public between parties, and each party holds its own target."""
    make = MAKERS["linear"]
    with pytest.raises(InvalidParameter, match="schema is missing"):
        LinearRegression(None, "bmi", mu.Secure(rows_are_public=True)).fit(TABLES)
    for wrong in (TABLES[0], "people.csv", [[[1, 2], [3, 4]]] * 3, [np.zeros((3, 3))] * 3):
        with pytest.raises(InvalidParameter, match="a list of tables"):
            make(mu.Secure(rows_are_public=True)).fit(wrong)
    with pytest.raises(InvalidParameter, match="own table"):
        make(mu.Secure(rows_are_public=True)).fit(TABLES, [t["bmi"] for t in TABLES])
    with pytest.raises(InvalidParameter, match="at least 3"):
        make(mu.Secure(rows_are_public=True)).fit(TABLES[:2])
    with pytest.raises(InvalidParameter, match="there are 4 tables"):
        make(mu.Secure(parties=5)).fit(TABLES)
    with pytest.raises(InvalidParameter, match="needs delta > 0"):
        LinearRegression(SCHEMA, "bmi", mu.Secure(epsilon=1.0), method="adassp").fit(TABLES)
    with pytest.raises(InvalidParameter, match="does not cover"):
        NaiveBayes(SCHEMA, "sick", mu.Secure(epsilon=0.5), split="vaidya").fit(TABLES)
    with pytest.raises(InvalidParameter, match="two classes"):
        LogisticRegression(SCHEMA, "smoker", mu.Secure(epsilon=1.0), method="gradient").fit(TABLES)
    with pytest.raises(PlanRefused, match="rows could exceed"):
        make(mu.Secure(epsilon=1.0, rows=1 << 48)).fit(TABLES)


def test_what_is_wrong_at_one_party_is_said_with_its_number() -> None:
    """Nothing is moved to a bound between parties: whoever holds the row is told which one it is."""
    bad = {**table(1, 3), "age": [20, 30, 140]}
    for privacy in (mu.Secure(rows_are_public=True), mu.Secure(epsilon=1.0, rows=1000)):
        with pytest.raises(OutsideDomain, match=r"party 2: .*row 2"):
            MAKERS["k-means"](privacy).fit([TABLES[0], bad, TABLES[2]])
        with pytest.raises(MissingColumn, match="party 3"):
            MAKERS["naive Bayes"](privacy).fit([*TABLES[:2], {"age": [20]}])
    with pytest.raises(OutOfBound, match="party 1"):
        MAKERS["linear"](mu.Secure(rows=30)).fit(TABLES)
    with pytest.raises(TooFewParties):
        MAKERS["linear"](mu.Secure(rows_are_public=True)).fit([None, None, *TABLES[2:]])


def test_a_gradient_between_parties_takes_its_public_steps() -> None:
    """The parabola and then so many gradients, each with its share of the budget."""
    privacy = mu.Secure(epsilon=8.0, rows=1000, rows_are_public=True)
    made = LogisticRegression(SCHEMA, "sick", privacy, method="gradient", steps=2, rng=mu.Random.seeded(1)).fit(TABLES)

    assert len(made.plans_) == 3 and made.guarantees_["reader"].epsilon <= 8.0
    assert "3 answers add up" in made.guarantees_["1 colluding party"].method
