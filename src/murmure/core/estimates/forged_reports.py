"""Intervals that hold although up to m of the n reports are forged.

m reports were forged, exchanged or added, by somebody who may have seen the honest ones. Two cases:

Exchanged. All n people were drawn honestly, and somebody on the way (a relay, the collector's clerk) looked at their
reports and replaced m of them. The tally before that lies between T - m and T + m, whatever was chosen, so that

    both targets      [low(T - m, n), high(T + m, n)]

holds wherever the plain interval of the honest tally does: ends rise with the tally. Of a mean, the m largest readouts
become the smallest for the low end and the other way round for the high one, at the largest variance that people have.

Added. The forgers, fixed before the honest reports are drawn, never had an honest report. Set m reports aside, all of
the forged among them: the other n - m are honest, and their tally lies between T - m and T,

    superpopulation   [low(T - m, n - m), high(T, n - m)];
    fixed             the m people set aside hold anything: low times (n - m)/n, and high times (n - m)/n plus m/n.

The interval is the hull of both, and holds in both cases: the share of all n people, and in the second also that of the
honest among them. (Exact intervals of the first case contain those of the second: add m people who hold the value and
support it. Others may differ at the edges.) Setting aside alone is too narrow where reports are exchanged after a look:
choosing which ones to drop makes the rest a biased sample. (Where reports support several values, and their mean is
asked, each value moves by up to m supports by itself: wider than any m reports could make it.)
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
    """The same estimate, with intervals that hold although up to `forged` reports are forged.

    They were forged, exchanged or added, by somebody who may have seen the honest ones.
    """

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


def widened(base: Any, m: int, level: float, target: Target, simultaneous: bool) -> tuple[Floats, str]:
    """The interval under up to m forged reports, and the method: the hull of both cases."""
    one, method = added(base, m, level, target, simultaneous)
    other, _ = exchanged(base, m, level, target, simultaneous)
    return np.stack([np.minimum(one[:, 0], other[:, 0]), np.maximum(one[:, 1], other[:, 1])], axis=1), method


def _refuse() -> NoUnbiasedEstimate:
    return NoUnbiasedEstimate(
        "these intervals cannot be widened for forged reports.",
        hint="shares and means from reports that people randomised can be: Histogram, Mean and Marginals at the "
        "person, without weights",
    )


@singledispatch
def added(base: Any, m: int, level: float, target: Target, simultaneous: bool) -> tuple[Floats, str]:
    """The interval if m reports never were honest ones: they are set aside."""
    raise _refuse()


@singledispatch
def exchanged(base: Any, m: int, level: float, target: Target, simultaneous: bool) -> tuple[Floats, str]:
    """The interval if m of n honest reports were replaced by somebody who saw all of them."""
    raise _refuse()


@added.register
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


@exchanged.register
def _exchanged_cells(
    base: CellEstimator, m: int, level: float, target: Target, simultaneous: bool
) -> tuple[Floats, str]:
    low, method = replace(base, tally=np.maximum(base.tally - m, 0)).interval(level, target, simultaneous)
    high, _ = replace(base, tally=np.minimum(base.tally + m, base.n)).interval(level, target, simultaneous)
    return np.stack([low[:, 0], high[:, 1]], axis=1), method


def _with_the_others(ends: Floats, m: int, n: int, target: Target, low: float, high: float) -> Floats:
    """Of n people, m of whom hold anything between the public bounds."""
    if target == "superpopulation":
        return ends
    return np.asarray((ends * (n - m) + m * np.array([low, high])) / n)


@added.register
def _sampled(base: SampledEstimator, m: int, level: float, target: Target, simultaneous: bool) -> tuple[Floats, str]:
    """Forgers choose which column they show: all of them may be among those who showed this one."""
    if base.shown == base.people:
        return added(base.base, m, level, target, simultaneous)
    ends, method = added(base.base, m, level, "superpopulation", simultaneous)
    bounds = _bounds(base.base)
    return _with_the_others(ends, min(m, base.people), base.people, target, *bounds), method


@exchanged.register
def _exchanged_sampled(
    base: SampledEstimator, m: int, level: float, target: Target, simultaneous: bool
) -> tuple[Floats, str]:
    """A report moved to another column, or from one, changes less than one turned round within this column."""
    inner = target if base.shown == base.people else "superpopulation"
    return exchanged(base.base, m, level, inner, simultaneous)


def _bounds(base: Any) -> tuple[float, float]:
    if isinstance(base, CodeEstimator):
        return base.low - base.rounding, base.low + base.step * base.top + base.rounding
    return 0.0, 1.0


@dataclass(frozen=True)
class _HonestCodes(CodeEstimator):
    """What honest people may have sent; the mean square is the largest that they can have."""

    largest_square: float = 0.0

    def _largest_square(self) -> float:
        return self.largest_square


@added.register
def _codes(base: CodeEstimator, m: int, level: float, target: Target, simultaneous: bool) -> tuple[Floats, str]:
    low, high = _bounds(base)
    given = np.empty(0) if base.counts is None else base.counts
    counts = np.rint(given)
    if base.law is None or base.counts is None or not np.allclose(counts, given, atol=1e-6):
        raise _refuse()  # in the clear, or weighted
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


@exchanged.register
def _exchanged_codes(
    base: CodeEstimator, m: int, level: float, target: Target, simultaneous: bool
) -> tuple[Floats, str]:
    if base.law is None or base.counts is None:
        raise _refuse()
    readout, squares, counts = base.law.readout, base.law.square, np.rint(base.counts)
    fields = {name: getattr(base, name) for name in ("n", "v", "top", "low", "step", "rounding", "law")}
    ends, method = [], ""
    for end, order in enumerate((-readout, readout)):
        honest = turned_round(counts, order, m)
        square = None if squares is None else float(honest @ squares) / base.n
        mean = float(honest @ readout) / base.n
        moved = _HonestCodes(mean, square, **fields, counts=honest, largest_square=np.inf)
        interval, method = moved.interval(level, target, simultaneous)
        ends.append(interval[0, end])
    return np.array([ends]), method


def turned_round(counts: Floats, order: Floats, m: int) -> Floats:
    """How often each report occurred if m reports, those first in this order, were the last one instead."""
    out = set_aside(counts, order, m)
    out[np.argmax(order)] += counts.sum() - out.sum()
    return out


def set_aside(counts: Floats, order: Floats, m: int) -> Floats:
    """How often each report is left when m reports, those first in this order, are gone."""
    first = np.argsort(order, kind="stable")
    gone = np.diff(np.minimum(np.cumsum(counts[first]), m), prepend=0.0)
    out = counts.astype(float).copy()
    out[first] -= gone
    return out


def _cells_of_mean(base: ShareMeanEstimator, target: Target) -> tuple[CellEstimator, Target, int]:
    """The cells behind a mean, the target of their interval, and all people."""
    shares: Any = base.base
    people = None
    if isinstance(shares, SampledEstimator):
        if shares.shown != shares.people:
            target, people = "superpopulation", shares.people
        shares = shares.base
    if not isinstance(shares, CellEstimator):
        raise _refuse()
    return shares, target, people or shares.n


def _mean_end(base: ShareMeanEstimator, honest: CellEstimator, end: int, level: float, inner: Target) -> Any:
    """One end of the interval of the mean, from what honest people may have sent; and the method."""
    w = base.matrix[0]
    mean = (base.low + base.high) / 2 + float(w @ honest.raw)
    both, method = _any_people(CellMeanEstimator(honest, w, mean, base.low, base.high), level, inner)
    return float(np.clip(both[end], base.low, base.high)), method


@added.register
def _share_means(
    base: ShareMeanEstimator, m: int, level: float, target: Target, simultaneous: bool
) -> tuple[Floats, str]:
    shares, inner, people = _cells_of_mean(base, target)
    n = shares.n
    edge = np.array([-base.rounding, base.rounding])
    if n - m < 1:
        return np.array([[base.low, base.high]]) + edge, base.interval(level, target, simultaneous)[1]
    worth = base.matrix[0] / (shares.p - shares.q)
    ends, method = [], ""
    for end, sign in enumerate((-1.0, 1.0)):
        honest = replace(shares, tally=_fewer(shares, sign * worth, m), n=n - m)
        value, method = _mean_end(base, honest, end, level, inner)
        ends.append(value)
    out = _with_the_others(np.array([ends]), min(m, people), people, target, base.low, base.high)
    return out + edge, method


@exchanged.register
def _exchanged_share_means(
    base: ShareMeanEstimator, m: int, level: float, target: Target, simultaneous: bool
) -> tuple[Floats, str]:
    shares, inner, _ = _cells_of_mean(base, target)
    worth = base.matrix[0] / (shares.p - shares.q)
    ends, method = [], ""
    for end, sign in enumerate((-1.0, 1.0)):
        if shares.one_each:
            tally: Any = turned_round(shares.tally.astype(float), sign * worth, m)
        else:
            tally = np.clip(shares.tally + m * np.sign(sign * worth).astype(np.int64), 0, shares.n)
        value, method = _mean_end(base, replace(shares, tally=tally), end, level, inner)
        ends.append(value)
    return np.array([ends]) + np.array([-base.rounding, base.rounding]), method


def _fewer(cells: CellEstimator, worth: Floats, m: int) -> Any:
    """The tally of n - m reports whose sum of `worth` is the largest: low supports are set aside first."""
    if cells.one_each:
        return set_aside(cells.tally.astype(float), worth, m)
    gone = np.where(worth < 0, np.minimum(cells.tally, m), 0)
    return np.minimum(cells.tally - gone, cells.n - m)


def _any_people(each: CellMeanEstimator, level: float, target: Target) -> tuple[tuple[float, float], str]:
    """An interval for the mean of honest people at the largest variance that people can have.

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
