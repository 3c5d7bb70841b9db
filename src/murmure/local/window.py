"""The sliding window: reports within a window around the value are e^eps times likelier than the rest.

    P[y | x] = c e^eps on a window of L of the K cells, centred on x but slid to stay inside; c elsewhere.

The normaliser is the same for every x, so this is exactly eps, which is what the staircase wanted to be.
L/K = 1/(1 + e^(eps/2)) minimises the largest E|Y - x| over x (derivation in docs/decisions/0004).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from murmure.core.catalogue_entries import MechanismEntry
from murmure.core.domain import Decimals, Integers, Interval
from murmure.core.fixed import exp_float
from murmure.laws.window import WindowChannel as WindowLaw
from murmure.local.base.randomisers import BiasedNumeric


@dataclass(frozen=True)
class Window(BiasedNumeric):
    """A number near the true one that never leaves the bounds, at the full budget."""

    domain: Integers | Interval | Decimals
    epsilon: float

    entry = MechanismEntry(order=130, oracle="column")

    @cached_property
    def channel(self) -> WindowLaw:
        K = self.domain.size
        # Beyond 100 the window is one cell long; cutting there keeps the exponential a float.
        length = min(max(1, round(K / (1 + exp_float(min(self.epsilon, 100.0) / 2)))), K - 1)
        return WindowLaw.calibrated(self.epsilon, K, K, length, step=1, shift=length // 2)


EXAMPLES = (
    Window(Integers(0, 1), 1.0),
    Window(Integers(0, 20), 0.5),
    Window(Interval(-1.0, 1.0, cells=100), 3.0),
)
