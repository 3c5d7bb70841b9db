"""What a row adds to the sums of Cox's model, at the time at which it leaves (models/cox.py)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.econometrics.algebra.rounding import Floats
from murmure.econometrics.rows.glm_rows import linear_predictor, stack_sums, weighted_products
from murmure.statistics.expressions.row_functions import RowFunction

# |x'b| is cut here, so that e^(x'b) cannot overflow; cut rows are counted.
CAP = 40.0
MODES = ("start", "step", "efron start", "efron step")


@dataclass(frozen=True)
class _Settings:
    mode: str
    scales: list[int]
    times: Floats
    tied: list[int]  # indices of times that events share; "efron step" only


@lru_cache(64)
def _parse(inputs: int, settings: tuple[str, ...]) -> _Settings:
    mode, scales, times, tied, count = "", list[int](), np.empty(0), list[int](), 0
    try:
        mode, p, *rest = settings
        count = int(p)
        if mode == "efron step":
            ties, *rest = rest
            tied = [int(place) for place in ties.split()]
        scales, times = [int(k) for k in rest[:count]], np.array([float(Fraction(t)) for t in rest[count:]])
    except (ValueError, ZeroDivisionError):
        mode = ""
    good = mode in MODES and count == len(scales) == inputs - 2 and count > 0 and len(times) > 0
    good = good and bool(tied) == (mode == "efron step") and tied == sorted({t for t in tied if 0 <= t < len(times)})
    if not good or any(abs(k) > 1000 for k in scales) or any(a >= b for a, b in pairwise(times)):
        raise InvalidParameter("Cox: columns, scales and times must match, got {got}.", got=shorten(settings))
    return _Settings(mode, scales, times, tied)


@dataclass(frozen=True)
class CoxRows(RowFunction):
    """The row function. inputs: time, event and columns. settings: what is added up ("start", "step"; with Efron's ties
    "efron start", "efron step"), the number of columns, the times that events share ("efron step" only, by their
    indices in the grid), the exponents of two that divide the columns, and the grid. at: b, then what is subtracted
    from x'b.

    "efron start" asks for the same sums as "start". Its name announces that later rounds ask about events alone, for
    the checks of how few rows a sum is about (statistics/conditions/conditions.py).
    """

    def check(self, inputs: tuple[str, ...], at: tuple[str, ...], settings: tuple[str, ...]) -> None:
        parsed = self._settings(inputs, settings)
        wanted = 0 if parsed.mode.endswith("start") else len(parsed.scales) + 1
        if len(at) != wanted:
            raise InvalidParameter(
                "the sums of Cox's model are taken at {wanted} parameters, got {got}.", wanted=wanted, got=len(at)
            )

    def labels(self, inputs: tuple[str, ...], settings: tuple[str, ...]) -> tuple[str, ...]:
        parsed = self._settings(inputs, settings)
        p = len(parsed.scales)
        single = [str(j + 1) for j in range(p)]
        square = [f"{i + 1}, {j + 1}" for i in range(p) for j in range(i, p)]
        if parsed.mode.endswith("start"):
            return ("time", "events", *(f"sum {j}" for j in single), *(f"sum of events {j}" for j in single), *square)
        each = ("w", *(f"w {j}" for j in (*single, *square)))
        tied = tuple(f"{name} of tied events" for name in each) if parsed.tied else ()
        return ("time", *each, *tied, "at the cap")

    def values(self, x: tuple[Floats, ...], at: tuple[float, ...], settings: tuple[str, ...]) -> Floats:
        parsed = self._settings(x, settings)
        event, z = x[1], [column * 2.0**-k for column, k in zip(x[2:], parsed.scales, strict=True)]
        places = np.minimum(np.searchsorted(parsed.times, x[0], side="left"), len(parsed.times) - 1)
        place = places.astype(float)
        if parsed.mode.endswith("start"):
            return stack_sums([place, event, *z, *(event * column for column in z), *weighted_products(z, 1.0)])
        eta = linear_predictor(z, at) - at[-1]
        cut = np.clip(eta, -CAP, CAP)
        w = np.exp(cut)
        each = [w, *(w * column for column in z), *weighted_products(z, w)]
        if parsed.tied:  # an event that is alone at its time adds nothing
            among = event * np.isin(places, parsed.tied)
            each += [among * column for column in each]
        return stack_sums([place, *each, (cut != eta).astype(float)])

    def _settings(self, inputs: Sequence[Any], settings: tuple[str, ...]) -> _Settings:
        return _parse(len(inputs), tuple(settings))

    def in_words(self, inputs: tuple[str, ...], at: tuple[str, ...], settings: tuple[str, ...]) -> str:
        parsed = self._settings(inputs, settings)
        columns, t = ", ".join(inputs[2:]), len(parsed.times)
        if parsed.mode.endswith("start"):
            return Phrase("events, and sums of {columns} and their products", columns=columns)
        if not parsed.tied:
            return Phrase(
                "sums of hazards at given coefficients, of {columns}, of those who leave at {times} times",
                columns=columns,
                times=t,
            )
        return Phrase(
            "sums of hazards at given coefficients, of {columns}, of those who leave at {times} times, and of those of "
            "them with the event at {tied} times with two events or more",
            columns=columns,
            times=t,
            tied=len(parsed.tied),
        )


COX_ROWS = CoxRows()
