"""Exact sums: fractions, and the noise in them where there is some."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from murmure.core.blocks import NoiseLaw
from murmure.core.errors import NoUnbiasedEstimate, Phrase, Plural
from murmure.core.estimates.estimate import Estimate, check_level, check_target
from murmure.core.estimates.intervals import level_of_each
from murmure.core.estimates.method_words import KNOWN_EXACTLY, NOISE_INVERSION, simultaneous_name
from murmure.core.estimates.noisy_estimators import variance_of
from murmure.core.types import Floats, Releasable
from murmure.show.document import Block, Document, IntervalRow, Intervals, Number, Paragraph, Shown, Table
from murmure.show.phrase import apart, commas

POPULATION_HINT = Phrase("Sum, Mean and Variance answer for the population that people were drawn from")


@dataclass(frozen=True, eq=False)
class SumsEstimator:
    """Sums, each with noise of its own law: truth = sum - unit Z, inverted exactly."""

    sums: Floats
    units: Floats
    laws: tuple[NoiseLaw | None, ...]

    def variance(self, target: str) -> Floats:
        if target != "fixed":
            raise NoUnbiasedEstimate("these sums describe only the rows that were added up.", hint=POPULATION_HINT)
        return np.array([variance_of(law) for law in self.laws]) * self.units**2

    def covariance(self, target: str) -> Floats:
        return np.diag(self.variance(target))

    def interval(self, level: float, target: str, simultaneous: bool) -> tuple[Floats, str]:
        _ = self.variance(target)
        each = level_of_each(level, len(self.sums), simultaneous)
        reach = {law: 0 if law is None else law.quantile(1 - each) for law in set(self.laws)}
        reach_in_units = np.array([float(reach[law]) for law in self.laws]) * self.units
        exact = all(law is None for law in self.laws)
        method = KNOWN_EXACTLY if exact else simultaneous_name(NOISE_INVERSION, simultaneous)
        return np.stack([self.sums - reach_in_units, self.sums + reach_in_units], axis=1), method


class SumsInterface(Releasable, Shown):
    """What sums and the answers that are made of them have in common: error bars, rows, a picture.

    summed: the sums themselves; of a SumsEstimate, that estimate.
    """

    summed: Any

    def document(self) -> Document:
        shown: Document = self.summed.document()
        return shown

    if TYPE_CHECKING:  # a dataclass would take these for the defaults of its fields

        @property
        def bits(self) -> int | None: ...  # of the longest whole number among the sums; None: it is not kept
        @property
        def grid(self) -> tuple[str, ...]: ...  # columns whose numbers count as the middles of their cells

    @property
    def estimator(self) -> Any:
        return self.summed.estimator

    @property
    def reason(self) -> str | None:
        return self.summed.reason

    @property
    def _estimate(self) -> Estimate:
        summed = self.summed
        return Estimate(summed.labels, summed.mean, summed.n or 0, "value", summed.estimator, summed.reason)

    def variance(self, target: Any = "fixed") -> Floats:
        """Of the noise in every figure."""
        return self._estimate.variance(target)

    def interval(self, level: float = 0.95, target: Any = "fixed", simultaneous: bool = False) -> Floats:
        return self._estimate.interval(level, target, simultaneous)

    def interval_and_method(
        self, level: float = 0.95, target: Any = "fixed", simultaneous: bool = False
    ) -> tuple[Floats, str]:
        check_level(level)
        check_target(target)
        return self._estimate.interval_and_method(level, target, simultaneous)

    def to_rows(self, level: float = 0.95, target: Any = None) -> list[dict[str, Any]]:
        return self.rows_and_method(level, target)[0]

    def rows_and_method(self, level: float = 0.95, target: Any = None) -> tuple[list[dict[str, Any]], str]:
        """One dictionary per figure; "exact" is the fraction itself, as text."""
        rows, method = self._estimate.rows_and_method(level, target)
        return [row | {"exact": str(v)} for row, v in zip(rows, self.summed.sums, strict=True)], method

    def plot(self, ax: Any = None, level: float = 0.95, truth: Any = None) -> Any:
        return self._estimate.plot(ax, level, truth)


@dataclass(frozen=True, eq=False)
class SumsEstimate(SumsInterface):
    """The sums of expressions. `sums` are exact fractions; with noise, they are those of the noisy whole numbers."""

    labels: tuple[str, ...]
    whole: tuple[int, ...]  # in units
    units: tuple[Fraction, ...]
    estimator: SumsEstimator | None = field(default=None, repr=False)
    n: int | None = None  # rows; None: not known here
    grid: tuple[str, ...] = ()  # columns whose numbers count as the middles of their cells
    noisy: bool = False
    reason: str | None = None  # why there are no error bars

    unit = "value"
    target = "fixed"

    @classmethod
    def of(
        cls,
        labels: tuple[str, ...],
        whole: tuple[int, ...],
        units: tuple[Fraction, ...],
        laws: tuple[NoiseLaw | None, ...],
        n: int | None = None,
        grid: tuple[str, ...] = (),
    ) -> SumsEstimate:
        """The sums of these whole numbers, and error bars from the laws of their noise (None: no noise)."""
        sums = np.array([float(v * unit) for v, unit in zip(whole, units, strict=True)])
        estimator = SumsEstimator(sums, np.array([float(unit) for unit in units]), laws)
        return cls(labels, whole, units, estimator, n, grid, any(law is not None for law in laws))

    @property
    def summed(self) -> Self:  # type: ignore[override]
        return self

    @property
    def bits(self) -> int | None:
        return None

    @property
    def sums(self) -> tuple[Fraction, ...]:
        return tuple(v * unit for v, unit in zip(self.whole, self.units, strict=True))

    def __getitem__(self, label: str) -> Fraction:
        """The sum of this expression."""
        return self.sums[self.labels.index(label)]

    @property
    def mean(self) -> NDArray[np.float64]:
        """The sums as floats."""
        return np.array([float(v) for v in self.sums])

    def document(self) -> Document:
        figures: Block = Intervals("", self._rows(), "value")
        if not self.noisy or self.estimator is None:
            rows = tuple((label, Number(v, "exact")) for label, v in zip(self.labels, self.sums, strict=True))
            figures = Table("", ("", Phrase("sum")), rows)
        return Document("", (figures, *self._notes()), "Sums")

    def _rows(self) -> tuple[IntervalRow, ...]:
        if self.estimator is None:
            return ()
        both = zip(self.labels, self.mean, self.interval(), strict=True)
        return tuple(IntervalRow(label, float(v), float(low), float(high)) for label, v, (low, high) in both)

    def _notes(self) -> tuple[Block, ...]:
        bars: Phrase = Phrase("sums with noise") if self.noisy else KNOWN_EXACTLY
        if self.estimator is None:
            bars = Phrase("no error bar: {reason}", reason=self.reason)
        parts: list[Phrase] = [] if self.n is None else [Plural("{n:,} row", "{n:,} rows", n=self.n)]
        parts.append(bars)
        if self.grid:
            parts.append(Phrase("numbers of {columns} count as the middles of their cells", columns=commas(self.grid)))
        return (Paragraph(apart(parts), "note"),)

    def __repr__(self) -> str:
        return str(self)
