"""Local hashing: hash the value into g bins with a public random hash, then randomise the bin.

    report (h, y),   P[y | h, x] = e^eps / (e^eps + g - 1) if y = h(x), 1 / (e^eps + g - 1) otherwise.
    A report supports v when h(v) = y:   p = e^eps / (e^eps + g - 1),   q = 1/g (the collision probability).

BLH: g = 2 (Bassily, Smith, STOC 2015). OLH: the best g (Wang et al., USENIX Security 2017: optimised local hashing);
here the best *integer*, u = g - 1 minimising e^(2 eps)/u + u, which rounding e^eps + 1 misses by up to 2 %.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from murmure.core.catalogue_entries import MechanismEntry
from murmure.core.domain import Categories, Domain, Integers
from murmure.core.errors import InvalidParameter
from murmure.core.fixed import exp_float
from murmure.core.types import Array, Ints
from murmure.laws.hashed import Hashed
from murmure.laws.window import WindowChannel
from murmure.local.base.randomisers import FrequencyOracle, Supports

MAX_BINS = 1 << 14


def best_bins(epsilon: float) -> int:
    """g = u + 1 for the least integer u with E <= sqrt(u (u+1))."""
    # Beyond 20 the best number of bins is far above MAX_BINS.
    E = exp_float(min(epsilon, 20.0))
    u = max(1, math.ceil((math.sqrt(1 + 4 * E * E) - 1) / 2))
    return min(u + 1, MAX_BINS)


class LocalHashing(FrequencyOracle):
    """What BLH and OLH share: everything but the number of bins."""

    epsilon: float

    @property
    def detail(self) -> str:
        return f"g = {self.g}"

    @property
    def g(self) -> int:
        raise NotImplementedError

    @property
    def is_informative(self) -> bool:
        return self.channel.bins.inside > self.channel.bins.outside  # q mixes the two: no need for the sizes of bins

    @cached_property
    def channel(self) -> Hashed:
        return Hashed(self.domain.size, WindowChannel.calibrated(self.epsilon, self.g, self.g))

    @cached_property
    def supports(self) -> Supports:
        # three different values hash independently, each into bin b with probability share[b]
        p, lie = self.channel.bins.prob(0, 0), self.channel.bins.prob(0, 1)
        s2 = sum(share**2 for share in self.channel.shares)
        s3 = sum(share**3 for share in self.channel.shares)
        q = p * s2 + lie * (1 - s2)
        return Supports(p, q, cov_true=p * s2 - p * q, cov_false=p * s3 + lie * (s2 - s3) - q * q)

    def tally(self, reports: Array) -> Ints:
        c = self.channel
        reports = np.asarray(reports)
        if reports.ndim != 2 or reports.shape[1] != c.value_bits + 2 or reports.dtype != np.uint16:
            raise InvalidParameter(
                "{kind}.tally takes reports of shape (n, {value_bits}) and type uint16, got {shape} of {dtype}.",
                kind=type(self).__name__,
                value_bits=c.value_bits + 2,
                shape=reports.shape,
                dtype=reports.dtype,
            )
        if len(reports) and (reports[:, -1].max() >= self.g or reports[:, :-1].max() >> c.seed_bits):
            raise InvalidParameter(
                "{kind}.tally: a report names a bin or a hash that does not exist.", kind=type(self).__name__
            )
        return c.supports(reports)


@dataclass(frozen=True)
class BLH(LocalHashing):
    """Binary local hashing: one bit of the hashed value."""

    domain: Domain
    epsilon: float

    entry = MechanismEntry(order=60, oracle="shares", line=("#c2410c", "--"))

    @property
    def g(self) -> int:
        return 2


@dataclass(frozen=True)
class OLH(LocalHashing):
    """Optimised local hashing: short reports for huge domains."""

    domain: Domain
    epsilon: float

    entry = MechanismEntry(order=70, oracle="shares", line=("#e08a1e", "--"))

    @cached_property
    def g(self) -> int:
        return best_bins(self.epsilon)


EXAMPLES = (
    BLH(Categories(4), 1.0),
    BLH(Categories(9), 0.3),
    OLH(Categories(4), 1.0),
    OLH(Categories(5), 0.5),
    OLH(Integers(1, 1000), 3.0),
)
