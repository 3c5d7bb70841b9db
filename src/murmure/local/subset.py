"""Subset selection: a random set of w values, in which the true one is likelier to be.

    P[S | x] proportional to e^eps if x in S, to 1 otherwise, over the sets of size w.
    p = w e^eps / (w e^eps + k - w),   q = p (w-1)/(k-1) + (1-p) w/(k-1).

Ye, Barg, ISIT 2017; Wang et al., arXiv 1607.08025. w minimises the exact variance at f = 0 over the
integers; the usual round(k / (e^eps + 1)) loses up to 16.5 %.
"""

from __future__ import annotations

import decimal
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from murmure.core.catalogue_entries import MechanismEntry, OptionForm
from murmure.core.counts import room_for_cells
from murmure.core.domain import Categories, Domain
from murmure.core.errors import InvalidParameter
from murmure.core.fixed import WORD, exactly, exp, floor_share
from murmure.core.types import Array, Ints
from murmure.laws.subset import Subset
from murmure.local.base.randomisers import Supports, check_domain, check_epsilon
from murmure.local.unary import PackedOracle


def best_size(k: int, epsilon: float) -> int:
    """The integer w that minimises [(w-1)E + k-w][wE + k-w-1] / (w (k-w)) (both sides of the usual rule)."""
    # Beyond 300 the exponential approaches the limit of floats, and the best w is 1 long before.
    E = float(exp(min(epsilon, 300.0)))
    centre = k / (E + 1)
    w = np.arange(max(1, int(centre / 2) - 2), min(k - 1, int(centre * 2) + 3) + 1, dtype=float)
    variance = ((w - 1) * E + k - w) * (w * E + k - w - 1) / (w * (k - w))
    return int(w[np.argmin(variance)])


@dataclass(frozen=True)
class SubsetSelection(PackedOracle):
    """A set of w values: the least variance of all, at w log2 k bits a report."""

    domain: Domain
    epsilon: float
    w: int | None = None

    entry = MechanismEntry(
        order=80,
        oracle="shares",
        lists_values=True,
        line=("#b3261e", "-"),
        options=(OptionForm("w", "SubsetSelection: the size of the set.", kind="whole", metavar="W", order=60),),
    )

    @property
    def detail(self) -> str:
        return f"w = {self.size}"

    def __post_init__(self) -> None:
        check_domain(self, self.domain)
        room_for_cells("SubsetSelection", self.domain.size)
        check_epsilon(self)
        if self.w is not None and (isinstance(self.w, bool) or self.w not in range(1, self.domain.size)):
            raise InvalidParameter(
                "SubsetSelection.w must be a whole number from 1 to {size}, got {got!r}.",
                hint="leave it out for the best one",
                size=self.domain.size - 1,
                got=self.w,
            )

    @cached_property
    def size(self) -> int:
        return self.w if self.w is not None else best_size(self.domain.size, self.epsilon)

    @cached_property
    @exactly
    def channel(self) -> Subset:
        k, w = self.domain.size, self.size
        # room for the unevenness of both laws and for adding it up in floats: the certificate stays at or below epsilon
        room = 4 * Subset(k, w, WORD // 2).slack + 1e-15 * max(1.0, self.epsilon)
        if room >= self.epsilon / 2:
            raise InvalidParameter(
                "SubsetSelection.epsilon = {epsilon!r} is too small for {k} values: the choice of sets is uneven by "
                "up to {room:.1e}.",
                hint="a larger epsilon, or OLH",
                epsilon=self.epsilon,
                k=k,
                room=room,
            )
        E = exp(decimal.Decimal(self.epsilon) - decimal.Decimal(room))
        return Subset(k, w, floor_share(w * E, w * E + k - w))

    def tally(self, reports: Array) -> Ints:
        total = super().tally(reports)
        # A report with another number of values would bias every share, and the column sums would not show it.
        sizes = np.zeros(len(reports), np.uint32)
        for w in range(reports.shape[1]):
            sizes += np.bitwise_count(reports[:, w])
        if (sizes != self.size).any():
            raise InvalidParameter("SubsetSelection.tally: a report does not hold {size} values.", size=self.size)
        return total

    @cached_property
    def supports(self) -> Supports:
        k, w, p = self.domain.size, self.size, self.channel.p
        q = p * Fraction(w - 1, k - 1) + (1 - p) * Fraction(w, k - 1)
        both = p * Fraction(w - 1, k - 1)  # the person's own value and a given other one
        # two given others: w-1 or w of the k-1 others are in the set
        others = Fraction(0)
        if k > 2:
            others = (p * (w - 1) * (w - 2) + (1 - p) * w * (w - 1)) / Fraction((k - 1) * (k - 2))
        return Supports(p, q, cov_true=both - p * q, cov_false=others - q * q)


EXAMPLES = (
    SubsetSelection(Categories(4), 1.0),
    SubsetSelection(Categories(5), 0.3),
    SubsetSelection(Categories(3), 2.0),
    SubsetSelection(Categories(12), 1.0, w=5),
    SubsetSelection(Categories(200), 1.0),
)
