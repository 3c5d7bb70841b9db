"""The variance of a number.

g(x) = (1, u, 2 u^2 - r^2)  as for a mean;   finish: (step/2)^2 [ (Q/N + r^2)/2 - (S/N)^2 ],  N, S, Q the three sums.

It is the variance among the people (divided by N, not N - 1). Weights: the delta method's noise is
2/n^2 [ 1/(4 e2^2) + 4 m^2/e1^2 + (2 m^2 - q/2)^2/e0^2 ] in units of r, least where every share is the cube root of its
coefficient; with a mean of r / sqrt 8 and a standard deviation of 0.4 r that is 3 : 4 : 3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from murmure.core.blocks import NoisySum
from murmure.core.catalogue_entries import QueryForm, StatisticEntry
from murmure.core.domain import Integers, Interval
from murmure.core.estimates.estimate import Estimate
from murmure.core.estimates.noisy_estimators import TOO_NOISY, VarianceEstimator, with_cached_laws
from murmure.core.types import Array
from murmure.statistics.base.left_out_rows import counts_left_out, left_out_of
from murmure.statistics.base.moments import MomentsStatistic, moments_of
from murmure.statistics.base.statistic import people_count


@dataclass(frozen=True)
class Variance(MomentsStatistic):
    """The variance of Integers or of an Interval's grid.

    >>> import murmure as mu
    >>> plan = mu.Plan(mu.Variance(mu.Integers(0, 120)), curator=mu.DiscreteLaplace(epsilon=1.0))
    >>> estimate = mu.run(plan, [30, 40, 56] * 300, rng=mu.Random.seeded(7)).estimate
    >>> print(estimate)
                 value       low      high
    variance   95.7016   59.4290  131.9741
    <BLANKLINE>
    about 893 people; 95% intervals by delta (the errors of what goes into the formula, carried through
      by its slopes), for these people (fixed population)
    Rows left out (their number is missing or not in the schema): about 3 (0 to 13)
    >>> print(estimate.interval(0.95, target="superpopulation"))
    [[ 32.66552936 176.50266772]]
    """

    budget_shares = (3.0, 4.0, 3.0)
    entry = StatisticEntry(
        order=50,
        query=QueryForm("variance", numbers=True),
        study=(
            "the spread (variance) of {columns}: how many rows there are, the sum of their values and of their squares"
        ),
        title="Variance of {column}",
        sentence="The variance of {column}",
    )

    def interpret(self, noisy: NoisySum) -> Estimate:
        noisy = with_cached_laws(noisy)
        m = moments_of(self.domain, noisy)
        estimator = VarianceEstimator(m)
        value, reason = (m.half**2 * m.spread, None) if estimator.divides(0.95) else (np.nan, TOO_NOISY)
        return Estimate(
            ["variance"],
            np.array([value]),
            people_count(m.count),
            "value",
            estimator,
            reason,
            noisy=not m.exact,
            left_out=left_out_of(noisy) if counts_left_out(self) else None,
        )

    def reference(self, x: Array) -> NDArray[np.float64]:
        return np.array([self.domain.numbers()[x].var()])


EXAMPLES = (
    Variance(Integers(-5, 20)),
    Variance(Interval(0.0, 3.0, cells=300)),
    Variance(Integers(-5, 20), left_out=True),
)
