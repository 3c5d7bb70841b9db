"""An estimate keeps what exact intervals need, not only a mean and a covariance.

Every interval names its target. *fixed*: the people who answered are the population, and only the mechanism is random.
*superpopulation*: they are a sample from a larger one, and sampling adds an error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

import numpy as np

from murmure.core.errors import InvalidParameter, NoUnbiasedEstimate, Phrase, shorten
from murmure.core.estimates import intervals
from murmure.core.estimates.method_words import (
    DELTA,
    GAFFKE,
    KNOWN_EXACTLY,
    LAW_OF_REPORTS,
    MAPPED,
    SCORE,
    simultaneous_name,
)
from murmure.core.estimates.report_means import ERRORS, EXACT_UP_TO, ReportLaw, fixed_mean, gaffke
from murmure.core.estimates.sampling_limits import two_moments
from murmure.core.types import Floats, Ints, Releasable, Target
from murmure.show.document import Document, Shown


def check_target(target: str) -> None:
    if target not in ("fixed", "superpopulation"):
        raise InvalidParameter(
            'interval target must be "fixed" or "superpopulation", got {got}.',
            hint='"fixed": the share among the people who answered; "superpopulation": in the population that they '
            "represent",
            got=shorten(target),
        )


def check_level(level: float) -> None:
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
        raise InvalidParameter(
            "interval level must lie strictly between 0 and 1, got {got}.", hint="0.95 is usual", got=shorten(level)
        )


def on_simplex(shares: Floats) -> Floats:
    """The nearest shares that are not negative and sum to one (Duchi et al., ICML 2008, fig. 1)."""
    order = np.sort(shares)[::-1]
    excess = (np.cumsum(order) - 1) / np.arange(1, len(order) + 1)
    last = np.nonzero(order > excess)[0][-1]
    return np.maximum(shares - excess[last], 0.0)


def share_variance(f: Any, p: Any, q: Any) -> Floats:
    """Variance of the estimated share, per person of a fixed population with share f: with the f term, so not Var*."""
    f = np.asarray(f, float)
    return np.asarray((f * p * (1 - p) + (1 - f) * q * (1 - q)) / (p - q) ** 2)


class Estimator(Protocol):
    """How error bars follow from a tally."""

    def variance(self, target: Target) -> Floats: ...
    def covariance(self, target: Target) -> Floats: ...
    def interval(self, level: float, target: Target, simultaneous: bool) -> tuple[Floats, str]: ...


class CountingEstimator:
    """An estimator that keeps how many people each of its figures is about, or gave each report."""

    counts: Any  # None where they are not known


@dataclass(frozen=True)
class CellEstimator:
    """Cell v has tally Bin(n_v, p_v) + Bin(n - n_v, q_v); `cross(f)` is the covariance of one person's cells."""

    tally: Ints
    n: int
    p: Floats  # (k,)
    q: Floats
    cross: Callable[[Floats], Floats]
    one_each: bool = False  # every report supports one cell, so the tally holds all that the reports say
    spread: Callable[[Floats], Floats] | None = None  # var(sum of w_v Y_v) of a report, by true value; Y: supports

    @property
    def raw(self) -> Floats:
        return (self.tally / self.n - self.q) / (self.p - self.q)

    def variance(self, target: Target) -> Floats:
        return self._variance(on_simplex(self.raw), target)

    def _variance(self, f: Floats, target: Target) -> Floats:
        sampling = f * (1 - f) if target == "superpopulation" else 0.0
        return (share_variance(f, self.p, self.q) + sampling) / self.n

    def covariance(self, target: Target) -> Floats:
        f = on_simplex(self.raw)
        # Covariance of the supports over the slopes: the estimate is linear in the tally.
        slope = self.p - self.q
        cov = self.cross(f) / np.outer(slope, slope)
        if target == "superpopulation":
            cov = cov - np.outer(f, f)
        np.fill_diagonal(cov, self._variance(f, target) * self.n)
        return cov / self.n

    def interval(self, level: float, target: Target, simultaneous: bool) -> tuple[Floats, str]:
        out, method = intervals.share_intervals(self.tally, self.n, self.p, self.q, level, target, simultaneous)
        return out, simultaneous_name(method, simultaneous)


# Reports from which the estimated mean square is used, in variances and in intervals; of fewer, the largest possible.
MIN_FOR_VARIANCE = 50
MIN_FOR_INTERVAL = 20


@dataclass(frozen=True)
class CodeEstimator(CountingEstimator):
    """A mean of codes 0 .. top from unbiased readouts, mapped to values by  low + step * code.

    One report's readout has variance v0 + v1 c + v2 c**2 at code c, so what matters is the mean and the mean square
    of the codes. Where no unbiased mean square can be read (`square` is None), a report is one of two numbers, v2 < 0
    and the least square is used. Without a `law` nothing was randomised, and mean and square are those of the people.
    """

    mean: float  # of the codes, unbiased
    square: float | None
    n: int
    v: tuple[float, float, float]
    top: int
    low: float
    step: float
    rounding: float = 0.0  # how far a value may have moved to reach the grid
    law: ReportLaw | None = None
    counts: Floats | None = None  # how often each report occurs; of people with weights, adding up to n as well

    def _variance_per_person(self, m: Floats, target: Target, square: Any) -> Floats:
        v0, v1, v2 = self.v
        least, most = m * m, m * self.top
        square = least if square is None else np.clip(square, least, np.maximum(least, most))
        variance = v0 + v1 * m + v2 * square
        if target == "superpopulation":
            # sampling adds Var(code); without a mean square, v2 = -1 and the two unknowns cancel
            variance = variance + (square - least)
        return np.maximum(variance, 0.0)

    def variance(self, target: Target) -> Floats:
        m = np.clip(np.array([self.mean]), 0, self.top)
        # The noise of an estimated square can exceed the square itself when reports are few.
        few = self.square is not None and self.n < MIN_FOR_VARIANCE and any(self.v)
        return self._variance_per_person(m, target, np.inf if few else self.square) * self.step**2 / self.n

    def covariance(self, target: Target) -> Floats:
        return self.variance(target).reshape(1, 1)

    def interval(self, level: float, target: Target, simultaneous: bool) -> tuple[Floats, str]:
        ends, method = self._codes(level, target)
        low, high = (self.low + self.step * float(np.clip(end, 0.0, self.top)) for end in ends)
        return np.array([[low - self.rounding, high + self.rounding]]), method

    def _codes(self, level: float, target: Target) -> tuple[tuple[float, float], str]:
        if self.law is None or self.counts is None:
            if target == "fixed":
                return (self.mean, self.mean), KNOWN_EXACTLY
            spread = 0.0 if self.square is None else max(self.square - self.mean**2, 0.0)
            return two_moments(self.mean, spread, self.n, (0.0, float(self.top)), level)
        if self.square is None:  # two numbers: the count of the second is binomial, or varies less (fixed people)
            first, second = (float(r) for r in self.law.readout)
            low, high = intervals.clopper_pearson(self.counts[1:], self.n, level)[0]
            return (first + (second - first) * low, first + (second - first) * high), MAPPED
        if target == "superpopulation":
            return gaffke(self.law.readout, self.counts, self.law.ends, level), GAFFKE
        square = self._largest_square()

        def variance(m: Any) -> Floats:
            return self._variance_per_person(np.asarray(m, float), target, square)

        score = intervals.score_variance(self.mean, self.n, variance, 0.0, float(self.top), level)
        if self.n > EXACT_UP_TO:
            return score, SCORE
        ends = fixed_mean(self.law, self.mean, square, self.n, self.top, level, score)
        return ends, LAW_OF_REPORTS

    def _largest_square(self) -> float:
        """The mean square of the codes, plus its standard errors; of too few reports the largest possible."""
        assert self.law is not None and self.counts is not None and self.square is not None
        if self.n < MIN_FOR_INTERVAL or self.law.square is None:
            return float(np.inf)
        spread = float(self.counts @ (self.law.square - self.square) ** 2) / (self.n - 1)
        return self.square + ERRORS * float(np.sqrt(spread / self.n))


@dataclass(frozen=True)
class LinearEstimator:
    """matrix @ base: covariance carried through, interval by the delta method (and named so)."""

    base: Estimator
    matrix: Floats
    mean: Floats
    rounding: float = 0.0

    def covariance(self, target: Target) -> Floats:
        return self.matrix @ self.base.covariance(target) @ self.matrix.T

    def variance(self, target: Target) -> Floats:
        return np.diag(self.covariance(target)).copy()

    def interval(self, level: float, target: Target, simultaneous: bool) -> tuple[Floats, str]:
        from scipy.special import ndtri

        tail = (1 - level) / (len(self.mean) if simultaneous else 1)
        half = float(ndtri(1 - tail / 2)) * np.sqrt(self.variance(target)) + self.rounding
        return np.stack([self.mean - half, self.mean + half], axis=1), DELTA


@dataclass(frozen=True)
class SampledEstimator:
    """n_j of N people, drawn independently of their values, reported this column: leaving out the others adds an error.

    For these N people: noise of n_j reports + f(1-f) (N - n_j) / (n_j (N - 1)), the variance of a draw without
    replacement. Intervals are those of n_j people drawn from very many (superpopulation), which is a little wider.
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


@dataclass(frozen=True, eq=False)
class Estimate(Releasable, Shown):
    """Figures about a population. `mean` holds shares for a histogram, values for a mean and people for a count.

    >>> import murmure as mu
    >>> domain = mu.Categories(["never", "once", "often"])
    >>> plan = mu.Plan(mu.Histogram(domain), person=mu.GRR(domain, epsilon=1.0))
    >>> answers = ["never"] * 1400 + ["once"] * 400 + ["often"] * 200
    >>> estimate = mu.run(plan, answers, rng=mu.Random.seeded(7)).estimate
    >>> print(estimate)
              share       low      high
    never    0.7017    0.6455    0.7595
    once     0.1869    0.1355    0.2390
    often    0.1114    0.0605    0.1625
    <BLANKLINE>
    2,000 people; 95% intervals by exact inversion (every share under which such a count is not rare),
      for these people (fixed population)
    >>> low, high = estimate.interval(0.95, target="superpopulation")[0]
    >>> print(f"{low:.4f} to {high:.4f}")
    0.6412 to 0.7626
    >>> ever = estimate.linear([0, 1, 1], ["ever"])  # once or often
    >>> print(f"{ever.mean[0]:.4f}, standard deviation {ever.variance()[0] ** 0.5:.4f}")
    0.2983, standard deviation 0.0289
    """

    labels: Sequence[str]
    mean: Floats
    n: int
    unit: Literal["share", "value", "count"] = "share"
    estimator: Estimator | None = field(default=None, repr=False)
    reason: str | None = None  # why there is no error bar
    target: Target = "fixed"  # the target of the bars when it is shown
    noisy: bool = False  # n itself was read off a protected sum
    left_out: Estimate | None = None  # the noisy number of rows that have no part in these figures, where some may be
    names: Sequence[str] | None = None  # of dates: what the figures 0, 1, ... stand for

    @property
    def counts(self) -> Floats:
        """Shares times people; of protected counts, the counts."""
        if self.unit == "count":
            return self.mean
        if isinstance(self.estimator, CountingEstimator) and self.estimator.counts is not None:
            return self.estimator.counts.astype(np.float64)
        if self.unit != "share":
            raise InvalidParameter("only shares have counts; this estimate holds values.")
        return self.mean * self.n

    @property
    def cov(self) -> Floats:
        """Covariance for the target: for a fixed population, of the mechanism's noise alone."""
        return self.covariance(self.target)

    def covariance(self, target: Target = "fixed") -> Floats:
        check_target(target)
        return self._estimator().covariance(target)

    def variance(self, target: Target = "fixed") -> Floats:
        check_target(target)
        return self._estimator().variance(target)

    def interval(
        self, level: float = 0.95, target: Target = "fixed", simultaneous: bool = False, forged: int = 0
    ) -> Floats:
        """(low, high) of every figure, in rows, for the "fixed" population or for the "superpopulation".

        forged: up to this many reports may be forged, and the intervals hold whatever they say.
        """
        return self.interval_and_method(level, target, simultaneous, forged)[0]

    def interval_and_method(
        self, level: float = 0.95, target: Target = "fixed", simultaneous: bool = False, forged: int = 0
    ) -> tuple[Floats, str]:
        """The interval, and the name of the method that gave it."""
        check_level(level)
        check_target(target)
        estimator = self._estimator() if isinstance(forged, int) and forged == 0 else self.with_forged(forged).estimator
        assert estimator is not None
        return estimator.interval(float(level), target, simultaneous)

    def with_forged(self, forged: int) -> Estimate:
        """The same figures, with intervals that hold although up to `forged` of the reports are forged."""
        from murmure.core.estimates.forged_reports import ForgedEstimator, check_forged

        m = check_forged(forged)
        base = self._estimator()
        if isinstance(base, ForgedEstimator):
            base = base.base
        return replace(self, estimator=ForgedEstimator(base, m) if m else base)

    def _estimator(self) -> Estimator:
        if self.estimator is None:
            raise NoUnbiasedEstimate(
                "this estimate carries no error bar: {reason}.",
                hint="take the interval of the raw, unbiased estimate instead",
                reason=self.reason or Phrase("it is not unbiased"),
            )
        return self.estimator

    def linear(self, matrix: Any, labels: Sequence[str], constant: Any = 0.0, rounding: float = 0.0) -> Estimate:
        """matrix @ mean + constant, with its covariance: means of histograms, differences, totals."""
        matrix = np.atleast_2d(np.asarray(matrix, float))
        if matrix.shape != (len(labels), len(self.mean)):
            raise InvalidParameter(
                "Estimate.linear needs a row of {mean_count} numbers for each of {label_count} labels, "
                "got shape {shape}.",
                mean_count=len(self.mean),
                label_count=len(labels),
                shape=matrix.shape,
            )
        mean = matrix @ self.mean + constant
        estimator: Any = None
        base: Any = self.estimator
        if base is not None and np.isfinite(self.mean).all():
            from murmure.core.estimates.forged_reports import ForgedEstimator, as_unforged

            estimator = LinearEstimator(as_unforged(base), matrix, mean, rounding)
            if isinstance(base, ForgedEstimator):
                estimator = replace(base, base=estimator)
        return Estimate(labels, mean, self.n, "value", estimator, self.reason, self.target, self.noisy, self.left_out)

    def to_rows(self, level: float = 0.95, target: Target | None = None) -> list[dict[str, Any]]:
        """One dictionary per figure, for tables, frames and JSON."""
        return self.rows_and_method(level, target)[0]

    def rows_and_method(self, level: float = 0.95, target: Target | None = None) -> tuple[list[dict[str, Any]], str]:
        """The rows, and the name of the method that gave their intervals ("" where there are none)."""
        rows, method = self.numbers_and_method(level, target)
        if self.names is not None:
            named = {self.unit, "low", "high"}
            rows = [
                {k: self.names[round(v)] if k in named and np.isfinite(v) else v for k, v in row.items()}
                for row in rows
            ]
        return rows, method

    def numbers_and_method(self, level: float = 0.95, target: Target | None = None) -> tuple[list[dict[str, Any]], str]:
        """The same; of dates, their numbers."""
        out: list[dict[str, Any]] = [
            {"label": label, self.unit: float(m)} for label, m in zip(self.labels, self.mean, strict=True)
        ]
        method = ""
        if self.estimator is not None:
            target = target or self.target
            ends, method = self.interval_and_method(level, target)
            for row, (low, high), var in zip(out, ends, self.variance(target), strict=True):
                row |= {"low": float(low), "high": float(high), "sd": float(np.sqrt(var))}
        if self.unit == "share":
            for row, count in zip(out, self.counts, strict=True):
                row["count"] = float(count)
        return out, method

    def plot(self, ax: Any = None, level: float = 0.95, truth: Any = None) -> Any:
        """Estimate and interval of every figure (needs the `plots` extra)."""
        from murmure.core.estimates.estimate_blocks import panel_of, true_values
        from murmure.core.plotting import pyplot
        from murmure.show.plot import draw

        plt = pyplot()
        return draw(plt, panel_of(self, "", level, true_values(self, truth)), ax)

    def document(self) -> Document:
        """What it shows, which text, pages and LaTeX are rendered from."""
        from murmure.core.estimates.estimate_blocks import estimate_blocks

        return Document("", estimate_blocks(self), "Estimate")

    def __repr__(self) -> str:
        return str(self)
