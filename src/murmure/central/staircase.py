"""Staircase noise on the integers: less variance than Laplace noise for one number that a person moves far.

    P[z] = a e**(-epsilon k)          on the r integers that begin stair k,
           a e**(-epsilon (k + 1))    on its others; a stair has `step` integers.

Geng, Viswanath, IEEE Trans. Inf. Theory 62(2), 2016. A stair is as wide as one person moves the sum, so any move
costs at most one epsilon. But a move by 1 can cost a whole epsilon too: where m entries move together the loss is m +
(D - m) // step times that of one (proof in laws/noise/staircase.py), and epsilon is divided by as much. So each block
takes the step, 1 or D or about D / m, that gives the least variance; with step 1 the staircase is discrete Laplace
noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from murmure.central.base.bound_noise import BoundNoise
from murmure.central.base.budget_split import check_binding, moved_entries, split_by_weight
from murmure.core.blocks import Block, Cost
from murmure.core.catalogue_entries import NoiseEntry
from murmure.core.errors import Phrase
from murmure.core.fixed import float_up, positive_epsilon
from murmure.core.types import Noise, Relation
from murmure.laws.noise.staircase import StaircaseLaw, loss_units


@dataclass(frozen=True)
class Staircase(Noise):
    """Noise with a pure epsilon, at its best where epsilon is large and a block is one entry.

    >>> import murmure as mu
    >>> question = mu.Sum(mu.Integers(0, 100))
    >>> for noise in (mu.Staircase(epsilon=6.0), mu.DiscreteLaplace(epsilon=6.0)):
    ...     bound = mu.Plan(question, curator=noise).bound
    ...     print(type(noise).__name__, [f"{law.variance**0.5:.2f}" for law in bound.laws])
    Staircase ['2.32', '14.82']
    DiscreteLaplace ['2.32', '26.19']
    """

    epsilon: float

    entry = NoiseEntry(order=40, title="discrete staircase noise", word="staircase")

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive_epsilon("Staircase", self.epsilon))

    def bind(self, blocks: Sequence[Block], relation: Relation = "add/remove", rows: int = 1) -> BoundNoise:
        blocks = check_binding(self, blocks, relation, rows)
        laws, epsilon, rho = [], Fraction(0), Fraction(0)
        for block, share in zip(blocks, split_by_weight(self.epsilon, blocks), strict=True):
            moves, count = block.sensitivity("l1", relation, rows), moved_entries(block, relation, rows)
            law = _least_variance(share, moves, count)
            loss = law.loss(moves, count)
            laws.append(law)
            epsilon += loss
            rho += loss**2 / 2  # Bun, Steinke, TCC 2016, Proposition 1.4
        cost = Cost(float_up(epsilon), float_up(rho))
        method = Phrase("staircase: by stairs that are moved, rounding of the tables counted")
        return BoundNoise(self, blocks, tuple(laws), "l1", relation, rows, cost, cost.epsilon, 0.0, method)


def _least_variance(share: Fraction, moves: int, count: int) -> StaircaseLaw:
    """The law with the least variance, over the steps that can be best."""
    candidates = [
        StaircaseLaw.best(share / loss_units(moves, count, step), step) for step in {1, -(-moves // count), moves}
    ]
    return min(candidates, key=lambda law: (law.variance, law.step))


EXAMPLES = (
    (Staircase(1.0), (Block("sum", 1, 20, 400),)),
    (Staircase(4.0), (Block("sum", 1, 9, 81), Block("cells", 3, 1, 1))),
    (Staircase(3.0), (Block("pair", 2, 12, 100),)),
    (Staircase(6.0), (Block("far", 1, 5_000, 25_000_000),)),
)
