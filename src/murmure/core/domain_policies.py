"""What all domains share: their column, what a missing answer counts as, and what becomes of values outside."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np

from murmure.core.errors import InvalidParameter, OutsideDomain, Phrase, shorten
from murmure.core.types import NumberDomain

Outside = Literal["refuse", "clamp", "drop"]  # what becomes of a value that a domain does not hold
MAX_SIZE = 1 << 31  # values, where noise is on single values
MISSING_NUMBER_HINT = Phrase(
    'drop those rows, or name a public constant: Column(..., missing="constant", missing_value=...)'
)


def check_whole(owner: str, name: str, value: object, low: int, hint: str | None) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < low:
        raise InvalidParameter(
            "{owner}.{name} must be a whole number, at least {low}, got {got}.",
            hint=hint,
            owner=owner,
            name=name,
            low=low,
            got=shorten(value),
        )
    return int(value)


def settings_repr(domain: Any) -> str:
    """The settings that are not left at their defaults, for a repr."""
    column = "" if domain.column is None else f", column={domain.column!r}"
    absent = "" if domain.absent is None else f", absent={shorten(domain.absent, 40)}"
    return column + absent + ("" if domain.outside == "refuse" else f", outside={domain.outside!r}")


def check_absent(domain: Any) -> None:
    """A missing answer can only count as a value of the domain."""
    if domain.absent is None:
        return
    # A cell "1" means the number 1, but a constant in a program should be written as a number.
    number = isinstance(domain, NumberDomain)
    if (number and isinstance(domain.absent, str | bool)) or not holds(domain, domain.absent):
        raise InvalidParameter(
            "{kind}.absent must be {domain}, got {got}.",
            kind=type(domain).__name__,
            domain=domain.describe(),
            got=shorten(domain.absent),
        )


def holds(domain: Any, value: Any) -> bool:
    """Whether a public constant is one of the values, by the strictest rule."""
    try:
        parsed = domain.parse([value])
    except OutsideDomain:
        return False
    return all(mask is None for mask in (parsed.missing, parsed.outside_mask, parsed.clamped))


def check_outside(owner: str, outside: object, labels: bool) -> None:
    """Labels cannot be clamped: they have no order, so none is the nearest."""
    if outside not in get_args(Outside):
        raise InvalidParameter(
            "{owner}.outside must be one of {outside}, got {got}.",
            hint="refuse such rows, move numbers to the nearest bound, or leave the row out",
            owner=owner,
            outside=", ".join(map(repr, get_args(Outside))),
            got=shorten(outside),
        )
    if labels and outside == "clamp":
        raise InvalidParameter(
            '{owner}.outside = "clamp" is for numbers: labels have no order, so none is nearest.',
            hint='outside = "drop" leaves out rows with an unknown label',
            owner=owner,
        )


def policy_fields(domain: Any) -> dict[str, Any]:
    """The settings that are not left at their defaults, for JSON."""
    absent = {} if domain.absent is None else {"absent": domain.absent}
    return absent if domain.outside == "refuse" else absent | {"outside": domain.outside}


def of_column(values: Phrase, domain: Any) -> Phrase:
    """What is public of a domain, with the name of its column."""
    if domain.column is None:
        return values
    return Phrase("{values} of column {column!r}", values=values, column=domain.column)
