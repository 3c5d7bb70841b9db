"""What every domain says in the same words: its column, and what a missing answer counts as."""

from __future__ import annotations

from typing import Any

import numpy as np

from murmure.core.errors import InvalidParameter, OutsideDomain, shorten


def whole(owner: str, name: str, value: object, low: int, hint: str | None) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < low:
        raise InvalidParameter(
            f"{owner}.{name} must be a whole number, at least {low}, got {shorten(value)}.", hint=hint
        )
    return int(value)


def named_column(domain: Any) -> str:
    column = "" if domain.column is None else f", column={domain.column!r}"
    return column if domain.absent is None else f"{column}, absent={shorten(domain.absent, 40)}"


def check_absent(domain: Any) -> None:
    """A missing answer can only count as a value that there is."""
    if domain.absent is None:
        return
    try:
        if isinstance(domain.absent, str | bool) and not hasattr(domain, "values"):
            raise OutsideDomain("a public constant of a column of numbers is a number.")
        domain.encode([domain.absent])
    except OutsideDomain:
        raise InvalidParameter(
            f"{type(domain).__name__}.absent must be {domain.describe()}, got {shorten(domain.absent)}."
        ) from None


def said_absent(domain: Any) -> dict[str, Any]:
    return {} if domain.absent is None else {"absent": domain.absent}


def column_words(domain: Any) -> str:
    return "" if domain.column is None else f" of column {domain.column!r}"
