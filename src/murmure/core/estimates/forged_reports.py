"""Intervals that hold although up to m of the n reports are forged.

Set m reports aside, all of the forged among them; nobody knows which. The other n - m are honest, and their tally lies
between T - m and T. So one of the intervals of n - m people with these tallies holds their share at the stated level,
whatever the forgers sent and however much they knew; ends rise with the tally, and the two outer ones are enough:

    superpopulation   [low(T - m, n - m), high(T, n - m)];
    fixed             the m people set aside hold anything: low times (n - m)/n, and high times (n - m)/n plus m/n.

The fixed interval holds the share of all n people, and that of the honest among them. Of a mean, the m largest readouts
are set aside for the low end and the m smallest for the high one. (Where reports support several values, and their mean
is asked, each value loses up to m supports by itself: wider than any m reports could make it.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any

import numpy as np

from murmure.core.errors import InvalidParameter, NoUnbiasedEstimate, shorten
from murmure.core.estimates.estimate import CellEstimator, CodeEstimator, Estimator, SampledEstimator
from murmure.core.estimates.method_words import DELTA, LAW_OF_REPORTS, forged_name
from murmure.core.estimates.report_means import EXACT_UP_TO, fixed_mean
from murmure.core.estimates.share_means import CellMeanEstimator, ShareMeanEstimator
from murmure.core.types import Floats, Target


def check_forged(forged: Any) -> int:
    if isinstance(forged, bool) or not isinstance(forged, int | np.integer) or forged < 0:
        raise InvalidParameter(
            "the number of forged reports must be a whole number, at least 0, got {got}.",
            hint="interval(forged=25): at most 25 of the reports are forged",
            got=shorten(forged),
        )
    return int(forged)


@dataclass(frozen=True)
class ForgedEstimator:
    """The same estimate, with intervals that hold although up to `forged` reports are forged."""

    base: Estimator
    forged: int

    def variance(self, target: Target) -> Floats:
        """Of the noise alone: what forgers do is not random."""
        return self.base.variance(target)

    def covariance(self, target: Target) -> Floats:
        return self.base.covariance(target)

    def interval(self, level: float, target: Target, simultaneous: bool) -> tuple[Floats, str]:
        ends, method = widened(self.base, self.forged, level, target, simultaneous)
        return ends, forged_name(method, self.forged)


def as_unforged(estimator: Any) -> Any:
    """The estimator that takes all reports for honest."""
    return estimator.base if isinstance(estimator, ForgedEstimator) else estimator


@singledispatch
def widened(base: Any, m: int, level: float, target: Target, simultaneous: bool) -> tuple[Floats, str]:
    """The interval under up to m forged reports, and the method."""
    raise NoUnbiasedEstimate(
        "these intervals cannot be widened for forged reports.",
        hint="shares and means from reports that people randomised can be: Histogram, Mean and Marginals at the "
        "person, without weights",
    )


@widened.register
def _cells(base: CellEstimator, m: int, level: float, target: Target, simultaneous: bool) -> tuple[Floats, str]:
    left = base.n - m
    if left < 1:
        _, method = base.interval(level, target, simultaneous)
        return np.tile([0.0, 1.0], (len(base.tally), 1)), method
    fewest = replace(base, tally=np.maximum(base.tally - m, 0), n=left)
    most = replace(base, tally=np.minimum(base.tally, left), n=left)
    low, method = fewest.interval(level, target, simultaneous)
    high, _ = most.interval(level, target, simultaneous)
    return _with_the_others(np.stack([low[:, 0], high[:, 1]], axis=1), m, base.n, target, 0.0, 1.0), method


def _with_the_others(ends: Floats, m: int, n: int, target: Target, low: float, high: float) -> Floats:
    """Of n people, m of whom hold anything between the public bounds."""
    if target == "superpopulation":
        return ends
    return np.asarray((ends * (n - m) + m * np.array([low, high])) / n)


@widened.register
def _sampled(base: SampledEstimator, m: int, level: float, target: Target, simultaneous: bool) -> tuple[Floats, str]:
    """Forgers choose which column they show: all of them may be among those who showed this one."""
    if base.shown == base.people:
        return widened(base.base, m, level, target, simultaneous)
    ends, method = widened(base.base, m, level, "superpopulation", simultaneous)
    bounds = _bounds(base.base)
    return _with_the_others(ends, min(m, base.people), base.people, target, *bounds), method


def _bounds(base: Any) -> tuple[float, float]:
    if isinstance(base, CodeEstimator):
        return base.low - base.rounding, base.low + base.step * base.top + base.rounding
    return 0.0, 1.0


@dataclass(frozen=True)
class _HonestCodes(CodeEstimator):
    """What is left when m reports are set aside; the mean square is the largest that any n - m of them have."""

    largest_square: float = 0.0

    def _largest_square(self) -> float:
        return self.largest_square


@widened.register
def _codes(base: CodeEstimator, m: int, level: float, target: Target, simultaneous: bool) -> tuple[Floats, str]:
    low, high = _bounds(base)
    given = np.empty(0) if base.counts is None else base.counts
    counts = np.rint(given)
    if base.law is None or base.counts is None or not np.allclose(counts, given, atol=1e-6):
        return widened(None, m, level, target, simultaneous)  # in the clear, or weighted: refused
    left = base.n - m
    if left < 1:
        return np.array([[low, high]]), base.interval(level, target, simultaneous)[1]
    readout, squares = base.law.readout, base.law.square
    largest = 0.0
    if squares is not None:
        smallest_gone = set_aside(counts, squares, m)
        square = float(smallest_gone @ squares) / left
        largest = replace(base, counts=smallest_gone, n=left, square=square)._largest_square()
    ends = []
    for end, order in enumerate((-readout, readout)):
        rest = set_aside(counts, order, m)
        mean = float(rest @ readout) / left
        square = None if squares is None else float(rest @ squares) / left  # type: ignore[assignment]
        fields = {name: getattr(base, name) for name in ("v", "top", "low", "step", "rounding", "law")}
        honest = _HonestCodes(mean, square, left, **fields, counts=rest, largest_square=largest)
        interval, method = honest.interval(level, target, simultaneous)
        ends.append(interval[0, end])
    return _with_the_others(np.array([ends]), m, base.n, target, low, high), method


def set_aside(counts: Floats, order: Floats, m: int) -> Floats:
    """How often each report is left when m reports, those first in this order, are gone."""
    first = np.argsort(order, kind="stable")
    gone = np.diff(np.minimum(np.cumsum(counts[first]), m), prepend=0.0)
    out = counts.astype(float).copy()
    out[first] -= gone
    return out


@widened.register
def _share_means(
    base: ShareMeanEstimator, m: int, level: float, target: Target, simultaneous: bool
) -> tuple[Floats, str]:
    shares: Any = base.base
    inner, people = target, None
    if isinstance(shares, SampledEstimator):
        if shares.shown != shares.people:
            inner, people = "superpopulation", shares.people
        shares = shares.base
    if not isinstance(shares, CellEstimator):
        return widened(None, m, level, target, simultaneous)
    n = shares.n
    low, high = base.low, base.high
    edge = np.array([-base.rounding, base.rounding])
    if n - m < 1:
        return np.array([[low, high]]) + edge, base.interval(level, target, simultaneous)[1]
    w = base.matrix[0]
    ends, method = [], ""
    for end, sign in enumerate((-1.0, 1.0)):
        tally = _fewer(shares, sign * w / (shares.p - shares.q), m)
        honest = replace(shares, tally=tally, n=n - m)
        mean = (low + high) / 2 + float(w @ honest.raw)
        each = CellMeanEstimator(honest, w, mean, low, high)
        both, method = _any_people(each, level, inner)
        ends.append(float(np.clip(both[end], low, high)))
    out = _with_the_others(np.array([ends]), min(m, people or n), people or n, target, low, high)
    return out + edge, method


def _fewer(cells: CellEstimator, worth: Floats, m: int) -> Any:
    """The tally of n - m reports whose sum of `worth` is the largest: low supports are set aside first."""
    if cells.one_each:
        return set_aside(cells.tally.astype(float), worth, m)
    gone = np.where(worth < 0, np.minimum(cells.tally, m), 0)
    return np.minimum(cells.tally - gone, cells.n - m)


def _any_people(each: CellMeanEstimator, level: float, target: Target) -> tuple[tuple[float, float], str]:
    """An interval for the mean of n - m people at the largest variance that people can have.

    (The plain one estimates that variance, and forgers may have changed the estimate.)
    """
    from scipy.special import ndtri

    cells, exactly_one = each.cells, each.cells.one_each
    if exactly_one and target == "superpopulation":
        return each.interval(level, target)
    variance = each._by_value(each._weights)
    if target == "superpopulation":
        variance = variance + ((each.high - each.low) / 2) ** 2
    half = float(ndtri((1 + level) / 2)) * np.sqrt(variance.max() / cells.n)
    if not exactly_one or cells.n > EXACT_UP_TO or not variance.any():
        return (each.mean - half, each.mean + half), DELTA
    top = len(each.w) - 1
    step = (each.high - each.low) / top
    mean = (each.mean - each.low) / step
    near = (mean - half / step, mean + half / step)
    low, high = fixed_mean(each._law, mean, np.inf, cells.n, top, level, near)
    return (each.low + step * low, each.low + step * high), LAW_OF_REPORTS
