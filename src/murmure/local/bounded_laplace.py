"""Bounded Laplace on a grid: reports stay inside the bounds, nearer ones are likelier.

    P[y | x] proportional to a^|y - x|,  y = 0 .. K-1,  a = e^(-eps / (K-1)),  normalised for each x.

The density of lecture 000 (Laplace of scale width/eps, redrawn until inside) on K cells; on `Integers` it is the
discrete bounded Laplace itself. Exactly eps, because the ratio is largest between the two ends, where the
normalisers are equal (Holohan et al., J. Privacy and Confidentiality 10(1), 2020, for the general question).
One table look-up, so the cost does not depend on eps; biased to the middle, so no error bar.
"""

from __future__ import annotations

import decimal
from dataclasses import dataclass
from functools import cached_property, lru_cache

from murmure.core.domain import Decimals, Integers, Interval
from murmure.core.errors import InvalidParameter
from murmure.core.fixed import WORD, exactly, exp, exp_float
from murmure.laws.table import TableChannel, shift_family
from murmure.local.base.randomisers import BiasedNumeric

MAX_GRID_CELLS = 4096  # the table has cells**2 entries


def table_slack(epsilon: float, K: int) -> float:
    """How much a table's rounding can add to a loss: units of 2**-64 against the smallest and the largest entry."""
    # Beyond 44, e^epsilon exceeds 2**63: the smallest entry of the table is then one unit, whatever epsilon is.
    E = exp_float(min(epsilon, 44.0))
    return min((4 * K * E + 4 * K * K) / WORD + 1e-13 * max(1.0, epsilon), epsilon / 2)


def check_cells(owner: object, K: int) -> None:
    if K > MAX_GRID_CELLS:
        raise InvalidParameter(
            "{kind}.domain must have at most {max_grid_cells} values, got {got}.",
            hint="use a coarser grid (Interval(..., cells=1024)), or Window, which needs no table",
            kind=type(owner).__name__,
            max_grid_cells=MAX_GRID_CELLS,
            got=K,
        )


@lru_cache(maxsize=16)
@exactly
def laplace_table(epsilon: float, K: int) -> TableChannel:
    inner = decimal.Decimal(epsilon) - decimal.Decimal(table_slack(epsilon, K))
    a, power, g = exp(-inner / (K - 1)), decimal.Decimal(1 << 63), []
    for _ in range(K):  # a^d by repeated multiplication loses a few of 80 digits; 20 are needed
        g.append(max(1, int(power)))
        power *= a
    return shift_family(g)


@dataclass(frozen=True)
class BoundedLaplace(BiasedNumeric):
    """A number near the true one that never leaves the bounds."""

    domain: Integers | Interval | Decimals
    epsilon: float

    def __post_init__(self) -> None:
        super().__post_init__()
        check_cells(self, self.domain.size)

    @cached_property
    def channel(self) -> TableChannel:
        return laplace_table(self.epsilon, self.domain.size)


EXAMPLES = (
    BoundedLaplace(Integers(0, 1), 1.0),
    BoundedLaplace(Integers(0, 10), 0.5),
    BoundedLaplace(Interval(0.0, 1.0, cells=64), 4.0),
)
