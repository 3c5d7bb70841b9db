"""How well an attack went in one setting: a figure, what guessing without the reports would give, and an interval.

Three kinds of figure, and no other:
    exact      computed from the law: there is no interval, because nothing was drawn
    counted    hits among trials that are drawn independently: the exact interval of a binomial chance
    repeated   the mean over repetitions of the whole experiment: Student's interval over repetitions,
               none where all of them are equal
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from murmure.core.errors import InvalidParameter
from murmure.core.estimates.intervals import clopper_pearson

LEVEL = 0.95


@dataclass(frozen=True)
class Success:
    attacker: str  # how the guess is made: "exact rule"; lines of a plot are attackers
    value: float
    baseline: float  # the best guess without the reports, or by chance
    low: float | None = None  # both None: exact, one repetition, or repetitions that all gave the same figure
    high: float | None = None
    at: float | None = None  # its place on the axis, mostly epsilon
    repetitions: int | None = None  # None: computed, not measured
    setting: Mapping[str, Any] = field(default_factory=dict)  # what else it was measured for
    all_equal: bool = False  # every repetition gave this figure, so they do not tell how much it varies

    def to_dict(self) -> dict[str, Any]:
        return {
            "attacker": str(self.attacker),
            **{name: _plain(value) for name, value in self.setting.items()},
            "at": self.at,
            "value": _plain(self.value),
            "low": self.low,
            "high": self.high,
            "baseline": self.baseline,
            "repetitions": self.repetitions,
            **({"all_equal": True} if self.all_equal else {}),
        }


def exact(attacker: str, value: float, baseline: float, at: float | None = None, **setting: Any) -> Success:
    """A figure computed from the law."""
    return Success(attacker, float(value), float(baseline), at=at, setting=setting)


def counted(
    attacker: str, hits: float, trials: int, baseline: float, at: float | None = None, **setting: Any
) -> Success:
    """Hits among independent trials."""
    if trials < 1 or not 0 <= hits <= trials:
        raise InvalidParameter("hits must be between 0 and {trials}, got {got}.", trials=trials, got=hits)
    low, high = clopper_pearson([hits], trials, LEVEL)[0]
    return Success(attacker, hits / trials, float(baseline), float(low), float(high), at, 1, setting)


def repeated(
    attacker: str, values: Sequence[float], baseline: float, at: float | None = None, **setting: Any
) -> Success:
    """The mean over repetitions of an experiment, each drawn afresh."""
    measured = np.asarray(values, float)
    if not len(measured) or not np.isfinite(measured).all():
        raise InvalidParameter("an attack needs at least one repetition with a finite figure.")
    n, mean = len(measured), float(measured.mean())
    if n == 1:
        return Success(attacker, mean, float(baseline), at=at, repetitions=1, setting=setting)
    if (measured == measured[0]).all():
        # Student's interval would have no width: certainty, from figures that may merely have been few.
        same = float(measured[0])
        return Success(attacker, same, float(baseline), at=at, repetitions=n, setting=setting, all_equal=True)
    from scipy import special  # type: ignore[import-untyped, unused-ignore]

    half = float(special.stdtrit(n - 1, (1 + LEVEL) / 2) * measured.std(ddof=1) / math.sqrt(n))
    return Success(attacker, mean, float(baseline), mean - half, mean + half, at, n, setting)


def repeated_share(
    attacker: str, values: Sequence[float], baseline: float, at: float | None = None, **setting: Any
) -> Success:
    """`repeated`, of figures between 0 and 1: with few repetitions Student's interval reaches beyond them."""
    row = repeated(attacker, values, baseline, at, **setting)
    if row.low is None or row.high is None:
        return row
    return replace(row, low=max(row.low, 0.0), high=min(row.high, 1.0))


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    return value if value is None or isinstance(value, int | float | bool) else str(value)
