"""Margins before anybody is asked: half the width of an interval that the exact variance leads one to expect.

    margin = z sqrt(V / n),      people = ceil(z^2 V / margin^2),      z = 1.96 at 95 %,

V the variance of one person's part in an estimated share, at the share for which it is largest. For a fixed population
V is a straight line in the share, V(f) = V(0) + (V(1) - V(0)) f. A sample from a larger population adds f (1 - f).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from murmure.core.errors import InvalidParameter, shorten
from murmure.core.estimates.intervals import normal_quantile
from murmure.core.fixed import is_finite_number
from murmure.core.types import Floats, Target

LEVEL = 0.95  # of a margin, unless another is asked for


def worst_variance(variance: Callable[[Any, int], Floats], answers: int, target: Target = "fixed") -> float:
    """V: the largest variance of a share from one person, over all shares and answers. variance: of a mechanism."""
    at_0, at_1 = (np.asarray(variance(f, 1), float) for f in (np.zeros(answers), np.ones(answers)))
    if target == "fixed":
        return float(max(at_0.max(), at_1.max()))
    slope = at_1 - at_0
    share = np.clip((1 + slope) / 2, 0.0, 1.0)  # where V(0) + slope f + f (1 - f) is largest
    return float((at_0 + slope * share + share * (1 - share)).max())


def margin_of(variance: float, level: float = LEVEL) -> float:
    """Half the width of the interval of a figure with this variance."""
    return normal_quantile(level) * math.sqrt(variance)


def people_for(margin: float, variance: float, level: float = LEVEL) -> int:
    """How many people give this margin, when one person has this variance."""
    return max(1, math.ceil((normal_quantile(level) / margin) ** 2 * variance))


def check_margin(owner: str, margin: Any, most: float | None = None) -> float:
    """A margin is positive and, of shares (`most`), below half of the whole: a wider interval says nothing."""
    if is_finite_number(margin) and margin > 0 and (most is None or margin < most):
        return float(margin)
    if most is None:
        raise InvalidParameter(
            "{owner}.margin must be a positive number, got {got}.",
            hint="margin=0.5: half the width of the interval, in the unit of the column",
            owner=owner,
            got=shorten(margin),
        )
    raise InvalidParameter(
        "{owner}.margin must lie between 0 and {most:g} percentage points, got {got}.",
        hint="margin=3: the interval reaches 3 percentage points to either side",
        owner=owner,
        most=most,
        got=shorten(margin),
    )
