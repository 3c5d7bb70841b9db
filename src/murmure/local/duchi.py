"""Duchi's mechanism: one bit, whose probability is a straight line in the value.

    On [-1, 1]: report +-B with P[+] = 1/2 + x (e^eps - 1) / (2 (e^eps + 1)),  B = (e^eps + 1)/(e^eps - 1).
    E[report] = x,  Var = B^2 - x^2.

Duchi, Jordan, Wainwright, JASA 113, 2018, in one dimension. On codes 0 .. K-1 the weight of + is
first + step * code in integers, so the report is unbiased to the last unit.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from murmure.core.catalogue_entries import MechanismEntry
from murmure.core.counts import room_for_table
from murmure.core.domain import Decimals, Integers, Interval
from murmure.core.fixed import WORD, ceil_share, exactly, exp
from murmure.laws.table import TableChannel, ramp
from murmure.local.base.randomisers import NumericOracle


@exactly
def duchi_table(epsilon: float, K: int) -> TableChannel:
    first = ceil_share(1, exp(epsilon) + 1)
    return ramp(K, first, (WORD - 2 * first) // (K - 1))


def duchi_readout(table: TableChannel) -> tuple[Fraction, ...]:
    """P[+ | code] = A + B code, so (report - A) / B is unbiased for the code."""
    A = table.prob(0, 1)
    B = table.prob(1, 1) - A
    return (-A / B, (1 - A) / B)


def duchi_variance(table: TableChannel) -> tuple[float, float, float]:
    """Var(readout | c) = P (1 - P) / B^2 with P = A + B c:  A(1-A)/B^2 + (1-2A)/B c - c^2."""
    A = table.prob(0, 1)
    B = table.prob(1, 1) - A
    return float(A * (1 - A) / B**2), float((1 - 2 * A) / B), -1.0


@dataclass(frozen=True)
class Duchi(NumericOracle):
    """One bit a person; the best mean at small epsilon."""

    domain: Integers | Interval | Decimals
    epsilon: float

    entry = MechanismEntry(order=150, oracle="mean", line=("#4c566a", "-"))

    def __post_init__(self) -> None:
        super().__post_init__()
        room_for_table(type(self).__name__, self.domain.size)

    @property
    def outputs(self) -> int:
        return 2

    @cached_property
    def channel(self) -> TableChannel:
        return duchi_table(self.epsilon, self.domain.size)

    @cached_property
    def readout(self) -> tuple[Fraction, ...]:
        return duchi_readout(self.channel)

    @cached_property
    def variance_polynomial(self) -> tuple[float, float, float]:
        return duchi_variance(self.channel)


EXAMPLES = (
    Duchi(Integers(0, 1), 1.0),
    Duchi(Integers(0, 10), 0.5),
    Duchi(Interval(-1.0, 1.0, cells=64), 2.0),
)
