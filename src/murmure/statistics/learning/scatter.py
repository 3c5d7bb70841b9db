"""How columns vary together about a public point: sums of products of what is left when the point is taken off.

    g(row) = (a u_j^2,  b u_j u_k for j < k),   u = x - centre on the grid of design.py, in its shape, no constant

One row moves it by what product_block says of |u|_1 (l1: |u|_1^2) or |u|_2 (l2). The point comes from earlier noisy
sums, or from nowhere: it decides how good the answer is, never what it costs. Without the constant, and about a point
among the rows, a row is shorter than about the middle of the bounds: its square is what noise is scaled to.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from murmure.core.blocks import Block, NoisySum
from murmure.core.domain import Categories, Integers, Interval
from murmure.core.errors import InvalidParameter, shorten
from murmure.core.schema import Schema
from murmure.core.types import Array, Ints
from murmure.statistics.base.grid_design import Axis, Floats, GridDesign
from murmure.statistics.base.statistic import CuratorStatistic
from murmure.statistics.learning.gram import FACTORS, GramEstimate, product_block, symmetric, upper_of
from murmure.statistics.learning.taylor import check_classes


class ScatterEstimate(GramEstimate):
    """Sums of u_j u_k in half ranges about a centre, and the variance of the noise in each; a release."""


@dataclass(frozen=True)
class Scatter(CuratorStatistic):
    """Products of all columns but the target with one another, about `centre` (whole numbers on the grid)."""

    domain: Schema
    target: str
    centre: tuple[int, ...] = ()
    shape: str = "diamond"
    radius: float | None = None
    bits: int = 13  # one less than elsewhere: about a centre, numbers reach twice as far
    norm: Literal["l1", "l2"] = "l1"

    def __post_init__(self) -> None:
        check_classes("Scatter", self.domain, self.target)
        object.__setattr__(self, "centre", tuple(self.centre))
        if self.norm not in FACTORS:
            raise InvalidParameter(f'Scatter.norm must be "l1" or "l2", got {shorten(self.norm)}.')
        _ = self.design

    @cached_property
    def design(self) -> GridDesign:
        return GridDesign(self.domain, self.target, False, self.shape, self.radius, self.bits, self.centre)

    @cached_property
    def outcome(self) -> Axis:
        return Axis(self.domain[self.target], self.design.g, baseline=False)

    @property
    def width(self) -> int:
        p = self.design.width
        return p * (p + 1) // 2

    @property
    def largest(self) -> int:
        return max(FACTORS[self.norm]) * max(self.design.caps) ** 2

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        return (product_block("products", *FACTORS[self.norm], self.design, self.width),)

    @property
    def bounds_attained(self) -> bool:
        """Whether rows on the grid attain the bounds exactly."""
        return self.design.corners

    def lift(self, x: tuple[Array, ...]) -> Ints:
        p, (j, k) = self.design.width, upper_of(self.design.width)
        parts = [(z[:p][j] * z[:p][k]).T * self._factors for z in self.design.blocks(x, self.outcome)]
        return np.concatenate([np.empty((0, self.width)), *parts]).astype(np.int64)

    def tally(self, x: tuple[Array, ...]) -> Ints:
        p = self.design.width
        out = np.zeros((p, p), np.int64)
        for z in self.design.blocks(x, self.outcome):  # 2**13 rows of products up to 2**34: whole numbers below 2**53
            out += (z[:p] @ z[:p].T).astype(np.int64)
        return out[upper_of(p)] * self._factors

    @cached_property
    def _factors(self) -> Ints:
        j, k = upper_of(self.design.width)
        a, b = FACTORS[self.norm]
        return np.where(j == k, a, b).astype(np.int64)

    def interpret(self, noisy: NoisySum) -> ScatterEstimate:
        p = self.design.width
        upper, unit = upper_of(p), self._factors * float(self.design.g) ** 2
        sums, noise = np.zeros((p, p)), np.zeros((p, p))
        sums[upper] = noisy["products"] / unit
        noise[upper] = noisy.variance("products") / unit**2
        return ScatterEstimate(tuple(self.design.names), symmetric(sums), symmetric(noise))

    def reference(self, x: tuple[Array, ...]) -> Floats:
        p, g = self.design.width, self.design.g
        z = np.concatenate([part / g for part in map(np.copy, self.design.blocks(x, self.outcome))], axis=1)[:p]
        return (z @ z.T)[upper_of(p)]


_TWO = Schema({"age": Integers(0, 4), "income": Interval(0.0, 2.0, cells=4), "sick": Categories(["no", "yes"])})
_THREE = Schema({"age": Integers(0, 8), "smoker": Categories(["never", "once", "daily"]), "kind": Categories(3)})

EXAMPLES = (
    Scatter(_TWO, "sick", shape="box", bits=4),
    Scatter(_TWO, "sick", (-9, 30), bits=6),
    Scatter(_TWO, "sick", (3, -5), shape="ball", radius=0.7, bits=5, norm="l2"),
    Scatter(_THREE, "kind", (4, 0, 0), shape="box", bits=3),
)
