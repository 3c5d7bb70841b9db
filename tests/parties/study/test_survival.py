"""Survival in a study: limits in words before anybody joins, ties, and documents that stay what they were."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import murmure as mu
from murmure.core.errors import InvalidParameter, PlanRefused
from murmure.econometrics.design.design_matrix import Design
from murmure.econometrics.errors import FitFailed
from murmure.econometrics.fit import ask
from murmure.econometrics.model import digest_of, model_from_dict, model_to_dict
from murmure.econometrics.models.cox import EXAMPLES, Cox
from murmure.econometrics.models.kaplan_meier import KaplanMeier
from murmure.econometrics.models.log_rank import LogRank
from murmure.econometrics.rows.cox_rows import COX_ROWS
from murmure.econometrics.steps.partial_likelihood import CoxStart, from_sums
from murmure.parties.study.document import Study
from murmure.secure.errors import CohortRefused
from murmure.secure.identity import Identity

SCHEMA = mu.Schema(
    {
        "days": mu.Integers(1, 400),
        "died": mu.Integers(0, 1),
        "age": mu.Integers(18, 99),
        "arm": mu.Categories(["a", "b", "c", "d"]),
        "sex": mu.Categories(["f", "m"]),
    }
)
IDENTITIES = [Identity.from_bytes(bytes([i]) * 32) for i in range(1, 5)]
OFFICE, *CARDS = (one.card(f"Office {i}") for i, one in enumerate(IDENTITIES))


def study_of(*models: Any, rows: int = 500) -> Study:
    masks = mu.PairwiseMasks(3, dropouts=0, rows=10_000)
    none = (None,) * len(models)
    terms: dict[str, Any] = {"models": models, "noises": none, "parties": masks}
    return Study("Survival", "How long patients live.", OFFICE, tuple(CARDS), (), rows, Fraction(1000), **terms)


def design(columns: int) -> Design:
    names = ("age", *(f"I(age ** {k})" for k in range(2, columns + 1)))
    terms = ("age", *(f"age ** {k}" for k in range(2, columns + 1)))
    return Design(SCHEMA, "", "", "", names, terms)


@pytest.mark.parametrize("columns", [1, 3, 6])
@pytest.mark.parametrize("ties", ["breslow", "efron"])
@pytest.mark.parametrize("grid", [(), ("100", "200", "400")])
def test_the_words_of_a_study_say_how_many_times_there_may_be(columns: int, ties: str, grid: tuple[str, ...]) -> None:
    """The number in the words is the limit itself: one time more is refused, and the refusal says the same number."""
    model = Cox(design(columns), "days", "died", grid, rounds=3, ties=ties)
    each = (1 + columns + columns * (columns + 1) // 2) * (2 if ties == "efron" else 1)
    most = 65_535 // each
    for language, said in (("en", f"there may be {most} times at most"), ("fr", f"y avoir {most} instants au plus")):
        words = "\n".join(study_of(model).in_words(language))  # type: ignore[arg-type]
        assert said in words and f"{each} s" in words and ties.capitalize() in words
        assert f"{len(grid) or 400} " in words
    assert len(Cox(design(columns), "days", "died", (*range(1, most), 10**6), ties=ties).times) == most
    with pytest.raises(InvalidParameter) as caught:
        Cox(design(columns), "days", "died", (*range(1, most + 1), 10**6), ties=ties)
    assert f"at most {most}" in (caught.value.hint or "")


@pytest.mark.parametrize("kind", [KaplanMeier, LogRank])
@pytest.mark.parametrize("cuts", [(), ("100", "200", "400")])
def test_the_words_say_how_many_counts_there_may_be(kind: Any, cuts: tuple[str, ...]) -> None:
    model = kind(SCHEMA, "days", "died", "arm", cuts=cuts)
    english, french = ("\n".join(study_of(model).in_words(language)) for language in ("en", "fr"))
    assert "8 counts each; there may be 512 times at most without a public grid, and 131072 with one" in english
    assert "512 instants au plus sans grille publique, et 131072 avec" in french
    wide = mu.Schema({**SCHEMA.column_specs, "days": mu.Integers(1, 513)})
    with pytest.raises(InvalidParameter, match="4104 cells"):
        kind(wide, "days", "died", "arm")
    assert kind(mu.Schema({**SCHEMA.column_specs, "days": mu.Integers(1, 512)}), "days", "died", "arm").cells == 8


def test_documents_of_0_5_0_are_what_they_were() -> None:
    """Their digests were written down by murmure 0.5.0. A model that leaves ties alone does not mention them."""
    digests = (
        "9c119e032f362edd06968c4221ea414f19dab074cf8531e5d17d70cf0adb0a5b",
        "04b7ecf8d539a89448af3dc4fb239462c2460742283d9ed5b0db4ea759d10f3c",
    )
    assert {digest_of(example.model) for example in EXAMPLES[:2]} == set(digests)
    for example in EXAMPLES:
        held = model_to_dict(example.model)
        assert ("ties" in held) == (example.model.ties != "breslow")
        assert model_from_dict(json.loads(json.dumps(held))) == example.model
    plain = model_to_dict(EXAMPLES[0].model)
    assert model_from_dict(plain).ties == "breslow"
    with pytest.raises(PlanRefused, match="leave it out"):  # else one model had two digests
        model_from_dict(plain | {"ties": "breslow"})
    with pytest.raises(InvalidParameter, match="ties"):
        model_from_dict(plain | {"ties": "exact"})
    with pytest.raises(PlanRefused):
        model_from_dict({name: value for name, value in plain.items() if name != "grid"})


def test_a_study_with_ties_travels() -> None:
    study = study_of(*(example.model for example in EXAMPLES))
    again = Study.from_json(study.to_json())
    assert again == study and [model.ties for model in again.models] == ["breslow", "breslow", "efron"]


@pytest.mark.parametrize("rows", [60, 100, 200, 400])
def test_efron_is_judged_by_those_with_the_event(rows: int) -> None:
    """Between Breslow's sums and Efron's lies the event: half of the rows, where it holds one of two numbers."""
    kept = {name: SCHEMA.column_specs[name] for name in ("died", "arm", "sex")}
    schema = mu.Schema({"days": mu.Integers(1, 4), **kept})
    labels = Design(schema, "", "", "", ("arm[T.b]", "sex[T.m]"), ("arm == 'b'", "sex == 'm'"))
    breslow, efron = (
        study_of(Cox(labels, "days", "died", rounds=2, ties=ties), rows=rows).rare_condition()
        for ties in ("breslow", "efron")
    )
    # one time of four, one arm of four, one sex of two: of Breslow's sums 1/32 of the rows, of Efron's 1/64
    assert (breslow is None) == (rows / 32 >= 5)
    assert (efron is None) == (rows / 64 >= 5)


@pytest.mark.parametrize("seed", range(5))
def test_efron_asks_nothing_about_an_event_that_is_alone_at_its_time(seed: int) -> None:
    """Sums over tied events are 0 wherever fewer than two share a time: no event is ever told by itself."""
    rng = np.random.default_rng(seed)
    n, T = 30, 12
    days, died = rng.integers(1, T + 1, n).astype(float), rng.integers(0, 2, n).astype(float)
    events = np.bincount(days.astype(int) - 1, died, T)
    tied = [t for t in range(T) if events[t] > 1]
    settings = ("efron step", "1", " ".join(map(str, tied)), "0", *(str(t) for t in range(1, T + 1)))
    values = COX_ROWS.values((days, died, rng.normal(size=n)), (0.3, 0.1), settings)
    labels = COX_ROWS.labels(("days", "died", "x"), settings)
    among = [i for i, label in enumerate(labels) if "of tied events" in label]
    told = values[:, among].any(axis=1)

    assert len(among) == 3 and (told == ((died == 1) & np.isin(days - 1, tied))).all()


def test_settings_that_are_none() -> None:
    good = ("efron step", "1", "0 2", "0", "1", "2", "3")
    assert len(COX_ROWS.labels(("t", "e", "x"), good)) == 8
    for bad in ("", "2 0", "0 0", "0 3", "-1 2", "a"):
        with pytest.raises(InvalidParameter):
            COX_ROWS.labels(("t", "e", "x"), (*good[:2], bad, *good[3:]))


def test_totals_that_no_rows_have_end_the_fit() -> None:
    start = CoxStart(10, (0, 3), (Fraction(1),), (Fraction(1),), [Fraction(1)])
    for sums in ([0] * 6, [1, 0, 1, -2, 0, 1]):
        with pytest.raises(FitFailed, match="no rows can have these totals"):
            from_sums([Fraction(v) for v in (*sums, 0)], 10, (Fraction(0),), start, ())


def test_the_rules_of_a_study_hold_in_one_process() -> None:
    rng = np.random.default_rng(1)
    rows = [
        {"days": rng.integers(1, 401, 60), "died": rng.integers(0, 2, 60), "age": rng.integers(18, 100, 60)}
        for _ in range(3)
    ]
    with pytest.raises(CohortRefused):
        ask(Cox(design(1), "days", "died", ties="efron"), rows, privacy=mu.Secure())
