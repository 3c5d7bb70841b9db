"""Every model of econometrics/ is listed in EXAMPLES, and gives the same figures wherever its sums are made."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from tests.listing import listed

import murmure as mu
import murmure.econometrics
from murmure import econometrics
from murmure.catalogue import MODELS
from murmure.core.errors import PlanRefused
from murmure.econometrics.errors import FitFailed
from murmure.econometrics.fit import ask
from murmure.econometrics.model import Example, digest_of, model_from_dict, model_to_dict
from murmure.show.language import Language

PARTIES = 4


def examples() -> list[Any]:
    out = []
    for name, example in listed("murmure.econometrics.models"):
        out.append(pytest.param(example, id=f"{name.rpartition('.')[2]}-{type(example.model).__name__}"))
    return out


def cut(rows: Mapping[str, list[Any]], parties: int) -> list[dict[str, list[Any]]]:
    """The rows in unequal parts, one for each party."""
    n = len(next(iter(rows.values())))
    ends = [0, *(n * (k + 1) // parties - (k % 2) for k in range(parties - 1)), n]
    return [{name: column[a:b] for name, column in rows.items()} for a, b in itertools.pairwise(ends)]


def figures(result: Any) -> Any:
    """All that a result says but how it was obtained, as JSON."""
    held = result.to_dict()
    held.pop("how", None)
    for name in ("Parties", "Rounds", "parties", "rounds"):
        held["facts"].pop(name, None)
    return json.loads(json.dumps(held, default=repr))


def test_every_model_is_an_example() -> None:
    """Each name of the catalogue is the type of at least one example, so the checks reach all of them."""
    assert {type(param.values[0].model).__name__ for param in examples()} == set(MODELS)


def test_every_function_is_there() -> None:
    """What the package lists can be loaded, and says what it does."""
    for name in econometrics.__all__:
        assert getattr(econometrics, name).__doc__


@pytest.mark.parametrize("example", examples())
def test_the_same_figures_everywhere(example: Example) -> None:
    """Several tables in the clear, two threads, and masked sums between parties give the same figures, exactly."""
    model, rows = example.model, example.rows
    parts = cut(rows, parties_of(model))
    by_party = figures(ask(model, parts))
    secure = ask(model, parts, privacy=mu.Secure(dropouts=0, rows_are_public=True))

    assert figures(secure) == by_party
    assert figures(ask(model, parts, engine=mu.Memory(threads=2))) == by_party
    if not _asks_about_parties(model):
        assert figures(ask(model, rows)) == by_party
    assert secure.how.parties == parties_of(model) and secure.how.rounds <= model.rounds
    assert secure.how.rows == len(next(iter(rows.values())))
    assert "no differential privacy" in " ".join(secure.how.lines())


def parties_of(model: Any) -> int:
    """Products of what each party has are asked of four honest parties or more (statistics/exact/party_products.py)."""
    return PARTIES + _asks_about_parties(model)


def _asks_about_parties(model: Any) -> bool:
    """Whether the figures depend on who holds which rows: clusters and fixed effects are parties."""
    return type(model).__name__ == "FixedEffects" or getattr(model, "errors", "") == "cluster"


@pytest.mark.parametrize("example", examples())
def test_travels_as_json(example: Example) -> None:
    """A model is data: back from JSON it is the same, and has the same digest."""
    text = json.dumps(model_to_dict(example.model))

    again = model_from_dict(json.loads(text))

    assert again == example.model and digest_of(again) == digest_of(example.model)


@pytest.mark.parametrize("example", examples())
def test_shows_itself(example: Example) -> None:
    """Text, HTML, LaTeX, JSON and rows; each says how it was obtained, and people can read what is asked."""
    parties = parties_of(example.model)
    result = ask(example.model, cut(example.rows, parties), privacy=mu.Secure(dropouts=0, rows_are_public=True))
    words = example.model.in_words()

    assert words and Language("fr").say(words) != words
    assert words.fields and None not in words.fields.values()
    named = [getattr(example.model, name, None) for name in ("time", "event", "by", "target", "outcome", "column")]
    assert all(column in words for column in named if column)
    for text in (result.summary(), result.to_html(), result.to_latex()):
        assert "masked sums" in text
    assert json.loads(result.to_json())["how"]["parties"] == parties
    assert result.tidy() and all(isinstance(row, dict) for row in result.tidy())
    assert "nan" not in result.summary().lower()
    assert repr(result) == result.summary()


@pytest.mark.parametrize("example", examples())
def test_under_noise(example: Example) -> None:
    """With noise there is a certificate within what was asked for; or a refusal that says why there is none."""
    model = example.model
    for epsilon in (0.5, 1e6):
        privacy = mu.Central(epsilon=epsilon)
        if model.noise_refusal is not None:
            with pytest.raises(PlanRefused, match="cannot be computed with noise"):
                ask(model, example.rows, privacy=privacy, rng=mu.Random.seeded(5))
            continue
        try:
            result = ask(model, example.rows, privacy=privacy, rng=mu.Random.seeded(5))
        except FitFailed as error:  # noise may leave nothing that can be read; it must not leave a crash
            assert epsilon < 1, str(error)
            continue
        assert result.how.guarantees["reader"].epsilon <= epsilon
        assert result.how.rows is None  # how many rows there are is not told beside noise
        assert "Differential privacy" in result.summary()
        json.loads(result.to_json())


@pytest.mark.parametrize("example", [p for p in examples() if p.values[0].model.noise_refusal is None])
def test_noise_in_shares(example: Example) -> None:
    """Between parties the noise comes in shares, under the same certificate."""
    parts = cut(example.rows, PARTIES)

    try:
        result = ask(
            example.model,
            parts,
            privacy=mu.Secure(epsilon=1e6, rows=1000, rows_are_public=True),
            rng=mu.Random.seeded(6),
        )
    except FitFailed as error:
        pytest.fail(str(error))

    assert result.how.guarantees["reader"].epsilon <= 1e6
    assert np.isfinite(result.how.guarantees["coordinator"].epsilon)
