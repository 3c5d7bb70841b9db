"""Generalised randomised response: say the truth with odds e^eps to one against each lie.

    P[y | x] = e^eps / (e^eps + k - 1)   if y = x,   1 / (e^eps + k - 1)   otherwise.

Kairouz, Bonawitz, Ramage, ICML 2016 (there: k-RR); Warner 1965 for k = 2.

A real die or bag of slips has an exact fraction instead of an epsilon: with probability t the truth, otherwise one of
all k answers, each equally likely. That is the same law, and for k = 2 Warner's with a fair second coin:

    P[y | x] = t + (1-t)/k   if y = x,   (1-t)/k   otherwise,      eps = ln(1 + k t / (1-t)).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from murmure.core.catalogue_entries import MechanismEntry
from murmure.core.codec import OMIT_IF_DEFAULT
from murmure.core.counts import room_for_cells
from murmure.core.domain import Categories, Dates, Domain, Integers
from murmure.core.errors import InvalidParameter, Phrase
from murmure.core.fixed import WORD
from murmure.core.types import Array, Ints
from murmure.laws.tallies import histogram
from murmure.laws.window import WindowChannel
from murmure.local.base.randomisers import (
    FrequencyOracle,
    Supports,
    check_domain,
    check_epsilon,
    check_slope,
    exact_probability,
)


@dataclass(frozen=True)
class GRR(FrequencyOracle):
    """Generalised randomised response: the value itself, or one of the others.

    `epsilon` asks for a budget; `truth` describes a real device that tells the truth with this probability and
    otherwise draws one of all answers.
    """

    domain: Domain
    epsilon: float | None = None  # type: ignore[assignment]  # as of Warner: None where a device is described
    truth: Fraction | float | None = field(default=None, metadata=OMIT_IF_DEFAULT)

    one_of = ("epsilon", "truth")
    entry = MechanismEntry(order=30, oracle="shares", adaptive=True, lists_values=True, line=("#4c566a", "-"))

    def __post_init__(self) -> None:
        check_domain(self, self.domain)
        if (self.epsilon is None) == (self.truth is None):
            raise InvalidParameter(
                "GRR takes either an epsilon or a probability of the truth, got {got}.",
                hint="GRR(domain, epsilon=1.0); of a die that tells the truth on 4 of 6 faces: GRR(domain, "
                "truth=Fraction(4, 6))",
                got="None" if self.epsilon is None else Phrase("both"),
            )
        if self.truth is None:
            check_epsilon(self)
        else:
            object.__setattr__(self, "truth", exact_probability(self, "truth", self.truth))
            # Rounding moves the truth by up to k 2**-64, so an estimate by up to 2**-40 of itself at this truth.
            if Fraction(self.truth) < Fraction(self.domain.size, 2**24):
                raise InvalidParameter(
                    "GRR.truth = {truth:.3g} is too small for {k} values: rounding to 2**-64 would change what is "
                    "estimated.",
                    hint="a larger probability of the truth",
                    truth=float(self.truth),
                    k=self.domain.size,
                )
        check_slope(self)

    @cached_property
    def channel(self) -> WindowChannel:
        k = self.domain.size
        if self.truth is not None:
            # Rounded down: what the integers certify is never less than what the device itself gives away.
            lie = max(int((1 - Fraction(self.truth)) / k * WORD), 1)
            return WindowChannel(k, k, length=1, step=1, shift=0, outside=lie)
        assert self.epsilon is not None  # one of the two was given
        return WindowChannel.calibrated(self.epsilon, k, k)

    @cached_property
    def supports(self) -> Supports:
        p, q = self.channel.prob(0, 0), self.channel.prob(0, 1)
        return Supports(p, q, cov_true=-p * q, cov_false=-q * q)  # a report supports one cell only

    def tally(self, reports: Array) -> Ints:
        k = self.domain.size
        room_for_cells("GRR", k)
        return histogram(self._check_reports(reports, k - 1), k)


EXAMPLES = (
    GRR(Categories(2), 1.0),
    GRR(Categories(4), 0.5),
    GRR(Categories(["never", "once", "often"]), 3.0),
    GRR(Integers(18, 99), 2.0),
    GRR(Dates("2023-12-30", "2024-01-02"), 1.0),
    GRR(Categories(["never", "once", "often"]), truth=Fraction(1, 2)),
)
