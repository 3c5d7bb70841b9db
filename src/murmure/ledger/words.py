"""What may be written into a ledger, and into its errors: names, and plain text."""

from __future__ import annotations

import getpass
import math
import os
import unicodedata
from collections.abc import Mapping
from typing import Any

from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.ledger.entries import Part

MAX_NAME_LENGTH = 200


def checked_name(what: Phrase, name: object) -> str:
    if (
        not isinstance(name, str)
        or not 0 < len(name) <= MAX_NAME_LENGTH
        or not name.isprintable()
        or name.strip() != name
    ):
        raise InvalidParameter(
            "the name of a {what} must be 1 to {max_name_length} characters, without control characters or "
            "space around them, got "
            "{name}.",
            what=what,
            max_name_length=MAX_NAME_LENGTH,
            name=shorten(name),
        )
    if unicodedata.normalize("NFKC", name) != name:
        raise InvalidParameter(
            "the name {name} of a {what} can be written in several ways that look the same.",
            hint="write {normalize!r}: two spellings would be two budgets",
            name=shorten(name),
            what=what,
            normalize=unicodedata.normalize("NFKC", name),
        )
    return name


def checked_asker(who: str | None) -> str:
    if who is None:
        try:
            who = getpass.getuser()
        except (OSError, KeyError, ImportError):  # a container without names
            who = "unknown"
    return checked_name(Phrase("person"), who)


def checked_delta(delta: object) -> float:
    if isinstance(delta, bool) or not isinstance(delta, int | float) or not 0 <= delta < 1:
        raise InvalidParameter(
            "budget.delta must be at least 0 and below 1, got {got}.",
            hint="choose delta well below 1 / (number of people): 1e-6 for a hundred thousand",
            got=shorten(delta),
        )
    return float(delta)


def plain_text(about: object) -> str:
    """Printable letters only: the name of a column must not move the cursor of a person who reads the history."""
    text = str(about).encode("utf-8", "replace").decode("utf-8")
    return "".join(letter if letter.isprintable() else " " for letter in text)


def json_safe(value: Any) -> Any:
    """For JSON: an infinite number becomes the text "inf", and anything unknown its text."""
    if isinstance(value, Mapping):
        return {str(key): json_safe(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_safe(item) for item in value]
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return plain_text(value)


def checked_part(part: Part | None) -> Part | None:
    return None if part is None else (checked_name(Phrase("partition"), part[0]), checked_name(Phrase("part"), part[1]))


def system_reason(error: OSError) -> str:
    return os.strerror(error.errno).lower() if error.errno else str(error)
