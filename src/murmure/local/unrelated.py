"""The unrelated question: with probability t answer the sensitive question, otherwise an innocuous one.

    P[yes | yes] = t + (1-t) u,   P[yes | no] = (1-t) u,      u = share of "yes" to the innocuous question.

Greenberg, Abul-Ela, Simmons, Horvitz, JASA 64, 1969: u known (share of yes: t pi + (1-t) u), or estimated
from two samples with different t:   pi = [r1 (1-t2) - r2 (1-t1)] / (t1 - t2).

The protection comes from not knowing the person's innocuous answer. An observer who knows that it is "no" (a birthday)
and sees "yes" knows the sensitive answer: as a law on *both* answers, epsilon is infinite.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from murmure.core.catalogue_entries import MechanismEntry, OptionForm
from murmure.core.domain import Categories, Domain
from murmure.core.errors import InvalidParameter, Phrase
from murmure.core.estimates.estimate import Estimate, check_level, check_target
from murmure.core.estimates.method_words import MOVER_WILSON
from murmure.core.types import Target
from murmure.laws.table import TableChannel
from murmure.local.base.randomisers import exact_probability
from murmure.local.warner import YesNo, yes_no_table

ASSUMPTION = Phrase("the innocuous answer is independent of the sensitive one and unknown to whoever sees the report")


@dataclass(frozen=True)
class UnrelatedQuestion(YesNo):
    """`truth`: probability of the sensitive question; `innocuous`: known share of yes to the other one."""

    domain: Domain
    truth: Fraction | float
    innocuous: Fraction | float

    assumption = ASSUMPTION
    entry = MechanismEntry(
        order=20,
        options=(
            OptionForm(
                "innocuous",
                "UnrelatedQuestion: share of yes to the other one.",
                kind="probability",
                metavar="P",
                order=40,
            ),
        ),
    )

    def __post_init__(self) -> None:
        self._check_two()
        for name in ("truth", "innocuous"):
            object.__setattr__(self, name, exact_probability(self, name, getattr(self, name)))

    @cached_property
    def channel(self) -> TableChannel:
        c = (1 - Fraction(self.truth)) * Fraction(self.innocuous)
        return yes_no_table(Fraction(self.truth) + c, c)


@dataclass(frozen=True)
class TwoSamples:
    """Two groups asked with different probabilities of the sensitive question; nothing known of the innocuous one.

    >>> import murmure as mu
    >>> samples = mu.TwoSamples(yes=(120, 90), n=(300, 300), truth=(0.7, 0.3))
    >>> estimate = samples.estimate()
    >>> for label, (low, high) in zip(estimate.labels, estimate.interval(target="superpopulation")):
    ...     print(f"{label}: {low:.4f} to {high:.4f}")
    sensitive: 0.3724 to 0.5803
    innocuous: 0.1293 to 0.3280
    """

    yes: tuple[int, int]
    n: tuple[int, int]
    truth: tuple[float, float]

    def __post_init__(self) -> None:
        (y1, y2), (n1, n2), (t1, t2) = self.yes, self.n, self.truth
        if not (0 <= y1 <= n1 and 0 <= y2 <= n2 and n1 > 1 and n2 > 1):
            raise InvalidParameter(
                "TwoSamples needs 0 <= yes <= n and n > 1 in both samples, got {yes} of {n}.", yes=self.yes, n=self.n
            )
        if not (0 <= t1 <= 1 and 0 <= t2 <= 1) or t1 == t2:
            raise InvalidParameter(
                "TwoSamples.truth must be two different probabilities, got {got}.",
                hint="the further apart, the smaller the variance; t1 + t2 near 1 is a good choice",
                got=self.truth,
            )

    def _coefficients(self) -> NDArray[np.float64]:
        """(pi, u) = rows @ (r1, r2)."""
        t1, t2 = self.truth
        return np.array([[1 - t2, -(1 - t1)], [-t2, t1]]) / (t1 - t2)

    def estimate(self) -> Estimate:
        """Shares of yes to the sensitive and to the innocuous question; sampling is part of the design."""
        r = np.array([y / n for y, n in zip(self.yes, self.n, strict=True)])
        n = sum(self.n)
        estimator = _TwoSampleEstimator(self)
        return Estimate(
            ["sensitive", "innocuous"], self._coefficients() @ r, n, "share", estimator, target="superpopulation"
        )


@dataclass(frozen=True)
class _TwoSampleEstimator:
    """Greenberg et al. 1969: the two groups are independent binomial samples."""

    samples: TwoSamples

    def covariance(self, target: Target) -> NDArray[np.float64]:
        check_target(target)
        if target == "fixed":
            raise InvalidParameter(
                'two random groups are samples: their estimate has no "fixed" target.',
                hint='use target="superpopulation"',
            )
        r = [y / n for y, n in zip(self.samples.yes, self.samples.n, strict=True)]
        noise = np.diag([a * (1 - a) / (n - 1) for a, n in zip(r, self.samples.n, strict=True)])
        return self.samples._coefficients() @ noise @ self.samples._coefficients().T

    def variance(self, target: Target) -> NDArray[np.float64]:
        return np.diag(self.covariance(target)).copy()

    def interval(self, level: float, target: Target, simultaneous: bool) -> tuple[NDArray[np.float64], str]:
        """MOVER (Newcombe 1998, method 10; Zou and Donner 2008): Wilson limits of r1 and r2, combined."""
        check_level(level)
        self.covariance(target)
        from scipy.special import ndtri

        z = float(ndtri(1 - (1 - level) / (4 if simultaneous else 2)))
        out = []
        for coefficients in self.samples._coefficients():
            centre, below, above = 0.0, 0.0, 0.0
            for c, y, n in zip(coefficients, self.samples.yes, self.samples.n, strict=True):
                low, high = wilson(y, n, z)
                centre += c * y / n
                down, up = c * (y / n - low), c * (high - y / n)
                below += max(down, -up) ** 2
                above += max(up, -down) ** 2
            out.append([centre - math.sqrt(below), centre + math.sqrt(above)])
        return np.clip(np.array(out), 0.0, 1.0), MOVER_WILSON


def wilson(yes: int, n: int, z: float) -> tuple[float, float]:
    """The score interval of one binomial share (Wilson, JASA 22, 1927)."""
    r = yes / n
    centre = (r + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(r * (1 - r) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return max(0.0, centre - half), min(1.0, centre + half)


EXAMPLES = (
    UnrelatedQuestion(Categories(["no", "yes"]), truth=0.7, innocuous=0.25),
    UnrelatedQuestion(Categories(2), truth=0.5, innocuous=0.5),
)
