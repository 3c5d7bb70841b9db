"""How a study is written: JSON of one version and of known fields, whose digest does not depend on spaces or order."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from murmure.catalogue import SHARINGS
from murmure.core.errors import shorten
from murmure.plan.codec import part_from_dict, part_to_dict
from murmure.secure.errors import BadMessage

if TYPE_CHECKING:
    from murmure.plan.privacy import Central
    from murmure.secure.sharing import PairwiseMasks

VERSION = 1
FIELDS = {"murmure_study", "name", "purpose", "coordinator", "roster", "plans", "least_rows", "ratio"}
OF_MODELS = {"models", "parties", "noises"}  # written where there are models: other studies keep their digests
MAX_STUDY_BYTES = 1 << 24  # bytes of a signed study
MAX_TEXT_LENGTH = 10_000  # of one text in a model
MAX_NUMBER_BITS = 1000  # of one number in a model
POWER = re.compile(r"\s*[+-]?[\d_.]*[eE][+-]?[\d_]{4,}\s*")  # 1e9999 and beyond
HINT = "studies are written by Study.signed"


def digest(held: Any) -> bytes:
    compact = json.dumps(held, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(b"murmure study\n" + compact.encode("utf-8", "surrogatepass")).digest()


def parse_json(text: str | bytes) -> Any:
    if not isinstance(text, str | bytes) or len(text) > MAX_STUDY_BYTES:
        raise BadMessage(f"a study is text of at most {MAX_STUDY_BYTES} bytes.")
    try:
        return json.loads(text, parse_constant=_no_number, object_pairs_hook=_each_once)
    except (ValueError, RecursionError):
        raise BadMessage("this is no study: it is not JSON, or a key stands twice in it.", hint=HINT) from None


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Other readers may take the first of two: under one signature there is one study."""
    held = dict(pairs)
    if len(held) < len(pairs):
        raise ValueError("a key stands twice")
    return held


def _no_number(text: str) -> Any:
    raise ValueError(text)


def check_version(held: Any) -> None:
    if not isinstance(held, Mapping) or "murmure_study" not in held:
        raise BadMessage("this JSON is no study.", hint=HINT)
    version = held["murmure_study"]
    if type(version) is not int or version != VERSION:
        raise BadMessage(
            f"this is a study of version {shorten(version)}; this software reads version {VERSION}.",
            hint="install the release of murmure that wrote it",
        )
    fields = FIELDS | OF_MODELS if set(held) & OF_MODELS else FIELDS
    if set(held) != fields:
        wrong = sorted(set(held) ^ fields)
        raise BadMessage(f"this study has fields too many or too few: {shorten(wrong, 120)}.", hint=HINT)


def list_field(held: Mapping[str, Any], name: str) -> list[Any]:
    if not isinstance(held[name], list):
        raise BadMessage(f"a study's {name} must be a list, got {shorten(held[name])}.")
    return held[name]


def models_to_dict(models: tuple[Any, ...], masks: PairwiseMasks, noises: tuple[Central | None, ...]) -> dict[str, Any]:
    """How sums are shared stands here too, since there may be no plan to say it."""
    from murmure.econometrics.model import model_to_dict

    return {
        "models": [model_to_dict(model) for model in models],
        "parties": part_to_dict(masks),
        "noises": [None if noise is None else dict(vars(noise)) for noise in noises],
    }


def models_from_dict(held: Mapping[str, Any]) -> tuple[Any, ...]:
    """The models, how sums are shared, and the noises; nothing, where no model is written."""
    if "models" not in held:
        return ()
    from murmure.econometrics.model import model_from_dict
    from murmure.parties.study.model_checks import MAX_MODELS, answer_words, check_work
    from murmure.plan.privacy import Central

    said = list_field(held, "models")
    if len(said) > MAX_MODELS:
        raise BadMessage(f"a study has at most {MAX_MODELS} models, got {len(said)}.")
    _check_numbers(said)
    models, words = [], 0
    for one in said:  # one after the other, and no further once they are too much
        models.append(model_from_dict(one))
        words += answer_words(models[-1])
        check_work(words)
    noises = tuple(None if one is None else Central(**one) for one in list_field(held, "noises"))
    return tuple(models), part_from_dict(held["parties"], SHARINGS), noises


def _check_numbers(held: Any) -> None:
    """A stranger's text may be read as a number: no short one of a long number, and none that is long itself."""
    if isinstance(held, Mapping):
        for key, value in held.items():
            _check_numbers(key)
            _check_numbers(value)
    elif isinstance(held, list):
        for value in held:
            _check_numbers(value)
    elif isinstance(held, str) and (len(held) > MAX_TEXT_LENGTH or POWER.fullmatch(held)):
        raise BadMessage(
            f"a model of this study has a text that is too long, or a number that is: {shorten(held)}.",
            hint=f"at most {MAX_TEXT_LENGTH} letters, and powers of ten of at most 3 digits",
        )
    elif isinstance(held, int) and held.bit_length() > MAX_NUMBER_BITS:
        raise BadMessage(f"a model of this study has a number of {held.bit_length()} bits.")


def fraction(text: Any) -> Fraction:
    try:
        over, under = (int(part) for part in text.split("/"))
        return Fraction(over, under)
    except (AttributeError, ValueError, ZeroDivisionError):
        raise BadMessage(f'a study\'s ratio must be a fraction such as "1/3", got {shorten(text)}.') from None
