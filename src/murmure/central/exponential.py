"""The exponential mechanism: one of several candidates, the better ones more often.

    P[i] proportional to e**(rate score_i),    rate = epsilon / (2 D),    D = how far one person moves any score.

McSherry, Talwar, FOCS 2007, Theorem 6. Every score moves by D at most, and so does ln of the sum below the line: 2
rate D together. monotone=True: rate = epsilon / D. It holds where one person moves all scores the same way (as adding
a row does to counts): then numerator and sum move the same way too, and ln of their quotient by at most rate D. That
is a property of the scores under add/remove; exchanging a row is not monotone. Coins are exact
(laws/noise/choice.py): the certificate is rational.

In concentrated privacy it costs epsilon**2 / 8: over candidates the loss ranges over an interval of length epsilon
(Cesar, Rogers, "Bounding, concentrating, and truncating", ALT 2021).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from murmure.central.base.bound_choice import Choice
from murmure.core.catalogue_entries import NoiseEntry
from murmure.core.errors import Phrase
from murmure.laws.noise.choice import ExponentialLaw


@dataclass(frozen=True)
class Exponential(Choice):
    """A choice by scores with a pure epsilon.

    >>> import murmure as mu
    >>> question = mu.Mode(mu.Categories(["red", "green", "blue"]))
    >>> plan = mu.Plan(question, curator=mu.Exponential(epsilon=1.0))
    >>> print(mu.run(plan, ["red", "blue", "blue"] * 20, rng=mu.Random.seeded(7)).estimate)
    blue
    chosen among 3 public candidates
    >>> print(plan.bound.law.log_prob([20, 0, 40]).round(3).tolist())
    [-10.0, -20.0, -0.0]
    """

    title = Phrase("exponential mechanism")
    entry = NoiseEntry(order=60)

    def law_at(self, rate: Fraction) -> ExponentialLaw:
        return ExponentialLaw(rate.numerator, rate.denominator)

    def rho_of(self, epsilon: Fraction) -> Fraction:
        return epsilon**2 / 8


EXAMPLES = (
    (Exponential(1.0), (4, 1)),
    (Exponential(2.0, monotone=True), (3, 2)),
    (Exponential(0.1), (6, 7)),
)
