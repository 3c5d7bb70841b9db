"""The hybrid mechanism: a public coin chooses the piecewise mechanism or Duchi's.

    piecewise with probability alpha = 1 - e^(-eps/2) if eps > eps* = 0.6094, otherwise always Duchi.
    Above eps* the variance does not depend on the value:  e^(-eps/2) (E+1)^2/(E-1)^2 + (t+3)/(3t(t-1)),  t = e^(eps/2).

Wang et al., ICDE 2019 (the hybrid mechanism). Both parts are unbiased, so the mixture is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from murmure.core.catalogue_entries import MechanismEntry
from murmure.core.counts import room_for_table
from murmure.core.domain import Decimals, Integers, Interval
from murmure.core.fixed import WORD, exactly, exp, floor_share
from murmure.core.types import Readout
from murmure.laws.table import TableChannel
from murmure.laws.tagged import Tagged
from murmure.local.base.randomisers import NumericOracle
from murmure.local.duchi import duchi_readout, duchi_table, duchi_variance
from murmure.local.piecewise import WindowMoments, piecewise_window

# ln[(-5 + 2 (6353 - 405 sqrt 241)^(1/3) + 2 (6353 + 405 sqrt 241)^(1/3)) / 27]; written out, so that it is the same
# number on every machine (a test computes it to 50 digits)
EPSILON_STAR = 0.6093524930273095


@dataclass(frozen=True)
class Hybrid(NumericOracle):
    """The least worst-case variance of a mean among the classical mechanisms."""

    domain: Integers | Interval | Decimals
    epsilon: float

    entry = MechanismEntry(order=170, oracle="mean", tells_squares=True, line=("#b3261e", "--"))

    def __post_init__(self) -> None:
        super().__post_init__()
        room_for_table(type(self).__name__, self.domain.size)

    @cached_property
    @exactly
    def channel(self) -> TableChannel | Tagged:
        K = self.domain.size
        duchi = duchi_table(self.epsilon, K)
        if self.epsilon <= EPSILON_STAR:
            return duchi
        return Tagged(piecewise_window(self.epsilon, K), duchi, floor_share(1 - exp(-self.epsilon / 2), 1))

    @property
    def outputs(self) -> int:
        return self.channel.outputs

    @cached_property
    def _parts(self) -> tuple[WindowMoments, Fraction, tuple[Fraction, ...]]:
        """The moments of the piecewise part, its probability, and the readout of Duchi's part."""
        c = self.channel
        assert isinstance(c, Tagged)
        return WindowMoments.of(c.first), Fraction(c.coin, WORD), duchi_readout(c.second)

    def readouts(self) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        if isinstance(self.channel, TableChannel):
            return np.array(self.readout, float), None
        moments, alpha, duchi = self._parts
        y = np.arange(self.outputs - 2, dtype=float)
        # Duchi's two reports say nothing about the square; dividing by alpha makes up for those who send one.
        square = np.append(moments.square_readout(y) / float(alpha), [0.0, 0.0])
        return np.append(moments.readout(y), np.array(duchi, float)), square

    @property
    def readout(self) -> Sequence[Fraction]:
        if isinstance(self.channel, TableChannel):
            return duchi_readout(self.channel)
        moments, _, duchi = self._parts
        m = self.outputs - 2
        return Readout(lambda y: moments.readout(y) if y < m else duchi[y - m], self.outputs)

    @cached_property
    def variance_polynomial(self) -> tuple[float, float, float]:
        if isinstance(self.channel, TableChannel):
            return duchi_variance(self.channel)
        moments, alpha, _ = self._parts
        pairs = zip(moments.variance_polynomial(), duchi_variance(self.channel.second), strict=True)
        a, b, c = (float(alpha) * piecewise + float(1 - alpha) * duchi for piecewise, duchi in pairs)
        return a, b, c


EXAMPLES = (
    Hybrid(Integers(0, 10), 0.5),
    Hybrid(Integers(0, 10), 1.0),
    Hybrid(Interval(0.0, 1.0, cells=32), 3.0),
)
