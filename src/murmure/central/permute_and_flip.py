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
from fractions import Fraction

from murmure.central.base.bound_choice import Choice
from murmure.core.catalogue_entries import NoiseEntry
from murmure.core.errors import Phrase
from murmure.laws.noise.choice import PermuteAndFlipLaw


@dataclass(frozen=True)
class PermuteAndFlip(Choice):
    """A choice by scores with a pure epsilon; the first choice.

    >>> import murmure as mu
    >>> question = mu.Mode(mu.Categories(["red", "green", "blue"]))
    >>> plan = mu.Plan(question, curator=mu.PermuteAndFlip(epsilon=1.0))
    >>> print(mu.run(plan, ["red", "blue", "blue"] * 20, rng=mu.Random.seeded(7)).estimate)
    blue
    chosen among 3 public candidates
    >>> print(plan.bound.law.log_prob([20, 0, 40]).round(3).tolist())
    [-10.693, -20.693, -0.0]
    """

    title = Phrase("permute-and-flip")
    entry = NoiseEntry(order=70)

    def law_at(self, rate: Fraction) -> PermuteAndFlipLaw:
        return PermuteAndFlipLaw(rate.numerator, rate.denominator)

    def rho_of(self, epsilon: Fraction) -> Fraction:
        return epsilon**2 / 2  # Bun, Steinke, TCC 2016, Proposition 1.4


EXAMPLES = (
    (PermuteAndFlip(1.0), (4, 1)),
    (PermuteAndFlip(2.0, monotone=True), (3, 2)),
    (PermuteAndFlip(0.1), (6, 7)),
)
