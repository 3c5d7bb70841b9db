"""A study as JSON: one version, known fields, and a digest that does not depend on spaces or order."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from murmure.catalogue import SHARINGS
from murmure.core.errors import Phrase, shorten
from murmure.plan.codec import PARTS
from murmure.secure.errors import BadMessage

if TYPE_CHECKING:
    from murmure.plan.privacy import Central
    from murmure.secure.sharing import PairwiseMasks

VERSION = 1
FIELDS = {"murmure_study", "name", "purpose", "coordinator", "roster", "plans", "least_rows", "ratio"}
# Only written where there are models, so that other studies keep their digests.
MODEL_FIELDS = {"models", "parties", "noises"}
MAX_STUDY_BYTES = 1 << 24  # of a signed study
MAX_TEXT_LENGTH = 10_000  # of one text in a model
MAX_NUMBER_BITS = 1000  # of one number in a model
POWER = re.compile(r"\s*[+-]?[\d_.]*[eE][+-]?[\d_]{4,}\s*")  # 1e9999 and beyond
HINT = Phrase("studies are written by Study.signed")


def study_digest(fields: Any) -> bytes:
    compact = json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(b"murmure study\n" + compact.encode("utf-8", "surrogatepass")).digest()


def parse_json(text: str | bytes) -> Any:
    # The size is checked before the JSON is parsed: it may come from a stranger.
    if not isinstance(text, str | bytes) or len(text) > MAX_STUDY_BYTES:
        raise BadMessage("a study must be text of at most {max_study_bytes} bytes.", max_study_bytes=MAX_STUDY_BYTES)
    try:
        return json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_without_repeats)
    except (ValueError, RecursionError):
        raise BadMessage("this is not a study: it is not JSON, or it has the same key twice.", hint=HINT) from None


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Some readers take the first of two equal keys, some the last: one signature must cover one study."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("a key stands twice")
    return fields


def _refuse_constant(text: str) -> Any:
    raise ValueError(text)


def check_version(fields: Any) -> None:
    if not isinstance(fields, Mapping) or "murmure_study" not in fields:
        raise BadMessage("this JSON is not a study.", hint=HINT)
    version = fields["murmure_study"]
    if type(version) is not int or version != VERSION:
        raise BadMessage(
            "this is a study of version {version}; this software reads version {version_2}.",
            hint="install the release of murmure that wrote it",
            version=shorten(version),
            version_2=VERSION,
        )
    expected = FIELDS | MODEL_FIELDS if set(fields) & MODEL_FIELDS else FIELDS
    if set(fields) != expected:
        wrong = sorted(set(fields) ^ expected)
        raise BadMessage("this study has unknown or missing fields: {wrong}.", hint=HINT, wrong=shorten(wrong, 120))


def list_field(fields: Mapping[str, Any], name: str) -> list[Any]:
    if not isinstance(fields[name], list):
        raise BadMessage("a study's {name} must be a list, got {got}.", name=name, got=shorten(fields[name]))
    return fields[name]


def models_to_dict(models: tuple[Any, ...], masks: PairwiseMasks, noises: tuple[Central | None, ...]) -> dict[str, Any]:
    """How sums are shared is written here too, since there may be no plan to say it."""
    from murmure.econometrics.model import model_to_dict

    return {
        "models": [model_to_dict(model) for model in models],
        "parties": PARTS.to_dict(masks),
        "noises": [None if noise is None else PARTS.to_dict(noise, named=False) for noise in noises],
    }


def models_from_dict(fields: Mapping[str, Any]) -> tuple[Any, ...]:
    """The models, how sums are shared, and the noises; an empty tuple where there is no model."""
    if "models" not in fields:
        return ()
    from murmure.econometrics.model import model_from_dict
    from murmure.parties.study.model_checks import MAX_MODELS, answer_words, check_work
    from murmure.plan.privacy import Central

    entries = list_field(fields, "models")
    if len(entries) > MAX_MODELS:
        raise BadMessage("a study has at most {max_models} models, got {got}.", max_models=MAX_MODELS, got=len(entries))
    _check_numbers(entries)
    models, words = [], 0
    for entry in entries:  # checked one by one: a stranger's study must not take long before it is refused
        models.append(model_from_dict(entry))
        words += answer_words(models[-1])
        check_work(words)
    noises = tuple(
        None if entry is None else PARTS.from_fields(Central, dict(entry), "Central")
        for entry in list_field(fields, "noises")
    )
    return tuple(models), PARTS.from_dict(fields["parties"], SHARINGS), noises


def _check_numbers(value: Any) -> None:
    """Refuse long texts, long numbers, and short texts of long numbers (1e99999), which would take long to read."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            _check_numbers(key)
            _check_numbers(item)
    elif isinstance(value, list):
        for item in value:
            _check_numbers(item)
    elif isinstance(value, str) and (len(value) > MAX_TEXT_LENGTH or POWER.fullmatch(value)):
        raise BadMessage(
            "a model of this study has a text or a number that is too long: {value}.",
            hint="at most {max_text_length} characters, and powers of ten of at most 3 digits",
            value=shorten(value),
            max_text_length=MAX_TEXT_LENGTH,
        )
    elif isinstance(value, int) and value.bit_length() > MAX_NUMBER_BITS:
        raise BadMessage("a model of this study has a number of {bit_length} bits.", bit_length=value.bit_length())


def fraction(text: Any) -> Fraction:
    try:
        numerator, denominator = (int(part) for part in text.split("/"))
        return Fraction(numerator, denominator)
    except (AttributeError, ValueError, ZeroDivisionError):
        raise BadMessage('a study\'s ratio must be a fraction such as "1/3", got {got}.', got=shorten(text)) from None
