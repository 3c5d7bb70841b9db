"""Parties in one process are held to the rules of a study, through every door; and each door has the named way out."""

from __future__ import annotations

import json
from typing import Any

import pytest

import murmure as mu
from murmure import econometrics
from murmure.core.errors import RareCondition
from murmure.core.notices import REHEARSAL_NOTICE
from murmure.learn import LinearRegression
from murmure.secure.errors import CohortRefused

SCHEMA = mu.Schema(
    {
        "id": mu.Integers(1, 5000),
        "x": mu.Integers(0, 100),
        "y": mu.Integers(0, 100),
        "died": mu.Integers(0, 1),
        "days": mu.Integers(0, 365),
        "ward": mu.Categories(["A", "B", "C"]),
    }
)


def tables(rows: int, parties: int = 5) -> list[dict[str, Any]]:
    def one(p: int) -> dict[str, Any]:
        at = range(p * rows, (p + 1) * rows)
        return {
            "id": [1 + i % 5000 for i in at],
            "x": [(7 * i * i + i) % 101 for i in at],
            "y": [(11 * i + i * i // 3) % 101 for i in at],
            "died": [(i * i // 3) % 7 % 2 for i in at],
            "days": [(i * 37) % 366 for i in at],
            "ward": ["ABC"[(i * i + i // 5) % 3] for i in at],
        }

    return [one(p) for p in range(parties)]


MASKS = mu.PairwiseMasks(5, rows=10**6)
DOORS: dict[str, Any] = {  # each asks about few rows of large tables
    "run": lambda how: mu.run(mu.Plan(mu.Sums(SCHEMA, ("x", "x * (id == 5)")), parties=MASKS), tables(400), **how),
    "run, groups": lambda how: mu.run(
        mu.Plan(mu.GroupBy(mu.Count(SCHEMA["x"]), by=SCHEMA["days"]), parties=MASKS), tables(400), **how
    ),
    "ols": lambda how: econometrics.ols("y ~ x + I(id == 5)", tables(400), schema=SCHEMA, privacy=mu.Secure(**how)),
    "wls": lambda how: econometrics.wls(
        "y ~ x", tables(400), weights="1 + (id == 5)", schema=SCHEMA, privacy=mu.Secure(**how)
    ),
    "quantile": lambda how: econometrics.quantile("x", tables(400), schema=SCHEMA, privacy=mu.Secure(**how)),
    "histogram": lambda how: econometrics.histogram("x", tables(400), schema=SCHEMA, privacy=mu.Secure(**how)),
    "ecdf": lambda how: econometrics.ecdf("x", tables(400), schema=SCHEMA, privacy=mu.Secure(**how)),
    "kaplan_meier": lambda how: econometrics.kaplan_meier(
        "days", tables(1000), event="died", schema=SCHEMA, privacy=mu.Secure(**how)
    ),
}


@pytest.mark.parametrize("door", DOORS)
def test_a_condition_on_few_rows_is_refused_through_every_door(door: str) -> None:
    """By default; and allowed where it is said by name that one row will do, or that rows are public."""
    with pytest.raises(RareCondition) as refused:
        DOORS[door]({})
    assert "minimum_cell=1" in str(refused.value) and "rows_are_public=True" in str(refused.value)
    DOORS[door]({"minimum_cell": 1})
    DOORS[door]({"rows_are_public": True})


TINY: dict[str, Any] = {  # about as many sums as rows, of tables of few rows
    "run": lambda n, how: mu.run(mu.Plan(mu.Sums(SCHEMA, ("x", "y", "x * y")), parties=MASKS), tables(n), **how),
    "ols": lambda n, how: econometrics.ols("y ~ x", tables(n), schema=SCHEMA, privacy=mu.Secure(**how)),
    "logit": lambda n, how: econometrics.logit("died ~ x", tables(10 * n), schema=SCHEMA, privacy=mu.Secure(**how)),
    "learner": lambda n, how: LinearRegression(
        mu.Schema({name: SCHEMA[name] for name in ("x", "y")}), "y", mu.Secure(**how)
    ).fit([{name: one[name] for name in ("x", "y")} for one in tables(n)]),
}


@pytest.mark.parametrize("door", TINY)
def test_as_many_sums_as_rows_are_refused_through_every_door(door: str) -> None:
    with pytest.raises(CohortRefused, match=r"exact sums over at least .* rows: more than 1/3") as refused:
        TINY[door](1, {})
    assert "rows_are_public=True" in str(refused.value)
    with pytest.raises(CohortRefused):
        TINY[door](1, {"minimum_cell": 1})  # that is another rule
    TINY[door](4, {"rows_are_public": True})
    TINY[door](600, {})


@pytest.mark.parametrize("n", [1, 2, 3, 4, 10])
def test_sums_are_counted_against_rows_to_the_last_one(n: int) -> None:
    """Five tables of n rows: three sums take nine rows."""
    plan = mu.Plan(mu.Sums(SCHEMA, ("x", "y", "x * y")), parties=MASKS)
    if 5 * n >= 3 * 3:
        assert mu.run(plan, tables(n)).estimate.n == 5 * n
        return
    with pytest.raises(CohortRefused):
        mu.run(plan, tables(n))


def test_noise_that_hides_a_row_is_not_judged_and_weak_noise_is() -> None:
    asked = mu.Sums(SCHEMA, ("x", "x * (id == 5)"))
    for epsilon, hides in ((0.5, True), (6.0, True), (7.0, False), (1e6, False)):
        plan = mu.Plan(asked, parties=mu.PairwiseMasks(5, rows=1000), curator=mu.DiscreteLaplace(epsilon))
        if hides:
            mu.run(plan, tables(400), rng=mu.Random.seeded(1))
            continue
        with pytest.raises(RareCondition):
            mu.run(plan, tables(400), rng=mu.Random.seeded(1))


@pytest.mark.parametrize(("epsilon", "hides"), [(1.0, True), (6.0, True), (7.0, False)])
def test_answers_that_people_randomised_themselves_hide_a_row_as_noise_does(epsilon: float, hides: bool) -> None:
    """Masked sums of six randomised answers: as few exact answers would be refused, and so are nearly exact ones."""
    ward = SCHEMA["ward"]
    plan = mu.Plan(mu.Histogram(ward), person=mu.GRR(ward, epsilon), parties=mu.PairwiseMasks(3))
    rows = [["A", "B"], ["B", "C"], ["C", "A"]]
    if hides:
        assert mu.run(plan, rows, rng=mu.Random.seeded(1)).estimate.n == 6
        return
    with pytest.raises(CohortRefused):
        mu.run(plan, rows, rng=mu.Random.seeded(1))


@pytest.mark.parametrize("value", [0, -1, 1.5, True, "5"])
def test_what_is_no_minimum_cell(value: Any) -> None:
    for call in (lambda: mu.Secure(minimum_cell=value), lambda: DOORS["run"]({"minimum_cell": value})):
        with pytest.raises(mu.MurmureError, match="minimum_cell must be a whole number"):
            call()


# -- a rehearsal says so first -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [{}, {"epsilon": 4.0, "rows": 1000}], ids=["exact", "noise"])
def test_whoever_ran_it_held_every_row_and_is_told_first(noise: dict[str, Any]) -> None:
    """In text, HTML, JSON and French, before anything is said about parties; and in the certificates."""
    rng = {"rng": mu.Random.seeded(3)} if noise else {}
    fit = econometrics.ols("y ~ x", tables(400), schema=SCHEMA, privacy=mu.Secure(**noise), **rng)
    text, page, french = " ".join(fit.summary().split()), fit.to_html(), fit.to_html("fr")

    assert fit.how is not None and fit.how.lines()[0] == REHEARSAL_NOTICE
    assert text.index("whoever ran this held every row") < text.index("masked sums between 5 parties")
    assert page.index("whoever ran this held every row") < page.index("masked sums between 5 parties")
    assert french.index("avait toutes les lignes") < french.index("sommes masquées entre 5 participants")
    held = json.loads(fit.to_json())["how"]
    assert next(iter(held)) == "rehearsal" and "held every row" in held["rehearsal"]
    assert (
        next(iter(held["guarantees"])) == "whoever ran it" and held["guarantees"]["whoever ran it"]["epsilon"] == "inf"
    )

    clear = econometrics.ols("y ~ x", tables(400), schema=SCHEMA)
    assert "REHEARSAL" not in clear.summary() and "rehearsal" not in clear.to_dict()["how"]


def test_a_release_of_a_rehearsal_says_so_first() -> None:
    plan = mu.Plan(mu.Mean(SCHEMA["x"]), parties=MASKS)
    release = mu.run(plan, [one["x"] for one in tables(400)])
    shown, page, held = repr(release), release._repr_html_(), json.loads(release.to_json())

    assert shown.index("held every row") < shown.index("coordinator")
    assert page.index("held every row") < page.index("coordinator")
    assert held["rehearsal"] is True and next(iter(held["guarantees"])) == "whoever ran it"
    alone = mu.run(mu.Plan(mu.Mean(SCHEMA["x"])), tables(400)[0]["x"])
    assert "REHEARSAL" not in repr(alone) and "rehearsal" not in json.loads(alone.to_json())


def test_a_learner_of_a_rehearsal_says_so_first() -> None:
    learner: Any = TINY["learner"](600, {})
    said = " ".join(learner.summary().split())

    assert said.index("held every row") < said.index("masked sums") and "nobody saw a part" not in said
    assert next(iter(learner.guarantees_)) == "whoever ran it"
