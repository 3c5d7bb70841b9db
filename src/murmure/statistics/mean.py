"""The mean of a number.

g(x) = (1, u, 2 u^2 - r^2)  with  u = 2 code - r in [-r, r],  r = size - 1;   finish: middle + step/2 * sum u / sum 1.
A row without a number is left out of all three, and counted beside the others (base/left_out_rows.py).

Numbers are centred on the middle of their public range, which halves what one row can add; so are the squares, which
are for the sampling error alone (and are kept to 30 bits). Protected: noisy sum over noisy count, never over n.

Weights. The noise of S / N has variance (r^2/e1^2 + mean^2/e0^2) 2/n^2, least at e0 : e1 = (mean/r)^(2/3) : 1. With
mean = r / sqrt 8 (anywhere in the range alike would be r / sqrt 3, in its middle half r / sqrt 12) it is 1 : 2, and
within 9 % of the best for all of these. A tenth goes to the squares: without them the sampling error would have to be
the largest there is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from murmure.core.blocks import NoisySum
from murmure.core.catalogue_entries import QueryForm, StatisticEntry
from murmure.core.domain import Integers, Interval
from murmure.core.estimates.estimate import CodeEstimator, Estimate
from murmure.core.estimates.noisy_estimators import TOO_NOISY, MeanEstimator, with_cached_laws
from murmure.core.estimates.share_means import mean_of
from murmure.core.types import Affine, Array, Ints, NoAffine
from murmure.statistics.base.left_out_rows import counts_left_out, left_out_of
from murmure.statistics.base.moments import MomentsStatistic, moments_of, square_shift
from murmure.statistics.base.statistic import people_count


@dataclass(frozen=True)
class Mean(MomentsStatistic):
    """The mean of Integers or of an Interval's grid.

    >>> import murmure as mu
    >>> domain = mu.Integers(0, 120)
    >>> print(mu.run(mu.Plan(mu.Mean(domain)), [30, 40, 56]).estimate)  # in the clear
             value       low      high
    mean        42        42        42
    <BLANKLINE>
    3 people; known exactly, for these people (fixed population)
    >>> plan = mu.Plan(mu.Mean(domain), curator=mu.DiscreteLaplace(epsilon=1.0))
    >>> print(mu.run(plan, [30, 40, 56] * 300, rng=mu.Random.seeded(7)).estimate)
             value       low      high
    mean   41.7788   41.3781   42.1746
    <BLANKLINE>
    about 893 people; 95% intervals by Fieller (every ratio that the noise on both of its sums allows),
      for these people (fixed population)
    Rows left out (their number is missing or not in the schema): about 3 (0 to 13)
    """

    budget_shares = (3.0, 6.0, 1.0)
    entry = StatisticEntry(
        order=40,
        bare_sentence="The mean.",
        query=QueryForm("mean", numbers=True),
        study="the mean of {columns}: how many rows there are, the sum of their values and the sum of their squares",
        title="Mean of {column}",
        sentence="The mean of {column}",
        bare="Mean",
    )

    def interpret(self, noisy: NoisySum) -> Estimate:
        noisy = with_cached_laws(noisy)
        m = moments_of(self.domain, noisy)
        mean = np.array([m.middle + m.half * m.u]) if m.divides(0.95) else np.array([np.nan])
        return Estimate(
            ["mean"],
            mean,
            people_count(m.count),
            "value",
            MeanEstimator(m),
            None if m.divides(0.95) else TOO_NOISY,
            noisy=not m.exact,
            left_out=left_out_of(noisy) if counts_left_out(self) else None,
        )

    def interpret_exact(self, total: Ints, n: int) -> Estimate:
        low, step, rounding = self.domain.scale()
        r = self.domain.size - 1
        s, q = (int(t) for t in total[-2:])
        if cut := square_shift(r):
            q = (q << cut) + (n << cut) // 2  # half of what each square can have lost
        codes = (s + n * r) // 2  # u = 2 code - r, so both divisions are exact where nothing was lost
        squares = ((q + n * r * r) // 2 + 2 * r * s + n * r * r) // 4
        mean, square = codes / n, squares / n
        estimator = CodeEstimator(mean, square, n, (0.0, 0.0, 0.0), r, low, step, rounding)
        return Estimate(["mean"], np.array([low + step * mean]), n, "value", estimator)

    def why_unanswerable(self, affine: Affine | NoAffine) -> str | None:
        return affine.reason if isinstance(affine, NoAffine) else None

    def finish(self, estimate: Estimate) -> Estimate:
        if estimate.unit == "value":
            return estimate
        return mean_of(estimate, self.domain.numbers(), self.domain.scale()[2])

    def reference(self, x: Array) -> NDArray[np.float64]:
        return np.array([self.domain.numbers()[x].mean()])


EXAMPLES = (
    Mean(Integers(-5, 20)),
    Mean(Interval(0.0, 3.0, cells=300)),
    Mean(Integers(0, 1)),
    Mean(Integers(-5, 20), left_out=True),
    Mean(Integers(0, 1), left_out=True),
    Mean(Integers(0, 9, absent=3), left_out=True),
)
