"""The functional mechanism's sums for logistic regression, whose loss is replaced by a parabola:

    log(1 + e^z) ~ log 2 + z/2 + z^2/8;   loss(w) ~ const + sum (v.w)^2 / 8 - sum y (v.w) / 2,   y = -1 or 1
    v = (1, x) on the grid of grid_design.py;  g(row) = (v_j^2, 2 v_j v_k for j < k | v_j y_c)

One row moves the first part by L^2 and the second by L g, with L the largest |v|_1; both are attained at once. They
share the budget as their coefficients 1/8 and 1/2 do in the loss. With more than two classes y_c is the indicator of
class c: a row has one of them, so all regressions of one class against the rest cost no more than one.

Zhang, Zhang, Xiao, Yang, Winslett, PVLDB 5(11), 2012, section 5.3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from murmure.core.blocks import Block, NoisySum
from murmure.core.catalogue_entries import SumEntry
from murmure.core.domain import Categories, Integers, Interval
from murmure.core.schema import Schema
from murmure.core.types import Array, Ints
from murmure.statistics.base.design_sums import (
    FACTORS,
    DesignStatistic,
    check_classes,
    check_norm,
    product_block,
    product_factors,
    symmetric,
    upper_of,
)
from murmure.statistics.base.grid_design import Floats


@dataclass(frozen=True)
class TaylorEstimate:
    """Sums of v_j v_k and of v_j y_c, in half ranges, and the variance of the noise in each; a release."""

    names: tuple[str, ...]
    classes: tuple[str, ...]  # of the columns of `cross`
    design: Floats  # (p, p)
    cross: Floats  # (p, classes)
    design_noise: Floats
    cross_noise: float

    @property
    def labels(self) -> list[str]:
        squares = [f"{self.names[j]} * {self.names[k]}" for j, k in zip(*upper_of(len(self.names)), strict=True)]
        return squares + [f"{name} * {c}" for name in self.names for c in self.classes]

    @property
    def mean(self) -> Floats:
        return np.concatenate([self.design[upper_of(len(self.names))], self.cross.ravel()])

    def variance(self, target: str = "fixed") -> Floats:
        """Of the noise in every figure."""
        return np.append(self.design_noise[upper_of(len(self.names))], np.full(self.cross.size, self.cross_noise))


@dataclass(frozen=True)
class Taylor(DesignStatistic):
    """Products of the constant and the columns with one another, and with the classes."""

    domain: Schema
    target: str
    shape: str = "diamond"
    radius: float | None = None
    bits: int = 14
    norm: Literal["l1", "l2"] = "l1"

    entry = SumEntry(order=90)

    def __post_init__(self) -> None:
        check_classes("Taylor", self.domain, self.target)
        check_norm("Taylor", self.norm)
        _ = self.design

    @property
    def _widths(self) -> tuple[int, int]:
        p = self.design.width
        return p * (p + 1) // 2, p * self.outcome.width

    @property
    def width(self) -> int:
        return sum(self._widths)

    @property
    def largest(self) -> int:
        return max(FACTORS[self.norm]) * self.design.g**2

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        a, b = FACTORS[self.norm]
        squares, crosses = self._widths
        L, S, y = self.design.max_l1, self.design.max_squares, self.outcome.largest
        if self.norm == "l1":
            weights = L**2 / 8, L * y / 2
        else:  # rho is spent in proportion to squares: (1/8)^2 |v|^4 and (1/2)^2 |v|^2 y^2
            weights = S**2 / 64, S * y**2 / 4
        return (
            product_block("design", a, b, self.design, squares, weight=weights[0]),
            Block("cross", crosses, min(L * y, math.isqrt(crosses * S * y**2)), S * y**2, weights[1]),
        )

    def lift(self, x: tuple[Array, ...]) -> Ints:
        p, (j, k) = self.design.width, upper_of(self.design.width)
        parts = [np.empty((0, self.width))]
        for z in self.design.blocks(x, self.outcome):
            cross = z[:p, None, :] * z[None, p:, :]
            parts.append(np.concatenate([(z[j] * z[k]).T * self._factors, cross.reshape(-1, z.shape[1]).T], axis=1))
        return np.concatenate(parts).astype(np.int64)

    def tally(self, x: tuple[Array, ...]) -> Ints:
        p = self.design.width
        out = np.zeros((p, p + self.outcome.width), np.int64)
        for z in self.design.blocks(x, self.outcome):  # 2**13 rows of products up to 2**32: whole numbers below 2**53
            out += (z[:p] @ z.T).astype(np.int64)
        return np.concatenate([out[:, :p][upper_of(p)] * self._factors, out[:, p:].ravel()])

    @cached_property
    def _factors(self) -> Ints:
        return product_factors(self.norm, self.design.width)

    def interpret(self, noisy: NoisySum) -> TaylorEstimate:
        p, square = self.design.width, float(self.design.g) ** 2
        unit = self._factors * square
        design, noise = symmetric(noisy["design"] / unit, p), symmetric(noisy.variance("design") / unit**2, p)
        cross = noisy["cross"].reshape(p, self.outcome.width) / square
        classes = self.domain[self.target].labels()
        names = tuple(classes[1:] if len(classes) == 2 else classes)
        cross_noise = noisy.variance("cross") / square**2
        return TaylorEstimate(tuple(self.design.names), names, design, cross, noise, cross_noise)

    def reference(self, x: tuple[Array, ...]) -> Floats:
        p, z = self.design.width, self._half_ranges(x)
        return np.concatenate([(z[:p] @ z[:p].T)[upper_of(p)], (z[:p] @ z[p:].T).ravel()])


_TWO = Schema({"age": Integers(0, 4), "income": Interval(0.0, 2.0, cells=4), "sick": Categories(["no", "yes"])})
_THREE = Schema({"age": Integers(0, 8), "smoker": Categories([False, True]), "kind": Categories(3)})

EXAMPLES = (
    Taylor(_TWO, "sick", shape="box", bits=4),
    Taylor(_TWO, "sick", bits=6),
    Taylor(_TWO, "sick", shape="ball", radius=1.0, bits=5, norm="l2"),
    Taylor(_THREE, "kind", shape="box", bits=3),
)
