"""How columns vary together about a public point: sums of products of what is left when the point is taken off.

    g(row) = (a u_j^2,  b u_j u_k for j < k),   u = x - centre on the grid of grid_design.py, in its shape, no constant

One row moves it by what product_block says of |u|_1 (l1: |u|_1^2) or |u|_2 (l2). The point comes from earlier noisy
sums, or from nowhere: it decides how good the answer is, never what it costs. Without the constant, and about a point
among the rows, a row is shorter than about the middle of the bounds: its square is what noise is scaled to.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from murmure.core.blocks import Block, NoisySum
from murmure.core.catalogue_entries import SumEntry
from murmure.core.domain import Categories, Integers, Interval
from murmure.core.schema import Schema
from murmure.statistics.base.design_sums import FACTORS, ProductSums, check_classes, check_norm, product_block
from murmure.statistics.learning.gram import GramEstimate


@dataclass(frozen=True)
class Scatter(ProductSums):
    """Products of all columns but the target with one another, about `centre` (whole numbers on the grid)."""

    domain: Schema
    target: str
    centre: tuple[int, ...] = ()
    shape: str = "diamond"
    radius: float | None = None
    bits: int = 13  # one less than elsewhere: about a centre, numbers reach twice as far
    norm: Literal["l1", "l2"] = "l1"

    intercept = False
    entry = SumEntry(order=50)

    def __post_init__(self) -> None:
        check_classes("Scatter", self.domain, self.target)
        object.__setattr__(self, "centre", tuple(self.centre))
        check_norm("Scatter", self.norm)
        _ = self.design

    @property
    def largest(self) -> int:
        return max(FACTORS[self.norm]) * max(self.design.caps) ** 2

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        return (product_block("products", *FACTORS[self.norm], self.design, self.width),)

    def interpret(self, noisy: NoisySum) -> GramEstimate:
        return GramEstimate(tuple(self.design.names), *self._products(noisy))


_TWO = Schema({"age": Integers(0, 4), "income": Interval(0.0, 2.0, cells=4), "sick": Categories(["no", "yes"])})
_THREE = Schema({"age": Integers(0, 8), "smoker": Categories(["never", "once", "daily"]), "kind": Categories(3)})

EXAMPLES = (
    Scatter(_TWO, "sick", shape="box", bits=4),
    Scatter(_TWO, "sick", (-9, 30), bits=6),
    Scatter(_TWO, "sick", (3, -5), shape="ball", radius=0.7, bits=5, norm="l2"),
    Scatter(_THREE, "kind", (4, 0, 0), shape="box", bits=3),
)
