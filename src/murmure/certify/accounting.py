"""What several releases cost together.

    sequential   the same people answer again: epsilons add up, and so do rhos
    parallel     disjoint people answer: the largest counts (add/remove), or the two largest together (replace)
    zCDP         rhos add up and are turned into epsilon at a delta once, at the end (Bun, Steinke, TCC 2016)

Sums are exact, in fractions, and rounded up once. All of this also holds when each question is chosen after the answers
before it, as long as the total is compared with a bound that was fixed beforehand: pure epsilon by multiplying
likelihood ratios (Rogers, Roth, Ullman, Vadhan, NIPS 2016), zCDP by Feldman and Zrnic, NeurIPS 2021. Privacy-loss
distributions are tighter where all questions are fixed beforehand; docs/how-to-keep-a-ledger.md feeds dp-accounting
with the laws of this package.
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
    charges = list(costs)
    return Cost(sum_up(c.epsilon for c in charges), sum_up(c.rho for c in charges))


def parallel(costs: Iterable[Cost], relation: Relation = "add/remove") -> Cost:
    """Disjoint people, each asked once: what the worst-off person pays.

    Which part a person belongs to depends on that person alone: adding or removing somebody touches one part. Replacing
    somebody can touch two, the one they leave and the one they enter, so the two largest add up. (Each cost is then
    that of a question to all the people, in which those outside the part count as nobody.)

    Epsilon and rho are maximised separately, which bounds both whichever part the person is in.
    """
    charges, touched = list(costs), 1 if relation == "add/remove" else 2
    epsilons = sorted((c.epsilon for c in charges), reverse=True)[:touched]
    rhos = sorted((c.rho for c in charges), reverse=True)[:touched]
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

    Yes if the pure epsilons stay within epsilon, or the rhos within the constant rho* = rho_within(epsilon, delta).
    Both totals only grow. So transcripts fall in two sets: A, where the pure total stayed within epsilon to the end,
    and B, where it did not and the rhos stayed within rho*. On A every likelihood ratio is at most e**epsilon: P(S and
    A) <= e**epsilon Q(S and A). Transcripts of B have the same probabilities as under the filter on rho alone, which is
    (epsilon, delta)-private: P(S and B) <= e**epsilon Q(S and B) + delta. The sum is (epsilon, delta), with delta
    counted once.
    """
    return total.epsilon <= epsilon or (delta > 0 and total.rho <= rho_within(epsilon, delta))
