"""The mean of a number, from the shares of its values.

Shares estimate the mean without bias, sum over v of f_v v. What its interval needs is more than their covariance:

- every report supports one value (GRR, hidden draws of codes, Warner, or nothing randomised): then each report is worth
  a number, and the mean is one of reports (report_means.py);
- a report supports several values (bits, hashes, sets): the delta method, whose variance is a mean over people of what
  a person with value v adds,  V_v.  That mean is estimated without bias from the shares too, and twice its standard
  error is added; of few reports the largest V_v is taken.

All intervals are cut to the public bounds of the mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from murmure.core.estimates.estimate import (
    MIN_FOR_INTERVAL,
    CellEstimator,
    Estimate,
    LinearEstimator,
    SampledEstimator,
    on_simplex,
)
from murmure.core.estimates.method_words import DELTA, GAFFKE, KNOWN_EXACTLY, LAW_OF_REPORTS
from murmure.core.estimates.report_means import ERRORS, EXACT_UP_TO, ReportLaw, fixed_mean, gaffke
from murmure.core.types import Floats, Target


def mean_of(shares: Estimate, values: Floats, rounding: float = 0.0) -> Estimate:
    """The mean of a number from the shares of its values, taken from the middle of the range.

    Estimated shares need not sum to one (those of unary bits do not): what they are off by is then multiplied by
    distances from the middle, and not by the numbers themselves. A year of birth would have a hundred times the error.
    """
    from murmure.core.estimates.forged_reports import ForgedEstimator  # it reads what is defined here

    if isinstance(shares.estimator, ForgedEstimator):
        return mean_of(shares.with_forged(0), values, rounding).with_forged(shares.estimator.forged)
    low, high = float(values.min()), float(values.max())
    out = shares.linear(values - (low + high) / 2, ["mean"], constant=(low + high) / 2, rounding=rounding)
    if not isinstance(out.estimator, LinearEstimator):
        return out
    estimator = ShareMeanEstimator(shares.estimator, out.estimator.matrix, out.estimator.mean, rounding, low, high)  # type: ignore[arg-type]
    return Estimate(out.labels, out.mean, out.n, out.unit, estimator, out.reason, out.target, out.noisy)


@dataclass(frozen=True)
class ShareMeanEstimator(LinearEstimator):
    """`matrix` holds one row: the values, less the middle of their range."""

    low: float = 0.0
    high: float = 1.0

    def interval(self, level: float, target: Target, simultaneous: bool) -> tuple[Floats, str]:
        base: Any = self.base
        if isinstance(base, SampledEstimator):
            target = target if base.shown == base.people else "superpopulation"
            base = base.base
        if isinstance(base, CellEstimator):
            (low, high), method = CellMeanEstimator(
                base, self.matrix[0], float(self.mean[0]), self.low, self.high
            ).interval(level, target)
        else:
            (low, high), method = super().interval(level, target, False)[0][0], DELTA
            low, high = low + self.rounding, high - self.rounding
        ends = np.clip([[low, high]], self.low, self.high)
        return ends + np.array([-self.rounding, self.rounding]), method


@dataclass(frozen=True)
class CellMeanEstimator:
    """The mean of evenly spaced values from the tally of their cells; w: the values, less their middle."""

    cells: CellEstimator
    w: Floats
    mean: float
    low: float
    high: float

    @cached_property
    def _weights(self) -> Floats:
        """Weights of the supports:  mean = middle + sum over v of w_v (Y_v - q_v) / (p_v - q_v)."""
        return self.w / (self.cells.p - self.cells.q)

    def interval(self, level: float, target: Target) -> tuple[tuple[float, float], str]:
        c = self.cells
        if target == "fixed" and (c.p == 1).all() and (c.q == 0).all():
            return (self.mean, self.mean), KNOWN_EXACTLY
        if not c.one_each:
            return self._delta(level, target)
        law, counts = self._law, c.tally.astype(float)
        top, step = len(self.w) - 1, (self.high - self.low) / (len(self.w) - 1)
        if target == "superpopulation":
            ends, method = gaffke(law.readout, counts, law.ends, level), GAFFKE
        elif c.n > EXACT_UP_TO:
            return self._delta(level, target)
        else:
            assert law.square is not None
            square, mean = float(counts @ law.square) / c.n, (self.mean - self.low) / step
            error = np.sqrt(float(counts @ (law.square - square) ** 2) / max(1, c.n - 1) / c.n)
            largest = np.inf if c.n < MIN_FOR_INTERVAL else square + ERRORS * float(error)
            low, high = ((end - self.low) / step for end in self._delta(level, target)[0])
            ends = fixed_mean(law, mean, largest, c.n, top, level, (low, high))
            method = LAW_OF_REPORTS
        return (self.low + step * ends[0], self.low + step * ends[1]), method

    @cached_property
    def _law(self) -> ReportLaw:
        """In codes 0, 1, ...: what a report of v is worth. P[report v | code c] = q_v + [v = c] (p_v - q_v)."""
        c, k = self.cells, len(self.w)
        code, slope = np.arange(k) - (k - 1) / 2, c.p - c.q
        mean = code / slope - (code * c.q / slope).sum() + (k - 1) / 2
        # c^2 = (c - middle)^2 + 2 middle c - middle^2
        squares = code**2 / slope - (code**2 * c.q / slope).sum() + (k - 1) * mean - ((k - 1) / 2) ** 2

        def chances(at: int) -> Floats:
            out = c.q.copy()
            out[at] = c.p[at]
            return out

        return ReportLaw(mean, squares, chances)

    def _delta(self, level: float, target: Target) -> tuple[tuple[float, float], str]:
        from scipy.special import ndtri

        half = float(ndtri((1 + level) / 2)) * np.sqrt(self._variance(target) / self.cells.n)
        return (self.mean - half, self.mean + half), DELTA

    def _variance(self, target: Target) -> float:
        """Variance of what one person adds to the mean: plus two standard errors, and at most the largest."""
        c = self.cells
        each = self._by_value(self._weights)
        if target == "superpopulation":
            each = each + np.square(self.w - (self.mean - (self.low + self.high) / 2))
        if c.n < MIN_FOR_INTERVAL:
            return float(each.max())
        # sum f_v V_v is a linear function of the shares as the mean is, with V_v for w_v
        noise = on_simplex(c.raw) @ self._by_value(each / (c.p - c.q))
        error = np.sqrt((noise + on_simplex(c.raw) @ np.square(each - on_simplex(c.raw) @ each)) / c.n)
        return float(np.clip(c.raw @ each + ERRORS * error, each.min(), each.max()))

    def _by_value(self, weights: Floats) -> Floats:
        """The variance of sum w_v Y_v for every true value."""
        c = self.cells
        if c.spread is not None:
            return c.spread(weights)
        out = np.empty(len(weights))
        for v in range(len(weights)):
            is_v = np.arange(len(weights)) == v
            cov = c.cross(is_v.astype(float))
            chance = np.where(is_v, c.p, c.q)
            np.fill_diagonal(cov, chance * (1 - chance))
            out[v] = weights @ cov @ weights
        return out
