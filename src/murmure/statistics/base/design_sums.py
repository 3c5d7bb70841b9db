"""What the sums of learners share: rows as grid vectors (grid_design.py), and the products of their entries.

z = (1, x, y) on the grid;   products (a z_j^2,  b z_j z_k for j < k)   with public factors a and b
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.blocks import Block, NoisySum
from murmure.core.domain import Categories
from murmure.core.errors import InvalidParameter, shorten
from murmure.core.schema import Schema
from murmure.core.types import Array, Ints
from murmure.statistics.base.code_lines import lines_for_kernels
from murmure.statistics.base.grid_design import Axis, Floats, GridDesign, check_target
from murmure.statistics.base.statistic import ProtectableStatistic

FACTORS = {"l1": (1, 2), "l2": (5, 7)}  # of squares and of products, by the norm that the noise counts in


class DesignStatistic(ProtectableStatistic):
    """Sums over the grid vectors of rows. Subclasses say which design, and what is summed."""

    domain: Schema
    target: str
    shape: str
    radius: float | None
    bits: int
    # A question may have these as fields; where it does not, they are fixed.
    intercept: bool = True
    centre: tuple[int, ...] = ()

    @cached_property
    def design(self) -> GridDesign:
        return GridDesign(self.domain, self.target, self.intercept, self.shape, self.radius, self.bits, self.centre)

    @cached_property
    def outcome(self) -> Axis:
        """The target on the grid; every class has its indicator."""
        return Axis(self.domain[self.target], self.design.g, baseline=False)

    @property
    def bounds_attained(self) -> bool:
        """Whether rows on the grid attain the bounds exactly; in other shapes cutting may leave them a little below."""
        return self.design.corners

    def _half_ranges(self, x: tuple[Array, ...]) -> Floats:
        """z of all rows at once, in half ranges: for `reference`."""
        return np.concatenate([z / self.design.g for z in map(np.copy, self.design.blocks(x, self.outcome))], axis=1)


class ProductSums(DesignStatistic):
    """Sums of the products of the first `side` entries of z."""

    norm: str

    @property
    def side(self) -> int:
        """How many numbers are multiplied with one another."""
        return self.design.width

    @property
    def width(self) -> int:
        return self.side * (self.side + 1) // 2

    @cached_property
    def _factors(self) -> Ints:
        return product_factors(self.norm, self.side)

    def lift(self, x: tuple[Array, ...]) -> Ints:
        j, k = upper_of(self.side)
        parts = [(z[j] * z[k]).T * self._factors for z in self.design.blocks(x, self.outcome)]
        return np.concatenate([np.empty((0, self.width)), *parts]).astype(np.int64)

    def tally(self, x: tuple[Array, ...]) -> Ints:
        out = np.zeros((self.side, self.side), np.int64)
        if self._add_products(x, out):
            return out[upper_of(self.side)] * self._factors
        # 2**13 rows of products up to 2**34: floats hold whole numbers below 2**53 exactly
        for z in self.design.blocks(x, self.outcome):
            out += (z[: self.side] @ z[: self.side].T).astype(np.int64)
        return out[upper_of(self.side)] * self._factors

    def _add_products(self, x: tuple[Array, ...], out: Ints) -> bool:
        """The same sums from compiled kernels; False where they do not take these columns, or so few rows."""
        design, names = self.design, self.domain.private
        axes = (*design.axes, self.outcome)
        indicators = any(isinstance(axis.domain, Categories) for axis in axes)  # and their rows that are nobody
        if indicators or any(self.centre) or self.side != design.width + 1:
            return False
        taken = (*design.features, self.target)
        found = lines_for_kernels([x[names.index(name)] for name in taken], max(axis.domain.size for axis in axes))
        if found is None:
            return False
        kernels, lines = found
        grid = np.array([(axis.steps, axis.times, axis.g) for axis in axes], float).T
        g, (limit, squared) = float(design.g), design.limit
        kernels.products(lines, *grid, g, int(self.intercept), design.width, limit, squared, out)
        return True

    def _products(self, noisy: NoisySum, block: str = "products") -> tuple[Floats, Floats]:
        """The matrix of sums in half ranges, and the variance of the noise in each."""
        unit = self._factors * float(self.design.g) ** 2
        return symmetric(noisy[block] / unit, self.side), symmetric(noisy.variance(block) / unit**2, self.side)

    def reference(self, x: tuple[Array, ...]) -> Floats:
        z = self._half_ranges(x)[: self.side]
        return (z @ z.T)[upper_of(self.side)]


def check_norm(owner: str, norm: object) -> None:
    if norm not in FACTORS:
        raise InvalidParameter('{owner}.norm must be "l1" or "l2", got {got}.', owner=owner, got=shorten(norm))


def check_classes(owner: str, domain: Schema, target: str, alone: bool = False) -> None:
    """`alone`: the column of classes is all that is read."""
    if not alone:
        check_target(owner, domain, target)
    if not isinstance(domain[target], Categories):
        raise InvalidParameter(
            "{owner}.target must name classes; column {target!r} is {domain}.",
            hint='Categories(["no", "yes"]), or Categories([0, 1]) for classes that are numbers',
            owner=owner,
            target=target,
            domain=domain[target].describe(),
        )


def product_factors(norm: str, side: int) -> Ints:
    """a for squares and b for products, as the upper half of a matrix."""
    j, k = upper_of(side)
    a, b = FACTORS[norm]
    return np.where(j == k, a, b).astype(np.int64)


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
    # Replacing a row adds one vector and removes another; see the top of gram.py for both bounds.
    swap_l1 = _half_up((2 * a - b) * 2 * S + b * M * M)
    swap_l2 = min(4 * l2, 2 * l2 if more >= 0 else b * b * S * S)
    # Cauchy: |s|_1^2 <= width |s|_2^2, and |s|_1 is a whole number
    l1 = min(l1, math.isqrt(width * l2))
    swap_l1 = min(swap_l1, 2 * l1, math.isqrt(width * swap_l2))
    l2, swap_l2 = min(l2, l1 * l1), min(swap_l2, swap_l1 * swap_l1)  # no sum of squares is above the square of the sum
    return Block(name, width, l1, l2, weight, swap_l1, swap_l2)


def _half_up(doubled: int) -> int:
    return -(-doubled // 2)


def upper_of(side: int) -> tuple[Array, Array]:
    """The places of the products z_j z_k with j <= k in their matrix."""
    return np.triu_indices(side)


def symmetric(upper: NDArray[Any], side: int) -> Floats:
    """The matrix, from its upper half."""
    out = np.zeros((side, side))
    out[upper_of(side)] = upper
    return out + np.triu(out, 1).T
