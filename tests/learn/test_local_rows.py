"""Learning from randomised rows: as they are, and from unbiased tables. Seeded; failure rates stand in the tests."""

from __future__ import annotations

import numpy as np
import pytest

import murmure as mu
from murmure.core.domain import Categories, Integers, Interval
from murmure.core.errors import InvalidParameter
from murmure.core.random import Random
from murmure.core.schema import Schema
from murmure.learn.local_rows import BINS, binned, class_tables, row_mechanism, sanitised_rows
from murmure.learn.naive_bayes import NaiveBayes
from murmure.plan.privacy import Clear, Local
from murmure.statistics.learning.class_moments import ClassMoments, summary_of_tables
from murmure.statistics.learning.class_pairs import ClassPairs

SCHEMA = Schema(
    {
        "x": Interval(-2.0, 10.0, cells=64),
        "age": Integers(18, 90),
        "c": Categories(["u", "v", "w"]),
        "y": Categories(["A", "B"]),
    }
)


def people(n: int, seed: int = 1) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(seed)
    y = (draw.random(n) < 0.4).astype(int)
    return {
        "x": np.clip(draw.normal(2 + 4 * y, 1.5), -2, 10),
        "age": np.clip(np.rint(draw.normal(40 + 15 * y, 8)), 18, 90).astype(int),
        "c": np.array(["u", "v", "w"])[np.where(draw.random(n) < 0.5, 2 * y, draw.integers(0, 3, n))],
        "y": np.array(["A", "B"])[y],
    }


ROWS, TEST = people(20_000), people(3_000, 2)


# -- rows as a recipient sees them


def test_the_lecture_s_choice_is_staircase_and_randomised_response():
    names = [type(part).__name__ for part in row_mechanism(SCHEMA, Local(1.0)).parts]
    assert names == ["BoundedStaircase", "BoundedStaircase", "GRR", "GRR"]

    named = row_mechanism(SCHEMA, Local(1.0, mechanism="BoundedLaplace"))
    assert [type(part).__name__ for part in named.parts] == ["BoundedLaplace", "BoundedLaplace", "GRR", "GRR"]

    some = row_mechanism(SCHEMA, Local(1.0, mechanism={"x": "Window"}))
    assert [type(part).__name__ for part in some.parts][:2] == ["Window", "BoundedStaircase"]


@pytest.mark.parametrize("mechanism", [None, "BoundedLaplace", "Piecewise", "Duchi", {"x": "SquareWave"}])
def test_sanitised_rows_fit_the_schema_and_cost_what_was_asked_for(mechanism):
    table, guarantees = sanitised_rows(SCHEMA, people(500), Local(2.0, mechanism), Random.seeded(1))
    codes = SCHEMA.encode(table)  # refuses what lies outside

    assert len(codes[0]) == 500
    assert guarantees["collector"].epsilon <= 2.0
    assert guarantees["reader"].relation == "replace"


def test_mechanisms_that_do_not_fit_are_refused():
    for wrong in ("OUE", "Nothing", {"c": "Piecewise"}, {"z": "GRR"}, 3):
        with pytest.raises(InvalidParameter, match=r"Local\.mechanism"):
            NaiveBayes(SCHEMA, "y", Local(1.0, wrong, debias=False)).fit(people(20))
    with pytest.raises(InvalidParameter, match=r"Local\.mechanism"):
        NaiveBayes(SCHEMA, "y", Local(1.0, "BoundedStaircase", debias=True)).fit(people(20))


# -- unbiased tables


def test_numbers_are_cut_into_public_bins():
    cut = binned(SCHEMA, "y")

    assert [cut[name].size for name in cut.private] == [BINS, BINS, 3, 2]
    assert cut["age"].encode([18, 90]).tolist() == [0, BINS - 1]
    few = Schema({"n": Integers(0, 3), "y": Categories(2)})
    assert binned(few, "y")["n"] == few["n"]


def test_decimals_of_many_values_are_cut_into_bins_and_the_target_is_not():
    """Each bin holds as many decimals, whose ends lie half a step outside; a constant for missing ones is a float."""
    price, column = mu.Decimals(0, "9.99", 2), mu.Column(mu.Decimals(0, "9.99", 2), "constant", "1.25")
    cut = binned(mu.Schema({"price": column, "few": mu.Decimals(0, "0.9", 1), "y": price}), "y", bins=10)

    assert (cut["price"].low, cut["price"].high, cut["price"].cells) == pytest.approx((-0.005, 9.995, 10))
    assert cut.column_specs["price"].missing_value == 1.25
    assert cut["few"] == mu.Decimals(0, "0.9", 1, column="few") and cut["y"] == mu.Decimals(0, "9.99", 2, column="y")
    assert np.bincount(cut["price"].encode(np.arange(1000) / 100)).tolist() == [100] * 10


def test_exact_tables_give_the_exact_moments():
    """Where a number has fewer values than bins, nothing is lost by cutting."""
    schema = Schema({"n": Integers(0, 4), "c": Categories(3), "y": Categories(2)})
    draw = np.random.default_rng(4)
    rows = {"n": draw.integers(0, 5, 500), "c": draw.integers(0, 3, 500), "y": draw.integers(0, 2, 500)}
    ask, pairs = ClassMoments(schema, "y"), ClassPairs(schema, "y")
    codes = schema.encode(rows)
    shares = pairs.interpret_exact(pairs.tally(codes), 500)
    tables = {name: 500 * shares[name].mean.reshape(2, -1) for name in ("n", "c")}
    got = summary_of_tables(ask, tables, {name: np.zeros_like(t) for name, t in tables.items()})
    wanted = ask.interpret_exact(ask.tally(codes), 500)

    assert np.allclose(got.counts, wanted.counts)
    assert np.allclose(got.theta, wanted.theta)
    assert np.allclose(got.var, wanted.var)
    assert np.allclose(got.tables[0], wanted.tables[0])


@pytest.mark.parametrize("mechanism", [None, "GRR", "OUE", {"x": "SubsetSelection", "y": "GRR"}])
def test_tables_are_unbiased_and_their_noise_is_known(mechanism):
    """Means of 40 runs lie within 4.5 of their own standard errors: 12 figures, failure rate below 1e-4. Seeded."""
    ask = ClassMoments(SCHEMA, "y")
    exact = ask.interpret_exact(ask.tally(SCHEMA.encode(people(3000))), 3000)
    runs = [class_tables(ask, people(3000), Local(6.0, mechanism), Random.seeded(s))[0] for s in range(40)]
    counts = np.array([run.counts for run in runs])
    table = np.array([run.tables[0] for run in runs])
    for got, wanted in ((counts, exact.counts), (table, exact.tables[0])):
        error = got.std(axis=0, ddof=1) / np.sqrt(len(runs))
        assert (np.abs(got.mean(axis=0) - wanted) <= 4.5 * error).all()
    # the stated noise of a cell, against what it was: a chi-squared of 39, averaged over six cells
    ratio = table.var(axis=0, ddof=1).mean() / np.mean([run.table_noise[0] for run in runs])
    assert 0.6 < ratio < 1.5


@pytest.mark.parametrize("privacy", [Local(1.0), Local(1.0, "GRR"), Local(1.0, debias=False)], ids=repr)
def test_every_way_costs_epsilon_for_the_whole_record(privacy):
    model = NaiveBayes(SCHEMA, "y", privacy, rng=Random.seeded(1)).fit(people(300))

    assert set(model.guarantees_) >= {"collector", "reader"}
    record = [c for c in model.guarantees_.values() if c.unit == "record"]
    assert all(1.0 - 1e-6 < c.epsilon <= 1.0 for c in record)
    assert model.seeded_


def test_debiased_pairs_beat_the_rows_as_they_are():
    """The lecture's comparison, 20 000 people at epsilon 2: clear, debiased, as they are. Seeded."""
    clear = NaiveBayes(SCHEMA, "y", Clear()).fit(ROWS).score(TEST)
    debiased = NaiveBayes(SCHEMA, "y", Local(2.0), rng=Random.seeded(5)).fit(ROWS).score(TEST)
    as_they_are = NaiveBayes(SCHEMA, "y", Local(2.0, debias=False), rng=Random.seeded(5)).fit(ROWS).score(TEST)

    assert clear > 0.9
    assert debiased > clear - 0.05
    assert debiased > as_they_are


def test_rows_of_strangers_are_refused_at_the_person():
    with pytest.raises(ValueError, match="row 1"):
        NaiveBayes(SCHEMA, "y", Local(1.0)).fit({**people(3), "x": np.array([0.0, 99.0, 1.0])})
