"""One step of k-means (Lloyd): how many rows lie nearest to each centre, and the sums of their coordinates.

    g(x) = [nearest centre of x = i] (1; t_1, ..., t_d),        t_j = 2 code_j - top_j,
    nearest: least sum_j (s_j t_j - c_ij)**2, the lowest i where several are: a partition, whatever the centres.

Distances are whole numbers: s_j, the public scale of column j, and the centres are integers, and every sum stays below
2**53, where floats are exact. So a row has one nearest centre, on every machine, and moves one cluster only.

The split of the budget (Su, Cao, Li, Bertino, Jin, CODASPY 2016): a centre's squared error is that of the
noise on its sum plus (distance from the middle)**2 times that on its count; with rho = 0.225 of the range for a typical
centre, 2 d / e_j**2 + 8 d rho**2 / e_0**2 is least at e_0 : e_j = cbrt(4 d rho**2) : 1.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from murmure.core.blocks import Block, NoisySum
from murmure.core.catalogue_entries import SumEntry
from murmure.core.domain import Decimals, Integers, Interval, check_few_values
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.schema import Schema
from murmure.core.types import Array, Ints
from murmure.statistics.base.code_lines import MAX_LINE_VALUES, code_lines, lines_for_kernels
from murmure.statistics.base.statistic import ProtectableStatistic

Floats = NDArray[np.float64]
Split = Literal["best", "halves"]

NEARER = 0.8  # of the way to the largest cluster, for a centre near which there is nobody
RHO = 0.225
ROWS = 1 << 14  # at a time
EXACT = 1 << 53


@dataclass(frozen=True)
class Clusters(ProtectableStatistic):
    """Counts and sums of every cluster.

    centres: one tuple of whole numbers each, in the scaled coordinates s_j t_j. scales: the s_j; None: all 1.
    """

    domain: Schema
    centres: tuple[tuple[int, ...], ...]
    scales: tuple[int, ...] | None = None
    split: Split = "best"

    entry = SumEntry(order=60)

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Schema):
            raise InvalidParameter("Clusters.domain must be a Schema, got {got}.", got=shorten(self.domain))
        for name in self.domain.private:
            check_few_values("Clusters.domain", self.domain[name])
            if not isinstance(self.domain[name], Integers | Interval | Decimals):
                raise InvalidParameter(
                    "Clusters takes numbers only; column {name!r} is {domain!r}.",
                    hint="leave categories out, or code them as numbers yourself",
                    name=name,
                    domain=self.domain[name],
                )
        d = len(self.domain.private)
        scales = (1,) * d if self.scales is None else tuple(self.scales)
        centres = tuple(tuple(c) for c in self.centres)
        whole = all(isinstance(v, int) and not isinstance(v, bool) for row in (scales, *centres) for v in row)
        if not centres or not whole or any(len(row) != d for row in (scales, *centres)) or min(scales) < 1:
            raise InvalidParameter(
                "Clusters.centres and scales must be rows of {d} whole numbers, one for each column, got "
                "{centres} and {scales}.",
                d=d,
                centres=shorten(self.centres),
                scales=shorten(self.scales),
            )
        object.__setattr__(self, "scales", scales)
        object.__setattr__(self, "centres", centres)
        if self.split not in ("best", "halves"):
            raise InvalidParameter('Clusters.split must be "best" or "halves", got {got}.', got=shorten(self.split))
        reach = max(abs(v) for row in (*centres, self.corner) for v in row)
        if 3 * d * reach * reach >= EXACT:
            raise InvalidParameter(
                "Clusters: distances can exceed 2**53 in {d} coordinates up to {reach}.",
                hint="use smaller scales, or a coarser grid (fewer cells)",
                d=d,
                reach=reach,
            )

    @cached_property
    def tops(self) -> tuple[int, ...]:
        return tuple(self.domain[name].size - 1 for name in self.domain.private)

    @property
    def corner(self) -> tuple[int, ...]:
        """How far the box reaches, in scaled coordinates."""
        assert self.scales is not None
        return tuple(s * top for s, top in zip(self.scales, self.tops, strict=True))

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        k, d = len(self.centres), len(self.tops)
        count = math.cbrt(4 * d * RHO**2) if self.split == "best" else float(d)  # halves: as much as all sums
        names = self.domain.private
        sums = [Block(f"{name}: sum", k, top, top**2) for name, top in zip(names, self.tops, strict=True)]
        return (Block("counts", k, 1, 1, count), *sums)

    @property
    def width(self) -> int:
        return len(self.centres) * (1 + len(self.tops))

    @property
    def largest(self) -> int:
        return max(1, *self.tops)

    def nearest(self, x: tuple[Array, ...]) -> NDArray[np.intp]:
        """The number of every row's centre."""
        out = np.empty(len(x[0]), np.intp)
        for a in range(0, len(out), ROWS):
            out[a : a + ROWS] = self.nearest_of(self.coordinates(x, a))
        return out

    def coordinates(self, x: tuple[Array, ...], first: int) -> Floats:
        """t of some rows, one row of the result for each column."""
        out = np.empty((len(x), min(ROWS, len(x[0]) - first)))
        for j, (codes, top) in enumerate(zip(x, self.tops, strict=True)):
            np.multiply(codes[first : first + ROWS], 2.0, out=out[j])
            out[j] -= top
        return out

    @cached_property
    def _plane(self) -> tuple[Floats, Floats]:
        """-2 s_j c_ij and |c_i|**2: a distance, less |x|**2, is affine in x."""
        centres, scales = np.array(self.centres, float), np.array(self.scales, float)
        return -2 * centres * scales, (centres**2).sum(axis=1)[:, None]

    def nearest_of(self, t: Floats) -> NDArray[np.intp]:
        """The same, of rows as `coordinates` has them."""
        slope, at = self._plane
        distance = slope @ t  # integers below 2**53, in whatever order they are added
        distance += at
        best, found = distance[0].copy(), np.zeros(t.shape[1], np.intp)
        for i in range(1, len(distance)):
            closer = distance[i] < best  # a tie stays with the lower number
            np.copyto(best, distance[i], where=closer)
            found[closer] = i
        return found

    def lift(self, x: tuple[Array, ...]) -> Ints:
        indicators = (self.nearest(x)[:, None] == np.arange(len(self.centres))).astype(np.int64)
        t = [2 * codes.astype(np.int64) - top for codes, top in zip(x, self.tops, strict=True)]
        return np.concatenate([indicators, *(indicators * tj[:, None] for tj in t)], axis=1)

    def tally(self, x: tuple[Array, ...]) -> Ints:
        added = self.added(x)
        if added is not None:
            return np.concatenate([added.counts, added.sums.T.reshape(-1)])
        k = len(self.centres)
        out = np.zeros((1 + len(x), k), np.int64)
        for a in range(0, len(x[0]), ROWS):
            t = self.coordinates(x, a)
            nearest = self.nearest_of(t)
            sums = (nearest == np.arange(k)[:, None]).astype(float) @ t.T
            out[0] += np.bincount(nearest, minlength=k)
            out[1:] += sums.T.astype(np.int64)  # 2**14 rows of less than 2**31: exact
        return out.reshape(-1)

    # Steps ask about the same rows at other centres: their codes are kept (run/kept_rows.py).

    @property
    def column_key(self) -> Hashable:
        return "codes", self.domain

    def columns_of(self, x: tuple[Array, ...]) -> Any:
        """A line of codes for each column."""
        fine = max(self.tops) + 1 >= MAX_LINE_VALUES
        return np.stack(x) if fine else code_lines(x)

    def tally_columns(self, columns: Any) -> Ints:
        return self.tally(columns)

    def added(self, x: Any, reach: int = 0, absolute: bool = True) -> AddedClusters | None:
        """The sums by compiled kernels, which give the same whole numbers; None: NumPy adds.

        reach: offsets that are longer, in |r|_1 (absolute) or |r|_2, are cut to it (cluster_moves.py); 0: none is.
        """
        found = lines_for_kernels(x, max(self.tops) + 1) if self._squares_are_exact else None
        if found is None:
            return None
        kernels, lines = found
        k, d = len(self.centres), len(lines)
        counts, whole = np.zeros((2, k), np.int64)
        sums, cut = np.zeros((2, k, d), np.int64)
        kernels.clusters(lines, *self._floats, float(reach), absolute, counts, whole, sums, cut)
        return AddedClusters(counts, whole, 2 * sums - whole[:, None] * np.array(self.tops), cut)

    @cached_property
    def _squares_are_exact(self) -> bool:
        """Of distances. (Those of Clusters are less |x|**2, and smaller.)"""
        far = 2 * max(abs(v) for row in (*self.centres, self.corner) for v in row)
        return len(self.tops) * far * far < EXACT

    @cached_property
    def _floats(self) -> tuple[Floats, ...]:
        """What the kernels read."""
        slope, at = self._plane
        return np.array(self.tops, float), slope, at[:, 0], np.array(self.scales, float), np.array(self.centres, float)

    def interpret(self, noisy: NoisySum) -> ClustersEstimate:
        sums = np.stack([noisy[f"{name}: sum"] for name in self.domain.private], axis=1).astype(float)
        floor = max(1.0, noisy.variance("counts") ** 0.5)
        return ClustersEstimate(noisy["counts"].astype(float), sums / np.array(self.tops, float), floor, self.labels())

    def labels(self) -> list[str]:
        k, names = len(self.centres), self.domain.private
        return [f"cluster {i}: people" for i in range(k)] + [f"cluster {i}: {n}" for i in range(k) for n in names]

    def why_unanswerable(self, affine: Any) -> str | None:
        return Phrase("the nearest centre of a randomised row may differ from that of the true row")

    def reference(self, x: tuple[Array, ...]) -> Floats:
        """By Python's integers, row by row."""
        k, d = len(self.centres), len(x)
        counts, sums = [0] * k, np.zeros((k, d))
        assert self.scales is not None
        for row in zip(*(codes.tolist() for codes in x), strict=True):
            t = [2 * code - top for code, top in zip(row, self.tops, strict=True)]
            scaled = [s * v for s, v in zip(self.scales, t, strict=True)]
            far = [sum((v - c) ** 2 for v, c in zip(scaled, centre, strict=True)) for centre in self.centres]
            i = far.index(min(far))
            counts[i] += 1
            sums[i] += np.array(t) / self.tops
        return np.concatenate([np.array(counts, float), sums.reshape(-1)])


@dataclass(frozen=True)
class AddedClusters:
    """Of every cluster: rows, those of them that nothing cut, the sums of their t, and of the others' cut offsets."""

    counts: Ints
    whole: Ints
    sums: Ints
    cut: Ints


@dataclass(frozen=True, eq=False)
class ClustersEstimate:
    """How many people each cluster holds, and the sum of their coordinates u = t / top, from -1 to 1."""

    counts: Floats  # (clusters,), as they came: noise makes some negative
    sums: Floats  # (clusters, columns)
    floor: float  # of a count that may be divided by
    labels: list[str] = field(repr=False)

    def centres(self, previous: Floats, last: bool = True) -> Floats:
        """The mean of every cluster within the box; where hardly anybody is, by the noisy count, the centre before.

        Before the last step such a centre goes most of the way to the largest cluster, where it may find somebody:
        a start that looked at no data leaves some centres far from everybody. A function of noisy answers, and free.
        """
        enough = self.counts >= self.floor
        means = np.clip(self.sums / np.maximum(self.counts, self.floor)[:, None], -1.0, 1.0)
        # After the last step no further step could find rows near a centre that moved.
        if not last and enough.any():
            previous = previous + NEARER * (means[np.argmax(self.counts)] - previous)
        return np.where(enough[:, None], means, previous)

    @property
    def mean(self) -> Floats:
        return np.concatenate([self.counts, self.sums.reshape(-1)])

    def variance(self, target: str = "fixed") -> Floats:
        return np.zeros(len(self.labels)) if self.floor == 1.0 else np.full(len(self.labels), np.nan)


_PLANE = Schema({"x": Integers(0, 10), "y": Interval(-1.0, 1.0, cells=16)})

EXAMPLES = (
    Clusters(_PLANE, ((-5, -5), (5, 5), (5, 5)), (3, 2)),
    Clusters(_PLANE, ((0, 0), (0, 0)), split="halves"),
    Clusters(Schema({"x": Interval(0.0, 1.0, cells=1024)}), ((-500,), (0,), (500,))),
)
