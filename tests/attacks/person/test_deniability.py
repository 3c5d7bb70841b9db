"""Profiles of several surveys: closed forms against all orders of surveys, against drawing, and as published."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import murmure as mu
from murmure.attacks import bayes_guess, plausible_deniability
from murmure.attacks.person.guesses.profiles import (
    METRICS,
    drawn_profiles,
    profile_success,
    stirling_numbers,
    symmetric_sums,
)
from murmure.cli import main
from murmure.core.errors import InvalidParameter
from murmure.core.random import Random
from murmure.local.base.oracle_choice import SHARE_ORACLES
from murmure.show.document import Curves

ADULT = mu.Schema({"age": mu.Categories(74), "job": mu.Categories(7), "school": mu.Categories(16)})
CHANCES = [0.9, 0.5, 0.3, 0.2]


def every_order(chances: list[float], surveys: int, metric: str) -> float:
    """All sequences of asked attributes, one by one."""
    d, total, ways = len(chances), 0.0, 0
    for asked in itertools.product(range(d), repeat=surveys):
        different = len(set(asked)) == surveys
        if metric == "uniform" and not different:
            continue
        ways += 1
        if metric != "non-uniform" or different:
            total += math.prod(chances[j] for j in set(asked))
    return total / ways


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("surveys", [1, 2, 3, 4])
def test_closed_forms_are_the_enumeration(metric: Any, surveys: int) -> None:
    assert profile_success(CHANCES, surveys, metric) == pytest.approx(every_order(CHANCES, surveys, metric), rel=1e-12)


def test_more_surveys_than_columns() -> None:
    """Memoised answers repeat: in the end the profile is the whole record."""
    assert profile_success(CHANCES, 6, "memoised") == pytest.approx(every_order(CHANCES, 6, "memoised"), rel=1e-12)
    assert profile_success(CHANCES, 400, "memoised") == pytest.approx(math.prod(CHANCES))


def test_the_sums_themselves() -> None:
    assert stirling_numbers(4) == [0, 1, 7, 6, 1]
    sums = [sum(map(math.prod, itertools.combinations(CHANCES, s))) for s in range(5)]
    assert symmetric_sums(CHANCES) == pytest.approx(sums)


@pytest.mark.parametrize("metric", METRICS)
def test_drawn_profiles(metric: Any) -> None:
    """100,000 people; a normal curve at 6 standard errors: fails once in 5e8 runs."""
    n = 100_000
    words = Random.seeded(1).words(4 * n).reshape(4, n) / 2.0**64
    hits = (words < np.array(CHANCES)[:, None]).astype(float)
    drawn, closed = drawn_profiles(hits, 3, metric, Random.seeded(2)).mean(), profile_success(CHANCES, 3, metric)
    assert abs(drawn - closed) < 6 * math.sqrt(closed * (1 - closed) / n)


def test_a_mutant_is_found() -> None:
    """Repeated answers as fresh reports would be more guesses that must all be right: another figure."""
    fresh = np.mean([math.prod(CHANCES[j] for j in asked) for asked in itertools.product(range(4), repeat=2)])
    assert abs(fresh - profile_success(CHANCES, 2, "memoised")) > 0.04  # the comparison above allows 0.01


def test_published_uniform_and_non_uniform_metric() -> None:
    """Arcolezi et al. 2023: products over surveys of acc, and of (d - i)/d acc, over all orders."""
    epsilon, E = 3.0, math.exp(3.0)
    acc = [E / (E + k - 1) for k in (74, 7, 16)]
    rows = plausible_deniability(ADULT, epsilon, "GRR", metric=("uniform", "non-uniform")).rows
    for s in (1, 2, 3):
        orders = list(itertools.permutations(acc, s))
        uniform = np.mean([math.prod(order) for order in orders])
        other = np.mean([math.prod((3 - i) / 3 * a for i, a in enumerate(order)) for order in orders])
        assert rows[s - 1].value == pytest.approx(uniform)
        assert rows[3 + s - 1].value == pytest.approx(other)


def test_every_oracle_of_the_catalogue() -> None:
    """Each attribute's chance is the Bayes guess; drawn people agree (6 standard errors of 20 repetitions: 1e-4)."""
    schema = mu.Schema({"a": mu.Categories(4), "b": mu.Categories(6)})
    result = plausible_deniability(schema, 1.0, people=400, repetitions=20, rng=Random.seeded(4))
    assert {str(row.attacker) for row in result.rows} == {n + end for n in SHARE_ORACLES for end in ("", ", measured")}
    for computed, measured in zip(result.rows[::2], result.rows[1::2], strict=True):
        assert computed.repetitions is None and measured.low is not None and measured.high is not None
        error = (measured.high - measured.low) / 2 / 2.093  # Student's interval with 19 degrees of freedom
        assert abs(computed.value - measured.value) < 6 * error
        assert computed.value > computed.baseline
    last = {str(row.attacker): row.value for row in result.rows if row.at == 2}
    for name in SHARE_ORACLES:
        chances = [bayes_guess(getattr(mu, name)(schema[column], 1.0)).rows[0].value for column in schema.private]
        assert last[name] == pytest.approx(math.prod(chances))


def test_hashes_without_a_closed_form() -> None:
    """At epsilon 3 OLH has 21 bins: a mean over hashes, with an interval, and the note says so."""
    result = plausible_deniability(ADULT, 3.0, "OLH", rng=Random.seeded(1))
    assert all(row.repetitions == 20 and row.low is not None for row in result.rows)
    assert any("power of two" in note for note in result.notes)
    measured = plausible_deniability(ADULT, 3.0, "OLH", people=500, repetitions=20, rng=Random.seeded(2)).rows
    for row in measured[1::2]:
        computed = next(other for other in result.rows if other.at == row.at)
        assert abs(computed.value - row.value) < 6 * (row.high - row.low) / 4.186  # type: ignore[operator]


def test_baselines_that_differ_are_drawn_apart() -> None:
    """One line without the reports where all metrics share it, and one for each where they do not."""

    def chances(metric: Any) -> list[str]:
        picture: Any = plausible_deniability(ADULT, [1.0, 2.0], "GRR", metric=metric).document().of(Curves)[0]
        return [str(curve.name) for curve in picture.curves if str(curve.name).startswith("without")]

    assert chances("uniform") == ["without the reports"]
    assert chances(METRICS) == [f"without the reports ({metric})" for metric in METRICS]


def test_an_oracle_of_ones_making() -> None:
    row = plausible_deniability(ADULT, 1.0, lambda domain, e: mu.RAPPOR(domain, 2 * e, e), surveys=1).rows[0]
    sue = plausible_deniability(ADULT, 1.0, "SUE", surveys=1).rows[0]
    assert row.value == pytest.approx(sue.value, rel=1e-9) and row.attacker == "RAPPOR"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"domain": [1, 2]}, "needs a Schema with private columns"),
        ({"epsilon": []}, "at least one epsilon"),
        ({"epsilon": -1.0}, "epsilon"),
        ({"oracle": "Laplace"}, "no frequency oracle 'Laplace'"),
        ({"oracle": []}, "at least one oracle"),
        ({"oracle": lambda domain, e: 7}, "must make a frequency oracle, got 7"),
        ({"metric": "both"}, 'metric must be "uniform"'),
        ({"surveys": 4}, "4 surveys cannot each ask another one of 3 columns"),
        ({"surveys": 0}, "surveys must be a whole number"),
        ({"repetitions": -1}, "repetitions must be"),
    ],
)
def test_bad_input(settings: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"domain": ADULT, "epsilon": 1.0, "oracle": "GRR"} | settings
    with pytest.raises(InvalidParameter, match=message):
        plausible_deniability(**given)


def murmure(*words: str) -> Any:
    return CliRunner().invoke(main, ["attack", "deniability", *words])


def test_command(tmp_path: Path) -> None:
    schema, page, picture = (tmp_path / name for name in ("s.toml", "a.html", "a.svg"))
    schema.write_text(ADULT.to_toml())
    ran = murmure("--categories", "74,7,16", "--epsilon", "4", "--oracle", "grr,OUE", "--json")
    rows = json.loads(ran.output)["rows"]
    assert [row["at"] for row in rows] == [1, 2, 3] * 2 and rows[2]["value"] == pytest.approx(0.3024, abs=1e-4)
    words = ["--schema", str(schema), "--epsilon", "1,2", "--oracle", "GRR", "--metric", "all", "--seed", "1"]
    ran = murmure(*words, "--html", str(page), "--plot", str(picture))
    assert ran.exit_code == 0 and "memoised" in ran.output and page.exists() and picture.exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "needs --epsilon and --categories"),
        (["--epsilon", "1", "--categories", "3.5"], "must be whole numbers"),
        (["--epsilon", "1", "--categories", "3", "--schema", "s.toml"], "exclude one another"),
        (["--epsilon", "1", "--categories", "3,4", "--oracle", "GR"], "there is no oracle 'GR'"),
        (["--epsilon", "1", "--categories", "3,4", "--surveys", "3"], "3 surveys cannot"),
    ],
)
def test_command_errors(words: list[str], message: str) -> None:
    ran = murmure(*words)
    assert ran.exit_code == 2 and message in ran.output + ran.stderr
