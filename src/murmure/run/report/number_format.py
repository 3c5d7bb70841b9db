"""Numbers and domains in words."""

from __future__ import annotations

import math
from typing import Any

NO_BREAK_SPACE = "\u00a0"  # the space at which no line breaks


def describe_domain(domain: Any) -> str:
    """The domain, as a heading."""
    from murmure.core.domain import Categories, Interval

    if isinstance(domain, Interval):
        return f"a number from {domain.low:g} to {domain.high:g} in {group_digits(domain.cells)} cells"
    if isinstance(domain, Categories):
        return f"{group_digits(domain.size)} answers" + (
            "" if isinstance(domain.values, int) else f" ({', '.join(map(str, domain.values))})"
        )
    return str(domain.describe())


def group_digits(n: int) -> str:
    """100 000, which no line breaks in two"""
    return f"{n:,}".replace(",", NO_BREAK_SPACE)


def format_number(value: float, digits: int = 2) -> str:
    """At least `digits` significant digits, without an exponent where people can do without."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    if not 1e-4 <= abs(value) < 1e7:
        return f"{value:.{digits}e}"
    return f"{value:.{max(0, digits - 1 - math.floor(math.log10(abs(value))))}f}"


def bits_text(value: float) -> str:
    """ "1 bit", "2.3 bits", "103 bits"."""
    return f"{value:.3g} bit{'' if value == 1 else 's'}"
