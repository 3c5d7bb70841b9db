"""The piecewise mechanism: a window of likely reports that slides with the value, wider than the domain.

    On [-1, 1], t = e^(eps/2), C = (t+1)/(t-1): density (e^eps - t)/(2t + 2) on [l, l + C - 1],
    l = (C+1) x / 2 - (C-1)/2, and e^eps times less on the rest of [-C, C].   E[Y] = x.

Wang et al., ICDE 2019, algorithm 2 and lemma 1. On a grid: M = s (K-1) + L reports, the window of L of them starting
at s * code, L/M = 1/(1 + t); its mean is a straight line in the code, exactly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from murmure.core.domain import Integers, Interval
from murmure.core.fixed import WORD
from murmure.laws.window import Window
from murmure.local.shared import NumericOracle

FINE = 32  # a window is at least this many reports long, so that rounding its length costs little


def sliding(epsilon: float, K: int, length_per_step: float) -> Window:
    """A window that slides by s a code, about length_per_step (K-1) s long, over s (K-1) + length reports."""
    wanted = max(length_per_step, 1e-9) * (K - 1)
    step = max(1, min(math.ceil(FINE / wanted), (1 << 16) // K + 1))
    length = max(1, round(wanted * step))
    return Window.calibrated(epsilon, K, step * (K - 1) + length, length, step)


def sliding_readouts(w: Window) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    """r(y) with E[r | code] = code, and r2(y) with E[r2 | code] = code**2.

    With start = s c:  E[y | c] = A + B c  and  E[y^2 | c] = A2 + B2 c + C2 c^2, from sums over the window.
    """
    s, L, M = w.step, w.length, w.outputs
    more = w.inside - w.outside
    mass = more * L + w.rest
    first = more * (L * (L - 1) // 2) + w.rest * (L - 1)
    A = Fraction(w.outside * (M * (M - 1) // 2) + first, WORD)
    B = Fraction(s * mass, WORD)
    A2 = Fraction(
        w.outside * (M * (M - 1) * (2 * M - 1) // 6) + more * (L * (L - 1) * (2 * L - 1) // 6) + w.rest * (L - 1) ** 2,
        WORD,
    )
    B2 = Fraction(2 * s * first, WORD)
    C2 = Fraction(s * s * mass, WORD)
    r = tuple((y - A) / B for y in range(M))
    return r, tuple((y * y - A2 - B2 * ry) / C2 for y, ry in enumerate(r))


class SlidingOracle(NumericOracle):
    """Mean and mean square from a window that slides evenly."""

    @property
    def channel(self) -> Window:
        raise NotImplementedError

    @property
    def outputs(self) -> int:
        return self.channel.outputs

    @cached_property
    def _readouts(self) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
        return sliding_readouts(self.channel)

    @property
    def readout(self) -> tuple[Fraction, ...]:
        return self._readouts[0]

    @property
    def square_readout(self) -> tuple[Fraction, ...]:
        return self._readouts[1]


@dataclass(frozen=True)
class Piecewise(SlidingOracle):
    """A number whose expectation is the true one; better than Duchi from epsilon about 1.29."""

    domain: Integers | Interval
    epsilon: float

    def __post_init__(self) -> None:
        self._check_numeric()

    @cached_property
    def channel(self) -> Window:
        # L/M = 1/(1+t) and M = s(K-1) + L give L = s (K-1) / t
        return sliding(self.epsilon, self.domain.size, math.exp(-min(self.epsilon, 60.0) / 2))


EXAMPLES = (
    Piecewise(Integers(0, 1), 1.0),
    Piecewise(Integers(0, 10), 2.0),
    Piecewise(Interval(-1.0, 1.0, cells=64), 4.0),
)
