"""Hadamard response: row x+1 of a Hadamard matrix says which half of the reports is likely.

    P[y | x] = (2/K) e^eps / (e^eps + 1)  if H[x+1, y] = +1,   (2/K) / (e^eps + 1)  otherwise;
    K = 2^ceil(log2(k+1)); row 0 is skipped because it favours nobody.   p = e^eps / (e^eps + 1), q = 1/2.

Acharya, Sun, Zhang, AISTATS 2019 (the scheme for high privacy, B = 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from murmure.core.catalogue_entries import MechanismEntry
from murmure.core.domain import Categories, Domain
from murmure.core.fixed import exactly, exp, floor_share
from murmure.core.types import Array, Ints
from murmure.laws.hadamard import Hadamard
from murmure.laws.tallies import histogram, walsh_hadamard
from murmure.local.base.randomisers import FrequencyOracle, Supports


@dataclass(frozen=True)
class HadamardResponse(FrequencyOracle):
    """One index of log2(k) bits; decoded for all values at once by a fast transform."""

    domain: Domain
    epsilon: float

    entry = MechanismEntry(order=90, oracle="shares", line=("#7a5cc0", "-"))

    @cached_property
    @exactly
    def channel(self) -> Hadamard:
        k, E = self.domain.size, exp(self.epsilon)
        # the likely half is rounded down: keep / (over - keep) <= E
        return Hadamard(k, floor_share(E, E + 1, Hadamard(k, 1).over))

    @cached_property
    def supports(self) -> Supports:
        return Supports(self.channel.p, Fraction(1, 2))

    def cross(self, f: NDArray[np.float64]) -> NDArray[np.float64]:
        # E[S_i S_j | x] = 1/4 + (p - 1/2)/2 [row_i XOR row_j = row_x]: the product of two rows is a row
        k = self.domain.size
        rows = np.arange(1, k + 1)
        third = rows[:, None] ^ rows[None, :]  # row number; value third - 1
        share = np.zeros(self.channel.order)
        share[1 : k + 1] = f
        half = float(self.supports.p - Fraction(1, 2)) / 2
        return share[third] * half

    def spread(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """The variance of sum w_v Y_v for every value: `cross` at the share 1 of each, added up with w_u w_v."""
        k, p = self.domain.size, float(self.supports.p)
        rows = np.arange(1, k + 1)
        pairs = np.bincount((rows[:, None] ^ rows).ravel(), np.outer(w, w).ravel(), self.channel.order)[1 : k + 1]
        return np.asarray((w * w).sum() / 4 + (p * (1 - p) - 1 / 4) * w * w + (p - 1 / 2) / 2 * pairs)

    def tally(self, reports: Array) -> Ints:
        """How many reports lie in each value's likely half."""
        c = self.channel
        counts = histogram(self._check_reports(reports, c.order - 1), c.order)
        # sum_y H[v, y] counts[y] = (in the half) - (outside it)
        return (len(reports) + walsh_hadamard(counts, len(reports))[1 : c.inputs + 1]) // 2


EXAMPLES = (
    HadamardResponse(Categories(2), 1.0),
    HadamardResponse(Categories(5), 0.5),
    HadamardResponse(Categories(7), 2.0),
    HadamardResponse(Categories(100), 1.0),
)
