"""How a study is written: JSON of one version and of known fields, whose digest does not depend on spaces or order."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from murmure.core.errors import shorten
from murmure.secure.errors import BadMessage

VERSION = 1
FIELDS = {"murmure_study", "name", "purpose", "coordinator", "roster", "plans", "least_rows", "ratio"}
LARGEST = 1 << 24  # bytes of a signed study
REWRITE = "studies are written by Study.signed"


def digest(held: Any) -> bytes:
    compact = json.dumps(held, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(b"murmure study\n" + compact.encode("utf-8", "surrogatepass")).digest()


def read(text: str | bytes) -> Any:
    if not isinstance(text, str | bytes) or len(text) > LARGEST:
        raise BadMessage(f"a study is text of at most {LARGEST} bytes.")
    try:
        return json.loads(text, parse_constant=_no_number, object_pairs_hook=_each_once)
    except (ValueError, RecursionError):
        raise BadMessage("this is no study: it is not JSON, or a key stands twice in it.", hint=REWRITE) from None


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
        raise BadMessage("this JSON is no study.", hint=REWRITE)
    version = held["murmure_study"]
    if type(version) is not int or version != VERSION:
        raise BadMessage(
            f"this is a study of version {shorten(version)}; this software reads version {VERSION}.",
            hint="install the release of murmure that wrote it",
        )
    if set(held) != FIELDS:
        wrong = sorted(set(held) ^ FIELDS)
        raise BadMessage(f"this study has fields too many or too few: {shorten(wrong, 120)}.", hint=REWRITE)


def listed(held: Mapping[str, Any], name: str) -> list[Any]:
    if not isinstance(held[name], list):
        raise BadMessage(f"a study's {name} must be a list, got {shorten(held[name])}.")
    return held[name]


def fraction(text: Any) -> Fraction:
    try:
        over, under = (int(part) for part in text.split("/"))
        return Fraction(over, under)
    except (AttributeError, ValueError, ZeroDivisionError):
        raise BadMessage(f'a study\'s ratio must be a fraction such as "1/3", got {shorten(text)}.') from None
