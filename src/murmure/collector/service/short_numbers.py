"""Numbers in sentences that people read from afar: the digits that count, and never 1.7e+03.

>>> str(short(1694.2)), str(short(0.1234)), str(short(1694.2, 3)), str(short(16.942, 3))
('1,694', '0.12', '1,694', '16.9')
>>> str(bound(2.25)), str(bound(1.58198, 3)), str(bound(100.0)), str(bound(0.0))
('2.3', '1.59', '100', '0')
"""

from __future__ import annotations

import math

from murmure.core.errors import Phrase


def short(value: float, digits: int = 2) -> Phrase:
    """To two significant digits, or three; a whole number is said in full."""
    if abs(value) >= 10**digits - 0.5:
        return Phrase("{value:,.0f}", value=value)
    return Phrase("{value:.2g}", value=value) if digits == 2 else Phrase("{value:.3g}", value=value)


def bound(value: float, digits: int = 2) -> Phrase:
    """The same, upwards: "at most 2.3" must be true."""
    return short(rounded_up(value, digits), digits)


def rounded_up(value: float, digits: int) -> float:
    """A number from 0 up, to so many significant digits; whole numbers are kept."""
    if value == 0:
        return 0.0
    unit = min(1.0, 10.0 ** (math.floor(math.log10(value)) - digits + 1))
    return float(f"{math.ceil(value / unit - 1e-9) * unit:.12g}")
