"""Discrete Gaussian noise, for many entries that may all move a little; needs a delta.

    P[z] proportional to e**(-z**2 / (2 sigma**2)),    rho = sum over blocks of D2 / (2 sigma**2),

D2 = the largest sum of squares by which one person moves the block. Canonne, Kamath, Steinke, NeurIPS 2020: Theorem 4
for one entry (an integer shift by d costs d**2 / (2 sigma**2) in zero-concentrated privacy, as for the continuous
law), Theorem 14 for vectors. (epsilon, delta) follow from rho by Corollary 13 there (core/zcdp.py). There is
no pure epsilon.
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
from murmure.laws.noise.gaussian import DiscreteGaussianLaw


@dataclass(frozen=True)
class DiscreteGaussian(RhoBudget):
    """Noise for (epsilon, delta), or for a rho; with a rho, delta is the one at which an epsilon is stated.

    >>> import murmure as mu
    >>> schema = mu.Schema({name: mu.Categories(["no", "yes"]) for name in "abcd"})
    >>> people = {name: ["no", "no", "yes", "no"] * 500 for name in "abcd"}
    >>> plan = mu.Plan(mu.Marginals(schema), curator=mu.DiscreteGaussian(epsilon=1.0, delta=1e-6))
    >>> print(mu.run(plan, people, rng=mu.Random.seeded(7)).estimate["a"])
            share       low      high     count
    no     0.7475    0.7402    0.7549     1,489
    yes    0.2525    0.2451    0.2598       503
    <BLANKLINE>
    about 1,992 people; 95% intervals by Fieller (every ratio that the noise on both of its sums
      allows), for these people (fixed population)
    >>> print(plan.guarantees()["reader"])
    epsilon = 0.9999999999, delta = 1e-06
      protects: the record of one person (add/remove: somebody is in the data or not)
      computed by: discrete Gaussian: Canonne, Kamath, Steinke 2020, Theorem 14 and Corollary 13
      public: the 2 answers 'no', 'yes' of column 'a'; the 2 answers 'no', 'yes' of column 'b'; the 2
        answers 'no', 'yes' of column 'c'; the 2 answers 'no', 'yes' of column 'd'; the noise and its
        integers
    >>> print(f"rho {plan.bound.cost.rho:.6f}: what a ledger adds up")
    rho 0.024356: what a ledger adds up
    """

    entry = NoiseEntry(
        order=20,
        title="discrete Gaussian noise",
        word="gaussian",
        needs_delta=True,
        in_shares=True,
    )

    def bind(self, blocks: Sequence[Block], relation: Relation = "add/remove", rows: int = 1) -> BoundNoise:
        blocks = check_binding(self, blocks, relation, rows)
        moves = [block.sensitivity("l2", relation, rows) for block in blocks]
        laws = tuple(
            DiscreteGaussianLaw.at_least(Fraction(square) / (2 * share))
            for square, share in zip(moves, split_by_weight(self.budget, blocks), strict=True)
        )
        rho = float_up(sum((law.rho(square) for law, square in zip(laws, moves, strict=True)), Fraction(0)))
        cost, epsilon, delta = Cost(math.inf, rho), self.epsilon_for(rho), self.delta or 0.0
        method = Phrase("discrete Gaussian: Canonne, Kamath, Steinke 2020, Theorem 14 and Corollary 13")
        return BoundNoise(self, blocks, laws, "l2", relation, rows, cost, epsilon, delta, method)


EXAMPLES = (
    (DiscreteGaussian(epsilon=1.0, delta=1e-6), (Block("cells", 4, 1, 1),)),
    (DiscreteGaussian(rho=0.5), (Block("sums", 3, 60, 1300, weight=2.0), Block("count", 1, 1, 1))),
    (DiscreteGaussian(rho=3.0, delta=1e-5), (Block("count", 1, 1, 1),)),
    (DiscreteGaussian(rho=1e-3), (Block("wide", 2, 40_000, 1_000_000_000),)),
)
