"""Permute-and-flip: like the exponential mechanism, never worse in expected score, up to twice as good.

    Go through the candidates in random order; stop at i with probability e**(rate (score_i - best score)),
    rate = epsilon / (2 D).

McKenna, Sheldon, "Permute-and-Flip: a new mechanism for differentially private selection", NeurIPS 2020, Algorithm 1.
It is report-noisy-max with exponential noise of this rate (Ding et al., "The permute-and-flip mechanism is identical
to report-noisy-max with exponential noise", 2021), which shows what monotone=True may use: given the others' noise, i
wins if its own noise passes a threshold, best other + noise - score_i. The threshold moves by 2 D at most, but by D
only if all scores move the same way; the chance to pass it changes by e**(rate times that). So with monotone scores
rate = epsilon / D.
"""

from __future__ import annotations

from dataclasses import dataclass

from murmure.central.base.bound_choice import BoundChoice
from murmure.central.exponential import rate_of
from murmure.core.blocks import Cost
from murmure.core.fixed import float_up, positive_epsilon
from murmure.core.types import Relation
from murmure.laws.noise.choice import PermuteAndFlipLaw


@dataclass(frozen=True)
class PermuteAndFlip:
    """A choice by scores with a pure epsilon; the first choice."""

    epsilon: float
    monotone: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive_epsilon("PermuteAndFlip", self.epsilon))

    def bind_scores(
        self, candidates: int, sensitivity: int, relation: Relation = "add/remove", rows: int = 1
    ) -> BoundChoice:
        rate, spent = rate_of(self, self.epsilon, self.monotone, candidates, sensitivity, relation, rows)
        law = PermuteAndFlipLaw(rate.numerator, rate.denominator)
        cost = Cost(float_up(spent), float_up(spent**2 / 2))  # Bun, Steinke, TCC 2016, Proposition 1.4
        moved = sensitivity * rows
        how = "permute-and-flip: closed form"
        return BoundChoice(self, candidates, moved, relation, rows, law, cost, cost.epsilon, 0.0, how)


EXAMPLES = (
    (PermuteAndFlip(1.0), (4, 1)),
    (PermuteAndFlip(2.0, monotone=True), (3, 2)),
    (PermuteAndFlip(0.1), (6, 7)),
)
