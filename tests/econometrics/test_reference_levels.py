"""Labels are compared with the first of the schema, in the clear, between parties and in a study alike."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import murmure as mu
from murmure import econometrics as ec
from murmure.econometrics.design.formula import read_formula
from murmure.econometrics.design.from_formula import with_columns
from murmure.econometrics.fit import ask
from murmure.econometrics.models.cox import Cox, without_intercept
from murmure.econometrics.models.ols import OLS
from murmure.parties.study.document import Study
from murmure.secure.identity import Identity

N = 120
ORDERS = list(itertools.permutations(["low", "mid", "high"]))
RNG = np.random.default_rng(8)
ROWS: dict[str, list[Any]] = {
    "y": RNG.integers(0, 30, N).tolist(),
    "x": RNG.integers(0, 50, N).tolist(),
    "level": [("low", "mid", "high")[k] for k in RNG.integers(0, 3, N)],
    "sex": [("f", "m")[k] for k in RNG.integers(0, 2, N)],
    "ill": [("no", "yes")[k] for k in RNG.integers(0, 2, N)],
    "days": RNG.integers(1, 20, N).tolist(),
    "died": RNG.integers(0, 2, N).tolist(),
}
PARTS = [{name: column[i::3] for name, column in ROWS.items()} for i in range(3)]


def schema(levels: Any, sexes: Any = ("f", "m")) -> mu.Schema:
    return mu.Schema(
        {
            "y": mu.Integers(0, 30),
            "x": mu.Integers(0, 50),
            "level": mu.Categories(list(levels)),
            "sex": mu.Categories(list(sexes)),
            "ill": mu.Categories(["no", "yes"]),
            "days": mu.Integers(1, 20),
            "died": mu.Integers(0, 1),
        }
    )


RIGHT = "x + level + sex"
ASKED: dict[str, Any] = {
    "ols": lambda data, **more: ec.ols(f"y ~ {RIGHT}", data, **more),
    "ols HC1": lambda data, **more: ec.ols(f"y ~ {RIGHT}", data, errors="HC1", **more),
    "wls": lambda data, **more: ec.wls(f"y ~ {RIGHT}", data, weights="days", **more),
    "ridge": lambda data, **more: ec.ridge(f"y ~ {RIGHT}", data, **more),
    "iv": lambda data, **more: ec.iv(f"y ~ {RIGHT}", data, instruments="days + level + sex", **more),
    "logit": lambda data, **more: ec.logit(f"ill ~ {RIGHT}", data, **more),
    "probit": lambda data, **more: ec.probit(f"ill ~ {RIGHT}", data, **more),
    "poisson": lambda data, **more: ec.poisson(f"y ~ {RIGHT}", data, **more),
    "gamma": lambda data, **more: ec.gamma(f"days ~ {RIGHT}", data, **more),
    "negative_binomial": lambda data, **more: ec.negative_binomial(f"y ~ {RIGHT}", data, **more),
    "did": lambda data, **more: ec.did("y", data, treated="sex", post="ill", covariates="level", **more),
    "cox": lambda data, **more: ec.cox(RIGHT, data, time="days", event="died", **more),
    "cox efron": lambda data, **more: ec.cox(RIGHT, data, time="days", event="died", ties="efron", **more),
}
PUBLIC = mu.Secure(rows_are_public=True, dropouts=0)


def bases(names: tuple[str, ...], column: str, labels: Any) -> set[str]:
    return {label for label in labels if f"{column}[T.{label}]" not in names}


QUICK = ("ols", "ridge", "logit", "did", "cox efron")


@pytest.mark.parametrize(
    "kind", [kind if kind in QUICK else pytest.param(kind, marks=pytest.mark.slow) for kind in ASKED]
)
def test_the_schema_orders_labels_everywhere(kind: str) -> None:
    """One formula, one schema: the same coefficients in the clear (one table, several, a frame with an order of its
    own) and between parties; and the result says with what they are compared.
    """
    number = list(ASKED).index(kind)
    order, sexes = ORDERS[number % 6], (("f", "m"), ("m", "f"))[number % 2]
    held, call = schema(order, sexes), ASKED[kind]
    frame = pd.DataFrame(ROWS)
    frame["level"] = pd.Categorical(frame["level"], categories=ORDERS[(number + 3) % 6])
    clear, tables, of_frame = (call(data, schema=held) for data in (ROWS, PARTS, frame))
    secure = call(PARTS, schema=held, privacy=PUBLIC)

    assert bases(clear.names, "level", order) == {order[0]}
    if kind != "did":
        assert bases(clear.names, "sex", sexes) == {sexes[0]}
    for other in (tables, of_frame, secure):
        assert other.names == clear.names
        if kind != "ridge":
            np.testing.assert_allclose(other.params, clear.params, rtol=1e-9, atol=1e-12)
    for result in (clear, secure):
        assert any(f"the first in the schema: level with {order[0]!r}" in note for note in result.notes)


@pytest.mark.parametrize(
    "order", [ORDERS[3], *(pytest.param(o, marks=pytest.mark.slow) for o in ORDERS if o != ORDERS[3])]
)
def test_a_study_orders_labels_as_the_clear_does(order: tuple[str, ...]) -> None:
    """What parties of a study add up, and what comes of it, has the names of the same call in the clear."""
    held = schema(order)
    design = read_formula(f"y ~ {RIGHT}", held)
    hazards = with_columns(without_intercept(read_formula(RIGHT, held, outcome=False)), held, "days", "died")
    identities = [Identity.from_bytes(bytes([i]) * 32) for i in range(1, 5)]
    office, *cards = (one.card(f"Office {i}") for i, one in enumerate(identities))
    masks = mu.PairwiseMasks(3, dropouts=0, rows=1000)
    models = (OLS(design), Cox(hazards, "days", "died", rounds=8, ties="efron"))
    more: dict[str, Any] = {"models": models, "noises": (None, None), "parties": masks}
    study = Study("Levels", "A test of names.", office, tuple(cards), (), 30, Fraction(1000), **more)
    again = Study.from_json(study.to_json())

    for model, kind in zip(again.models, ("ols", "cox efron"), strict=True):
        clear = ASKED[kind](ROWS, schema=held)
        found = ask(model, PARTS, privacy=PUBLIC)
        assert found.names == clear.names and f"level[T.{order[0]}]" not in found.names
        np.testing.assert_allclose(found.params, clear.params, rtol=1e-9, atol=1e-12)


def test_without_a_schema_the_result_says_who_ordered_the_labels() -> None:
    plain = ec.ols(f"y ~ {RIGHT}", ROWS)
    assert bases(plain.names, "level", ORDERS[0]) == {"high"}
    assert any("sorted order, since no schema was given: level with 'high', sex with 'f'" in n for n in plain.notes)
    for order in ORDERS:
        frame = pd.DataFrame(ROWS)
        frame["level"] = pd.Categorical(frame["level"], categories=order)
        fit = ec.ols(f"y ~ {RIGHT}", frame)
        assert bases(fit.names, "level", order) == {order[0]}
        assert any(f"categorical column, since no schema was given: level with {order[0]!r}" in n for n in fit.notes)


@pytest.mark.parametrize("base", ["low", "mid", "high"])
def test_a_formula_can_name_another(base: str) -> None:
    for data, held in ((ROWS, None), (ROWS, schema(ORDERS[4]))):
        fit = ec.ols(f'y ~ C(level, Treatment("{base}")) + sex', data, schema=held)
        why = "the one that the formula names"
        first = sorted(ORDERS[0])[0] if held is None else ORDERS[4][0]
        assert any((why in note) == (base != first) and f"level with {base!r}" in note for note in fit.notes)


def test_the_notes_are_in_every_output() -> None:
    fit = ec.fixed_effects("y ~ x + level", PARTS, schema=schema(ORDERS[2]))
    for text in (fit.summary(), fit.to_html(), fit.to_latex(), fit.to_json()):
        assert "compared with" in text
    assert not any("compared with" in note for note in ec.ols("y ~ x", ROWS).notes)
    assert not any("compared with" in note for note in ec.ols("y ~ 0 + level", ROWS).notes)
