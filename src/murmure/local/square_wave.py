"""The square wave: a window of likely reports around the value, tuned to tell most about the distribution.

    Input [0,1], output [-b, 1+b]: density p within b of x, q = p/e^eps elsewhere, p = e^eps / (2 b e^eps + 1),
    b = (eps e^eps - e^eps + 1) / (2 e^eps (e^eps - 1 - eps)).

Li et al., SIGMOD 2020 (b maximises a bound on the mutual information). The distribution comes from EM (`murmure.em`,
biased, no bar); the mean is a straight line in the report and needs none.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from murmure.core.catalogue_entries import MechanismEntry
from murmure.core.domain import Decimals, Integers, Interval
from murmure.core.fixed import exp_float
from murmure.laws.window import WindowChannel
from murmure.local.piecewise import SlidingOracle, sliding_window


def half_width(epsilon: float) -> float:
    """b, by its series below 0.001, where the closed form cancels."""
    if epsilon < 1e-3:
        return 0.5 - epsilon / 3 + epsilon**2 / 9
    e = min(epsilon, 300.0)
    b = exp_float(-e)
    return (e - 1 + b) / (2 * (1 - b - e * b)) * b


@dataclass(frozen=True)
class SquareWave(SlidingOracle):
    """Numbers from which EM recovers the whole distribution."""

    domain: Integers | Interval | Decimals
    epsilon: float

    entry = MechanismEntry(order=140, oracle="mean", line=("#e08a1e", "-"))

    @cached_property
    def channel(self) -> WindowChannel:
        return sliding_window(self.epsilon, self.domain.size, 2 * half_width(self.epsilon))


EXAMPLES = (
    SquareWave(Integers(0, 10), 1.0),
    SquareWave(Interval(0.0, 1.0, cells=64), 2.0),
)
