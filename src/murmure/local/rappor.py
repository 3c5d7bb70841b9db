"""Memoised unary encoding: bits are randomised once and kept, then randomised again for every report.

    kept bit    b_v = 1 with probability p1 if v = x, 1 - p1 otherwise,         2 ln(p1 / (1-p1)) = epsilon;
    report bit  y_v = b_v with probability s, flipped otherwise;                2 ln(p / (1-p))  <= epsilon_once,
                p = p1 s + (1-p1)(1-s).

Erlingsson, Pihur, Korolova, CCS 2014 (permanent and instantaneous randomised response, no Bloom filter).
One report alone costs `epsilon_once`. Through a `client`, which keeps its bits, any number of reports about one value
that never changes costs `epsilon` in all; about at most V distinct values, V times that, and the client refuses a
further value. Bits are kept per value and drawn independently: so an observer sees when a value changes and when an old
one returns. No epsilon bounds that pattern (two people whose patterns differ can be told apart with any certainty), and
the certificate says that it takes the pattern for public.
"""

from __future__ import annotations

import decimal
import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from murmure.core.catalogue_entries import MechanismEntry, OptionForm
from murmure.core.counts import room_for_cells
from murmure.core.domain import Categories, Domain, with_outside
from murmure.core.errors import InvalidParameter, Phrase, PlanRefused, shorten
from murmure.core.fixed import WORD, Words64, exactly, exp, positive_epsilon, times_up
from murmure.core.random import KeystreamWords, Random
from murmure.core.types import Certifiable
from murmure.laws.bits import BitsChannel, ChainedBits
from murmure.local.base.randomisers import Supports, check_domain
from murmure.local.unary import PackedOracle, symmetric_bits


@dataclass(frozen=True)
class RAPPOR(PackedOracle):
    """`epsilon_once` bounds one report; `epsilon` all reports of one client about one value."""

    domain: Domain
    epsilon: float
    epsilon_once: float

    entry = MechanismEntry(
        order=100,
        options=(
            OptionForm("epsilon_once", "RAPPOR: the budget of one report.", kind="number", metavar="E", order=10),
        ),
    )

    def __post_init__(self) -> None:
        check_domain(self, self.domain)
        room_for_cells("RAPPOR", self.domain.size)
        for name in ("epsilon", "epsilon_once"):
            object.__setattr__(self, name, positive_epsilon("RAPPOR", getattr(self, name), name))
        if self.epsilon_once >= self.epsilon:
            raise InvalidParameter(
                "RAPPOR.epsilon_once must be below epsilon = {epsilon!r}, got {got!r}.",
                hint="one report always reveals less than all of them together",
                epsilon=self.epsilon,
                got=self.epsilon_once,
            )

    @property
    def asked(self) -> float:
        """What `report` costs: it keeps nothing, so each call is a fresh report."""
        return self.epsilon_once

    @cached_property
    def kept(self) -> BitsChannel:
        """The law of the bits that a client keeps."""
        return symmetric_bits(self.domain.size, self.epsilon)

    @cached_property
    @exactly
    def channel(self) -> ChainedBits:
        p1 = self.kept.p
        once = exp(self.epsilon_once / 2)
        # s = (p - (1-p1)) / (2 p1 - 1), rounded down: less s, less loss
        s = (once / (once + 1) - _decimal(1 - p1)) / _decimal(2 * p1 - 1)
        stay = int((s * WORD).to_integral_value(decimal.ROUND_FLOOR))
        # Above one half, or reports would say nothing about the kept bit; below one, or they would be the kept bit.
        stay = min(max(stay, WORD // 2 + 1), WORD - 1)
        return ChainedBits(self.kept, stay, WORD - stay)

    @cached_property
    def supports(self) -> Supports:
        return Supports(self.channel.p, self.channel.q)

    @property
    def for_ever(self) -> ForEver:
        """What `certify` is handed for the second certificate: all reports of one client about one value."""
        return ForEver(self)

    def over_time(self, values: int) -> ForEver:
        """The same for a client that may hold up to `values` distinct values over time."""
        return ForEver(self, values)

    def client(
        self, key: bytes, question: str, rng: Random | None = None, values: int = 1, seen: Iterable[int] = ()
    ) -> MemoisedClient:
        """What runs on the person's device. The same key, question and value always give the same kept bits.

        values: how many distinct values it may report on over time; `seen` is client.seen of the last session.
        """
        # Its kept bits protect a person for years: a client whose draws can be predicted must not exist.
        rng = (Random.secure() if rng is None else rng).require_secure("MemoisedClient")
        codes = set(seen)
        if len(codes) > check_values(values) or not all(0 <= code < self.domain.size for code in codes):
            raise InvalidParameter(
                "RAPPOR.client: `seen` must hold at most {values} codes of this domain.", values=values
            )
        return MemoisedClient(self, key, question, rng, values, codes)


def _decimal(value: Fraction) -> decimal.Decimal:
    return decimal.Decimal(value.numerator) / decimal.Decimal(value.denominator)


def check_values(values: object) -> int:
    if isinstance(values, bool) or not isinstance(values, int) or values < 1:
        raise InvalidParameter(
            "the number of distinct values over time must be a whole number, at least 1, got {got}.",
            got=shorten(values),
        )
    return values


@dataclass(frozen=True)
class ForEver(Certifiable):
    """Any number of reports of one client: they tell no more than the bits it keeps, one draw for each value."""

    mechanism: RAPPOR
    values: int = 1  # distinct values that the person may hold over time

    def __post_init__(self) -> None:
        check_values(self.values)

    @property
    def assumption(self) -> str:
        if self.values == 1:
            return Phrase("all reports come from one client (mechanism.client) and the person's value never changes")
        return Phrase(
            "all reports come from one client that admits {values} distinct values, and when the value changes or an "
            "earlier one returns is taken for public",
            values=self.values,
        )

    @property
    def domain(self) -> Domain:
        return self.mechanism.domain

    @property
    def epsilon(self) -> float:
        return times_up(self.mechanism.epsilon, self.values)

    @property
    def asked(self) -> float:
        return self.epsilon

    @property
    def channel(self) -> ChainedBits:
        return self.mechanism.channel

    @property
    def permanent(self) -> BitsChannel:
        return self.mechanism.kept


@dataclass(frozen=True)
class MemoisedClient:
    """One person's reports to one question over time. The key is the person's secret, and no repr shows it."""

    mechanism: RAPPOR
    key: bytes = field(repr=False)
    question: str
    rng: Random = field(repr=False)
    values: int = 1
    _reported: set[int] = field(default_factory=set, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.key, bytes) or len(self.key) < 16:
            raise InvalidParameter("MemoisedClient.key must be at least 16 secret bytes.", hint="os.urandom(32)")
        if not isinstance(self.question, str) or not self.question:
            raise InvalidParameter(
                "MemoisedClient.question must name the question, got {got}.",
                hint="if two questions shared their stored bits, each would reveal the other",
                got=shorten(self.question),
            )

    @property
    def seen(self) -> list[int]:
        """Codes of the values reported on so far: the person's secret, kept with the key for the next client."""
        return sorted(self._reported)

    def admit(self, value: Any) -> Any:
        """The code of this value, if this client may still report on it."""
        x = np.asarray(with_outside(self.mechanism.domain, "refuse").encode([value]))  # never the code of nobody
        if int(x[0]) not in self._reported and len(self._reported) >= self.values:
            plural = "s" if self.values > 1 else ""
            raise PlanRefused(
                "this client has reported on {reported_count} distinct value{plural}, the declared maximum: one more "
                "would cost a further epsilon = {epsilon:g}.",
                hint="nothing was sent; declare more values (values=...) and pay for them",
                reported_count=len(self._reported),
                plural=plural,
                epsilon=self.mechanism.epsilon,
            )
        self._reported.add(int(x[0]))
        return x

    def kept(self, value: Any) -> Words64:
        """The kept bits for this value, drawn from key, question and value alone."""
        m, x = self.mechanism, self.admit(value)
        about = json.dumps([self.question, m.domain.to_dict(), m.kept.integers(), int(x[0])]).encode()
        secret = hashlib.sha256(self.key).digest()  # blake2b takes 64 bytes of key at most, and all of it must count
        stream = hashlib.blake2b(about, key=secret, digest_size=32, person=b"murmure keep 1").digest()
        return m.kept.draw(x, KeystreamWords(stream, 0, 0, 1, m.kept.words, m.kept.deep))

    def report(self, value: Any) -> Words64:
        """One more report about this value; together with all others it costs at most epsilon."""
        c = self.mechanism.channel
        return c.instant(self.kept(value), self.rng.reserve(1, c.instant_words, c.instant_deep))


EXAMPLES = (
    RAPPOR(Categories(3), 4.0, 1.0),
    RAPPOR(Categories(6), 2.0, 1.9),
    RAPPOR(Categories(70), 8.0, 2.0),
)
