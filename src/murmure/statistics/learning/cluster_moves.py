"""One step of k-means about its own centres: how many rows lie nearest to each, and how far off they are, all added up.

    g(x) = [nearest centre of x = i] (1; r),     r = s t - c_i,   brought into |r|_1 <= R (l1) or |r|_2 <= R (l2)

s t are the coordinates of clusters.py, which finds the nearest centre. A row that is farther off than R counts with an
r that is shorter, in the same direction (cut toward zero). So one row moves all sums together by R, wherever the
centres are, where sums of coordinates would move by the whole box; a centre that has arrived has r near 0, and nothing
is cut that matters. R and the centres are public: the centres are noisy answers, or came from no data.

Clipping to a norm before adding noise is usual for gradients (Abadi et al., CCS 2016); sums about a centre that was
found before, for covariances and means (Kamath, Li, Singhal, Ullman, COLT 2019).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from murmure.core.blocks import Block, NoisySum
from murmure.core.catalogue_entries import SumEntry
from murmure.core.domain import Integers, Interval
from murmure.core.errors import InvalidParameter, shorten
from murmure.core.schema import Schema
from murmure.core.types import Array, Ints
from murmure.statistics.base.grid_design import fill_caps, max_sum_of
from murmure.statistics.base.statistic import ProtectableStatistic
from murmure.statistics.learning.clusters import EXACT, ROWS, Clusters

Floats = NDArray[np.float64]

MAX_REACH = {"l1": 1 << 44, "l2": 1 << 24}  # R: floats then tell lengths well enough to cut them (see `_shortened`)


@dataclass(frozen=True)
class ClusterMoves(ProtectableStatistic):
    """Counts of every cluster and sums of clipped offsets from its centre.

    centres, scales: as in Clusters. reach: R, a whole number. count_share: the counts' part of the budget.
    """

    domain: Schema
    centres: tuple[tuple[int, ...], ...]
    reach: int
    scales: tuple[int, ...] | None = None
    norm: Literal["l1", "l2"] = "l1"
    count_share: float = 0.1

    entry = SumEntry(order=70)

    def __post_init__(self) -> None:
        clusters = Clusters(self.domain, self.centres, self.scales)  # refuses what does not fit together
        object.__setattr__(self, "centres", clusters.centres)
        object.__setattr__(self, "scales", clusters.scales)
        if self.norm not in MAX_REACH:
            raise InvalidParameter('ClusterMoves.norm must be "l1" or "l2", got {got}.', got=shorten(self.norm))
        whole = isinstance(self.reach, int) and not isinstance(self.reach, bool)
        if not whole or not 1 <= self.reach <= MAX_REACH[self.norm]:
            raise InvalidParameter(
                "ClusterMoves.reach must be a whole number from 1 to {max_reach}, got {reach}.",
                hint="a coarser grid: fewer cells, or wider steps",
                max_reach=MAX_REACH[self.norm],
                reach=shorten(self.reach),
            )
        if self.norm == "l2" and sum(far * far for far in self._far) >= EXACT:
            raise InvalidParameter(
                "ClusterMoves: squared lengths of offsets can exceed 2**53, beyond which floats are not exact.",
                hint="a coarser grid, fewer columns, or centres inside the box",
            )
        if not 0 < self.count_share < 1:
            raise InvalidParameter(
                "ClusterMoves.count_share must lie in (0, 1), got {got}.", got=shorten(self.count_share)
            )

    @cached_property
    def clusters(self) -> Clusters:
        return Clusters(self.domain, self.centres, self.scales)

    @cached_property
    def _far(self) -> list[int]:
        """How far off a row of the box can be, in every coordinate."""
        clusters = self.clusters
        return [top + max(abs(c[j]) for c in clusters.centres) for j, top in enumerate(clusters.corner)]

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        k, far = len(self.centres), self._far
        if self.norm == "l1":
            longest = list(fill_caps(self.reach, sorted(far, reverse=True)))
            l1, l2 = sum(longest), sum(r * r for r in longest)
        else:
            l2 = min(self.reach**2, sum(r * r for r in far))
            l1 = min(max_sum_of(l2, len(far)), sum(far))
        share = self.count_share
        return (Block("counts", k, 1, 1, share), Block("moves", k * len(far), l1, l2, 1 - share))

    @property
    def width(self) -> int:
        return len(self.centres) * (1 + len(self._far))

    @property
    def largest(self) -> int:
        return max(1, *self._far)

    @property
    def column_key(self) -> Hashable:
        """Every step reads the same codes."""
        return self.clusters.column_key

    def columns_of(self, x: tuple[Array, ...]) -> Any:
        return self.clusters.columns_of(x)

    def tally_columns(self, columns: Any) -> Ints:
        return self.tally(columns)

    def _offsets(self, x: tuple[Array, ...], first: int) -> tuple[Floats, Array]:
        """Of some rows: clipped offsets, one row of the result for each column; and whose they are."""
        clusters = self.clusters
        t = clusters.coordinates(x, first)
        nearest = clusters.nearest_of(t)
        t *= np.array(clusters.scales, np.float64)[:, None]
        t -= np.array(clusters.centres, np.float64).T[:, nearest]
        return self._shortened(t), nearest

    def _shortened(self, r: Floats) -> Floats:
        """Bring every offset within R.

        Lengths are sums of whole numbers below 2**53, exact in any order. They and the products are right to 2**-50 of
        themselves, and R (of l2: R^2) is at most 2**48, so after cutting |r|_1 < R + 1 and |r|_2^2 < R^2 + 1: whole
        numbers, hence at most R and R^2.
        """
        size = np.abs(r).sum(axis=0) if self.norm == "l1" else np.sqrt((r * r).sum(axis=0))
        r *= self.reach / np.maximum(size, float(self.reach))
        return np.trunc(r, out=r)

    def lift(self, x: tuple[Array, ...]) -> Ints:
        k, d, parts = len(self.centres), len(x), []
        for a in range(0, len(x[0]), ROWS):
            r, nearest = self._offsets(x, a)
            hot = nearest[:, None] == np.arange(k)
            moves = hot[:, :, None] * r.T[:, None, :]
            parts.append(np.concatenate([hot, moves.reshape(len(nearest), k * d)], axis=1))
        return np.concatenate([np.empty((0, self.width)), *parts]).astype(np.int64)

    def tally(self, x: tuple[Array, ...]) -> Ints:
        k, d = len(self.centres), len(x)
        added = self.clusters.added(x, self.reach, self.norm == "l1")
        if added is not None:
            scales, centres = np.array(self.scales, np.int64), np.array(self.centres, np.int64)
            moves = scales * added.sums - added.whole[:, None] * centres + added.cut
            return np.concatenate([added.counts, moves.reshape(-1)])
        counts, out = np.zeros(k, np.int64), np.zeros((k, d), np.int64)
        for a in range(0, len(x[0]), ROWS):
            r, nearest = self._offsets(x, a)
            sums = (nearest == np.arange(k)[:, None]).astype(float) @ r.T
            counts += np.bincount(nearest, minlength=k)
            out += sums.astype(np.int64)  # 2**14 rows of less than 2**31: exact
        return np.concatenate([counts, out.reshape(-1)])

    def interpret(self, noisy: NoisySum) -> ClusterMovesEstimate:
        moves = noisy["moves"].reshape(len(self.centres), -1).astype(float)
        return ClusterMovesEstimate(
            noisy["counts"].astype(float),
            moves,
            noisy.variance("counts"),
            noisy.variance("moves"),
            self.clusters.labels(),
        )

    def why_unanswerable(self, affine: Any) -> str | None:
        return self.clusters.why_unanswerable(affine)

    def reference(self, x: tuple[Array, ...]) -> Floats:
        """By Python's integers, row by row, but for the length of a row that is too far off."""
        k, d = len(self.centres), len(x)
        counts, sums = [0] * k, np.zeros((k, d))
        clusters = self.clusters
        assert clusters.scales is not None
        for row, i in zip(
            zip(*(codes.tolist() for codes in x), strict=True), clusters.nearest(x).tolist(), strict=True
        ):
            t = [2 * code - top for code, top in zip(row, clusters.tops, strict=True)]
            r = [s * v - c for s, v, c in zip(clusters.scales, t, clusters.centres[i], strict=True)]
            size = float(sum(map(abs, r))) if self.norm == "l1" else float(sum(v * v for v in r)) ** 0.5
            counts[i] += 1
            sums[i] += np.trunc(np.array(r, float) * (self.reach / max(size, float(self.reach))))
        return np.concatenate([np.array(counts, float), sums.reshape(-1)])


@dataclass(frozen=True, eq=False)
class ClusterMovesEstimate:
    """How many people each cluster holds, and the sum of their offsets; a release."""

    counts: Floats  # (clusters,), as they came: noise makes some negative
    offset_sums: Floats  # (clusters, columns), in scaled coordinates
    count_noise: float  # the variance in each
    move_noise: float
    labels: list[str] = field(repr=False)

    @property
    def floor(self) -> float:
        """Of a count that may be divided by."""
        return max(1.0, self.count_noise**0.5)

    @property
    def mean(self) -> Floats:
        return np.concatenate([self.counts, self.offset_sums.reshape(-1)])

    def variance(self, target: str = "fixed") -> Floats:
        return np.append(np.full(len(self.counts), self.count_noise), np.full(self.offset_sums.size, self.move_noise))


_PLANE = Schema({"x": Integers(0, 10), "y": Interval(-1.0, 1.0, cells=16)})

EXAMPLES = (
    ClusterMoves(_PLANE, ((-15, -15), (15, 15), (15, 15)), 20, (3, 2)),
    ClusterMoves(_PLANE, ((0, 0),), 12),
    ClusterMoves(_PLANE, ((-10, 0), (7, -3)), 9, norm="l2", count_share=0.3),
)
