"""Unbiased values of randomised answers: numbers whose expectation, given the true answer, is a function of it.

    E[r_f(report) | x] = f(x)

    labels    (GRR, Warner, UnrelatedQuestion)  any f:   r_f(y) = sum_x f(x) r_x(y),   r_x(y) = (1[y = x] - q) / (p - q)
    numbers   (Piecewise, Hybrid, SquareWave)   x and x**2: a line and a parabola in the report (local/piecewise.py)
              (Duchi, and Hybrid below 0.61)    x alone: one bit contains nothing about a square

Laws are the exact ones of the mechanism, so nothing here is estimated. Cells of a table are as `sanitise` writes them
(local/base/report_columns.py): a label, or the number whose expectation is the true one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.certify.certificate import certify
from murmure.core.decimals import MAX_PLACES, Decimals
from murmure.core.domain import Categories
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.schema import Schema
from murmure.core.types import Certificate
from murmure.econometrics.algebra.rounding import Floats
from murmure.econometrics.design.factors import levels_of, quoted
from murmure.local.base.randomisers import NumericOracle
from murmure.local.grr import GRR
from murmure.local.warner import YesNo
from murmure.statistics.expressions.terms import grid_of

Function = tuple[Fraction, ...] | int  # of labels: the value at each; of a number: the power

FINER = 1000  # steps of the grid between two reports, so that a cell which is not a report can be refused
MAX_REPORTED_LABELS = 4096


@dataclass(frozen=True)
class ReportedColumn:
    """A column of reports in a table, and the mechanism of the reports."""

    name: str
    mechanism: Any

    def __post_init__(self) -> None:
        kind = type(self.mechanism).__name__
        if not isinstance(self.mechanism, GRR | YesNo | NumericOracle):
            raise InvalidParameter(
                "column {name!r}: individual reports of {kind} cannot be used in a regression.",
                hint="labels: GRR, Warner, UnrelatedQuestion; numbers: Piecewise, Hybrid, SquareWave, Duchi",
                name=self.name,
                kind=shorten(kind, 60),
            )
        if not self.is_number and self.domain.size > MAX_REPORTED_LABELS:
            raise InvalidParameter(
                "column {name!r}: {kind} has {size} values; at most {max_reported_labels} are supported.",
                hint="fewer cells, or Piecewise",
                name=self.name,
                kind=kind,
                size=self.domain.size,
                max_reported_labels=MAX_REPORTED_LABELS,
            )
        if self.is_number and len(self._places) > 1 and np.diff(self._places).min() * 1e9 < np.ptp(self._places):
            raise InvalidParameter(
                "column {name!r}: two reports of {kind} look alike in a table.",
                hint="Piecewise, or other cells",
                name=self.name,
                kind=kind,
            )

    @property
    def domain(self) -> Any:
        """The domain of the true answers."""
        return self.mechanism.domain

    @property
    def is_number(self) -> bool:
        """Whether reports are numbers; else they are labels."""
        return isinstance(self.mechanism, NumericOracle)

    @cached_property
    def certificate(self) -> Certificate:
        return certify(self.mechanism)

    # -- the cells of a table

    @cached_property
    def cell_values(self) -> Floats:
        """The number in the table for each report, as `sanitise` writes it."""
        low, step, _ = self.domain.scale()
        return np.asarray(low + step * self.mechanism.readouts()[0], np.float64)

    @cached_property
    def _order(self) -> NDArray[np.intp]:
        return np.argsort(self.cell_values, kind="stable")

    @cached_property
    def _places(self) -> Floats:
        return self.cell_values[self._order]

    @cached_property
    def cells(self) -> Any:
        """The domain of the cells: of numbers the range of reports, which is wider than that of answers.

        Reports are floats with many digits. The grid is fine enough to recognise the nearest report.
        """
        if not self.is_number:
            return self.domain
        gap = float(np.diff(self._places).min())
        places = min(MAX_PLACES, max(0, math.ceil(math.log10(FINER / gap))))
        over = 10**places
        low, high = math.floor(Fraction(self._places[0]) * over), math.ceil(Fraction(self._places[-1]) * over)
        return Decimals(Decimal(low).scaleb(-places), Decimal(high).scaleb(-places), places, rounding="nearest")

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """The expressions that determine the report in a cell."""
        if isinstance(self.domain, Categories):
            return tuple(condition for _, condition in levels_of(Schema({self.name: self.domain}), self.name)[1:])
        return (quoted(self.name),)

    def reports(self, x: tuple[Floats, ...]) -> NDArray[np.intp]:
        """The index of the report in every row, from its inputs."""
        if isinstance(self.domain, Categories):
            code = np.zeros(len(x[0]), np.intp)
            for c, is_label in enumerate(x, start=1):
                code[is_label != 0] = c
            return code
        if not self.is_number:
            first, step = grid_of(self.domain)
            return np.rint((x[0] - float(first)) / float(step)).astype(np.intp)
        return self._nearest(x[0])

    def _nearest(self, x: Floats) -> NDArray[np.intp]:
        places = self._places
        after = np.clip(np.searchsorted(places, x), 1, len(places) - 1)
        near = np.where(x - places[after - 1] <= places[after] - x, after - 1, after)
        # Cells are rounded to the grid, so a report is near its value; true answers mostly are not.
        away = np.abs(x - places[near]) > float(np.diff(places).min()) / 100
        if away.any():
            raise InvalidParameter(
                "column {name!r} holds {x!r}, which is not a report of {kind}(epsilon={epsilon:g}).",
                hint="cells must be as sanitise writes them; true answers and codes are not reports",
                name=self.name,
                x=float(x[np.argmax(away)]),
                kind=type(self.mechanism).__name__,
                epsilon=self.mechanism.epsilon,
            )
        return self._order[near]

    # -- unbiased values

    def unbiased_values(self, function: Function) -> Floats:
        """r(report), for every possible report."""
        if isinstance(function, int):
            return self._power(function)
        out = []
        if isinstance(self.mechanism, GRR):
            p, q = self.mechanism.supports.p, self.mechanism.supports.q
            every = q * sum(function)
            out = [(f - every) / (p - q) for f in function]
        else:
            # P[yes | yes] = a, P[yes | no] = c:   r(no) (1 - c) + r(yes) c = f(no),   r(no) (1 - a) + r(yes) a = f(yes)
            (a, c), (no, yes) = self.mechanism.yes, function
            out = [(a * no - c * yes) / (a - c), ((1 - c) * yes - (1 - a) * no) / (a - c)]
        return np.array([float(v) for v in out], np.float64)

    def _power(self, power: int) -> Floats:
        code, square = self.mechanism.readouts()
        first, step = map(float, grid_of(self.domain))
        if power == 1:
            return np.asarray(first + step * code, np.float64)
        if power != 2 or square is None:
            raise self.refusal(power)
        return np.asarray(first * first + 2 * first * step * code + step * step * square, np.float64)

    def has_unbiased(self, power: int) -> bool:
        """Whether reports give unbiased values of this power of the number."""
        return power < 2 or (power == 2 and self.mechanism.readouts()[1] is not None)

    def refusal(self, power: int) -> InvalidParameter:
        kind, what = type(self.mechanism).__name__, f"{quoted(self.name)} ** {power}"
        if power == 2:
            return InvalidParameter(
                "the regression needs {what}, but reports of {kind}(epsilon={epsilon:g}) give no squares.",
                hint="as the outcome the column needs none; as a covariate use Piecewise or SquareWave",
                what=what,
                kind=kind,
                epsilon=self.mechanism.epsilon,
            )
        return InvalidParameter(
            "the regression needs {what}, but reports of {kind} give only a number{detail}.",
            hint="with GRR on a domain of few values, any function of the column can be estimated",
            what=what,
            kind=kind,
            detail=Phrase(" and its square") if self.has_unbiased(2) else "",
        )
