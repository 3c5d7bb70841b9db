"""Unary encoding: one bit per value, each flipped independently.

    P[bit v = 1 | x] = p if v = x, q otherwise;     p (1 - q) / ((1 - p) q) = e^eps.
    SUE: p = e^(eps/2) / (1 + e^(eps/2)), q = 1 - p.
    OUE: p = 1/2,                         q = 1 / (e^eps + 1).

SUE is basic one-time RAPPOR (Erlingsson, Pihur, Korolova, CCS 2014); OUE is the optimised unary encoding of Wang et
al., USENIX Security 2017.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from murmure.core.domain import Categories, Domain
from murmure.core.errors import InvalidParameter
from murmure.core.fixed import WORD, ceil_share, exactly, exp
from murmure.core.types import Array, Ints
from murmure.laws.bits import BitsChannel, last_word_mask, packed_words
from murmure.laws.tallies import column_sums
from murmure.local.base.randomisers import FrequencyOracle, Supports


class PackedOracle(FrequencyOracle):
    """Reports that are packed bits, one per value of the domain."""

    def tally(self, reports: Array) -> Ints:
        reports = np.asarray(reports)
        k = self.domain.size
        if reports.ndim != 2 or reports.shape[1] != packed_words(k) or reports.dtype != np.uint64:
            raise InvalidParameter(
                "{kind}.tally takes packed reports of shape (n, {packed_words}) and type uint64, "
                "got {shape} of {dtype}.",
                kind=type(self).__name__,
                packed_words=packed_words(k),
                shape=reports.shape,
                dtype=reports.dtype,
            )
        if (reports[:, -1] & ~last_word_mask(k)).any():
            raise InvalidParameter(
                "{kind}.tally: a report sets a bit beyond value {k}.", kind=type(self).__name__, k=k - 1
            )
        return column_sums(reports, k)


@exactly
def symmetric_bits(k: int, epsilon: float) -> BitsChannel:
    """Every bit flipped alike; loss = 2 ln((1-q)/q), which falls as q grows: so q is rounded up."""
    q = ceil_share(1, 1 + exp(epsilon / 2))
    return BitsChannel(k, WORD - q, q)


class UnaryEncoding(PackedOracle):
    """One packed bit per value, the bits independent: cells do not move together."""

    @property
    def channel(self) -> BitsChannel:
        raise NotImplementedError

    @cached_property
    def supports(self) -> Supports:
        return Supports(self.channel.p, self.channel.q)


@dataclass(frozen=True)
class SUE(UnaryEncoding):
    """Symmetric unary encoding: every bit is flipped with the same probability."""

    domain: Domain
    epsilon: float

    @cached_property
    def channel(self) -> BitsChannel:
        return symmetric_bits(self.domain.size, self.epsilon)


@dataclass(frozen=True)
class OUE(UnaryEncoding):
    """Optimised unary encoding: the person's own bit is a fair coin, the others rarely set."""

    domain: Domain
    epsilon: float

    @cached_property
    @exactly
    def channel(self) -> BitsChannel:
        # The loss falls as q grows: q is rounded up, so that it stays at or below epsilon.
        return BitsChannel(self.domain.size, WORD // 2, ceil_share(1, exp(self.epsilon) + 1))


EXAMPLES = (
    SUE(Categories(3), 1.0),
    SUE(Categories(2), 4.0),
    OUE(Categories(5), 0.5),
    OUE(Categories(["a", "b", "c"]), 2.0),
    OUE(Categories(130), 1.0),
)
