"""Columns of a record when people have public weights (survey weights).

    fhat_v = (sum_i w_i Y_iv / W - q) / (p - q),     W = sum_i w_i;
    Var    = sum_i w_i^2 Var(Y_iv) / (W (p - q))^2,  a straight line in the shares weighted by w^2 (added up too).

Weights are public constants of people (from a sampling frame), on a grid of thousandths so that sums stay integers.
With all weights equal this is the plain estimate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from murmure.core.counts import check_counts
from murmure.core.errors import InvalidParameter, Phrase, PlanRefused
from murmure.core.estimates.column_estimates import Estimates, no_estimate, numeric_values
from murmure.core.estimates.estimate import Estimate, SampledEstimator, on_simplex, share_variance
from murmure.core.estimates.intervals import score_line
from murmure.core.estimates.method_words import SCORE_WEIGHTED, simultaneous_name
from murmure.core.types import Affine, Array, Floats, Ints, NoAffine, Target
from murmure.laws.bits import unpack
from murmure.laws.hidden_draw import FakeCode
from murmure.laws.records import Records
from murmure.laws.tallies import BLOCK
from murmure.local.base.hidden_attribute import HiddenOracle
from murmure.local.base.randomisers import NumericOracle
from murmure.local.grr import GRR
from murmure.local.subset import SubsetSelection
from murmure.local.unary import UnaryEncoding


@dataclass(frozen=True)
class WeightedColumns:
    """Tallies and estimates weighted records. Of every column: people, W, W2, then sums of w and w^2 over reports."""

    person: Any

    def __post_init__(self) -> None:
        for name, part in zip(self.person.columns, self.person.parts, strict=True):
            if not isinstance(part.affine(), NoAffine) and _cell_count(part) is None:
                raise PlanRefused(
                    "Plan refused: the reports of {name!r} ({kind}) cannot be weighted.",
                    hint="GRR, SUE, OUE, SubsetSelection and the numeric mechanisms can",
                    name=name,
                    kind=type(part).__name__,
                )

    @property
    def widths(self) -> list[int]:
        return [3 + 2 * (_cell_count(part) or 0) for part in self.person.parts]

    def tally(self, records: Records) -> Ints:
        if records.weights is None:
            raise InvalidParameter("these records carry no weights; wanted one public weight per person.")
        out = []
        for i, part in enumerate(self.person.parts):
            w = records.weights if records.rows is None else records.weights[records.rows[i]]
            sums = [_weighted_sums(part, records.parts[i], v) for v in (w, w * w)]
            out += [np.array([len(w), w.sum(), (w * w).sum()], np.int64), *sums]
        return np.concatenate(out)

    def estimate(self, total: Ints, n: int) -> Estimates:
        out, at = {}, 0
        for name, part, width in zip(self.person.columns, self.person.parts, self.widths, strict=True):
            out[name] = _estimate_column(part, total[at : at + width], n)
            at += width
        return Estimates(out, n, numeric_values(self.person.domain), remark=self.person.remark or "")


def _real(part: Any) -> Any:
    return part.real if isinstance(part, HiddenOracle) else part


def _cell_count(part: Any) -> int | None:
    """How many sums the reports of a column need; None where reports cannot be weighted."""
    real = _real(part)
    if isinstance(real, GRR | UnaryEncoding | SubsetSelection):
        return int(real.domain.size)
    return int(real.outputs) if isinstance(real, NumericOracle) else None


def _cells_per_report(part: Any) -> Any:
    """How many cells every report supports; None where that is random."""
    if isinstance(part, HiddenOracle):
        return 1 if isinstance(part.law, FakeCode) else None
    return 1 if isinstance(part, NumericOracle) else part.supported


def _weighted_sums(part: Any, reports: Array, weights: Ints) -> Ints:
    """The sum of weights over the reports that support each cell, in integers."""
    size = _cell_count(part)
    out = np.zeros(size or 0, np.int64)
    if size is None:
        return out
    part.tally(reports)  # raises if one is not a report of this mechanism
    if reports.ndim == 1:
        np.add.at(out, reports, weights)
        return out
    for a in range(0, len(reports), BLOCK):
        out += weights[a : a + BLOCK] @ unpack(reports[a : a + BLOCK], size).astype(np.int64)
    return out


def _estimate_column(part: Any, piece: Ints, n: int) -> Estimate:
    affine = part.affine()
    if isinstance(affine, NoAffine):
        return no_estimate(["(no figure)"], affine.reason)
    shown, W, W2 = (int(v) for v in piece[:3])
    labels = part.domain.labels() if affine.of == "cells" else ["mean"]
    if W == 0:
        return no_estimate(labels, Phrase("nobody with a weight reported this column"))
    half = (len(piece) - 3) // 2
    by_weight, by_square = piece[3 : 3 + half], piece[3 + half :]
    for sums, whole in ((by_weight, W), (by_square, W2)):  # sums of weights obey the rules of counts
        check_counts(type(_real(part)).__name__, sums, whole, half, _cells_per_report(part))
    if affine.of == "cells":
        base = _estimate_cells(part, affine, by_weight, by_square, W, W2)
    else:
        base = _estimate_mean(part, by_weight, W, W2)
    if shown == n:
        return replace(base, n=n)
    return replace(base, n=n, estimator=SampledEstimator(base.estimator, shown, n))  # type: ignore[arg-type]


def _estimate_cells(part: Any, affine: Affine, by_weight: Ints, by_square: Ints, W: int, W2: int) -> Estimate:
    k = part.domain.size
    low = np.array([float(o) for o in affine.offset]) * np.ones(k)
    high = low + np.array([float(s) for s in affine.slope]) * np.ones(k)
    estimator = WeightedEstimator(by_weight / W, by_square / W2, W**2 / W2, high, low, part.cross)
    return Estimate(part.domain.labels(), estimator.raw, 0, "share", estimator)


def _estimate_mean(part: Any, by_weight: Ints, W: int, W2: int) -> Estimate:
    low, step, _ = part.domain.scale()
    people = max(1, int(W**2 / W2))  # Kish: the number of equally weighted people with the same variance
    estimator = part.mean_from_counts(by_weight * (people / W), people)
    return Estimate(["mean"], np.array([low + step * estimator.mean]), 0, "value", estimator)


@dataclass(frozen=True)
class WeightedEstimator:
    """Weighted shares of supports, by w and by w^2; n = W^2 / W2 is the effective number of people (Kish)."""

    by_weight: Floats
    by_square: Floats
    n: float
    p: Floats
    q: Floats
    cross: Any

    @cached_property
    def raw(self) -> Floats:
        return np.asarray((self.by_weight - self.q) / (self.p - self.q))

    @cached_property
    def _shares(self) -> tuple[Floats, Floats]:
        """Weighted by w, and by w^2."""
        return on_simplex(self.raw), on_simplex((self.by_square - self.q) / (self.p - self.q))

    def variance(self, target: Target) -> Floats:
        f, f2 = self._shares
        sampling = f2 * (1 - 2 * f) + f * f if target == "superpopulation" else 0.0  # sum w^2 (x - f)^2 / W2
        return np.asarray((share_variance(f2, self.p, self.q) + sampling) / self.n)

    def covariance(self, target: Target) -> Floats:
        f, f2 = self._shares
        slope = self.p - self.q
        cov = self.cross(f2) / np.outer(slope, slope)
        if target == "superpopulation":
            cov = cov - np.outer(f2, f) - np.outer(f, f2) + np.outer(f, f)
        np.fill_diagonal(cov, self.variance(target) * self.n)
        return np.asarray(cov / self.n)

    def interval(self, level: float, target: Target, simultaneous: bool) -> tuple[Floats, str]:
        """Score intervals; the difference of the shares by w and by w^2 is fixed at its estimate."""
        if simultaneous:
            level = 1 - (1 - level) / len(self.raw)
        f, f2 = self._shares
        gap = f2 - f
        slope, none = (1 - self.p - self.q) / (self.p - self.q), np.zeros_like(f)
        line = (share_variance(0.0, self.p, self.q) + slope * gap, slope, none)
        if target == "superpopulation":
            line = (line[0] + gap, line[1] + 1 - 2 * gap, none - 1)
        line = (np.maximum(line[0], 0.0), line[1], line[2])
        ends = score_line(self.raw, self.n, line, level)
        return ends, simultaneous_name(SCORE_WEIGHTED, simultaneous)
