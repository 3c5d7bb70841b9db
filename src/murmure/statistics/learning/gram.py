"""The functional mechanism's sums: all products of (1, x, y), from which a linear regression is solved.

    z = (1, x, y) on the grid of design.py;   g(row) = (a z_j^2,  b z_j z_k for j < k),   one row moves it by
    l1 = (a - b/2) |z|_2^2 + b/2 |z|_1^2          for Laplace: a = 1, b = 2: the coefficients of sum (y - v.w)^2, and
                                                  l1 = (2g + L)^2 with L the largest |x|_1: (2 + d)^2 on the unit box
    l2 = (a^2 - b^2/2) sum z_j^4 + b^2/2 |z|_2^4  for Gaussian: a = 5, b = 7, close to 1 : sqrt 2 from below, so that
                                                  l2 <= 25 |z|_2^4: the matrix in Frobenius norm, one scale for all

Exchanging one row for another: zz' - ww' = sym((z-w)(z+w)'), so its sum of absolute values is at most
|z-w|_1 |z+w|_1 <= (sum_j max(|z_j|, |w_j|))^2; and |zz' - ww'|_F^2 = |z|^4 + |w|^4 - 2 (z.w)^2 <= 2 max |z|^4.

Zhang, Zhang, Xiao, Yang, Winslett, PVLDB 5(11), 2012, section 4.2 (there with Delta = 2(1+d)^2, and no intercept).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from murmure.core.blocks import Block, NoisySum
from murmure.core.domain import Categories, Integers, Interval
from murmure.core.errors import InvalidParameter, shorten
from murmure.core.schema import Schema
from murmure.core.types import Array, Ints
from murmure.statistics.base.grid_design import Axis, Floats, GridDesign, check_target
from murmure.statistics.base.statistic import CuratorStatistic

FACTORS = {"l1": (1, 2), "l2": (5, 7)}  # of squares and of products, by the norm that the noise counts in


@dataclass(frozen=True)
class GramEstimate:
    """Sums of products z_j z_k in half ranges (1, x, y), and the variance of the noise in each; a release."""

    names: tuple[str, ...]
    sums: Floats
    noise: Floats

    @property
    def labels(self) -> list[str]:
        return [f"{self.names[j]} * {self.names[k]}" for j, k in zip(*upper_of(len(self.names)), strict=True)]

    @property
    def mean(self) -> Floats:
        return self.sums[upper_of(len(self.names))]

    def variance(self, target: str = "fixed") -> Floats:
        """Of the noise in every figure; the sums themselves are those of the people who are there."""
        return self.noise[upper_of(len(self.names))]

    @property
    def exact(self) -> bool:
        return not self.noise.any()

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise in a square: the largest there is."""
        return float(np.sqrt(self.noise.max()))


@dataclass(frozen=True)
class Gram(CuratorStatistic):
    """All products of the constant, the columns and the target.

    shape, radius: which rows count in full (design.py); both are public. bits: of the grid. norm: of the noise.
    """

    domain: Schema
    target: str
    intercept: bool = True
    shape: str = "diamond"
    radius: float | None = None
    bits: int = 14
    norm: Literal["l1", "l2"] = "l1"

    def __post_init__(self) -> None:
        check_target("Gram", self.domain, self.target)
        if isinstance(self.domain[self.target], Categories) and self.domain[self.target].size != 2:
            raise InvalidParameter(
                f"Gram.target must be a number, or one of two labels; column {self.target!r} is "
                f"{self.domain[self.target].describe()}.",
                hint="Taylor takes classes",
            )
        if self.norm not in FACTORS:
            raise InvalidParameter(f'Gram.norm must be "l1" or "l2", got {shorten(self.norm)}.')
        _ = self.design

    @cached_property
    def design(self) -> GridDesign:
        return GridDesign(self.domain, self.target, self.intercept, self.shape, self.radius, self.bits)

    @cached_property
    def outcome(self) -> Axis:
        return Axis(self.domain[self.target], self.design.g)

    @property
    def side(self) -> int:
        """How many numbers are multiplied with one another."""
        return self.design.width + 1

    @property
    def width(self) -> int:
        return self.side * (self.side + 1) // 2

    @property
    def largest(self) -> int:
        return max(FACTORS[self.norm]) * self.design.g**2

    # -- what one row does --------------------------------------------------------------------------------------------

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        a, b = FACTORS[self.norm]
        y = self.outcome.largest
        return (product_block("products", a, b, self.design, self.width, y),)

    @property
    def bounds_attained(self) -> bool:
        """Whether rows on the grid attain the bounds exactly; in other shapes cutting may leave them a little below."""
        return self.design.corners

    def sensitivity(self, relation: Literal["add/remove", "replace"] = "add/remove") -> float:
        """What the papers call Delta, once columns and target are scaled to half ranges: l1 / g^2."""
        return self.blocks[0].sensitivity("l1", relation) / self.design.g**2

    # -- rows ---------------------------------------------------------------------------------------------------------

    def lift(self, x: tuple[Array, ...]) -> Ints:
        j, k = upper_of(self.side)
        parts = [(z[j] * z[k]).T * self._factors for z in self.design.blocks(x, self.outcome)]
        return np.concatenate([np.empty((0, self.width)), *parts]).astype(np.int64)

    def tally(self, x: tuple[Array, ...]) -> Ints:
        out = np.zeros((self.side, self.side), np.int64)
        for z in self.design.blocks(x, self.outcome):  # 2**13 rows of products up to 2**32: whole numbers below 2**53
            out += (z @ z.T).astype(np.int64)
        return out[upper_of(self.side)] * self._factors

    @cached_property
    def _factors(self) -> Ints:
        j, k = upper_of(self.side)
        a, b = FACTORS[self.norm]
        return np.where(j == k, a, b).astype(np.int64)

    # -- what is read -------------------------------------------------------------------------------------------------

    def interpret(self, noisy: NoisySum) -> GramEstimate:
        upper, unit = upper_of(self.side), self._factors * float(self.design.g) ** 2
        sums, noise = np.zeros((self.side, self.side)), np.zeros((self.side, self.side))
        sums[upper] = noisy["products"] / unit
        noise[upper] = noisy.variance("products") / unit**2
        return GramEstimate((*self.design.names, self.target), symmetric(sums), symmetric(noise))

    def reference(self, x: tuple[Array, ...]) -> Floats:
        z = np.concatenate([part / self.design.g for part in map(np.copy, self.design.blocks(x, self.outcome))], axis=1)
        return (z @ z.T)[upper_of(self.side)]


def product_block(
    name: str, a: int, b: int, design: GridDesign, width: int, outcome: int = 0, weight: float = 1.0
) -> Block:
    """The bounds of (a z_j^2, b z_j z_k) for z = (1, x), or (1, x, y) with |y| <= outcome."""
    L, S = design.max_l1 + outcome, design.max_squares + outcome**2
    Q, M = design.max_fourths + outcome**4, design.max_of_two + outcome
    groups = len(design.caps) + (outcome > 0)
    # doubled, so that all numbers are whole; both parts are bounded on their own, and 2a >= b
    l1 = _half_up((2 * a - b) * S + b * L * L)
    more = 2 * a * a - b * b
    if more >= 0:
        l2 = _half_up(b * b * S * S + more * Q)
    else:  # sum z_j^4 >= S^2 / groups; and the whole grows with every |z_j|, so the box's corner bounds it too
        spread = b * b * S * S + more * S * S // groups
        corner = b * b * (design.box_squares + outcome**2) ** 2 + more * (sum(c**4 for c in design.caps) + outcome**4)
        l2 = min(spread, corner) // 2
    swap_l1 = min(2 * l1, _half_up((2 * a - b) * 2 * S + b * M * M))
    swap_l2 = min(4 * l2, 2 * l2 if more >= 0 else b * b * S * S)
    # Cauchy: |s|_1^2 <= width |s|_2^2, and |s|_1 is a whole number
    l1 = min(l1, math.isqrt(width * l2))
    swap_l1 = min(swap_l1, 2 * l1, math.isqrt(width * swap_l2))
    l2, swap_l2 = min(l2, l1 * l1), min(swap_l2, swap_l1 * swap_l1)  # no sum of squares is above the square of the sum
    return Block(name, width, l1, l2, weight, swap_l1, swap_l2)


def _half_up(doubled: int) -> int:
    return -(-doubled // 2)


def upper_of(side: int) -> tuple[Array, Array]:
    """Where the products z_j z_k with j <= k stand in their matrix."""
    return np.triu_indices(side)


def symmetric(upper: Floats) -> Floats:
    """The matrix, from its upper half."""
    return upper + np.triu(upper, 1).T


_SMALL = Schema({"age": Integers(0, 4), "income": Interval(0.0, 2.0, cells=4), "y": Integers(-2, 2)})
_LABELS = Schema({"region": Categories(3), "smoker": Categories(["no", "yes"]), "y": Interval(0.0, 1.0, cells=8)})

EXAMPLES = (
    Gram(_SMALL, "y", shape="box", bits=4),
    Gram(_SMALL, "y", shape="box", bits=4, norm="l2"),
    Gram(_SMALL, "y", bits=6),
    Gram(_SMALL, "y", shape="ball", radius=1.0, bits=6, norm="l2"),
    Gram(_LABELS, "y", bits=5),
    Gram(_LABELS, "y", intercept=False, shape="box", bits=3),
)
