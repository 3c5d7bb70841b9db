"""The piecewise mechanism: a window of likely reports that slides with the value, wider than the domain.

    On [-1, 1], t = e^(eps/2), C = (t+1)/(t-1): density (e^eps - t)/(2t + 2) on [l, l + C - 1],
    l = (C+1) x / 2 - (C-1)/2, and e^eps times less on the rest of [-C, C].   E[Y] = x.

Wang et al., ICDE 2019 (the piecewise mechanism). On a grid: M = s (K-1) + L reports, the window of L of them starting
at s * code, L/M = 1/(1 + t); its mean is a straight line in the code, exactly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.catalogue_entries import MechanismEntry
from murmure.core.domain import Decimals, Integers, Interval
from murmure.core.fixed import WORD, exp_float
from murmure.core.types import Readout
from murmure.laws.window import WindowChannel
from murmure.local.base.randomisers import NumericOracle

MIN_WINDOW = 32  # a window is at least this many reports long, so that rounding its length costs little


def sliding_window(epsilon: float, K: int, length_per_step: float) -> WindowChannel:
    """A window that slides by s a code, about length_per_step (K-1) s long, over s (K-1) + length reports."""
    wanted = max(length_per_step, 1e-9) * (K - 1)
    step = max(1, min(math.ceil(MIN_WINDOW / wanted), (1 << 16) // K + 1))
    length = max(1, round(wanted * step))
    return WindowChannel.calibrated(epsilon, K, step * (K - 1) + length, length, step)


def piecewise_window(epsilon: float, K: int) -> WindowChannel:
    """L/M = 1/(1+t) and M = s(K-1) + L give L = s (K-1) / t."""
    return sliding_window(epsilon, K, exp_float(-min(epsilon, 60.0) / 2))


@dataclass(frozen=True)
class WindowMoments:
    """Of a window that starts at s * code:  E[y | c] = A + B c,  E[y^2 | c] = A2 + B2 c + C2 c^2."""

    A: Fraction
    B: Fraction
    A2: Fraction
    B2: Fraction
    C2: Fraction

    @classmethod
    def of(cls, w: WindowChannel) -> WindowMoments:
        # sums of 1, y, y^2 over all reports at `outside`, over the window at `more`, over its first `rest` reports at 1
        def sums(count: int) -> tuple[int, int, int]:
            return count, count * (count - 1) // 2, count * (count - 1) * (2 * count - 1) // 6

        s, more = w.step, w.inside - w.outside
        _, all1, all2 = (w.outside * v for v in sums(w.outputs))
        mass, first, second = (more * a + b for a, b in zip(sums(w.length), sums(w.rest), strict=True))
        return cls(
            A=Fraction(all1 + first, WORD),
            B=Fraction(s * mass, WORD),
            A2=Fraction(all2 + second, WORD),
            B2=Fraction(2 * s * first, WORD),
            C2=Fraction(s * s * mass, WORD),
        )

    def readout(self, y: Any) -> Any:
        """r(y) with E[r | c] = c; of fractions for a whole number, of floats for an array."""
        A, B = (self.A, self.B) if isinstance(y, int) else (float(self.A), float(self.B))
        return (y - A) / B

    def square_readout(self, y: Any) -> Any:
        """r2(y) with E[r2 | c] = c^2."""
        A2, B2, C2 = self.A2, self.B2, self.C2
        if not isinstance(y, int):
            A2, B2, C2 = float(A2), float(B2), float(C2)  # type: ignore[assignment]
        return (y * y - A2 - B2 * self.readout(y)) / C2

    def variance_polynomial(self) -> tuple[float, float, float]:
        """Var(r | c) = E[(y - A)^2 | c] / B^2 - c^2."""
        A, B = self.A, self.B
        return (
            float((self.A2 - A * A) / B**2),
            float((self.B2 - 2 * A * B) / B**2),
            float(self.C2 / B**2 - 1),
        )


class SlidingOracle(NumericOracle):
    """Mean and mean square from a window that slides evenly."""

    @property
    def channel(self) -> WindowChannel:
        raise NotImplementedError

    @property
    def outputs(self) -> int:
        return self.channel.outputs

    @cached_property
    def moments(self) -> WindowMoments:
        return WindowMoments.of(self.channel)

    def readouts(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        y = np.arange(self.outputs, dtype=float)
        return self.moments.readout(y), self.moments.square_readout(y)

    @property
    def readout(self) -> Readout:
        return Readout(self.moments.readout, self.outputs)

    @cached_property
    def variance_polynomial(self) -> tuple[float, float, float]:
        return self.moments.variance_polynomial()


@dataclass(frozen=True)
class Piecewise(SlidingOracle):
    """A number whose expectation is the true one; better than Duchi in the worst case from epsilon about 1.29."""

    domain: Integers | Interval | Decimals
    epsilon: float

    entry = MechanismEntry(order=160, oracle="mean", tells_squares=True, line=("#2a78d6", "-"))

    @cached_property
    def channel(self) -> WindowChannel:
        return piecewise_window(self.epsilon, self.domain.size)


EXAMPLES = (
    Piecewise(Integers(0, 1), 1.0),
    Piecewise(Integers(0, 10), 2.0),
    Piecewise(Interval(-1.0, 1.0, cells=64), 4.0),
)
