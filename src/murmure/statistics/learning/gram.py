"""The functional mechanism's sums: all products of (1, x, y), from which a linear regression is solved.

    z = (1, x, y) on the grid of grid_design.py;   g(row) = (a z_j^2,  b z_j z_k for j < k),   one row moves it by
    l1 = (a - b/2) |z|_2^2 + b/2 |z|_1^2          for Laplace: a = 1, b = 2: the coefficients of sum (y - v.w)^2, and
                                                  l1 = (2g + L)^2 with L the largest |x|_1: (2 + d)^2 on the unit box
    l2 = (a^2 - b^2/2) sum z_j^4 + b^2/2 |z|_2^4  for Gaussian: a = 5, b = 7, close to 1 : sqrt 2 from below, so that
                                                  l2 <= 25 |z|_2^4: the matrix in Frobenius norm, one scale for all

Exchanging one row for another: zz' - ww' = sym((z-w)(z+w)'), so its sum of absolute values is at most
|z-w|_1 |z+w|_1 <= (sum_j max(|z_j|, |w_j|))^2; and |zz' - ww'|_F^2 = |z|^4 + |w|^4 - 2 (z.w)^2 <= 2 max |z|^4.

Zhang, Zhang, Xiao, Yang, Winslett, PVLDB 5(11), 2012, section 4.2 (there with Delta = 2(1+d)^2, and no intercept).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from murmure.core.blocks import Block, NoisySum
from murmure.core.domain import Categories, Integers, Interval
from murmure.core.errors import InvalidParameter
from murmure.core.schema import Schema
from murmure.statistics.base.design_sums import FACTORS, ProductSums, check_norm, product_block, upper_of
from murmure.statistics.base.grid_design import Floats, check_target


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


@dataclass(frozen=True)
class Gram(ProductSums):
    """All products of the constant, the columns and the target.

    shape, radius: which rows count in full (grid_design.py); both are public. bits: of the grid. norm: of the noise.
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
        # Two labels are -1 and 1 on the grid. More would need an indicator each, which is what Taylor has.
        if isinstance(self.domain[self.target], Categories) and self.domain[self.target].size != 2:
            raise InvalidParameter(
                "Gram.target must be a number, or one of two labels; column {target!r} is {domain}.",
                hint="Taylor takes classes",
                target=self.target,
                domain=self.domain[self.target].describe(),
            )
        check_norm("Gram", self.norm)
        _ = self.design

    @property
    def side(self) -> int:
        """How many numbers are multiplied with one another."""
        return self.design.width + 1

    @property
    def largest(self) -> int:
        return max(FACTORS[self.norm]) * self.design.g**2

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        a, b = FACTORS[self.norm]
        y = self.outcome.largest
        return (product_block("products", a, b, self.design, self.width, y),)

    def sensitivity(self, relation: Literal["add/remove", "replace"] = "add/remove") -> float:
        """What the papers call Delta, once columns and target are scaled to half ranges: l1 / g^2."""
        return self.blocks[0].sensitivity("l1", relation) / self.design.g**2

    def interpret(self, noisy: NoisySum) -> GramEstimate:
        return GramEstimate((*self.design.names, self.target), *self._products(noisy))


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
