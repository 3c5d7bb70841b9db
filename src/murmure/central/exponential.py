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

from murmure.central.base.bound_choice import BoundChoice
from murmure.central.base.budget_split import checked_person
from murmure.core.blocks import Cost
from murmure.core.errors import InvalidParameter, shorten
from murmure.core.fixed import float_up, positive_epsilon
from murmure.core.types import Relation
from murmure.laws.noise.choice import ExponentialLaw
from murmure.laws.noise.laplace import at_rate


def rate_of(
    owner: object, epsilon: float, monotone: bool, candidates: int, sensitivity: int, relation: Relation, rows: int
) -> tuple[Fraction, Fraction]:
    """A rate that can be drawn, rounded down, and the epsilon that it costs."""
    name = type(owner).__name__
    checked_person(owner, relation, rows)
    for what, value in (("candidates", candidates), ("sensitivity", sensitivity)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise InvalidParameter(f"{name}: {what} must be a positive whole number, got {shorten(value)}.")
    if monotone and relation != "add/remove":
        raise InvalidParameter(
            f"{name}(monotone=True) holds under add/remove only, got {relation!r}: an exchange moves scores both ways.",
            hint="monotone=False",
        )
    moves = (1 if monotone else 2) * sensitivity * rows
    law = at_rate(Fraction(epsilon) / moves)
    return law.rate, law.rate * moves


@dataclass(frozen=True)
class Exponential:
    """A choice by scores with a pure epsilon."""

    epsilon: float
    monotone: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive_epsilon("Exponential", self.epsilon))

    def bind_scores(
        self, candidates: int, sensitivity: int, relation: Relation = "add/remove", rows: int = 1
    ) -> BoundChoice:
        rate, spent = rate_of(self, self.epsilon, self.monotone, candidates, sensitivity, relation, rows)
        law = ExponentialLaw(rate.numerator, rate.denominator)
        cost = Cost(float_up(spent), float_up(spent**2 / 8))
        moved = sensitivity * rows
        how = "exponential mechanism: closed form"
        return BoundChoice(self, candidates, moved, relation, rows, law, cost, cost.epsilon, 0.0, how)


EXAMPLES = (
    (Exponential(1.0), (4, 1)),
    (Exponential(2.0, monotone=True), (3, 2)),
    (Exponential(0.1), (6, 7)),
)
