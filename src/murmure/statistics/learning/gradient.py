"""The gradient of the logistic loss at a public point, and where it is asked for its curvature.

    z = w.v,  r = sigma(z) - 1[y = positive];   g(row) = (r v_j | h v_j v_k for j <= k, h = sigma'(z))

All in whole numbers: w = at / 2**16, z is an exact sum rounded to steps of 2**-11, sigma is a table of whole
numbers out of Q = 2**14. The largest |z| of any row is public, Z = max |w.v| over the box, so |r| <= R = sigma(Z) (from
Q/2 at w = 0 up to Q), and one row moves the gradient by at most R |v|_1 (l1) or R^2 |v|_2^2 (l2), with v in its shape
(grid_design.py; a row outside counts less, its z does not change).

Noisy gradients: Song, Chaudhuri, Sarwate, GlobalSIP 2013; Bassily, Smith, Thakurta, FOCS 2014.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from murmure.core.blocks import Block, NoisySum
from murmure.core.domain import Categories, Integers, Interval
from murmure.core.errors import InvalidParameter, shorten
from murmure.core.schema import Schema
from murmure.core.types import Array, Ints
from murmure.statistics.base.design_sums import DesignStatistic, check_classes, product_block, symmetric, upper_of
from murmure.statistics.base.grid_design import Floats

FINE = 16  # bits of a weight below one
MAX_GRID_WEIGHT = 1 << 24  # |w| <= 256
STEPS = 11  # bits of z below one
FAR = 16  # |z| beyond which sigma is flat
Q = 1 << 14  # sigma = 1
H = 1 << 6  # curvature 1: coarse, since it only has to point the right way


@cache
def _sigma() -> tuple[Floats, Floats]:
    """sigma(z) in Q-ths and sigma'(z) in H-ths at steps of z from -FAR to FAR, as whole numbers."""
    z = np.arange(-FAR << STEPS, (FAR << STEPS) + 1) / (1 << STEPS)
    sigma = 1 / (1 + np.exp(-z))
    return np.rint(Q * sigma), np.maximum(np.rint(H * sigma * (1 - sigma)), 1)


@dataclass(frozen=True)
class GradientEstimate:
    """The gradient, in half ranges, its noise, and the curvature where it was asked for; a release."""

    names: tuple[str, ...]
    gradient: Floats
    noise: float  # the variance in each entry
    curvature: Floats | None
    curvature_noise: float = 0.0

    @property
    def labels(self) -> list[str]:
        names = self.names
        more = [] if self.curvature is None else list(zip(*upper_of(len(names)), strict=True))
        return [f"slope in {name}" for name in names] + [f"curvature in {names[j]} and {names[k]}" for j, k in more]

    @property
    def mean(self) -> Floats:
        if self.curvature is None:
            return self.gradient
        return np.concatenate([self.gradient, self.curvature[upper_of(len(self.names))]])

    def variance(self, target: str = "fixed") -> Floats:
        bends = np.full(len(self.labels) - len(self.names), self.curvature_noise)
        return np.append(np.full(len(self.names), self.noise), bends)


@dataclass(frozen=True)
class Gradient(DesignStatistic):
    """The slope of the loss at w = at / 2**16, for the class numbered `positive` against the rest."""

    domain: Schema
    target: str
    at: tuple[int, ...]
    positive: int = 1
    shape: str = "diamond"
    radius: float | None = None
    bits: int = 14
    curvature: bool = False
    centre: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        check_classes("Gradient", self.domain, self.target)
        object.__setattr__(self, "at", tuple(self.at))
        object.__setattr__(self, "centre", tuple(self.centre))
        whole = all(isinstance(w, int) and abs(w) <= MAX_GRID_WEIGHT for w in self.at)
        if len(self.at) != self.design.width or not whole:
            raise InvalidParameter(
                "Gradient.at must be {width} whole numbers up to 2**24, got {got}.",
                width=self.design.width,
                got=shorten(self.at),
            )
        if not 0 <= self.positive < self.domain[self.target].size:
            raise InvalidParameter(
                "Gradient.positive must be the code of a class, got {got}.", got=shorten(self.positive)
            )

    @property
    def width(self) -> int:
        p = self.design.width
        return p + (p * (p + 1) // 2 if self.curvature else 0)

    @property
    def largest(self) -> int:
        far = max(self.design.caps)
        return max(Q * far, H // 4 * far**2 if self.curvature else 0)

    @cached_property
    def max_residual(self) -> int:
        """R: no row of the box has a larger |r|. z is cut to the table's ends as every row's is."""
        weights, largest = iter(self.at[1:]), self.design.caps
        far = [max(abs(next(weights)) for _ in range(axis.width)) for axis in self.design.axes]
        largest_z = sum(
            w * c for w, c in zip((abs(self.at[0]), *far), largest, strict=True)
        )  # of several indicators, one
        steps = min(FAR << STEPS, int(np.rint(largest_z * 2.0 ** (STEPS - FINE - self.design.bits))))
        return int(_sigma()[0][(FAR << STEPS) + steps])

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        L, S, p, R = self.design.max_l1, self.design.max_squares, self.design.width, self.max_residual
        out = (Block("slope", p, R * L, R**2 * S),)
        if not self.curvature:
            return out
        most = H // 4  # sigma' <= 1/4
        return (*out, product_block("curvature", most, most, self.design, p * (p + 1) // 2))

    @property
    def bounds_attained(self) -> bool:
        """Whether rows on the grid can attain the bounds exactly: the point must be far enough out, too."""
        return self.design.corners and not self.curvature and abs(self.at[0]) == MAX_GRID_WEIGHT

    def _parts(self, x: tuple[Array, ...]) -> Any:
        """Of a few rows at a time: the weighed grid vectors, r and h."""
        p, weights = self.design.width, np.array(self.at, np.float64)
        sigma, bend = _sigma()
        two = self.outcome.width == 1
        for z in self.design.blocks(x, self.outcome, weighed=False):
            v = z[:p]
            hit = (z[p] > 0) == bool(self.positive) if two else z[p + self.positive] > 0
            # |w.v| <= 2**11 columns x 2**24 x 2**17 = 2**52: exact in any order; powers of two scale exactly
            steps = np.rint((weights @ v) * 2.0 ** (STEPS - FINE - self.design.bits))
            entry = (np.clip(steps, -FAR << STEPS, FAR << STEPS) + (FAR << STEPS)).astype(np.int64)
            self.design.weigh(v)
            yield v, sigma[entry] - Q * hit, bend[entry]

    def lift(self, x: tuple[Array, ...]) -> Ints:
        parts, (j, k) = [np.empty((0, self.width))], upper_of(self.design.width)
        for v, r, h in self._parts(x):
            part = [(r * v).T]
            if self.curvature:
                part.append((h * v[j] * v[k]).T)
            parts.append(np.concatenate(part, axis=1))
        return np.concatenate(parts).astype(np.int64)

    def tally(self, x: tuple[Array, ...]) -> Ints:
        p = self.design.width
        slope, bend = np.zeros(p, np.int64), np.zeros((p, p), np.int64)
        for v, r, h in self._parts(x):  # 2**13 rows of whole numbers up to 2**36: sums below 2**53
            slope += (v @ r).astype(np.int64)
            if self.curvature:
                bend += ((v * h) @ v.T).astype(np.int64)
        return np.concatenate([slope, bend[upper_of(p)]]) if self.curvature else slope

    def interpret(self, noisy: NoisySum) -> GradientEstimate:
        p, g = self.design.width, float(self.design.g)
        curvature, bend_noise = None, 0.0
        if self.curvature:
            curvature = symmetric(noisy["curvature"] / (H * g * g), p)
            bend_noise = noisy.variance("curvature") / (H * g * g) ** 2
        noise = noisy.variance("slope") / (Q * g) ** 2
        return GradientEstimate(tuple(self.design.names), noisy["slope"] / (Q * g), noise, curvature, bend_noise)

    def reference(self, x: tuple[Array, ...]) -> Floats:
        total = self.lift(x).sum(axis=0)
        p, g = self.design.width, float(self.design.g)
        return np.concatenate([total[:p] / (Q * g), total[p:] / (H * g * g)])


_TWO = Schema({"age": Integers(0, 4), "income": Interval(0.0, 2.0, cells=4), "sick": Categories(["no", "yes"])})
_THREE = Schema({"age": Integers(0, 8), "smoker": Categories([False, True]), "kind": Categories(3)})

EXAMPLES = (
    Gradient(_TWO, "sick", (-(1 << 24), 1 << 20, -(1 << 20)), shape="box", bits=4),
    Gradient(_TWO, "sick", (1 << 14, 1 << 16, -(1 << 17)), bits=6),
    Gradient(_TWO, "sick", (1 << 12, 1 << 15, -(1 << 16)), bits=5, centre=(-7, 20)),
    Gradient(_THREE, "kind", (0, 1 << 24, 0), positive=2, shape="box", bits=3, curvature=True),
)
