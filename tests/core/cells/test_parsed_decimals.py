"""Floats near the middle of two steps: arithmetic, text and decimals give the same step."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from murmure.core.cells import parsed_decimals
from murmure.core.domain import Decimals


def near_middles(places: int, size: float) -> Any:
    """Middles of steps, their neighbouring floats, and numbers around half a unit of the 15th digit away."""
    rng = np.random.default_rng(places)
    ten = float(10**places)
    middle = (2 * np.floor(rng.uniform(-size * ten, size * ten, 300)) + 1) / (2 * ten)
    unit = 10.0 ** (np.floor(np.log10(np.abs(middle))) - 14)
    spacing = np.spacing(np.abs(middle))
    close = [middle + j * spacing for j in range(-6, 7)]
    half = [middle + side * unit / 2 + j * spacing for side in (-1, 1) for j in range(-3, 4)]
    x = np.concatenate([*close, *half, middle + rng.uniform(-9, 9, 300) * unit])
    return x[np.abs(x * ten) < 1e15]


def exact_step(x: float, places: int) -> int:
    """The step nearest to the number of 15 digits that x is read as; in the middle, the even one."""
    digits = Context(prec=40)
    return int(digits.scaleb(Decimal(f"{x:.15g}"), places).quantize(Decimal(1), ROUND_HALF_EVEN, digits))


@pytest.mark.parametrize("places", [0, 1, 3, 6, 12, 14, 18, 22, 25, 30])
def test_the_nearest_step_is_that_of_fifteen_digits(places: int) -> None:
    ten, compared = float(10**places), 0
    for size in (3e-16, 3e-9, 1e-3, 0.9, 7.99, 100.0, 12345.0, 9e5, 4e14):
        x = near_middles(places, size)
        y = x * ten
        found, text = (f(x, y, ten) for f in (parsed_decimals._by_digits, parsed_decimals.steps_by_text))
        compared += len(x)

        np.testing.assert_array_equal(found, text)
        np.testing.assert_array_equal(found, [exact_step(v, places) for v in x.tolist()])
    assert compared > 200


@pytest.mark.parametrize("rounding", ["nearest", "refuse"])
@pytest.mark.parametrize(("low", "high"), [("-0.4", "0.7"), ("0.3", "1.2"), (-1, "0.5")])
def test_a_number_in_digits_has_the_code_of_its_fraction(low: Any, high: Any, rounding: Any) -> None:
    """The nearest step, of two the even one, the nearest bound beyond; outside and longer as the fraction is."""
    domain = Decimals(low, high, 1, rounding=rounding)
    far = [(sign * v, s) for sign in (-1, 1) for v, s in ((1, 90), (1, -90), (10**90, 90), (5 * 10**90, 91), (0, 90))]
    for v, s in [(v, s) for s in (-1, 0, 1, 2, 3) for v in range(-140, 141)] + far:
        value = Fraction(v) / Fraction(10) ** s
        steps = value * 10
        if not domain.low_exact <= value <= domain.high_exact:
            status = parsed_decimals.OUTSIDE
        else:
            is_step = steps.denominator == 1
            status = parsed_decimals.INSIDE if is_step or rounding == "nearest" else parsed_decimals.LONGER
        code = min(max(round(steps) - domain.first, 0), domain.size - 1)

        assert (code, status) == parsed_decimals.code_of(domain, v, s, rounding == "nearest"), value
