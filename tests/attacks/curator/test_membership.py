"""Membership inference: the exact likelihood ratio, its bound, and shadow models."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import murmure as mu
from murmure.attacks import membership_inference
from murmure.attacks.curator.learner_games.likelihood_gate import log_ratio
from murmure.attacks.curator.learner_games.shadow_fits import NormalRatio, area_under_curve
from murmure.cli import main
from murmure.core.blocks import Block
from murmure.learn import KMeans, LinearRegression, LogisticRegression, NaiveBayes
from murmure.learn.base import Learner

G = np.random.default_rng(3)
SCHEMA = mu.Schema({"age": mu.Integers(0, 100), "pay": mu.Integers(0, 50), "sick": mu.Categories(["no", "yes"])})
ROWS: dict[str, Any] = {
    "age": G.integers(0, 101, 60).tolist(),
    "pay": G.integers(0, 51, 60).tolist(),
    "sick": G.choice(["no", "yes"], 60).tolist(),
}
LEARNERS: dict[str, Any] = {
    "naive-bayes": NaiveBayes(SCHEMA, target="sick"),
    "linear": LinearRegression(SCHEMA, target="pay"),
    "logistic": LogisticRegression(SCHEMA, target="sick"),
    "kmeans": KMeans(2, mu.Schema({n: SCHEMA[n] for n in ("age", "pay")})),
}


def rows_of(learner: Any) -> dict[str, Any]:
    return {name: ROWS[name] for name in learner.schema}


@pytest.mark.parametrize("name", LEARNERS)
def test_no_likelihood_ratio_exceeds_epsilon(name: str) -> None:
    """So no chance exceeds the bound, with the extreme row or an ordinary one; and in the clear everything shows."""
    learner = LEARNERS[name]
    for target in (None, 5):
        found = membership_inference(learner, rows_of(learner), 1.0, "table", target, 6, rng=mu.Random.seeded(1))
        value = {str(row.attacker): row.value for row in found.rows}

        assert value["without noise"] == 1.0
        assert 0.5 <= value["likelihood ratio, chances"] <= value["most that epsilon allows"] + 1e-9
        assert value["most that epsilon allows"] == pytest.approx(math.e / (1 + math.e))


class OneCount(Learner):
    """A learner of the number of rows: its answers have a law that a test can write down."""

    kind = "clusterer"

    def __init__(
        self, schema: Any = None, privacy: Any = None, engine: Any = None, ledger: Any = None, rng: Any = None
    ):
        self.schema, self.privacy, self.engine, self.ledger, self.rng = schema, privacy, engine, ledger, rng

    def fit(self, X: Any, y: Any = None, gate: Any = None) -> Any:
        bound = mu.DiscreteLaplace(epsilon=self.privacy.epsilon).bind([Block("n", 1, 1, 1)])
        self.n_ = float(gate.add("n", np.array([len(X["age"])], np.int64), bound).sum[0])
        return self


def test_the_ratio_of_a_count() -> None:
    """n rows or n + 1, discrete Laplace noise: the ratio is epsilon, up or down; right with e / (1 + e)."""
    learner = OneCount(SCHEMA, mu.Central(1.0))
    ratios = [log_ratio(learner, {"age": [1] * 3}, {"age": [1] * 2}, mu.Random.seeded(i)) for i in range(400)]

    assert np.allclose(np.abs(ratios), 1.0)
    # e / (1 + e) = 0.731, four standard errors of 0.022: fails once in 15,000 seeds
    assert abs(np.mean(np.array(ratios) > 0) - math.e / (1 + math.e)) < 4 * 0.0222


def test_guesses_and_chances_agree() -> None:
    """Counted hits and computed chances estimate one number (seeded; four standard errors)."""
    found = membership_inference(
        NaiveBayes(SCHEMA, target="sick", split="equal"), ROWS, 4.0, repetitions=30, rng=mu.Random.seeded(4)
    )
    value = {str(row.attacker): row.value for row in found.rows}

    assert abs(value["likelihood ratio, chances"] - value["likelihood ratio, guesses"]) < 4 * 0.5 / math.sqrt(30)


def test_replaced_rows() -> None:
    """Under "replace" the other table has as many rows."""
    learner = NaiveBayes(SCHEMA, target="sick", privacy=mu.Central(1.0, relation="replace"))
    found = membership_inference(learner, ROWS, repetitions=4, rng=mu.Random.seeded(1))

    assert found.details["relation"] == "replace" and found.rows[0].value == 1.0
    chance = next(row for row in found.rows if "chances" in str(row.attacker))
    assert chance.value <= math.e / (1 + math.e) + 1e-9


def test_gaussian_noise_has_the_bound_of_its_delta() -> None:
    learner = LinearRegression(SCHEMA, target="pay", privacy=mu.Central(1.0, 1e-3))
    found = membership_inference(learner, ROWS, repetitions=4, rng=mu.Random.seeded(1))

    assert found.rows[-1].value == pytest.approx((math.e + 1e-3) / (math.e + 1))
    assert all(0.5 <= row.value <= 1 for row in found.rows)


def test_shadow_models_find_an_extreme_row_in_the_clear() -> None:
    """One row far from all others moves the means; with noise of epsilon 0.5 the same attack is near a coin."""
    quiet = {"age": G.integers(10, 20, 60).tolist(), "pay": G.integers(10, 20, 60).tolist(), "sick": ["no", "yes"] * 30}
    found = membership_inference(
        NaiveBayes(SCHEMA, target="sick"), quiet, 0.5, "population", None, 40, 15, mu.Random.seeded(1)
    )
    value = {str(row.attacker): row for row in found.rows}

    assert value["without noise"].value > 0.95 and found.details["areas"]["None"] > 0.95
    assert value["shadow models"].low <= value["most that epsilon allows"].value  # type: ignore[operator]


def test_scores() -> None:
    """Two normal laws of one variance: the score is linear, and 0 half-way."""
    inside, outside = ([{"a_": np.array([m + d])} for d in (-1.0, 1.0)] for m in (4.0, 0.0))
    ratio = NormalRatio.of(inside, outside)

    assert ratio.score({"a_": np.array([2.0])}) == pytest.approx(0.0)
    assert ratio.score({"a_": np.array([3.0])}) == pytest.approx(4.0)
    assert ratio.score({"b_": np.array([3.0])}) == 0.0  # a number that is missing says nothing
    assert area_under_curve([1, 2], [0, 1]) == 0.875


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"learner": 3}, "takes a learner"),
        ({"learner": NaiveBayes(target="sick")}, "takes a learner"),
        ({"knows": "nothing"}, "knows must be"),
        ({"target": 1000}, "row from 0 to 59"),
        ({"target": {"age": 1}}, "number of a row"),
        ({"repetitions": 1}, "repetitions must be"),
        ({"epsilon": 0.0}, "positive finite"),
        ({"learner": NaiveBayes(SCHEMA, target="sick", privacy=mu.Local(1.0)), "epsilon": None}, "Clear and Central"),
    ],
)
def test_bad_input(settings: dict[str, Any], message: str) -> None:
    given = {"learner": LEARNERS["naive-bayes"], "data": ROWS, "epsilon": 1.0, **settings}
    with pytest.raises(mu.MurmureError, match=message):
        membership_inference(**given)


def test_command(tmp_path: Path) -> None:
    table, schema, page = tmp_path / "t.csv", tmp_path / "s.toml", tmp_path / "p.html"
    table.write_text("\n".join([",".join(ROWS), *(",".join(map(str, r)) for r in zip(*ROWS.values(), strict=True))]))
    schema.write_text(SCHEMA.to_toml())
    words = ["attack", "membership", "kmeans", str(table), "--schema", str(schema), "--epsilon", "1"]
    ran = CliRunner().invoke(
        main,
        [
            *words,
            "--features",
            "age,pay",
            "--clusters",
            "2",
            "--repetitions",
            "2",
            "--seed",
            "1",
            "--json",
            "--html",
            str(page),
        ],
    )

    assert ran.exit_code == 0, ran.output
    assert json.loads(ran.output)["learner"] == "KMeans" and "<svg" in page.read_text()
    for wrong, message in (
        (words, "--clusters"),
        ([*words[:3], "--target", "sick"], "needs a table DATA"),
        ([*words, "--clusters", "2", "--target", "age"], "takes no --target"),
    ):
        assert message in CliRunner().invoke(main, wrong).output
