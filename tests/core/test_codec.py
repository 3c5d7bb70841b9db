"""One codec from dataclass to JSON and back: what was written is read, and nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from tests.listing import STATISTICS, listed

import murmure as mu
from murmure.catalogue import MECHANISMS, MODELS, QUESTIONS, RECORDS
from murmure.core.codec import Codec
from murmure.core.errors import InvalidParameter, PlanRefused
from murmure.econometrics.model import CODEC as MODEL_CODEC
from murmure.plan.codec import PARTS

DOMAIN = mu.Categories(["no", "yes"])
COUNTED = replace(mu.Mean(mu.Integers(0, 9)), left_out=True)  # a field that was added later, not at its default


def everything() -> list[Any]:
    models = [(name, MODEL_CODEC, e.model, MODELS) for name, e in listed("murmure.econometrics.models")]
    parts = [(name, PARTS, e, {*MECHANISMS, *RECORDS}) for name, e in listed("murmure.local")]
    questions = [(name, PARTS, e, QUESTIONS) for name, e in listed(*STATISTICS)]
    return [pytest.param(*rest, id=name) for name, *rest in (*models, *parts, *questions)]


@pytest.mark.parametrize(("codec", "thing", "known"), everything())
def test_what_was_written_is_read(codec: Codec, thing: Any, known: Any) -> None:
    """Every example of the catalogue, through text; and one field more or less is refused."""
    written = json.loads(json.dumps(codec.to_dict(thing)))
    name = next(name for name in written if name != "type")

    assert codec.from_dict(written, known) == thing
    for wrong in ({**written, "colour": "red"}, {n: v for n, v in written.items() if n != name}):
        with pytest.raises(PlanRefused, match="is written with"):
            codec.from_dict(wrong, known)


def test_a_field_that_was_added_later_is_written_only_where_it_matters() -> None:
    """So older documents keep their digests, and a thing has one JSON."""
    plain = PARTS.to_dict(replace(COUNTED, left_out=False))

    assert "left_out" not in plain and PARTS.to_dict(COUNTED)["left_out"] is True
    assert PARTS.from_dict(PARTS.to_dict(COUNTED), QUESTIONS) == COUNTED
    with pytest.raises(PlanRefused, match="leave it out"):
        PARTS.from_dict({**plain, "left_out": False}, QUESTIONS)


@pytest.mark.parametrize("raw", [None, 5, "Mean", [], {"type": "Popen"}, {"type": ["Mean"]}, {}])
def test_an_unknown_name_is_refused(raw: Any) -> None:
    with pytest.raises(PlanRefused, match="unknown part"):
        PARTS.from_dict(raw, QUESTIONS)


def test_what_json_cannot_hold_is_refused() -> None:
    with pytest.raises(PlanRefused, match="holds function"):
        PARTS.encode("domain", test_what_json_cannot_hold_is_refused)
    with pytest.raises(PlanRefused, match="a model holds 'Popen'"):
        MODEL_CODEC.decode("domain", {"type": "Popen"})
    with pytest.raises(InvalidParameter, match=r"a domain must be one of .*, got 'Popen'"):
        PARTS.decode("domain", {"type": "Popen"})


def test_fractions_are_text_in_coins_and_objects_in_models() -> None:
    """As plans and studies have been written since their first version."""
    third = Fraction(1, 3)

    assert PARTS.encode("truth", third) == "1/3" and PARTS.decode("truth", "1/3") == third
    assert MODEL_CODEC.decode("at", MODEL_CODEC.encode("at", (third,))) == (third,)
    assert MODEL_CODEC.encode("at", third) == {"type": "Fraction", "value": "1/3"}
