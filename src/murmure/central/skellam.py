"""Skellam noise: the difference of two Poisson numbers. Its shares add up exactly, so it is made for several parties.

    P[z] = e**-v I(|z|, v),    v = the variance;    D1, D2 = how far one person moves the block, in L1 and in squares.

Agarwal, Kairouz, Liu, NeurIPS 2021; what it costs is derived anew in laws/noise/skellam.py, for all real orders and
with smaller constants:

    rho = (kappa D2 + (kappa - lambda) D1) / 2,     kappa = 1/v (1 + 3/(4v) + ...),  kappa - lambda near 11 / (12 v**2).

For a wide v that is the D2 / (2v) of Gaussian noise. (epsilon, delta) follow from rho as they do there
(core/zcdp.py). There is no pure epsilon.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from murmure.central.base.bound_noise import BoundNoise
from murmure.central.base.budget_split import check_binding, split_by_weight
from murmure.central.base.rho_budget import RhoBudget
from murmure.core.blocks import Block, Cost
from murmure.core.catalogue_entries import NoiseEntry
from murmure.core.errors import Phrase
from murmure.core.fixed import float_up
from murmure.core.types import Relation
from murmure.laws.noise.skellam import MIN_VARIANCE, SkellamLaw, skellam_rho

MEAN_BITS = 40  # binary digits of a mean


@dataclass(frozen=True)
class Skellam(RhoBudget):
    """Noise for (epsilon, delta), or for a rho; with a rho, delta is the one at which an epsilon is stated.

    >>> import murmure as mu
    >>> question = mu.Histogram(mu.Categories(["no", "yes"]))
    >>> noise = mu.Skellam(epsilon=1.0, delta=1e-6)
    >>> plan = mu.Plan(question, parties=mu.PairwiseMasks(5, dropouts=1), curator=noise)
    >>> parts = [["no"] * 300 + ["yes"] * 100] * 5
    >>> print(mu.run(plan, parts, rng=mu.Random.seeded(7)).estimate)
            share       low      high     count
    no     0.7494    0.7445    0.7543     1,498
    yes    0.2506    0.2457    0.2555       501
    <BLANKLINE>
    about 1,999 people; 95% intervals by Fieller (every ratio that the noise on both of its sums
      allows), for these people (fixed population)
    >>> print(plan.guarantees()["reader"])
    epsilon = 0.9999999997, delta = 1e-06
      protects: the record of one person (add/remove: somebody is in the data or not)
      computed by: Skellam in 3 shares: curvature of the law of their sum
      public: the 2 answers 'no', 'yes'; the noise and its integers
      provided: at least 3 parties are honest, stay, and add their share of the noise
    """

    entry = NoiseEntry(order=30, title="Skellam noise", word="skellam", needs_delta=True, in_shares=True)

    def bind(self, blocks: Sequence[Block], relation: Relation = "add/remove", rows: int = 1) -> BoundNoise:
        blocks = check_binding(self, blocks, relation, rows)
        means = self.means(blocks, relation, rows, 1)
        cost, epsilon = self.spent(means, blocks, relation, rows)
        laws = tuple(map(SkellamLaw, means))
        method = Phrase("Skellam: curvature of the law, Canonne, Kamath, Steinke 2020, Corollary 13")
        return BoundNoise(self, blocks, laws, "l2", relation, rows, cost, epsilon, self.delta or 0.0, method)

    def means(self, blocks: Sequence[Block], relation: Relation, rows: int, honest: int) -> list[Fraction]:
        """The Poisson means of one of `honest` shares, for each block."""
        moves = [(block.sensitivity("l1", relation, rows), block.sensitivity("l2", relation, rows)) for block in blocks]
        by_weight = split_by_weight(self.budget, blocks)
        return [least_mean(share, d1, d2, honest) for share, (d1, d2) in zip(by_weight, moves, strict=True)]

    def spent(
        self, means: Sequence[Fraction], blocks: Sequence[Block], relation: Relation, rows: int
    ) -> tuple[Cost, float]:
        """What noise of these means (of the whole, not of a share) costs, and the epsilon at delta."""
        moves = [(block.sensitivity("l1", relation, rows), block.sensitivity("l2", relation, rows)) for block in blocks]
        rho = sum((skellam_rho(2 * mean, *moved) for mean, moved in zip(means, moves, strict=True)), Fraction(0))
        cost = Cost(math.inf, float_up(rho))
        return cost, self.epsilon_for(cost.rho)


def least_mean(max_rho: Fraction, d1: int, d2: int, honest: int) -> Fraction:
    """The least mean of a share for which the sum of `honest` shares costs at most `max_rho`, to a part in 2**30."""

    def enough(mean: Fraction) -> bool:
        return skellam_rho(2 * honest * mean, d1, d2) <= max_rho

    low = _rounded_up(max(Fraction(MIN_VARIANCE), d2 / (2 * max_rho)) / (2 * honest))  # rho is above d2 / (2 variance)
    if enough(low):
        return low
    high = 2 * low
    while not enough(high):
        low, high = high, 2 * high
    while high - low > low / (1 << 30):
        middle = _rounded_up((low + high) / 2)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _rounded_up(mean: Fraction) -> Fraction:
    """To FINE binary digits, so that the plan's JSON stays short."""
    shift = MEAN_BITS - (mean.numerator.bit_length() - mean.denominator.bit_length())
    scale = Fraction(2) ** shift
    return math.ceil(mean * scale) / scale


EXAMPLES = (
    (Skellam(epsilon=1.0, delta=1e-6), (Block("cells", 4, 1, 1),)),
    (Skellam(rho=0.5), (Block("sums", 3, 60, 1300, weight=2.0), Block("count", 1, 1, 1))),
    (Skellam(rho=0.2, delta=1e-5), (Block("count", 1, 1, 1),)),
    (Skellam(epsilon=4.0, delta=1e-9), (Block("wide", 2, 40_000, 1_000_000_000),)),
)
