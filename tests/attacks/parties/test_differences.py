"""Differencing: who is recovered, and which guards see it."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import murmure as mu
from murmure.attacks import differencing
from murmure.attacks.base.draws import resample_rows, sample_rows
from murmure.attacks.base.table_rows import TableRows
from murmure.attacks.parties.sums_of_rows.best_values import DifferenceLaw
from murmure.attacks.parties.sums_of_rows.member_values import likeliest_member
from murmure.attacks.parties.sums_of_rows.questions import PersonalQuestions
from murmure.cli import main

SCHEMA = mu.Schema(
    {
        "age": mu.Integers(18, 77),
        "the ward": mu.Categories(["A", "it's B"]),
        "pay": mu.Integers(0, 30),
        "dose": mu.Interval(0.0, 1.0, cells=4),
    }
)
PEOPLE: dict[str, list[Any]] = {
    "age": [18 + i // 2 % 60 for i in range(100)],
    "the ward": [("A", "it's B")[i % 2] for i in range(100)],
    "pay": [i * i % 31 for i in range(100)],
    "dose": [i % 7 / 7 for i in range(100)],
}


def values(found: Any) -> dict[str, float]:
    return {f"{row.attacker}: {row.setting['guard']}": row.value for row in found.rows}


def test_everybody_who_is_alone_with_their_condition_is_recovered() -> None:
    """Age and ward tell all people apart; two people share an age."""
    found = values(differencing(PEOPLE, SCHEMA, ["age", "the ward"], targets=4, rng=mu.Random.seeded(1)))

    assert found["alone: no guard"] == found["difference: no guard"] == 1.0
    assert found["difference: 5 rows or more"] == 1.0  # the tracker: both sets are large
    assert found["departure: no guard"] == 1.0
    for guarded in ("alone: 5 rows or more", "alone: study rules"):
        assert found[guarded] < 0.5
    assert found["difference: study rules"] < 0.5 and found["departure: one cohort"] < 0.5
    shared = differencing(PEOPLE, SCHEMA, ["age"], ["the ward", "pay"], targets=4, rng=mu.Random.seeded(1))
    assert values(shared)["difference: no guard"] < 1.0 == values(shared)["departure: no guard"]
    assert shared.details["unique"] == 0.0


def test_the_difference_is_the_row() -> None:
    """Subtracting the two releases by hand gives the cells, in whole units of the grid."""
    asked = PersonalQuestions(TableRows.read(SCHEMA, PEOPLE), ("age", "the ward"), ("pay", "dose"))
    whole, rest = (mu.run(mu.Plan(q), PEOPLE).estimate for q in (asked.about_all(), asked.about_others(7)))

    assert [float(a - b) for a, b in zip(whole.sums, rest.sums, strict=False)] == [49 % 31, 0.125]  # 0 is in cell 1
    assert rest.whole[-1] == 99
    assert asked.condition(7) == '(age == 21) * (`the ward` == "it\'s B")'


def test_the_rules_that_refuse_it_are_those_of_a_masked_sum() -> None:
    """The same question between parties in one process is refused before any row is read."""
    asked = PersonalQuestions(TableRows.read(SCHEMA, PEOPLE), ("age", "the ward"), ("pay",))
    parts = [{name: column[i::3] for name, column in PEOPLE.items()} for i in range(3)]

    with pytest.raises(mu.MurmureError, match="rows"):
        mu.run(mu.Plan(asked.about_others(7), parties=mu.PairwiseMasks(3)), parts)


def test_noise_stops_it_and_little_noise_does_not() -> None:
    few = {name: column[:40] for name, column in PEOPLE.items()}
    found = values(
        differencing(few, SCHEMA, ["age", "the ward"], ["pay"], (0.1, 2000.0), targets=12, rng=mu.Random.seeded(2))
    )

    assert found["difference: epsilon = 0.1"] < 0.5 and found["difference: epsilon = 2000"] == 1.0


def test_people_who_look_alike_are_no_shield_against_the_most_frequent_value() -> None:
    """Eight ages, uneven hours: sums over groups of 25 must not mislead (the seed is fixed; 40 of 200 people)."""
    g = np.random.default_rng(5)
    schema = mu.Schema({"age": mu.Integers(20, 27), "hours": mu.Integers(0, 99), "ward": mu.Categories(["A", "B"])})
    hours = np.where(g.random(200) < 0.5, 40, g.integers(0, 100, 200))
    people = {"age": g.integers(20, 28, 200), "hours": hours, "ward": np.where(hours == 40, "A", "B")}
    for wants in (["hours"], ["hours", "ward"]):
        found = differencing(people, schema, ["age"], wants, (0.1, 100.0), targets=40, rng=mu.Random.seeded(4))

        assert found.details["unique"] == 0.0
        assert all(row.value >= row.baseline - 0.05 for row in found.rows), wants


@pytest.mark.parametrize("people", [2, 3])
def test_the_likeliest_member_is_that_of_all_groups_listed(people: int) -> None:
    """Every ordered group, weighed by shares: who is first in it, given the sum."""
    g = np.random.default_rng(people)
    numbers = g.choice([0, 1, 2, 5, 9], 40, p=[0.4, 0.1, 0.2, 0.2, 0.1])[:, None]
    found, counts = np.unique(numbers, return_counts=True)
    weight: dict[int, dict[int, float]] = {}
    for group in itertools.product(range(len(found)), repeat=people):
        first = weight.setdefault(int(found[list(group)].sum()), {})
        first[int(found[group[0]])] = first.get(int(found[group[0]]), 0.0) + float(np.prod(counts[list(group)]))
    for total, chances in weight.items():
        guess = int(likeliest_member(np.array([total]), people, numbers, [slice(0, 1)])[0])

        assert chances[guess] == pytest.approx(max(chances.values())), total


def test_the_likeliest_label_of_a_group_is_its_most_frequent() -> None:
    labels = np.eye(3, dtype=np.int64)[[0] * 30 + [1] * 6 + [2] * 4]
    guess = likeliest_member(np.array([2, 3, 1]), 6, labels, [slice(0, 3)])

    assert guess.tolist() == [0, 1, 0]


@pytest.mark.parametrize("scale", [1, 3000, 10**6])
def test_the_law_of_a_difference(scale: int) -> None:
    """Against a sum over all pairs of draws; for wide laws at a few points, within 1 in 1000."""
    law = mu.DiscreteLaplace(epsilon=1.0).bind([mu.core.blocks.Block("s", 1, scale, scale**2)]).laws[0]
    z = np.arange(-40 * scale, 40 * scale + 1, max(1, scale // 50))
    found = DifferenceLaw(law)
    for d in (0, scale, 5 * scale):
        pairs = np.exp(law.log_prob(z) + law.log_prob(z - d)).sum() / np.exp(2 * law.log_prob(z)).sum()

        assert np.exp(found.log_prob(d) - found.log_prob(0)) == pytest.approx(pairs, rel=2e-3)
    assert found.log_prob(10**12) < found.log_prob(10**11)


def test_rows_are_drawn_evenly() -> None:
    """All pairs of 4 appear; 12,000 draws of each, four standard errors (fails once in 15,000)."""
    draws = np.array([np.sort(sample_rows(4, 2, mu.Random.seeded(i))) for i in range(600)])
    _, counts = np.unique(draws, axis=0, return_counts=True)
    again = np.bincount(resample_rows(3, 12_000, mu.Random.seeded(1)), minlength=3)

    assert len(counts) == 6 and np.abs(counts - 100).max() < 4 * np.sqrt(600 * 5 / 36)
    assert np.abs(again - 4000).max() < 4 * np.sqrt(12_000 * 2 / 9)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"knows": ["nobody"]}, "no column 'nobody'"),
        ({"knows": ["dose"]}, "labels and whole numbers"),
        ({"knows": []}, "needs columns"),
        ({"wants": ["age"]}, "needs columns"),
        ({"targets": 0}, "targets must be"),
        ({"epsilon": -1.0}, "positive finite"),
        ({"data": {name: [] for name in PEOPLE}}, "nobody to attack"),
        ({"schema": {"age": 3}}, "must be a Schema"),
    ],
)
def test_bad_input(settings: dict[str, Any], message: str) -> None:
    given = {"data": PEOPLE, "schema": SCHEMA, "knows": ["age"], "targets": 2, **settings}
    with pytest.raises(mu.MurmureError, match=message):
        differencing(**given)


def test_command(tmp_path: Path) -> None:
    table, schema, page = tmp_path / "t.csv", tmp_path / "s.toml", tmp_path / "p.html"
    table.write_text(
        "\n".join([",".join(PEOPLE), *(",".join(map(str, r)) for r in zip(*PEOPLE.values(), strict=True))])
    )
    schema.write_text(SCHEMA.to_toml())
    words = ["attack", "difference", str(table), "--schema", str(schema)]
    more = ["--knows", "age,the ward", "--wants", "pay", "--targets", "2", "--seed", "1", "--json", "--html", str(page)]
    ran = CliRunner().invoke(main, [*words, *more])

    assert ran.exit_code == 0, ran.output
    assert json.loads(ran.output)["rows"][3]["value"] == 1.0 and "<svg" in page.read_text()
    assert "--knows" in CliRunner().invoke(main, words).output
