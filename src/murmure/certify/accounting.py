"""What several releases cost together.

    sequential   the same people answer again: epsilons add up, and so do rhos
    parallel     disjoint people answer: the largest counts (add/remove), or the two largest together (replace)
    zCDP         rhos add up and are turned into epsilon at a delta once, at the end (Bun, Steinke, TCC 2016)

Sums are exact, in fractions, and rounded up once. All of this also holds when each question is chosen after the answers
before it, as long as the total is compared with a bound that was fixed beforehand: pure epsilon by multiplying
likelihood ratios (Rogers, Roth, Ullman, Vadhan, NIPS 2016), zCDP by Feldman and Zrnic, NeurIPS 2021. Privacy-loss
distributions (pld.py) are tighter, for questions that are all fixed beforehand.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from murmure.core.blocks import Cost
from murmure.core.fixed import sum_up
from murmure.core.types import Relation
from murmure.core.zcdp import epsilon_from_rho, rho_from_epsilon


def sequential(costs: Iterable[Cost]) -> Cost:
    """The same people, asked several times: everything adds up."""
    held = list(costs)
    return Cost(sum_up(c.epsilon for c in held), sum_up(c.rho for c in held))


def parallel(costs: Iterable[Cost], relation: Relation = "add/remove") -> Cost:
    """Disjoint people, each asked once: what the worst-off person pays.

    Which part somebody belongs to depends on them alone: adding or removing a person touches one part. Replacing
    somebody can touch two, the one they leave and the one they enter, so the two largest add up. (The costs are then
    those of questions to all the people, where whoever is outside the part counts as nobody.)

    Epsilon and rho are maximised one by one, which bounds both whichever part the person is in.
    """
    held = list(costs)
    most = 1 if relation == "add/remove" else 2
    epsilons, rhos = (sorted(side, reverse=True)[:most] for side in ([c.epsilon for c in held], [c.rho for c in held]))
    return Cost(sum_up(epsilons), sum_up(rhos))


def epsilon_at(cost: Cost, delta: float) -> float:
    """The smaller of the two claims: pure, or zCDP turned into epsilon at this delta."""
    if delta <= 0 or not math.isfinite(cost.rho):
        return cost.epsilon
    return min(cost.epsilon, epsilon_from_rho(cost.rho, delta))


def rho_within(epsilon: float, delta: float) -> float:
    """The largest rho that (epsilon, delta) covers, rounded down; 0 without a delta."""
    return max(0.0, rho_from_epsilon(epsilon, delta)) if delta > 0 else 0.0


def covers(epsilon: float, delta: float, total: Cost) -> bool:
    """The filter: may charges reach this total under a budget of (epsilon, delta)?

    Yes if the pure epsilons stay within epsilon, or the rhos within the constant rho* = rho_of(epsilon, delta). Both
    totals only grow. So transcripts fall in two sets: A, where the pure total held to the end, and B, where
    it did not and the rhos did. On A every likelihood ratio is at most e**epsilon: P(S and A) <= e**epsilon Q(S and A).
    Transcripts of B have the same probabilities as under the filter on rho alone, which is (epsilon, delta)-private:
    P(S and B) <= e**epsilon Q(S and B) + delta. The sum is (epsilon, delta), with delta counted once.
    """
    return total.epsilon <= epsilon or (delta > 0 and total.rho <= rho_within(epsilon, delta))
