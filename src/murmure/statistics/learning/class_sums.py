"""How many rows each class has; and the sum of their vectors, for means of classes and what differs between them.

    ClassCounts   g(row) = [class = c]                       one row adds 1
    ClassSums     g(row) = [class = c] v,   v = (1, x)       one row adds |v|_1 (l1), |v|_2^2 (l2)

v is on the grid of grid_design.py, in its shape. A row has one class, so however many there are they cost what one
costs (parallel composition). Beside a matrix of products, which a row moves by |v|_1^2, these are cheap: at small
epsilon the means of classes are what can be told. (Linear discriminants from noisy means: Fisher, Ann. Eugenics 7,
1936.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from murmure.core.blocks import Block, NoisySum
from murmure.core.domain import Categories, Integers, Interval
from murmure.core.errors import InvalidParameter, shorten
from murmure.core.schema import Schema
from murmure.core.types import Array, Ints
from murmure.statistics.base.design_sums import DesignStatistic, check_classes
from murmure.statistics.base.grid_design import Floats
from murmure.statistics.base.one_hot_cells import one_hot_block
from murmure.statistics.base.statistic import CuratorStatistic, counts_of, one_hot


@dataclass(frozen=True)
class ClassCountsEstimate:
    """People of every class, and the variance of the noise in each number; a release."""

    labels: list[str]
    mean: Floats
    noise: float

    def variance(self, target: str = "fixed") -> Floats:
        return np.full(len(self.mean), self.noise)


@dataclass(frozen=True)
class ClassCounts(CuratorStatistic):
    """How many rows each class of the one column has."""

    domain: Schema

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Schema) or len(self.domain.private) != 1:
            raise InvalidParameter(
                "ClassCounts.domain must be a Schema of one column, got {got}.", got=shorten(self.domain)
            )
        check_classes("ClassCounts", self.domain, self.target, alone=True)

    @property
    def target(self) -> str:
        return self.domain.private[0]

    largest = 1
    bounds_attained = True

    @property
    def width(self) -> int:
        return self.domain[self.target].size

    @property
    def blocks(self) -> tuple[Block, ...]:
        return (one_hot_block(self.width),)

    def lift(self, x: tuple[Array, ...]) -> Ints:
        return one_hot(x[0], self.width)

    def tally(self, x: tuple[Array, ...]) -> Ints:
        return counts_of(x[0], self.width)

    def interpret(self, noisy: NoisySum) -> ClassCountsEstimate:
        return ClassCountsEstimate(
            list(self.domain[self.target].labels()), noisy["cells"].astype(float), noisy.variance("cells")
        )

    def reference(self, x: tuple[Array, ...]) -> Floats:
        return np.array([np.sum(np.asarray(x[0]) == c) for c in range(self.width)], float)


@dataclass(frozen=True)
class ClassSumsEstimate:
    """Sums of v = (1, x) in half ranges, one row for each class, and the variance of the noise; a release."""

    names: tuple[str, ...]
    classes: tuple[str, ...]
    sums: Floats  # (classes, 1 + columns)
    noise: float

    @property
    def labels(self) -> list[str]:
        return [f"{c}: {name}" for c in self.classes for name in self.names]

    @property
    def mean(self) -> Floats:
        return self.sums.ravel()

    def variance(self, target: str = "fixed") -> Floats:
        return np.full(self.sums.size, self.noise)


@dataclass(frozen=True)
class ClassSums(DesignStatistic):
    """Sums of the constant and the columns, for every class of `target`."""

    domain: Schema
    target: str
    shape: str = "diamond"
    radius: float | None = None
    bits: int = 14

    def __post_init__(self) -> None:
        check_classes("ClassSums", self.domain, self.target)
        _ = self.design

    @property
    def classes(self) -> int:
        return self.domain[self.target].size

    @property
    def width(self) -> int:
        return self.classes * self.design.width

    @property
    def largest(self) -> int:
        return max(self.design.caps)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        L, S = self.design.max_l1, self.design.max_squares
        return (Block("sums", self.width, min(L, math.isqrt(self.width * S)), S),)

    def _class_codes(self, x: tuple[Array, ...]) -> Array:
        return np.asarray(x[self.domain.private.index(self.target)])

    def lift(self, x: tuple[Array, ...]) -> Ints:
        p, indicators = self.design.width, one_hot(self._class_codes(x), self.classes)
        parts, at = [np.empty((0, self.width))], 0
        for z in self.design.blocks(x, self.outcome):
            here = indicators[at : at + z.shape[1]]
            at += z.shape[1]
            parts.append((here[:, :, None] * z[:p].T[:, None, :]).reshape(len(here), -1))
        return np.concatenate(parts).astype(np.int64)

    def tally(self, x: tuple[Array, ...]) -> Ints:
        p, class_codes, at = self.design.width, self._class_codes(x), 0
        out = np.zeros((self.classes, p), np.int64)
        which = np.arange(self.classes)[:, None]
        for z in self.design.blocks(x, self.outcome):  # 2**13 rows of whole numbers up to 2**16: exact
            here = class_codes[at : at + z.shape[1]] == which
            at += z.shape[1]
            out += (here.astype(np.float64) @ z[:p].T).astype(np.int64)
        return out.ravel()

    def interpret(self, noisy: NoisySum) -> ClassSumsEstimate:
        g = float(self.design.g)
        sums = noisy["sums"].reshape(self.classes, -1) / g
        classes = tuple(self.domain[self.target].labels())
        return ClassSumsEstimate(tuple(self.design.names), classes, sums, noisy.variance("sums") / g**2)

    def reference(self, x: tuple[Array, ...]) -> Floats:
        z, class_codes = self._half_ranges(x)[: self.design.width], self._class_codes(x)
        return np.concatenate([z[:, class_codes == c].sum(axis=1) for c in range(self.classes)])


_TWO = Schema({"age": Integers(0, 4), "income": Interval(0.0, 2.0, cells=4), "sick": Categories(["no", "yes"])})
_THREE = Schema({"age": Integers(0, 8), "smoker": Categories([False, True]), "kind": Categories(3)})

EXAMPLES = (
    ClassCounts(Schema({"kind": Categories(3)})),
    ClassSums(_TWO, "sick", shape="box", bits=4),
    ClassSums(_TWO, "sick", bits=6),
    ClassSums(_THREE, "kind", shape="ball", radius=0.8, bits=5),
)
