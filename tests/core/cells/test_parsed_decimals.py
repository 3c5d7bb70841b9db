"""Floats near the middle of two steps: arithmetic, text and decimals give the same step."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import Any

import numpy as np
import pytest

from murmure.core.cells import parsed_decimals


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
    for size in (3e-16, 3e-9, 1e-3, 0.9, 7.99, 100.0, 12345.0, 9e5):
        x = near_middles(places, size)
        y = x * ten
        found, text = (f(x, y, ten) for f in (parsed_decimals._by_digits, parsed_decimals.steps_by_text))
        compared += len(x)

        np.testing.assert_array_equal(found, text)
        np.testing.assert_array_equal(found, [exact_step(v, places) for v in x.tolist()])
    assert compared > 200
