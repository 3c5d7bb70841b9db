"""The error bar of a column that only some people reported."""

from __future__ import annotations

from dataclasses import dataclass

from murmure.core.estimates.estimate import Estimator
from murmure.core.types import Floats, Target


@dataclass(frozen=True)
class SampledEstimator:
    """n_j of N people, drawn whatever they hold, reported this column: the others add a sampling error of their own.

    For these N people: noise of n_j reports + f(1-f) (N - n_j) / (n_j (N - 1)), the variance of a draw without
    replacement. Intervals are those of n_j people who stand for very many (superpopulation), which is a little wider.
    """

    base: Estimator  # of the n_j reports
    shown: int
    people: int

    def _mix(self, fixed: Floats, sampled: Floats, target: Target) -> Floats:
        if target == "superpopulation":
            return sampled
        left_out = (self.people - self.shown) / max(1, self.people - 1)
        return fixed + (sampled - fixed) * left_out

    def variance(self, target: Target) -> Floats:
        return self._mix(self.base.variance("fixed"), self.base.variance("superpopulation"), target)

    def covariance(self, target: Target) -> Floats:
        return self._mix(self.base.covariance("fixed"), self.base.covariance("superpopulation"), target)

    def interval(self, level: float, target: Target, simultaneous: bool) -> tuple[Floats, str]:
        if self.shown == self.people:
            return self.base.interval(level, target, simultaneous)
        return self.base.interval(level, "superpopulation", simultaneous)
