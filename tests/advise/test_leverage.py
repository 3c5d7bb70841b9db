"""Advice shows how much one forged report weighs, and warns where the most precise choice weighs much."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

import murmure as mu
from murmure.certify.leverage import leverage, leverages, mean_leverage
from murmure.cli import main


def test_every_row_has_its_leverage() -> None:
    for domain, statistic in ((mu.Categories(16), None), (mu.Interval(0.0, 9.0, cells=30), "mean")):
        advice = mu.advise(domain, epsilon=[0.5, 2.0], people=1000, statistic=statistic)  # type: ignore[arg-type]
        for row in advice.rows:
            mechanism = getattr(mu, row["mechanism"])(domain, row["epsilon"])
            assert row["leverage"] == leverage(mechanism).largest
        assert "leverage: how many honest people one forged report counts for, at most" in advice.summary()


def test_records_show_the_figure_that_moves_most() -> None:
    """Of a number, the mean is compared; so its leverage is that of the mean."""
    schema = mu.Schema({"smoker": mu.Categories(["no", "yes"]), "pay": mu.Interval(0.0, 9.0, cells=8)})
    rows = {row["solution"]: row for row in mu.advise(schema, epsilon=2.0, people=1000).rows}
    hidden = mu.RSFD(schema, 2.0, "GRR")

    assert rows["SPL"]["leverage"] == max(one.largest for one in leverages(mu.SPL(schema, 2.0)).values())
    smoker, pay = leverages(hidden)["smoker"].largest, mean_leverage(hidden.parts[1]).largest
    assert rows["RS+FD[GRR]"]["leverage"] == max(smoker, pay)
    assert rows["Plain"]["leverage"] is not None  # pay has no figure there, smoker has one


@pytest.mark.parametrize(("epsilon", "warned"), [(0.1, True), (1.0, False)])
def test_a_caution_where_the_best_choice_weighs_much(epsilon: float, warned: bool) -> None:
    advice = mu.advise(mu.Categories(3), epsilon=epsilon, people=1000)
    text = str(advice)

    assert ("Caution: with GRR at epsilon 0.1, one forged report counts for up to 20.0" in text) == warned
    words = ["advise", "--categories", "3", "--epsilon", str(epsilon), "--people", "1000", "--json"]
    found = json.loads(CliRunner().invoke(main, words).stdout)
    assert bool(found["caution"]) == warned == (advice.best["leverage"] > 10)
    assert found["rows"][0]["leverage"] == advice.best["leverage"]
