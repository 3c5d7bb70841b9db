"""Generalised randomised response: say the truth with odds e^eps to one against each lie.

    P[y | x] = e^eps / (e^eps + k - 1)   if y = x,   1 / (e^eps + k - 1)   otherwise.

Kairouz, Bonawitz, Ramage, ICML 2016 (there: k-RR); Warner 1965 for k = 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from murmure.core.catalogue_entries import MechanismEntry
from murmure.core.counts import room_for_cells
from murmure.core.domain import Categories, Dates, Domain, Integers
from murmure.core.types import Array, Ints
from murmure.laws.tallies import histogram
from murmure.laws.window import WindowChannel
from murmure.local.base.randomisers import FrequencyOracle, Supports, check_domain, check_epsilon, check_slope


@dataclass(frozen=True)
class GRR(FrequencyOracle):
    """Generalised randomised response: the value itself, or one of the others."""

    domain: Domain
    epsilon: float

    entry = MechanismEntry(order=30, oracle="shares", adaptive=True, lists_values=True, line=("#4c566a", "-"))

    def __post_init__(self) -> None:
        check_domain(self, self.domain)
        check_epsilon(self)
        check_slope(self)

    @cached_property
    def channel(self) -> WindowChannel:
        k = self.domain.size
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
)
