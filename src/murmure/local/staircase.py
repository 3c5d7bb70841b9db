"""Bounded staircase: two levels of probability around the value, calibrated *after* the cut to the bounds.

    P[y | x] proportional to s(|y - x|),  s = 1 up to gamma times the width, b = e^(-t) beyond, normalised for each x.

Geng, Kairouz, Oh, Viswanath, IEEE JSTSP 9(7), 2015, eq. (9) gives the unbounded density. Cut to an interval it loses
more than t, because the normaliser depends on x: t + ln[(2g + b(1-2g)) / (g + b(1-g))], 1.33 at t = 1. So t is solved
for the law that really runs. gamma: "absolute" 1/(1 + e^(t/2)) is least in E|noise|; "variance" is least in variance,
((b(1+b)/2)^(1/3) - b) / (1-b).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from murmure.core.domain import Integers, Interval
from murmure.core.errors import InvalidParameter, shorten
from murmure.laws.table import Table, shift_family
from murmure.local.bounded_laplace import check_cells, table_guard
from murmure.local.shared import BiasedNumeric

SATURATED = 40.0  # beyond, weights of a table reach one unit of 2**-64 and the law cannot get any sharper
Gamma = Literal["absolute", "variance"]


def gamma_of(t: float, kind: Gamma) -> float:
    b = math.exp(-t)
    if kind == "absolute":
        return 1 / (1 + math.exp(t / 2))
    # cube root minus b, over 1 - b; stable because b(1+b)/2 and b meet only at t = 0
    return ((b * (1 + b) / 2) ** (1 / 3) - b) / -math.expm1(-t) if t > 1e-6 else 0.5


def staircase_shape(t: float, kind: Gamma, K: int) -> NDArray[np.float64]:
    """The mean of the density over the cell at distance d, relative to its top."""
    edge = gamma_of(t, kind) * (K - 1)
    d = np.arange(K)
    high = np.clip(edge - (d - 0.5), 0.0, 1.0)
    high[0] = min(1.0, 2 * edge)  # the cell at distance 0 reaches half a cell to both sides
    return high + (1 - high) * math.exp(-t)


def loss_of(shape: NDArray[np.float64]) -> float:
    """max over reports of ln(largest / smallest probability) of the law proportional to shape[|y - x|]."""
    K = len(shape)
    ends = np.cumsum(shape)
    log_norm = np.log(ends + ends[::-1] - shape[0])
    log_shape = np.log(shape)
    distance = np.abs(np.arange(K)[:, None] - np.arange(K)[None, :])
    log_prob = log_shape[distance] - log_norm[:, None]
    return float((log_prob.max(axis=0) - log_prob.min(axis=0)).max())


@lru_cache(maxsize=16)
def staircase_table(epsilon: float, kind: Gamma, K: int) -> tuple[Table, float]:
    target = min(epsilon - table_guard(epsilon, K), SATURATED)
    low, high = 0.0, target * 1.5  # loss(t) is between about t (coarse grids) and t + ln 2
    while loss_of(staircase_shape(high, kind, K)) < target:
        low, high = high, high * 2
    # regula falsi with halving (Illinois), on a smooth increasing function
    f_low = -target if low == 0.0 else loss_of(staircase_shape(low, kind, K)) - target
    f_high = loss_of(staircase_shape(high, kind, K)) - target
    side = 0
    for _ in range(60):
        t = (low * f_high - high * f_low) / (f_high - f_low)
        f = loss_of(staircase_shape(t, kind, K)) - target
        if f > 0:
            high, f_high, f_low, side = t, f, f_low / (2 if side == 1 else 1), 1
        else:
            low, f_low, f_high, side = t, f, f_high / (2 if side == -1 else 1), -1
        if -1e-10 < f <= 0 or high - low < 1e-12:
            break
    return shift_family(staircase_shape(low, kind, K)), low


@dataclass(frozen=True)
class BoundedStaircase(BiasedNumeric):
    """A number near the true one that never leaves the bounds; flat near it, flat far from it."""

    domain: Integers | Interval
    epsilon: float
    gamma: Gamma = "absolute"

    def __post_init__(self) -> None:
        self._check_numeric()
        check_cells(self, self.domain.size)
        if self.gamma not in ("absolute", "variance"):
            raise InvalidParameter(
                f'BoundedStaircase.gamma must be "absolute" or "variance", got {shorten(self.gamma)}.'
            )

    @cached_property
    def channel(self) -> Table:
        return staircase_table(self.epsilon, self.gamma, self.domain.size)[0]

    @property
    def inner_epsilon(self) -> float:
        """t: what the same density would cost without bounds."""
        return staircase_table(self.epsilon, self.gamma, self.domain.size)[1]


EXAMPLES = (
    BoundedStaircase(Integers(0, 10), 1.0),
    BoundedStaircase(Interval(0.0, 1.0, cells=64), 2.0, gamma="variance"),
    BoundedStaircase(Integers(0, 2), 0.5),
)
