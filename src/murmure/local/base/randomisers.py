"""What protocols of the person slot have in common: a channel in, a law, a tally and an estimate out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.counts import check_counts, room_for_cells
from murmure.core.dates import NO_MEAN_OF_DATES
from murmure.core.domain import Dates, Decimals, Domain, Integers, Interval, check_few_values
from murmure.core.errors import InvalidParameter, NoUnbiasedEstimate, Phrase, shorten
from murmure.core.estimates.estimate import CellEstimator, CodeEstimator, Estimate, share_variance
from murmure.core.estimates.report_means import ReportLaw
from murmure.core.fixed import positive_epsilon
from murmure.core.random import Random
from murmure.core.types import Affine, Array, Ints, Mechanism, NoAffine
from murmure.laws.law import Channel, Law
from murmure.laws.number_codes import codes_of
from murmure.laws.tallies import histogram


def check_domain(owner: object, domain: object) -> None:
    if not isinstance(domain, Domain):
        raise InvalidParameter(
            "{kind}.domain must be Categories, Integers, Interval, Decimals or Dates, got {got}.",
            hint="{kind}(Categories(4), epsilon=1.0)",
            kind=type(owner).__name__,
            got=shorten(domain),
        )
    check_few_values(f"{type(owner).__name__}.domain", domain)


def check_epsilon(owner: Any) -> None:
    object.__setattr__(owner, "epsilon", positive_epsilon(type(owner).__name__, owner.epsilon))


def check_slope(owner: Any) -> None:
    """Refuse an epsilon at which, in integers, the truth is no likelier than a lie. (This builds the law.)"""
    name, k = type(owner).__name__, owner.domain.size
    try:
        informative = owner.is_informative
    except InvalidParameter as error:
        raise InvalidParameter(
            "{name}(epsilon={epsilon!r}): {error}", name=name, epsilon=owner.epsilon, error=error
        ) from None
    if not informative:
        raise InvalidParameter(
            "{name}.epsilon = {epsilon!r} is too small for {k} values: rounded to 2**-64, the truth would be no "
            "likelier than a lie, and nothing could be estimated.",
            hint="a larger epsilon, or fewer values",
            name=name,
            epsilon=owner.epsilon,
            k=k,
        )


def exact_probability(owner: object, name: str, value: Fraction | float) -> Fraction:
    """A coin: a probability strictly between 0 and 1, taken at its exact value."""
    try:
        inside = not isinstance(value, bool | str) and bool(0 < value < 1)  # False for NaN too
        exact = Fraction(value) if inside else None
    except (TypeError, ValueError, ArithmeticError):
        exact = None
    if exact is None:
        got = float(value) if isinstance(value, Fraction) and abs(value) < 2**63 else value
        raise InvalidParameter(
            "{kind}.{name} must lie strictly between 0 and 1, got {got}.",
            kind=type(owner).__name__,
            name=name,
            got=shorten(got),
        )
    return exact


class Randomiser(Mechanism):
    """Value -> law -> report. Subclasses have a `domain` and a `channel`."""

    domain: Domain

    @property
    def channel(self) -> Channel:
        """The integers of the law."""
        raise NotImplementedError

    def law(self, x: Any) -> Law:
        """The law of the reports of people holding the codes x."""
        codes = np.atleast_1d(np.asarray(x))
        if codes.dtype.kind not in "iu" or (len(codes) and not 0 <= codes.min() <= codes.max() < self.channel.inputs):
            raise InvalidParameter(
                "{kind}.law takes codes from 0 to {inputs}, got {got}.",
                hint="domain.encode(values) turns values into codes; report(values, rng) does both",
                kind=type(self).__name__,
                inputs=self.channel.inputs - 1,
                got=shorten(x),
            )
        return Law(self.channel, codes)

    def report(self, values: Any, rng: Random) -> Array:
        """Check and encode people's values and randomise each; this runs where the person is."""
        return Law(self.channel, codes_of(self.domain, values)).sample(rng)

    @property
    def report_bits(self) -> float:
        """The size of one report when it is sent."""
        return self.channel.report_bits()

    def _check_reports(self, reports: Array, largest: int) -> Array:
        reports = np.asarray(reports)
        if reports.ndim != 1 or reports.dtype.kind not in "iu":
            raise InvalidParameter(
                "{kind}.tally takes a column of codes, got shape {shape} of {dtype}.",
                kind=type(self).__name__,
                shape=reports.shape,
                dtype=reports.dtype,
            )
        if len(reports) and (int(reports.max()) > largest or (reports.dtype.kind == "i" and reports.min() < 0)):
            raise InvalidParameter(
                "{kind}.tally: a report lies outside 0 .. {largest}.",
                hint="these reports were not made by this mechanism",
                kind=type(self).__name__,
                largest=largest,
            )
        return reports


@dataclass(frozen=True)
class Supports:
    """A report supports the person's true cell with probability p, any other with q; and how cells move together.

    Covariance of two cells of one report: `cov_true` when one of them is the true one, `cov_false` otherwise.
    """

    p: Fraction
    q: Fraction
    cov_true: Fraction = Fraction(0)
    cov_false: Fraction = Fraction(0)


class FrequencyOracle(Randomiser):
    """Shares from support counts: fhat = (r - q) / (p - q)  (Wang et al., USENIX Security 2017: pure protocols)."""

    epsilon: float

    def __post_init__(self) -> None:
        check_domain(self, self.domain)
        room_for_cells(type(self).__name__, self.domain.size)
        check_epsilon(self)
        check_slope(self)

    @property
    def asked(self) -> float:
        """The epsilon that was asked for."""
        return self.epsilon

    @property
    def supports(self) -> Supports:
        raise NotImplementedError

    @property
    def is_informative(self) -> bool:
        """Whether the truth is likelier than a lie in the integers of the law."""
        return self.supports.p > self.supports.q

    @cached_property
    def supported(self) -> Fraction | None:
        """How many cells every report supports; None where that is random.

        The number S of supported cells has E[S] = p + (k-1) q; it is not random when its variance is 0, exactly.
        """
        s, k = self.supports, self.domain.size
        variance = s.p * (1 - s.p) + (k - 1) * s.q * (1 - s.q)
        variance += 2 * (k - 1) * s.cov_true + (k - 1) * (k - 2) * s.cov_false
        return s.p + (k - 1) * s.q if variance == 0 else None

    def affine(self) -> Affine:
        s = self.supports
        return Affine("cells", (s.q,), (s.p - s.q,))

    def cross(self, f: NDArray[np.float64]) -> NDArray[np.float64]:
        """Covariance of the cells of one report, when the shares are f (off the diagonal)."""
        s = self.supports
        pair = np.add.outer(f, f)
        return pair * float(s.cov_true) + (1 - pair) * float(s.cov_false)

    def estimate(self, total: Ints, n: int) -> Estimate:
        """Unbiased shares, with everything that their intervals need."""
        k = self.domain.size
        room_for_cells(type(self).__name__, k)
        counts = check_counts(type(self).__name__, total, n, k, self.supported)
        p, q = (np.full(k, float(v)) for v in (self.supports.p, self.supports.q))
        estimator = CellEstimator(counts, n, p, q, self.cross, self.supported == 1, self.spread)
        return Estimate(self.domain.labels(), estimator.raw, n, "share", estimator)

    def spread(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """The variance of sum w_v Y_v, Y_v = 1 where a report supports v, for every value c that a person may hold.

        sum w_v^2 Var Y_v + F sum_{u != v} w_u w_v, and 2 (T - F) w_c sum_{v != c} w_v for pairs with c; T = cov_true,
        F = cov_false.
        """
        s = self.supports
        p, q, T, F = float(s.p), float(s.q), float(s.cov_true), float(s.cov_false)
        whole, squares = w.sum(), (w * w).sum()
        alone = q * (1 - q) * squares + (p * (1 - p) - q * (1 - q)) * w * w
        return np.asarray(alone + F * (whole**2 - squares) + 2 * (T - F) * w * (whole - w))

    def variance(self, f: Any, n: int) -> NDArray[np.float64]:
        """Exact variance of every share for a fixed population of n people with shares f."""
        return share_variance(f, float(self.supports.p), float(self.supports.q)) / n


class NumericRandomiser(Randomiser):
    """A number on a grid in, one of `outputs` numbered reports out."""

    domain: Integers | Interval | Decimals
    epsilon: float

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Integers | Interval | Decimals):
            raise InvalidParameter(
                "{kind}.domain must be Integers, Interval or Decimals, got {got}.",
                hint=NO_MEAN_OF_DATES
                if isinstance(self.domain, Dates)
                else "categories have no mean; GRR, OUE or SubsetSelection estimate their shares",
                kind=type(self).__name__,
                got=shorten(self.domain),
            )
        check_few_values(f"{type(self).__name__}.domain", self.domain)
        check_epsilon(self)

    @property
    def asked(self) -> float:
        """The epsilon that was asked for."""
        return self.epsilon

    @property
    def outputs(self) -> int:
        raise NotImplementedError

    def tally(self, reports: Array) -> Ints:
        """How often each report came. The mean, its variance and any post-processing are computed from it."""
        room_for_cells(type(self).__name__, self.outputs)
        return histogram(self._check_reports(reports, self.outputs - 1), self.outputs)


class NumericOracle(NumericRandomiser):
    """The mean of a number, from reports whose expectation is a straight line in the code."""

    @property
    def readout(self) -> Sequence[Fraction]:
        """For every report, the number whose expectation is the code."""
        raise NotImplementedError

    @property
    def variance_polynomial(self) -> tuple[float, float, float]:
        """The variance of one readout at code c is v0 + v1 c + v2 c**2."""
        raise NotImplementedError

    def readouts(self) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """For every report, floats whose expectation is the code and, where there are such, its square."""
        return np.array(self.readout, float), None

    def affine(self) -> Affine:
        return Affine("code", readout=self.readout)

    def estimate(self, total: Ints, n: int) -> Estimate:
        """The unbiased mean. (Its float arithmetic is good to 2**-40 of the domain's width.)"""
        counts = check_counts(type(self).__name__, total, n, self.outputs, 1).astype(float)
        low, step, _ = self.domain.scale()
        estimator = self.mean_from_counts(counts, n)
        return Estimate(["mean"], np.array([low + step * estimator.mean]), n, "value", estimator)

    def mean_from_counts(self, counts: NDArray[np.float64], n: int) -> CodeEstimator:
        """The mean from how often each report came. Weighted `counts` add up to the effective number of people, n."""
        law, top = self.report_law, self.domain.size - 1
        mean = float(counts @ law.readout) / n
        square = None if law.square is None else float(counts @ law.square) / n
        return CodeEstimator(mean, square, n, self.variance_polynomial, top, *self.domain.scale(), law, counts)

    @cached_property
    def report_law(self) -> ReportLaw:
        """The readout of each report, and how likely it is: intervals of means are computed from these."""
        return ReportLaw(*self.readouts(), self._chances)

    def _chances(self, code: int) -> NDArray[np.float64]:
        """Of every report, at this code."""
        reports = np.arange(self.outputs)
        return np.exp(self.channel.log_prob(np.full(self.outputs, code), reports))

    def variance(self, f: Any, n: int) -> NDArray[np.float64]:
        """Exact variance of the mean for a fixed population of n people with shares f of the codes."""
        v0, v1, v2 = self.variance_polynomial
        c = np.arange(self.domain.size)
        person = np.asarray(f, float) @ (v0 + v1 * c + v2 * c * c)
        return np.array([person * self.domain.scale()[1] ** 2 / n])


class BiasedNumeric(NumericRandomiser):
    """Reports that stay inside the bounds: useful one by one, but their average is biased towards the middle."""

    why_biased = Phrase("reports near a bound can only err inward, so their average leans to the middle")

    @property
    def outputs(self) -> int:
        return self.domain.size

    def affine(self) -> NoAffine:
        return NoAffine(self.why_biased)

    def estimate(self, total: Ints, n: int) -> Estimate:
        raise NoUnbiasedEstimate(
            "{kind} gives no unbiased estimate: {why_biased}.",
            hint="use Piecewise, Hybrid or Duchi for a mean, or murmure.em for a histogram without error bars",
            kind=type(self).__name__,
            why_biased=self.why_biased,
        )

    def values(self, reports: Array) -> NDArray[np.float64]:
        """Reports as numbers of the domain: what a sanitised column holds."""
        return self.domain.numbers()[np.asarray(reports)]
