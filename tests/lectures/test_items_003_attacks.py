"""The attacks of lecture 003: what must hold of them on any data. Invented rows stand in for the data sets."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from murmure.attacks.base.success import Success
from murmure.attacks.person.attribute_rules import trees
from murmure.core.random import Random
from murmure.lectures.course.work import Work
from murmure.lectures.items.lecture_003 import (
    attribute_inference,
    attribute_inference_rsrfd,
    reidentification,
    utility_and_robustness,
)
from murmure.lectures.record_attacks import attribute_runs
from murmure.lectures.record_attacks.attribute_runs import exact_cell, noisy_priors, people_of, tree_cell
from murmure.lectures.record_attacks.survey_runs import published_surveys, survey_cell
from murmure.lectures.record_attacks.trade_offs import trade_off_cell
from murmure.show.document import Paragraph, Table

ACS, ADULT = "acs-employment", "adult"


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Work:
    """Where no data set is found."""
    monkeypatch.delenv("MURMURE_DATA", raising=False)
    monkeypatch.setenv("MURMURE_CACHE", str(tmp_path))
    return Work("003/attacks", "tiny", invent=True)


def test_the_epsilon_of_the_papers_is_not_what_a_record_costs(work: Work) -> None:
    """ln(d (e^epsilon - 1) + 1) is certified as published; "record" keeps its word."""
    paper = exact_cell(work, work.rng(1), ACS, "RS+FD[GRR]", 1, "paper", 1)
    kept = exact_cell(work, work.rng(1), ACS, "RS+FD[GRR]", 1, "record", 1)

    assert paper["record"] == pytest.approx(math.log(18 * (math.e - 1) + 1), rel=1e-6)
    assert kept["record"] == pytest.approx(1, rel=1e-6)
    assert kept["found"]["ceiling"]["value"] < paper["found"]["ceiling"]["value"]


def test_rsrfd_is_attacked_with_and_without_its_prior(work: Work) -> None:
    """The attacker who uses the prior does better, by far more than the noise of 2,000 people (0.5%)."""
    found = exact_cell(work, work.rng(1), ACS, "RS+RFD[GRR]", 1, "paper", 2)["found"]

    assert set(found) == {"exact", "exact-uniform"}
    assert found["exact"]["repetitions"] == 2
    assert found["exact"]["value"] > found["exact-uniform"]["value"] + 0.05


def test_priors_hold_zeros_as_published_and_none_with_the_floor(work: Work) -> None:
    people = people_of(work, ACS)
    published, floored = (noisy_priors(people, floor, Random.seeded(3)) for floor in (False, True))

    assert [len(prior) for prior in published] == [int(codes.max()) + 1 for codes in people.values()]
    np.testing.assert_allclose([sum(prior) for prior in (*published, *floored)], 1)
    assert min(map(min, published)) < 1e-9
    assert all(min(prior) > 0.02 / len(prior) for prior in floored)


def test_trees_learn_from_profiles(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two rounds show that the cell runs, and that even they beat guessing (5.6%) by more than its noise (0.5%)."""
    pytest.importorskip("sklearn")
    monkeypatch.setattr(trees, "ROUNDS", 2)

    one = tree_cell(work, work.rng(1), ACS, "RS+FD[GRR]", 4, "trees", 1, 0)
    two = tree_cell(work, work.rng(1), ACS, "RS+RFD[GRR]", 4, "trees", 1, 0)

    assert len(one) == 1 and len(two) == 2
    assert one[0] > 0.075


def test_a_full_run_draws_trees_and_says_how_they_do(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    """With made-up cells: every number of profiles and epsilon stands where it belongs."""
    full = Work("003/attacks", "full", invent=True)

    def made_up_exact(work: Work, rng: Random, **key: Any) -> Any:
        row = {"value": 0.5, "low": 0.4, "high": 0.6, "repetitions": 20}
        return {"found": {"exact": row, "ceiling": row}, "record": 9.0, "attribute": 8.0}

    def made_up_tree(work: Work, rng: Random, **key: Any) -> list[float]:
        return [0.001 * key["synthetic"] + 0.01 * key["epsilon"] + 1e-6 * key["repetition"]]

    monkeypatch.setattr(attribute_inference, "exact_cell", made_up_exact)
    monkeypatch.setattr(attribute_runs, "tree_cell", made_up_tree)
    monkeypatch.setattr(attribute_runs, "tree_library", lambda: "trees")
    monkeypatch.setattr(attribute_inference, "tree_library", lambda: "trees")

    measured = attribute_inference.measure(full)

    first, second = measured.figures
    assert [len(figure.curves) for figure in (first, second)] == [5, 6]  # type: ignore[union-attr]
    assert second.curves[1].y == pytest.approx([0.04 + 0.001 * s for s in range(1, 6)], abs=1e-5)  # type: ignore[union-attr]
    table = next(b for b in measured.blocks if isinstance(b, Table) and "Trees" in b.title)
    assert [cell.value for cell in table.rows[2][2:]] == pytest.approx([0.1 + 0.001 * s for s in range(1, 6)], abs=1e-5)
    assert any(isinstance(b, Paragraph) and "+39.5% to +48.9%" in b.text for b in measured.blocks)


def test_why_rsrfd_differs_follows_from_the_shares() -> None:
    low, high = ([Success("", value, 1 / 18, at=1.0)] for value in (0.056, 0.14))

    assert attribute_inference_rsrfd.verdict(low, low, 1 / 18) is None
    assert "gains up to 8.4%" in str(attribute_inference_rsrfd.verdict(high, low, 1 / 18))


def test_surveys_are_those_of_the_published_code() -> None:
    """Five surveys of five to nine of ten columns, from NumPy's old generator, whose stream never changes."""
    names = list("abcdefghij")

    assert ["".join(columns) for columns in published_surveys(0, names)] == EXPECTED
    assert {len(columns) for seed in range(20) for columns in published_surveys(seed, names)} == {5, 6, 7, 8, 9}


EXPECTED = ["bgijaecfd", "fcdej", "fbjcghad", "fchebagi", "bijfcgdh"]


def test_people_are_found_more_often_among_more_matches(work: Work) -> None:
    found = np.array(survey_cell(work, work.rng(1), ADULT, "smp", "GRR", "paper", [1.0, 10.0], [1, 10], 300, 0))

    assert found.shape == (2, 5, 2)
    assert (found[:, :, 1] >= found[:, :, 0]).all()
    assert found[1, 4, 0] > found[1, 0, 0]


def test_epsilons_of_surveys_add_up(work: Work) -> None:
    table = reidentification.composed(work)

    assert [row[2].value for row in table.rows] == pytest.approx([1, 2, 3, 4, 5])
    amplified = [math.log(row[1].value * (math.e - 1) + 1) for row in table.rows]
    assert [row[3].value for row in table.rows] == pytest.approx(np.cumsum(amplified).tolist(), rel=1e-6)
    assert all(5 <= row[1].value <= 9 for row in table.rows)


def test_at_equal_cost_fakes_never_help_the_estimate(work: Work) -> None:
    """RS+FD is SMP with the column forgotten and fakes added, so its variance is larger for the same randomiser."""
    cells = {
        name: trade_off_cell(work, work.rng(1), ADULT, name, 1.0, "record", 1)
        for name in ("SMP", "SPL", *utility_and_robustness.FAKE, *utility_and_robustness.REALISTIC)
    }

    assert all(cell["certified"] <= 1 + 1e-9 for cell in cells.values())
    assert all(cells[name]["variance"] > cells["SMP"]["variance"] for name in utility_and_robustness.FAKE)
    assert cells["SPL"]["guessed"] == cells["SMP"]["guessed"] == [1.0]
    assert all(0 < cells[name]["guessed"][0] < 1 for name in utility_and_robustness.FAKE)


@pytest.mark.parametrize(
    ("published", "words"), [(0.5, "has less variance than SMP (0.50 times)"), (1.5, "1.50 times")]
)
def test_why_follows_from_the_variances(published: float, words: str) -> None:
    cells = {
        (name, how, 1.0): {
            "variance": {"record": 3.0, "paper": published}[how] if "RS" in name else 1.0,
            "certified": 2.9,
        }
        for name in ("SMP", *utility_and_robustness.FAKE)
        for how in ("record", "paper")
    }

    why = str(utility_and_robustness.why(cells, 1.0))

    assert words in why and "2.90" in why and "3.0 times" in why
    assert ("less variance" in why) == (published < 1)


@pytest.mark.parametrize(("realistic", "words"), [(0.4, "can hide less"), (0.1, "hide more here")])
def test_what_is_broken_follows_from_the_shares(realistic: float, words: str) -> None:
    cells = {
        ("RS+FD[GRR]", "record", 1.0): {"guessed": [0.2]},
        ("RS+RFD[GRR]", "record", 1.0): {"guessed": [realistic]},
    }

    (paragraph,) = utility_and_robustness.broken(cells, 1.0)

    assert isinstance(paragraph, Paragraph) and words in paragraph.text
