"""Bounded staircase: two levels of probability around the value, calibrated *after* the cut to the bounds.

    P[y | x] proportional to s(|y - x|),  s = 1 up to gamma times the width, b = e^(-t) beyond, normalised for each x.

Geng, Kairouz, Oh, Viswanath, IEEE JSTSP 9(7), 2015, give the unbounded density. Cut to an interval it loses
more than t, because the normaliser depends on x: t + ln[(2g + b(1-2g)) / (g + b(1-g))], 1.33 at t = 1. So t is solved
for the law that really runs. gamma: "absolute" 1/(1 + e^(t/2)) is least in E|noise|; "variance" is least in variance,
((b(1+b)/2)^(1/3) - b) / (1-b).
"""

from __future__ import annotations

import decimal
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from murmure.core.domain import Decimals, Integers, Interval
from murmure.core.errors import InvalidParameter, shorten
from murmure.core.fixed import exactly, exp_float
from murmure.laws.table import TableChannel, shift_family
from murmure.local.base.randomisers import BiasedNumeric
from murmure.local.bounded_laplace import check_cells, table_slack

SATURATED = 40.0  # beyond, weights of a table reach one unit of 2**-64 and the law cannot get any sharper
Gamma = Literal["absolute", "variance"]


def gamma_of(b: float, kind: Gamma) -> float:
    """The width of the top, for b = e^(-t)."""
    if kind == "absolute":
        root = math.sqrt(b)
        return root / (1 + root)
    # ((b (1+b)/2)^(1/3) - b) / (1-b); the cube root to 80 digits, because it meets b at t = 0
    return _variance_gamma(b)


@exactly
def _variance_gamma(b: float) -> float:
    exact = decimal.Decimal(b)
    return float(((exact * (1 + exact) / 2) ** (decimal.Decimal(1) / 3) - exact) / (1 - exact))


def staircase_shape(b: float, kind: Gamma, K: int) -> NDArray[np.float64]:
    """The mean of the density over the cell at distance d, relative to its top. (+ - * / only: the same anywhere.)"""
    edge = gamma_of(b, kind) * (K - 1)
    d = np.arange(K)
    high = np.clip(edge - (d - 0.5), 0.0, 1.0)
    high[0] = min(1.0, 2 * edge)  # the cell at distance 0 reaches half a cell to both sides
    return high + (1 - high) * b


def worst_ratio(shape: NDArray[np.float64]) -> float:
    """max over reports of largest / smallest probability of the law proportional to shape[|y - x|]."""
    K = len(shape)
    ends = np.cumsum(shape)
    norm = ends + ends[::-1] - shape[0]
    distance = np.abs(np.arange(K)[:, None] - np.arange(K)[None, :])
    prob = shape[distance] / norm[:, None]
    return float((prob.max(axis=0) / prob.min(axis=0)).max())


@lru_cache(maxsize=16)
def staircase_table(epsilon: float, kind: Gamma, K: int) -> tuple[TableChannel, float]:
    """The sharpest staircase whose law on K cells loses no more than epsilon, and its b."""
    target = exp_float(min(epsilon - table_slack(epsilon, K), SATURATED))
    low, high = 1.0 / target**2, 1.0 - 2.0**-52  # sharper than any answer, and nearly flat
    for _ in range(200):  # bisection in the logarithm of b, so that 200 steps are plenty
        middle = math.sqrt(low * high)
        if not low < middle < high or worst_ratio(staircase_shape(high, kind, K)) > target * (1 - 1e-11):
            break
        low, high = (middle, high) if worst_ratio(staircase_shape(middle, kind, K)) > target else (low, middle)
    shape = staircase_shape(high, kind, K)
    top = Fraction(float(shape.max()))
    return shift_family([max(1, math.floor(Fraction(float(s)) / top * (1 << 63))) for s in shape]), high


@dataclass(frozen=True)
class BoundedStaircase(BiasedNumeric):
    """A number near the true one that never leaves the bounds; flat near it, flat far from it."""

    domain: Integers | Interval | Decimals
    epsilon: float
    gamma: Gamma = "absolute"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_cells(self, self.domain.size)
        if self.gamma not in ("absolute", "variance"):
            raise InvalidParameter(
                'BoundedStaircase.gamma must be "absolute" or "variance", got {got}.', got=shorten(self.gamma)
            )

    @cached_property
    def channel(self) -> TableChannel:
        return staircase_table(self.epsilon, self.gamma, self.domain.size)[0]

    @property
    def inner_epsilon(self) -> float:
        """t: what the same density would cost without bounds."""
        return -math.log(staircase_table(self.epsilon, self.gamma, self.domain.size)[1])


EXAMPLES = (
    BoundedStaircase(Integers(0, 10), 1.0),
    BoundedStaircase(Interval(0.0, 1.0, cells=64), 2.0, gamma="variance"),
    BoundedStaircase(Integers(0, 2), 0.5),
)
