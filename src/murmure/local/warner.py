"""Warner's randomised response with any two coins: tell the truth, or let the second coin answer.

    P[yes | yes] = a = t + (1-t) s,   P[yes | no] = c = (1-t) s,      t = P[truth], s = P[second coin says yes].
    eps = max( ln(a/c), ln((1-c)/(1-a)) ),  least for a given t at s = 1/2: ln((1+t)/(1-t)).

Warner, JASA 60, 1965. Two fair coins give the matrix (3/4, 1/4) and eps = ln 3, whichever face means "answer".
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from murmure.core.catalogue_entries import MechanismEntry, OptionForm
from murmure.core.counts import check_counts
from murmure.core.domain import Categories, Domain
from murmure.core.errors import InvalidParameter
from murmure.core.estimates.estimate import CellEstimator, Estimate, share_variance
from murmure.core.fixed import WORD, positive_epsilon
from murmure.core.types import Affine, Array, Ints
from murmure.laws.table import TableChannel, table_from_rows
from murmure.laws.tallies import histogram
from murmure.laws.window import WindowChannel
from murmure.local.base.randomisers import Randomiser, check_domain, exact_probability


class YesNo(Randomiser):
    """Two answers, code 1 being yes, with P[yes | yes] = a and P[yes | no] = c read off the channel."""

    @property
    def channel(self) -> TableChannel | WindowChannel:
        raise NotImplementedError

    def _check_two(self) -> None:
        check_domain(self, self.domain)
        if self.domain.size != 2:
            raise InvalidParameter(
                "{kind}.domain must hold two answers, got {got}.",
                hint="for more answers use GRR, which is the same idea",
                kind=type(self).__name__,
                got=self.domain.size,
            )

    @property
    def yes(self) -> tuple[Fraction, Fraction]:
        """a and c."""
        return self.channel.prob(1, 1), self.channel.prob(0, 1)

    def affine(self) -> Affine:
        a, c = self.yes
        return Affine("cells", (1 - a, c), (a - c, a - c))

    def tally(self, reports: Array) -> Ints:
        return histogram(self._check_reports(reports, 1), 2)

    def _cells(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """p and q of the answers no and yes."""
        a, c = map(float, self.yes)
        return np.array([1 - c, a]), np.array([1 - a, c])

    def cross(self, f: NDArray[np.float64]) -> NDArray[np.float64]:
        # A report is one answer or the other, so the covariance is minus the variance of one answer's tally.
        p, q = self._cells()
        return np.full((2, 2), -self.variance(f, 1)[0] * (p[0] - q[0]) ** 2)

    def estimate(self, total: Ints, n: int) -> Estimate:
        counts = check_counts(type(self).__name__, total, n, 2, 1)
        estimator = CellEstimator(counts, n, *self._cells(), self.cross, one_each=True)
        return Estimate(self.domain.labels(), estimator.raw, n, "share", estimator)

    def variance(self, f: NDArray[np.float64], n: int) -> NDArray[np.float64]:
        """[f a(1-a) + (1-f) c(1-c)] / (n (a-c)^2), the same for both answers."""
        return share_variance(f, *self._cells()) / n


@dataclass(frozen=True)
class Warner(YesNo):
    """Two coins: `Warner(domain)` is the lecture's; `Warner(domain, epsilon=...)` the best coins for a budget."""

    domain: Domain
    epsilon: float | None = None
    truth: Fraction | float | None = None
    yes_coin: Fraction | float | None = None

    entry = MechanismEntry(
        order=10,
        options=(
            OptionForm(
                "truth",
                "Warner, UnrelatedQuestion: probability of the truth.",
                kind="probability",
                metavar="P",
                order=20,
            ),
            OptionForm(
                "yes_coin", "Warner: the second coin's probability of yes.", kind="probability", metavar="P", order=30
            ),
        ),
    )

    def __post_init__(self) -> None:
        self._check_two()
        if self.epsilon is not None:
            if self.truth is not None or self.yes_coin is not None:
                raise InvalidParameter("Warner takes either an epsilon or two coins, got both.")
            object.__setattr__(self, "epsilon", positive_epsilon("Warner", self.epsilon))
            return
        for name in ("truth", "yes_coin"):
            value = getattr(self, name)
            object.__setattr__(self, name, exact_probability(self, name, Fraction(1, 2) if value is None else value))

    @property
    def asked(self) -> float | None:
        """The epsilon that was asked for."""
        return self.epsilon

    @cached_property
    def channel(self) -> TableChannel | WindowChannel:
        if self.epsilon is not None:
            return WindowChannel.calibrated(self.epsilon, 2, 2)  # the best two-answer law (Kairouz, Oh, Viswanath 2015)
        t, s = Fraction(self.truth), Fraction(self.yes_coin)  # type: ignore[arg-type]
        c = (1 - t) * s
        return yes_no_table(t + c, c)


def yes_no_table(a: Fraction, c: Fraction) -> TableChannel:
    """The law with P[yes | yes] = a and P[yes | no] = c, to the nearest 2**-64."""
    up, down = (min(max(round(v * WORD), 1), WORD - 1) for v in (a, c))
    if up == down:
        raise InvalidParameter(
            "the two coins differ by less than 2**-64: nothing could be estimated (P[yes | yes] = {a!r}).",
            hint="a larger probability of the truth",
            a=float(a),
        )
    return table_from_rows([[WORD - down, down], [WORD - up, up]])


EXAMPLES = (
    Warner(Categories(["no", "yes"])),
    Warner(Categories(["no", "yes"]), epsilon=1.0),
    Warner(Categories(2), truth=0.5, yes_coin=0.25),
)
