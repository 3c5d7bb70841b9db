"""The result of Cox's regression: hazard ratios with their errors, the baseline, and survival of given rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from murmure.core.errors import Phrase
from murmure.econometrics.algebra.rounding import Floats, to_floats
from murmure.econometrics.results.regression import ENDS, Regression
from murmure.show.document import Curve, Curves, Intervals, Table


@dataclass(frozen=True, eq=False)
class Hazards(Regression):
    """Coefficients are logarithms of hazard ratios. hazard: the baseline's (Breslow's), at columns that are all 0.

    at_means: the same at the means of the columns. All zeros may be far from the rows: `hazard` may then overflow to
    infinity, or underflow to 0, while at_means is always a number. ties: how events at one time are counted ("breslow",
    "efron"); the baseline is Breslow's with both, as in lifelines and statsmodels.
    """

    times: tuple[float, ...] = ()
    events: tuple[int, ...] = ()
    hazard: tuple[float, ...] = ()
    at_means: tuple[float, ...] = ()
    means: tuple[Fraction, ...] = ()
    ties: str = "breslow"

    @property
    def hazard_ratios(self) -> Floats:
        """exp(coefficient): the factor of the hazard for one unit more of the column."""
        with np.errstate(over="ignore"):
            return np.exp(self.params)

    def tables(self) -> list[Table]:
        ends = self.conf_int()
        if ends is None:
            return super().tables()
        with np.errstate(over="ignore"):
            rows = zip(self.names, self.hazard_ratios.tolist(), *np.exp(ends).T.tolist(), strict=True)
        head = ("", Phrase("exp(coef)"), *ENDS)
        return [*super().tables(), Table(Phrase("Hazard ratios"), head, tuple(rows))]

    def pictures(self) -> list[Intervals | Curves]:
        baseline = self.baseline(at_means=True)
        if not baseline:
            return super().pictures()
        x = (0.0, *(row["time"] for row in baseline), self.times[-1])
        survival = (1.0, *(row["survival"] for row in baseline))
        curve = Curve("", x, (*survival, survival[-1]), step=True)
        title = Phrase("Survival of somebody whose columns are all at their means")
        return [*super().pictures(), Curves(title, (curve,), Phrase("time"), Phrase("survival"))]

    def baseline(self, *, at_means: bool = False) -> list[dict[str, float]]:
        """The hazard of the baseline, its cumulative sum and survival, at every time with an event."""
        rows, total = [], 0.0
        for t, d, h in zip(self.times, self.events, self.at_means if at_means else self.hazard, strict=True):
            if d:
                total += h
                rows.append({"time": t, "events": d, "hazard": h, "cumulative": total, "survival": math.exp(-total)})
        return rows

    def predict(self, rows: Any) -> Floats:
        """Hazards relative to the baseline, at which all columns are 0."""
        assert self.design is not None
        with np.errstate(over="ignore"):
            return np.exp(self.design.matrix(rows) @ self.params)

    def survival(self, rows: Any) -> Floats:
        """The probability to survive each time of the grid, one row for each row."""
        assert self.design is not None
        with np.errstate(over="ignore"):
            relative = np.exp((self.design.matrix(rows) - to_floats(self.means)) @ self.params)
            return np.asarray(np.exp(-relative[:, None] * np.cumsum(self.at_means)[None, :]))
