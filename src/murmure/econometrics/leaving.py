"""What a row adds to the sums of Cox's model, at the time at which it leaves (cox.py)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.errors import InvalidParameter, shorten
from murmure.econometrics.families import linear, squared, stacked

Floats = NDArray[np.float64]
CAP = 40.0  # of |x'b|


@lru_cache(64)
def _read(inputs: int, settings: tuple[str, ...]) -> tuple[str, list[int], Floats]:
    try:
        mode, p, *rest = settings
        count = int(p)
        scales, times = [int(k) for k in rest[:count]], np.array([float(Fraction(t)) for t in rest[count:]])
    except (ValueError, ZeroDivisionError):
        mode, count, scales, times = "", 0, [], np.empty(0)
    good = mode in ("start", "step") and count == len(scales) == inputs - 2 and count > 0 and len(times) > 0
    if not good or any(abs(k) > 1000 for k in scales) or any(a >= b for a, b in pairwise(times)):
        raise InvalidParameter(f"Cox: columns, scales and times must fit together, got {shorten(settings)}.")
    return mode, scales, times


@dataclass(frozen=True)
class Leaving:
    """The row function: inputs are time, event and columns; settings what is added up ("start", "step"), the number of
    columns, the exponents of two that divide them, and the grid; `at` holds b, then what is taken off x'b.
    """

    def check(self, inputs: tuple[str, ...], at: tuple[str, ...], settings: tuple[str, ...]) -> None:
        mode, scales, _ = self._settings(inputs, settings)
        wanted = 0 if mode == "start" else len(scales) + 1
        if len(at) != wanted:
            raise InvalidParameter(f"the sums of Cox's model are taken at {wanted} parameters, got {len(at)}.")

    def labels(self, inputs: tuple[str, ...], settings: tuple[str, ...]) -> tuple[str, ...]:
        mode, scales, _ = self._settings(inputs, settings)
        p = len(scales)
        single = [str(j + 1) for j in range(p)]
        square = [f"{i + 1}, {j + 1}" for i in range(p) for j in range(i, p)]
        if mode == "start":
            return ("time", "events", *(f"sum {j}" for j in single), *(f"sum of events {j}" for j in single), *square)
        return ("time", "w", *(f"w {j}" for j in (*single, *square)), "at the cap")

    def values(self, x: tuple[Floats, ...], at: tuple[float, ...], settings: tuple[str, ...]) -> Floats:
        mode, scales, times = self._settings(x, settings)
        event, z = x[1], [column * 2.0**-k for column, k in zip(x[2:], scales, strict=True)]
        place = np.minimum(np.searchsorted(times, x[0], side="left"), len(times) - 1).astype(float)
        if mode == "start":
            return stacked([place, event, *z, *(event * column for column in z), *squared(z, 1.0)])
        eta = linear(z, at) - at[-1]
        held = np.clip(eta, -CAP, CAP)
        w = np.exp(held)
        return stacked([place, w, *(w * column for column in z), *squared(z, w), (held != eta).astype(float)])

    def _settings(self, inputs: Sequence[Any], settings: tuple[str, ...]) -> tuple[str, list[int], Floats]:
        return _read(len(inputs), tuple(settings))

    def in_words(self, inputs: tuple[str, ...], at: tuple[str, ...], settings: tuple[str, ...]) -> tuple[str, str]:
        mode, _, times = self._settings(inputs, settings)
        columns, t = ", ".join(inputs[2:]), len(times)
        if mode == "start":
            return (
                f"events, and sums of {columns} and their products",
                f"événements, et sommes de {columns} et de leurs produits",
            )
        return (
            f"sums of hazards at given coefficients, of {columns}, of those who leave at {t} times",
            f"sommes de risques en des coefficients donnés, de {columns}, de ceux qui partent à {t} dates",
        )


LEAVING = Leaving()
