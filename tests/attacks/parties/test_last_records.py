"""Reconstruction: all integer rows with given sums, found and counted as brute force finds them."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import murmure as mu
from murmure.attacks import reconstruction
from murmure.attacks.base.table_rows import TableRows
from murmure.attacks.parties.last_records import _unless_ignored
from murmure.attacks.parties.sums_of_rows.best_rows import (
    best_among_tables,
    best_independent,
    log_shares,
    table_weights,
)
from murmure.attacks.parties.sums_of_rows.colluders import RegressionSums
from murmure.attacks.parties.sums_of_rows.integer_rows import (
    ColumnBounds,
    TooManySolutions,
    rows_with,
    sorted_columns,
)
from murmure.cli import main

G = np.random.default_rng(11)
SCHEMA = mu.Schema({"age": mu.Integers(18, 99), "stay": mu.Integers(0, 60), "ward": mu.Categories(["A", "B", "C"])})
ROWS: dict[str, Any] = {
    "age": G.integers(18, 100, 90).tolist(),
    "stay": G.integers(0, 61, 90).tolist(),
    "ward": G.choice(["A", "B", "C"], 90).tolist(),
}


@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_brute_force_finds_the_same_tables(m: int) -> None:
    """All multisets of rows of a small domain, with negative numbers, tied rows and impossible sums among them."""
    space = list(itertools.product(range(-1, 3), range(0, 3)))
    tables = [np.c_[np.ones(m, int), np.array(rows)] for rows in itertools.combinations_with_replacement(space, m)]
    by_gram: dict[Any, set[Any]] = {}
    for table in tables:
        gram = table.T @ table
        by_gram.setdefault(gram.tobytes(), set()).add(tuple(sorted(map(tuple, table.tolist()))))
    bounds = [ColumnBounds(1, 1), ColumnBounds(-1, 2), ColumnBounds(0, 2)]
    for i in G.choice(len(tables), min(40, len(tables)), replace=False):
        gram = tables[i].T @ tables[i]
        found = {tuple(map(tuple, table.tolist())) for table in rows_with(gram, m, bounds)}

        assert found == by_gram[gram.tobytes()]
    assert not len(rows_with(gram + np.eye(3, dtype=np.int64) * np.array([0, 7, 0]), m, bounds))
    assert not len(rows_with(gram + np.diag([1, 0, 0]), m, bounds))


@pytest.mark.parametrize("m", [1, 2, 3, 5])
def test_a_column_lies_on_a_sphere(m: int) -> None:
    every = [c for c in itertools.combinations_with_replacement(range(-2, 4), m) if sum(c) == 3]
    for squares in range(3, 30):
        expected = sorted(c for c in every if sum(v * v for v in c) == squares)

        assert sorted(map(tuple, sorted_columns(m, 3, squares, ColumnBounds(-2, 3)).tolist())) == expected


def test_a_search_that_would_not_end_gives_up() -> None:
    with pytest.raises(TooManySolutions):
        sorted_columns(8, 4 * 10**4, 3 * 10**8, ColumnBounds(0, 10**4))


def test_one_row_is_read_off_and_few_rows_are_found() -> None:
    """With an outcome and three columns: one table fits for every repetition up to three rows."""
    found = reconstruction(ROWS, SCHEMA, "stay ~ age + ward", (1, 2, 3), repetitions=4, rng=mu.Random.seeded(1))

    assert [row.value for row in found.rows[:3]] == [1.0, 1.0, 1.0]
    assert found.details["solutions"] == {"1": [1] * 4, "2": [1] * 4, "3": [1] * 4}
    assert found.details["refused"] == {"1": True, "2": True, "3": True}  # a ward picks out single rows
    assert all(row.value == row.baseline for row in found.rows[3:6])


def test_more_rows_leave_more_open() -> None:
    """Two columns and five rows: many tables fit, and a guess among them is mostly wrong."""
    found = reconstruction(ROWS, SCHEMA, "stay ~ age", (1, 5), repetitions=6, rng=mu.Random.seeded(1))

    hidden = found.details["hidden_from"]
    assert hidden and any(f"fit the sums from {hidden} honest rows on" in note for note in found.notes)
    assert found.rows[0].value == 1.0 > 0.5 > found.rows[1].value
    assert all(n > 1 for n in found.details["solutions"]["5"])
    assert found.details["refused"] == {"1": False, "5": False}  # no condition: the rules do not see it


def test_the_masked_sum_is_the_sum_that_is_attacked() -> None:
    """Two of three parties collude; the third has two rows. The release of the protocol, less their rows."""
    rows = TableRows.read(mu.Schema({n: SCHEMA[n] for n in ("age", "stay")}), ROWS)
    sums, honest = RegressionSums(rows, "stay ~ age"), np.array([4, 17])
    others = np.delete(np.arange(90), honest)
    tables = [rows.take(part).table for part in (honest, others[:40], others[40:])]
    release = mu.run(mu.Plan(sums.question, parties=mu.PairwiseMasks(3)), tables)
    whole = np.array([[int(v) for v in line] for line in release.estimate.matrix])
    theirs = sums.values[others]
    gram = whole - theirs.T @ theirs

    assert (gram == sums.honest_gram(honest)).all()
    (table,) = rows_with(gram, 2, sums.bounds)
    assert sorted(map(tuple, table.tolist())) == sorted(map(tuple, sums.values[honest].tolist()))


def test_noise_stops_it() -> None:
    found = reconstruction(ROWS, SCHEMA, "stay ~ age", 1, (1.0, 1e6), repetitions=5, rng=mu.Random.seeded(3))
    value = {str(row.attacker): row.value for row in found.rows}

    assert value["the exact sums"] == 1.0 and value["epsilon = 1"] < 0.5 and value["epsilon = 1e+06"] == 1.0


def test_noisy_sums_that_mislead_are_ignored() -> None:
    """A guess by noisy sums that loses to the baseline is not made: seed and table are such that it would lose."""
    g = np.random.default_rng(3)
    usual = g.random(300) < 0.5
    rows = {"age": np.where(usual, 40, g.integers(18, 58, 300)), "stay": np.where(usual, 5, g.integers(0, 61, 300))}
    schema = mu.Schema({"age": mu.Integers(18, 97), "stay": mu.Integers(0, 60)})
    lost = _unless_ignored("epsilon = 1", [0.1, 0.2], 0.4, 2)
    found = reconstruction(rows, schema, "stay ~ age", (1, 2, 4), (3.0, 30.0), 6, rng=mu.Random.seeded(4))

    assert (lost.value, lost.repetitions) == (0.4, None) and _unless_ignored("e", [0.5, 0.6], 0.4, 2).repetitions == 2
    assert all(row.value >= row.baseline for row in found.rows if str(row.attacker).startswith("epsilon"))
    assert any("ignores them" in note for note in found.notes)


def test_few_values_are_never_many_tables() -> None:
    """Two columns of two values: the sums say how often each of the four rows comes, whatever their number."""
    schema = mu.Schema({"x": mu.Integers(0, 1), "y": mu.Integers(0, 1)})
    found = reconstruction(
        {"x": [0, 1] * 10, "y": [0, 1, 1, 0] * 5}, schema, "y ~ x", 8, repetitions=2, rng=mu.Random.seeded(1)
    )

    assert found.details["hidden_from"] is None and found.rows[0].value == 1.0
    assert any(note.startswith("Even 1000 honest rows leave few tables open") for note in found.notes)


def test_sums_are_never_worse_than_no_sums() -> None:
    """Half of the rows are alike: several tables fit, and guessing among them evenly would lose to that row."""
    g = np.random.default_rng(3)
    usual = g.random(300) < 0.5
    rows = {"x": np.where(usual, 4, g.integers(0, 10, 300)), "y": np.where(usual, 5, g.integers(0, 10, 300))}
    schema = mu.Schema({"x": mu.Integers(0, 9), "y": mu.Integers(0, 9)})
    found = reconstruction(rows, schema, "y ~ x", (4, 6), (2.0, 500.0), repetitions=40, rng=mu.Random.seeded(1))
    share = ((rows["x"] == 4) & (rows["y"] == 5)).mean()

    assert all(row.value > row.baseline for row in found.rows[:4])
    assert all((row.high or row.value) >= row.baseline for row in found.rows)
    assert max(found.details["solutions"]["6"]) > 5
    assert all(share - 1e-9 <= row.baseline <= 1.2 * share for row in found.rows)  # a second guess adds little


def test_the_best_guess_is_that_of_all_guesses() -> None:
    """Hits on average over weighed tables, for every multiset of rows that could be guessed."""
    tables = np.sort(G.integers(0, 4, (7, 3)), axis=1)[:, :, None]
    weights = G.dirichlet(np.ones(7))

    def hits(guess: Any) -> float:
        overlap = [sum(min(list(guess).count(v), list(t[:, 0]).count(v)) for v in range(4)) for t in tables]
        return float(weights @ overlap)

    best = max(hits(guess) for guess in itertools.combinations_with_replacement(range(4), 3))
    assert hits(best_among_tables(tables, weights)[:, 0]) == pytest.approx(best)
    chances = np.array([0.5, 0.3, 0.2])
    orders = list(itertools.product(range(3), repeat=3))
    drawn = np.array([np.prod(chances[list(order)]) for order in orders])
    best = max(
        float(drawn @ [sum(min(guess.count(v), order.count(v)) for v in range(3)) for order in orders]) / 3
        for guess in itertools.combinations_with_replacement(range(3), 3)
    )
    assert best_independent(chances, 3)[1] == pytest.approx(best)


def test_tables_are_weighed_by_the_rows_of_the_others() -> None:
    """Rows that come often, times the orders that a table can have: 2 for two different rows."""
    known = np.array([[1, 0]] * 6 + [[1, 1]] * 3 + [[1, 2]])
    tables = np.array([[[1, 0], [1, 0]], [[1, 0], [1, 1]], [[1, 1], [1, 1]], [[1, 3], [1, 3]]])
    f = np.exp(log_shares(known, np.array([[1, 0], [1, 1], [1, 3]])))
    expected = np.array([f[0] ** 2, 2 * f[0] * f[1], f[1] ** 2, f[2] ** 2])

    assert table_weights(tables, known) == pytest.approx(expected / expected.sum())
    assert f[0] > f[1] > f[2] > 0


PIMA = Path(__file__).parents[4] / "shared" / "data" / "diabetes.csv"


@pytest.mark.skipif(not PIMA.exists(), reason="needs ../shared/data/diabetes.csv")
def test_pima() -> None:
    """Three women of 768, by a regression on their age and pregnancies: one table fits, every time."""
    schema = mu.Schema({"Glucose": mu.Integers(0, 200), "Age": mu.Integers(18, 90), "Pregnancies": mu.Integers(0, 20)})
    found = reconstruction(PIMA, schema, "Glucose ~ Age + Pregnancies", 3, repetitions=4, rng=mu.Random.seeded(1))

    assert found.rows[0].value == 1.0 and found.details["solutions"] == {"3": [1] * 4}


def test_there_are_more_tables_than_sums() -> None:
    """The bound against an enumeration: tables / different sums, of all multisets of two rows of a small domain."""
    schema = mu.Schema({"x": mu.Integers(0, 2), "y": mu.Integers(0, 2)})
    sums = RegressionSums(TableRows.read(schema, {"x": [0, 1, 2, 0], "y": [0, 2, 1, 2]}), "y ~ x")
    for m in (1, 2, 3):
        tables = list(itertools.combinations_with_replacement(itertools.product(range(3), repeat=2), m))
        grams = {(np.c_[np.ones(m, int), t].T @ np.c_[np.ones(m, int), t]).tobytes() for t in tables}

        assert sums.least_ambiguity(m) <= np.log2(len(tables) / len(grams)) + 1e-9


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"honest": 0}, "honest must be a whole number from 1"),
        ({"honest": 9}, "at most 8"),
        ({"honest": 1.5}, "honest must be a whole number"),
        ({"formula": "stay ~ 0 + age"}, "no intercept"),
        ({"formula": "stay ~ nothing"}, "no column|nothing'"),
        ({"formula": "stay ~ "}, "nothing is on the right"),
        ({"repetitions": 0}, "repetitions must be"),
        ({"data": {name: column[:1] for name, column in ROWS.items()}}, "the colluders need some"),
    ],
)
def test_bad_input(settings: dict[str, Any], message: str) -> None:
    given = {"data": ROWS, "schema": SCHEMA, "formula": "stay ~ age", "honest": 1, "repetitions": 1, **settings}
    with pytest.raises(mu.MurmureError, match=message):
        reconstruction(**given)


def test_command(tmp_path: Path) -> None:
    table, schema, page = tmp_path / "t.csv", tmp_path / "s.toml", tmp_path / "p.html"
    table.write_text("\n".join([",".join(ROWS), *(",".join(map(str, r)) for r in zip(*ROWS.values(), strict=True))]))
    schema.write_text(SCHEMA.to_toml())
    words = ["attack", "reconstruct", "stay ~ age", str(table), "--schema", str(schema)]
    more = ["--honest", "1,2", "--repetitions", "2", "--seed", "1", "--json", "--html", str(page)]
    ran = CliRunner().invoke(main, [*words, *more])

    assert ran.exit_code == 0, ran.output
    assert [row["value"] for row in json.loads(ran.output)["rows"][:2]] == [1.0, 1.0] and "<svg" in page.read_text()
    assert "a formula" in CliRunner().invoke(main, ["attack", "reconstruct"]).output
    assert "whole number" in CliRunner().invoke(main, [*words, "--honest", "1.5"]).output
