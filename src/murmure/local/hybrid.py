"""The hybrid mechanism: a public coin chooses the piecewise mechanism or Duchi's.

    piecewise with probability alpha = 1 - e^(-eps/2) if eps > eps* = 0.6094, otherwise always Duchi.
    Above eps* the variance does not depend on the value:  e^(-eps/2) (E+1)^2/(E-1)^2 + (t+3)/(3t(t-1)),  t = e^(eps/2).

Wang et al., ICDE 2019, section 3.3, eq. (9) and lemma 3. Both parts are unbiased, so the mixture is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from murmure.core.domain import Integers, Interval
from murmure.core.fixed import WORD
from murmure.laws.table import Table
from murmure.laws.tagged import Tagged
from murmure.local.duchi import duchi_readout, duchi_table
from murmure.local.piecewise import sliding, sliding_readouts
from murmure.local.shared import NumericOracle

_ROOT = 405 * math.sqrt(241)
EPSILON_STAR = math.log((-5 + 2 * math.cbrt(6353 - _ROOT) + 2 * math.cbrt(6353 + _ROOT)) / 27)


@dataclass(frozen=True)
class Hybrid(NumericOracle):
    """The least worst-case variance of a mean among the classical mechanisms."""

    domain: Integers | Interval
    epsilon: float

    def __post_init__(self) -> None:
        self._check_numeric()

    @cached_property
    def channel(self) -> Table | Tagged:
        K = self.domain.size
        duchi = duchi_table(self.epsilon, K)
        if self.epsilon <= EPSILON_STAR:
            return duchi
        window = sliding(self.epsilon, K, math.exp(-min(self.epsilon, 60.0) / 2))
        return Tagged(window, duchi, min(int(-math.expm1(-self.epsilon / 2) * WORD), WORD - 1))

    @property
    def outputs(self) -> int:
        return self.channel.outputs

    @cached_property
    def readout(self) -> tuple[Fraction, ...]:
        c = self.channel
        if isinstance(c, Table):
            return duchi_readout(c)
        return sliding_readouts(c.first)[0] + duchi_readout(c.second)

    @cached_property
    def square_readout(self) -> tuple[Fraction, ...] | None:
        c = self.channel
        if isinstance(c, Table):
            return None
        alpha = Fraction(c.coin, WORD)  # Duchi's reports say nothing of the square; the others stand for all
        return (*(r / alpha for r in sliding_readouts(c.first)[1]), Fraction(0), Fraction(0))


EXAMPLES = (
    Hybrid(Integers(0, 10), 0.5),
    Hybrid(Integers(0, 10), 1.0),
    Hybrid(Interval(0.0, 1.0, cells=32), 3.0),
)
