"""Exact sums: fractions, and the noise in them where there is some."""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from murmure.core.blocks import NoiseLaw
from murmure.core.errors import NoUnbiasedEstimate, Phrase
from murmure.core.estimates.estimate import Estimate, check_level, check_target
from murmure.core.estimates.intervals import level_of_each, method_name
from murmure.core.estimates.noisy_estimators import EXACTLY, variance_of
from murmure.core.types import Floats, Releasable

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
        method = EXACTLY if exact else method_name("exact inversion of the noise", simultaneous)
        return np.stack([self.sums - reach_in_units, self.sums + reach_in_units], axis=1), method


class SumsInterface(Releasable):
    """What sums and the answers that are made of them have in common: error bars, rows, a picture.

    summed: the sums themselves; of a SumsEstimate, that estimate.
    """

    summed: Any

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

    @property
    def _note(self) -> str:
        rows = "" if self.n is None else f"{self.n:_}".replace("_", " ") + f" row{'s' * (self.n != 1)}; "
        bars = (
            f"no error bar: {self.reason}" if self.estimator is None else "sums with noise" if self.noisy else EXACTLY
        )
        cells = f"; numbers of {', '.join(self.grid)} count as the middles of their cells" if self.grid else ""
        return f"{rows}{bars}{cells}"

    def _lines(self) -> list[tuple[str, ...]]:
        if not self.noisy or self.estimator is None:
            return [("", "sum"), *((label, _format_sum(v)) for label, v in zip(self.labels, self.sums, strict=True))]
        rows = zip(self.labels, self.mean, self.interval(), strict=True)
        return [("", "sum", "low", "high"), *((label, *map(_format_short, (v, *ends))) for label, v, ends in rows)]

    def __repr__(self) -> str:
        lines = self._lines()
        most = 20
        wide = [max(len(line[i]) for line in lines[: most + 1]) for i in range(len(lines[0]))]
        shown = [
            f"{line[0]:{wide[0]}}" + "".join(f"  {cell:>{w}}" for cell, w in zip(line[1:], wide[1:], strict=True))
            for line in lines[: most + 1]
        ]
        more = f"; {len(lines) - 1 - most} more sums not shown" if len(lines) - 1 > most else ""
        return "\n".join([*shown, self._note + more])

    def _repr_html_(self) -> str:
        head, *body = self._lines()
        cells = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
        rows = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in line)}</tr>" for line in body[:20])
        more = f"; {len(body) - 20} more" if len(body) > 20 else ""
        return f"<table><tr>{cells}</tr>{rows}</table><p>{html.escape(self._note + more)}</p>"


def _format_sum(v: Fraction) -> str:
    """Whole numbers and short decimals exactly; others to ten digits."""
    if v.denominator == 1:
        return f"{v.numerator:,}".replace(",", " ")
    if 10**6 % v.denominator == 0 and abs(v) < 10**9:
        return f"{float(v):,.6f}".rstrip("0").replace(",", " ")
    return f"{float(v):.10g}"


def _format_short(v: float) -> str:
    return f"{v:,.0f}".replace(",", " ") if 1e4 <= abs(v) < 1e15 else f"{v:.6g}"
