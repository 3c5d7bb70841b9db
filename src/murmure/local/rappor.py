"""Memoised unary encoding: bits are randomised once and kept, then randomised again for every report.

    kept bit    b_v = 1 with probability p1 if v = x, 1 - p1 otherwise,         2 ln(p1 / (1-p1)) = epsilon;
    report bit  y_v = b_v with probability s, flipped otherwise;                2 ln(p / (1-p))  <= epsilon_once,
                p = p1 s + (1-p1)(1-s).

Erlingsson, Pihur, Korolova, CCS 2014, section 3.1 (permanent and instantaneous randomised response, no Bloom filter).
However many reports an observer collects about one value, the loss stays below `epsilon`; one report alone
costs `epsilon_once`. A person whose value changes pays `epsilon` again for each new value.
"""

from __future__ import annotations

import decimal
import hashlib
import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from murmure.core.domain import Categories, Domain
from murmure.core.errors import InvalidParameter
from murmure.core.fixed import EXACT, WORD, Words64, ceil_share, exp, positive_epsilon
from murmure.core.random import KeystreamWords, Random
from murmure.laws.bits import Bits, ChainedBits
from murmure.local.shared import Supports, check_domain
from murmure.local.unary import PackedOracle


@dataclass(frozen=True)
class RAPPOR(PackedOracle):
    """`epsilon` bounds all reports about one value together, `epsilon_once` the first one alone."""

    domain: Domain
    epsilon: float
    epsilon_once: float

    def __post_init__(self) -> None:
        check_domain(self, self.domain)
        for name in ("epsilon", "epsilon_once"):
            object.__setattr__(self, name, positive_epsilon("RAPPOR", getattr(self, name), name))
        if self.epsilon_once >= self.epsilon:
            raise InvalidParameter(
                f"RAPPOR.epsilon_once must be below epsilon = {self.epsilon!r}, got {self.epsilon_once!r}.",
                hint="one report always tells less than all of them",
            )

    @cached_property
    def permanent(self) -> Bits:
        q = ceil_share(1, 1 + exp(self.epsilon / 2))
        return Bits(self.domain.size, WORD - q, q)

    @cached_property
    def channel(self) -> ChainedBits:
        p1 = self.permanent.p
        once = exp(self.epsilon_once / 2)
        # s = (p - (1-p1)) / (2 p1 - 1), rounded down: less s, less loss
        wanted = EXACT.divide(once, once + 1)
        numerator = wanted - EXACT.divide(decimal.Decimal((1 - p1).numerator), decimal.Decimal((1 - p1).denominator))
        slope = 2 * p1 - 1
        s = EXACT.divide(numerator * slope.denominator, decimal.Decimal(slope.numerator))
        stay = int((s * WORD).to_integral_value(decimal.ROUND_FLOOR))
        stay = min(max(stay, WORD // 2 + 1), WORD - 1)
        return ChainedBits(self.permanent, stay, WORD - stay)

    @cached_property
    def supports(self) -> Supports:
        return Supports(self.channel.p, self.channel.q)

    def client(self, key: bytes, rng: Random | None = None) -> MemoisedClient:
        """The side that stays with the person. Same key and value, same kept bits, for ever."""
        return MemoisedClient(self, key, (Random.secure() if rng is None else rng).require_secure("MemoisedClient"))


@dataclass(frozen=True)
class MemoisedClient:
    """One person's reports over time. The key is the person's secret and never stands in a repr."""

    mechanism: RAPPOR
    key: bytes = field(repr=False)
    rng: Random = field(repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.key, bytes) or len(self.key) < 16:
            raise InvalidParameter("MemoisedClient.key must be at least 16 secret bytes.", hint="os.urandom(32)")

    def kept(self, value: Any) -> Words64:
        """The permanent bits for this value, drawn from the key alone."""
        m = self.mechanism
        x = np.asarray(m.domain.encode([value]))
        about = json.dumps([m.permanent.integers(), m.domain.size, int(x[0])]).encode()
        stream = hashlib.blake2b(about, key=self.key[:64], digest_size=32, person=b"murmure keep 1").digest()
        return m.permanent.draw(x, KeystreamWords(stream, 0, 0, 1, m.permanent.words, m.permanent.deep))

    def report(self, value: Any) -> Words64:
        """One more report about this value; what it adds to the others stays below epsilon in all."""
        c = self.mechanism.channel
        return c.instant(self.kept(value), self.rng.reserve(1, c.instant_words, c.instant_deep))


EXAMPLES = (
    RAPPOR(Categories(3), 4.0, 1.0),
    RAPPOR(Categories(6), 2.0, 1.9),
    RAPPOR(Categories(70), 8.0, 2.0),
)
