"""Epsilons and rhos in words: six digits, costs rounded up, and what is left rounded down."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

from murmure.core.errors import Phrase
from murmure.core.zcdp import epsilon_from_rho, rho_from_epsilon
from murmure.ledger.sums import Budget, Remaining
from murmure.show.phrase import Written

DIGITS = 6
NEGLIGIBLE = 1e-9  # less than this is a rounding error


def rounded_up(cost: float) -> Written:
    """At most six digits, and never less than it is."""
    return _digits(cost, ROUND_CEILING)


def rounded_down(left: float) -> Written:
    """At most six digits, and never more than it is."""
    return _digits(left, ROUND_FLOOR) if left >= NEGLIGIBLE else Written(0, "0")


def _digits(value: float, rounding: str) -> Written:
    if not math.isfinite(value):
        return Written(value, str(value))
    shortest = Decimal(repr(float(value)))  # 0.1 is 0.1, and reads back as the same float
    rounded = float(Context(DIGITS, rounding).plus(shortest))
    return Written(rounded, f"{rounded:.{DIGITS}g}")


def largest_pure(left: Remaining) -> float:
    """The largest pure epsilon that the next charge may have.

    It is covered by what is left of epsilon, or by what is left of rho: epsilon-privacy is epsilon**2 / 2 of rho (Bun,
    Steinke, TCC 2016, Proposition 1.4), and no noise here is charged more than that.
    """
    return max(left.epsilon, math.nextafter(math.sqrt(2 * left.rho), 0.0))


def largest_gaussian(budget: Budget, left: Remaining) -> float:
    """The largest epsilon, at the budget's delta, for which Gaussian noise may be asked next; 0 if for none."""
    if budget.delta <= 0 or left.rho < NEGLIGIBLE:
        return 0.0
    epsilon = float(rounded_down(epsilon_from_rho(left.rho, budget.delta)))
    while epsilon > 0 and rho_from_epsilon(epsilon, budget.delta) > left.rho:  # the two are bounds, rounded apart
        epsilon = float(rounded_down(epsilon * (1 - 1e-6)))
    return epsilon


def remaining_in_words(budget: Budget, left: Remaining) -> Phrase:
    """What may still be asked, in one question. With a delta there are two currencies, and either may pay."""
    if budget.delta <= 0:
        return Phrase("epsilon {epsilon}", epsilon=rounded_down(left.epsilon))
    pure, gaussian = largest_pure(left), largest_gaussian(budget, left)
    if pure < NEGLIGIBLE:
        return Phrase("nothing")
    text = Phrase("a question of pure epsilon at most {pure}", pure=rounded_down(pure))
    if left.rho < NEGLIGIBLE:
        return text
    at = (
        Phrase(" (epsilon {gaussian} at delta {delta:g})", gaussian=rounded_down(gaussian), delta=budget.delta)
        if gaussian
        else ""
    )
    return Phrase("{text}, or Gaussian noise of rho at most {rho}{at}", text=text, rho=rounded_down(left.rho), at=at)
