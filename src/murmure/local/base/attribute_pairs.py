"""Two attributes of one person at once, each randomised separately.

    Z_uv = (Y_u - q_a)(Y'_v - q_b) / ((p_a - q_a)(p_b - q_b)),      E[Z_uv | x] = [x = (u, v)],

so the mean of Z is the joint share. Its variance for a fixed population is a straight line in the joint and marginal
shares: E[Z^2 | x] is a product of second moments, one for each attribute, which differ for the person's true value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.counts import check_counts
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.estimates.column_estimates import no_estimate
from murmure.core.estimates.estimate import Estimate, SampledEstimator, on_simplex
from murmure.core.estimates.intervals import score_line
from murmure.core.estimates.method_words import SCORE, simultaneous_name
from murmure.core.types import Array, Floats, Ints, Target
from murmure.laws.bits import unpack
from murmure.laws.records import Records
from murmure.laws.tallies import BLOCK, histogram
from murmure.local.grr import GRR
from murmure.local.subset import SubsetSelection
from murmure.local.unary import UnaryEncoding

MAX_PAIR_CELLS = 1024  # the covariance has this many rows and columns
MAX_CELLS = 1 << 20  # estimated at once, half a kilobyte each
INDICATORS = 1 << 24  # of a block of reports, held at once


def why_not_paired(part: Any, column: str) -> str | None:
    """Why the reports of a column cannot be paired, or None. They can where a report lists the values it supports."""
    if isinstance(part, GRR | UnaryEncoding | SubsetSelection):
        return None
    return f"the reports of {column!r} ({shorten(type(part).__name__)}) do not list the values they support"


def indicators(part: Any, reports: Array) -> NDArray[np.float32]:
    """One row per report: which values it supports."""
    k = part.domain.size
    if isinstance(part, GRR):
        out = np.zeros((len(reports), k), np.float32)
        out[np.arange(len(reports)), reports] = 1
        return out
    return unpack(reports, k).astype(np.float32)


@dataclass(frozen=True)
class PairOracle:
    """Tallies and estimates two columns. The tally: how many people show both, then counts of u, of v, of (u, v)."""

    first: Any
    second: Any
    places: tuple[int, int]

    def __post_init__(self) -> None:
        a, b = self.sizes
        if a * b > MAX_CELLS:
            raise InvalidParameter(
                "a pair of columns must have at most {most:,} combinations, got {a:,} times {b:,} = {cells:,}.",
                hint="give the columns fewer values (fewer cells), or ask for the shares of each (Marginals)",
                most=MAX_CELLS,
                a=a,
                b=b,
                cells=a * b,
            )

    @property
    def sizes(self) -> tuple[int, int]:
        return self.first.domain.size, self.second.domain.size

    @property
    def width(self) -> int:
        a, b = self.sizes
        return 1 + a + b + a * b

    def _shown_together(self, records: Records) -> tuple[Array, Array]:
        i, j = self.places
        if records.rows is None:
            return records.parts[i], records.parts[j]
        _, at, bt = np.intersect1d(records.rows[i], records.rows[j], assume_unique=True, return_indices=True)
        return records.parts[i][at], records.parts[j][bt]

    def tally(self, records: Records) -> Ints:
        left, right = self._shown_together(records)
        a, b = self.sizes
        joint, people = np.zeros((a, b), np.int64), len(left)
        if isinstance(self.first, GRR) and isinstance(self.second, GRR):
            joint = histogram(left.astype(np.int64) * b + right, a * b).reshape(a, b)
        else:
            block = max(1, min(BLOCK, INDICATORS // (a + b)))  # counts stay below 2**24, where float32 is exact
            for at in range(0, people, block):
                rows = slice(at, at + block)
                joint += (indicators(self.first, left[rows]).T @ indicators(self.second, right[rows])).astype(np.int64)
        singles = [self.first.tally(left), self.second.tally(right)]
        return np.concatenate([np.array([people], np.int64), *singles, joint.reshape(-1)])

    def _check_pairs(self, counts: Ints, shown: int) -> None:
        """Single counts are those of `shown` reports; a pair is not counted more often than either of its values."""
        a, b = self.sizes
        u, v, joint = counts[1 : 1 + a], counts[1 + a : 1 + a + b], counts[1 + a + b :].reshape(a, b)
        for part, single in ((self.first, u), (self.second, v)):
            check_counts(type(part).__name__, single, shown, len(single), part.supported)
        each_a, each_b = self.first.supported, self.second.supported
        if (
            (joint > np.minimum.outer(u, v)).any()
            or (each_b is not None and (joint.sum(axis=1) != each_b * u).any())
            or (each_a is not None and (joint.sum(axis=0) != each_a * v).any())
        ):
            raise InvalidParameter(
                "Pair.estimate: the counts of pairs do not match the counts of single values in {shown} reports.",
                hint="tally(reports) counts both",
                shown=shown,
            )

    def estimate(self, total: Ints, n: int) -> Estimate:
        a, b = self.sizes
        shown = int(total[0])
        labels = [f"{u}, {v}" for u in self.first.domain.labels() for v in self.second.domain.labels()]
        if shown == 0:
            return no_estimate(labels, Phrase("nobody reported both columns"))
        counts = check_counts("Pair", total, n, self.width, None)  # `shown` is at most n, but not known beforehand
        self._check_pairs(counts, shown)
        u, v, joint = total[1 : 1 + a], total[1 + a : 1 + a + b], total[1 + a + b :].reshape(a, b)
        estimator = PairEstimator(self.first, self.second, u / shown, v / shown, joint / shown, shown)
        out = Estimate(labels, estimator.raw, shown, "share", estimator)
        return out if shown == n else replace(out, n=n, estimator=SampledEstimator(estimator, shown, n))


@dataclass(frozen=True)
class PairEstimator:
    """Shares of reports that support u, v, and both; and the mechanisms that drew them."""

    first: Any
    second: Any
    u: Floats
    v: Floats
    joint: Floats
    n: int

    @cached_property
    def _coins(self) -> tuple[float, float, float, float]:
        a, b = self.first.supports, self.second.supports
        return float(a.p), float(a.q), float(b.p), float(b.q)

    @cached_property
    def raw(self) -> Floats:
        pa, qa, pb, qb = self._coins
        top = self.joint - qb * self.u[:, None] - qa * self.v[None, :] + qa * qb
        return np.asarray(top / ((pa - qa) * (pb - qb))).reshape(-1)

    def _line(self, target: Target) -> tuple[Floats, Floats, Floats]:
        """The variance of one Z: alpha + beta f + gamma f^2, f the joint share of its cell, marginals as estimated."""
        pa, qa, pb, qb = self._coins
        f = on_simplex(self.raw).reshape(self.joint.shape)
        fu, fv = f.sum(axis=1, keepdims=True), f.sum(axis=0, keepdims=True)
        true_a, true_b = 1 + pa * (1 - pa) / (pa - qa) ** 2, 1 + pb * (1 - pb) / (pb - qb) ** 2
        other_a, other_b = qa * (1 - qa) / (pa - qa) ** 2, qb * (1 - qb) / (pb - qb) ** 2
        alpha = fu * (true_a - other_a) * other_b + fv * other_a * (true_b - other_b) + other_a * other_b
        beta = np.full_like(alpha, (true_a - other_a) * (true_b - other_b) - 1)
        gamma = np.zeros_like(alpha)
        if target == "superpopulation":
            beta, gamma = beta + 1, gamma - 1
        return alpha.reshape(-1), beta.reshape(-1), gamma.reshape(-1)

    def variance(self, target: Target) -> Floats:
        alpha, beta, gamma = self._line(target)
        f = on_simplex(self.raw)
        return np.maximum(alpha + beta * f + gamma * f * f, 0.0) / self.n

    def covariance(self, target: Target) -> Floats:
        if self.raw.size > MAX_PAIR_CELLS:
            raise InvalidParameter("the covariance of {size} pairs is too large a matrix to build.", size=self.raw.size)
        f = on_simplex(self.raw)
        joint = f.reshape(self.joint.shape)
        a, b = _second_moments(self.first), _second_moments(self.second)
        cov = np.einsum("xy,xij,ykl->ikjl", joint, a, b, optimize=True).reshape(f.size, f.size)
        cov -= np.diag(f) if target == "fixed" else np.outer(f, f)
        return np.asarray(cov / self.n)

    def interval(self, level: float, target: Target, simultaneous: bool) -> tuple[Floats, str]:
        """Score intervals of the joint share, marginals fixed at their estimates, and half a person on either side.

        (Where lies are rare a count jumps from one person to the next, and a normal curve is too smooth for that.)
        """
        if simultaneous:
            level = 1 - (1 - level) / self.raw.size
        ends = score_line(self.raw, self.n, self._line(target), level)
        ends = np.clip(ends + np.array([-0.5, 0.5]) / self.n, 0.0, 1.0)
        return ends, simultaneous_name(SCORE, simultaneous)


def _second_moments(part: Any) -> Floats:
    """E[(Y_u - q)(Y_u' - q) | x] / (p - q)^2, indexed (x, u, u')."""
    k = part.domain.size
    p, q = float(part.supports.p), float(part.supports.q)
    out = np.empty((k, k, k))
    for x in range(k):
        out[x] = part.cross(np.eye(k)[x])  # off the diagonal one factor has mean 0
        np.fill_diagonal(out[x], q * (1 - q))
        out[x, x, x] = p * (1 - p) + (p - q) ** 2
    return np.asarray(out / (p - q) ** 2)
