"""Discrete Laplace noise: two-sided geometric, the integer version of Laplace noise.

    P[z] = (1 - a) / (1 + a) a**|z|,    a = e**(-epsilon / D),    D = how far one person moves the sum in L1.

Ghosh, Roughgarden, Sundararajan, STOC 2009 (there: the geometric mechanism). Entries that move by d_1, d_2, ... lose
(epsilon / D) (|d_1| + |d_2| + ...) <= epsilon together, whatever the others do. Blocks share epsilon by weight.

sampler="table": integers over 2**63 from small tables; what their rounding costs is counted in the certificate, and
rate is lowered by as much (laws/noise/digits.py). sampler="exact": the law itself at a rational rate, in integers
(laws/noise/laplace.py). In the currency of concentrated privacy an entry that loses e costs e**2 / 2 (Bun, Steinke,
TCC 2016, Proposition 1.4), and entries add up: rate**2 D2 / 2 where D2 bounds the sum of squared moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal

from murmure.central.base.bound_noise import BoundNoise
from murmure.central.base.budget_split import check_binding, moved_entries, split_by_weight
from murmure.core.blocks import Block, Cost
from murmure.core.catalogue_entries import NoiseEntry
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.fixed import float_up, positive_epsilon
from murmure.core.types import Noise, Relation
from murmure.laws.noise.digits import Digits, calibrated
from murmure.laws.noise.laplace import DiscreteLaplaceLaw, at_rate

Sampler = Literal["table", "exact"]


@dataclass(frozen=True)
class DiscreteLaplace(Noise):
    """Noise on integer sums with a pure epsilon; the first choice for counts.

    >>> import murmure as mu
    >>> question = mu.Histogram(mu.Categories(["no", "yes"]))
    >>> plan = mu.Plan(question, curator=mu.DiscreteLaplace(epsilon=1.0))
    >>> print(mu.run(plan, ["no"] * 1500 + ["yes"] * 500, rng=mu.Random.seeded(7)).estimate)
            share       low      high     count
    no     0.7494    0.7480    0.7508     1,498
    yes    0.2506    0.2492    0.2520       501
    <BLANKLINE>
    about 1,999 people; 95% intervals by Fieller (every ratio that the noise on both of its sums
      allows), for these people (fixed population)
    >>> print(plan.guarantees()["reader"])
    epsilon = 1, delta = 0
      protects: the record of one person (add/remove: somebody is in the data or not)
      computed by: discrete Laplace: closed form, rounding of the tables counted (a formula of the
        probabilities)
      public: the 2 answers 'no', 'yes'; the noise and its integers
    """

    epsilon: float
    sampler: Sampler = "table"

    entry = NoiseEntry(order=10, title="discrete Laplace noise", word="laplace", in_shares=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive_epsilon("DiscreteLaplace", self.epsilon))
        if self.sampler not in ("table", "exact"):
            raise InvalidParameter(
                'DiscreteLaplace.sampler must be "table" or "exact", got {got}.', got=shorten(self.sampler)
            )

    def bind(self, blocks: Sequence[Block], relation: Relation = "add/remove", rows: int = 1) -> BoundNoise:
        blocks = check_binding(self, blocks, relation, rows)
        moved = tuple(
            (
                block.sensitivity("l1", relation, rows),
                block.sensitivity("l2", relation, rows),
                moved_entries(block, relation, rows),
            )
            for block in blocks
        )
        laws, cost = _laws(self.sampler, tuple(split_by_weight(self.epsilon, blocks)), moved)
        method = Phrase("discrete Laplace: closed form")
        if self.sampler == "table":
            method = Phrase("discrete Laplace: closed form, rounding of the tables counted")
        return BoundNoise(self, blocks, laws, "l1", relation, rows, cost, cost.epsilon, 0.0, method)


@lru_cache(maxsize=256)
def _laws(
    sampler: Sampler, shares: tuple[Fraction, ...], moved: tuple[tuple[int, int, int], ...]
) -> tuple[tuple[Digits | DiscreteLaplaceLaw, ...], Cost]:
    """The law of every block, by its share of epsilon and how far it moves (in L1, squared, in how many entries).

    And what they cost together. Learners ask the same again and again: their steps, and every fit of a schema.
    """
    laws: list[Digits | DiscreteLaplaceLaw] = []
    epsilon = rho = Fraction(0)
    for share, (moves, squares, count) in zip(shares, moved, strict=True):
        law = calibrated(share, moves, count) if sampler == "table" else at_rate(share / moves)
        slack = law.slack if isinstance(law, Digits) else Fraction(0)
        loss = law.loss(moves, count)
        # sum of (rate |d| + slack)**2 over the entries that move
        squared = law.rate**2 * squares + 2 * law.rate * slack * moves + count * slack**2
        laws.append(law)
        epsilon += loss
        rho += min(loss**2, squared) / 2
    return tuple(laws), Cost(float_up(epsilon), float_up(rho))


ONE = Block("count", 1, 1, 1)
EXAMPLES = (
    (DiscreteLaplace(1.0), (ONE,)),
    (DiscreteLaplace(0.1), (Block("sums", 3, 40, 1600, weight=3.0), Block("cells", 5, 1, 1))),
    (DiscreteLaplace(1.0), (Block("wide", 2, 30_000, 800_000_000),)),
    (DiscreteLaplace(8.0), (ONE,)),
    (DiscreteLaplace(1.0, sampler="exact"), (ONE,)),
    (DiscreteLaplace(0.3, sampler="exact"), (Block("sums", 3, 7, 25), Block("cells", 5, 1, 1, replace_l1=2))),
)
