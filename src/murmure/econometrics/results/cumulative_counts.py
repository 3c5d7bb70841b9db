"""Counts of a column on a public grid, and its distribution from them, with an error that holds.

    F(c_j) = #{x <= c_j} / N        Dvoretzky, Kiefer, Wolfowitz with Massart's constant (1990): all j at once
    sup |F - F_true| <= sqrt(ln(2/alpha) / (2 N))        with probability 1 - alpha at least

Noise Z in every cell moves F by ((1 - F) sum_{i<=j} Z_i - F sum_{i>j} Z_i) / N. This part is added for all points at
once (Bonferroni, normal), and both parts get half of alpha.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from murmure.core.domain import Interval
from murmure.core.errors import InvalidParameter
from murmure.core.schema import Schema
from murmure.econometrics.algebra.rounding import Floats
from murmure.econometrics.algebra.tails import normal_point
from murmure.econometrics.design.columns import bounds_of_domain, domain_values, inner_cuts
from murmure.econometrics.errors import TooFewObservations
from murmure.econometrics.results.result import ModelResult
from murmure.statistics.estimates.cell_counts import CellCounts
from murmure.statistics.exact.cells import Cells
from murmure.statistics.expressions.terms import grid_of


def count_cells(domain: Schema, column: str, cuts: Sequence[str], first: bool = True) -> Cells:
    """The statistic that counts rows in the cells between cuts, or by values; by values of the other columns."""
    inner = inner_cuts(domain[column], cuts, first) or None
    if cuts and inner is None:
        raise InvalidParameter(
            "the grid of column {column!r} does not divide the rows: {cuts}.",
            hint="name a point between the column's public bounds",
            column=column,
            cuts=list(cuts),
        )
    return Cells(domain, tuple(inner if name == column else None for name in domain))


@dataclass(frozen=True)
class Cell:
    """The numbers above `low` up to `high`; if both are equal, this value alone."""

    low: Fraction
    high: Fraction


def cells_between(domain: Any, cuts: Sequence[str], first: bool = True) -> list[Cell]:
    """The bounds of each cell, in the order of counting."""
    if not cuts:
        half = grid_of(domain)[1] / 2 if isinstance(domain, Interval) else Fraction(0)
        return [Cell(v - half, v + half) if half else Cell(v, v) for v in domain_values(domain)]
    low, high = bounds_of_domain(domain)
    points = [low, *(Fraction(c) for c in inner_cuts(domain, cuts, first)), high]
    return [Cell(a, b) for a, b in pairwise(points)]


@dataclass(frozen=True)
class CumulativeCounts:
    """A distribution: the cells of a column, and the number of rows in each."""

    column: str
    cells: tuple[Cell, ...]
    counts: tuple[Fraction, ...]
    noise: float | None = None  # variance of the noise in every count

    @classmethod
    def of(
        cls, domain: Schema, column: str, cuts: Sequence[str], counted: CellCounts, first: bool = True
    ) -> CumulativeCounts:
        counts = tuple(Fraction(v) for v in np.asarray(counted.counts).ravel().tolist())
        out = cls(column, tuple(cells_between(domain[column], cuts, first)), counts, counted.noise)
        if out.n <= 0:
            raise TooFewObservations(
                "with the noise, {n:.4g} rows were counted.", hint="a larger epsilon", n=float(out.n)
            )
        return out

    @property
    def n(self) -> Fraction:
        return sum(self.counts, Fraction(0))

    @property
    def points(self) -> list[Fraction]:
        return [cell.high for cell in self.cells]

    @property
    def shares(self) -> list[Fraction]:
        """F at the upper end of every cell."""
        n, total, out = self.n, Fraction(0), []
        for v in self.counts:
            total += v
            out.append(total / n)
        return out

    @property
    def noise_sd(self) -> Floats:
        """The standard deviation of the noise in F, at every point."""
        F = np.array([float(v) for v in self.shares])
        j, m = np.arange(1, len(F) + 1), len(F)
        return np.sqrt((self.noise or 0.0) * (j * (1 - F) ** 2 + (m - j) * F**2)) / float(self.n)

    def reach(self, alpha: float) -> Floats:
        """A bound of the distance of the true distribution from F at every point, with probability 1 - alpha."""
        n, m = float(self.n), len(self.counts)
        if self.noise is None:
            return np.full(m, math.sqrt(math.log(2 / alpha) / (2 * n)))
        # alpha / 2 for sampling: 2 / (alpha / 2) = 4 / alpha; the other half is for noise
        sampling = math.sqrt(math.log(4 / alpha) / (2 * n))
        return sampling + normal_point(1 - alpha / (2 * m)) * self.noise_sd

    def band(self, alpha: float) -> tuple[Floats, Floats]:
        """The band around F, between 0 and 1. No row is beyond the last point, so both ends are 1 there."""
        F, far = np.array([float(v) for v in self.shares]), self.reach(alpha)
        low, high = np.clip(F - far, 0, 1), np.clip(F + far, 0, 1)
        low[-1] = high[-1] = 1.0
        return low, high

    def cell_at(self, share: Fraction | float) -> int:
        """The first cell at which F reaches this share, which contains the quantile."""
        return next((j for j, reached in enumerate(self.shares) if reached >= share), len(self.cells) - 1)

    def cell_of_rank(self, rank: int) -> int:
        """The cell of the value with this rank; 1 is the smallest."""
        total = Fraction(0)
        for j, v in enumerate(self.counts):
            total += v
            if total >= rank:
                return j
        return len(self.cells) - 1


class CumulativeResult(ModelResult):
    """Shared by results about the distribution of one column."""

    distribution: CumulativeCounts

    @property
    def column(self) -> str:
        return self.distribution.column

    @property
    def n(self) -> int:
        return round(self.distribution.n)
