"""What hits of an event prove about epsilon and delta, exactly and at a stated level.

    coin    each sample comes from x or x' by a fair coin. Given that the event occurred, it was x with probability
            p / (p + q) <= e^epsilon / (1 + e^epsilon): a coin, whose chance has the exact interval of Clopper and
            Pearson. For delta = 0.
    ratio   epsilon >= ln((p_low - delta) / q_high), each end at half the level. For any delta.

Neither may be looked at again with the same level: audit.py divides the level over everything that is looked at.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from murmure.attacks.base.counts_law import binomial_quantile

POWER = 0.95  # "would have been found" means: with this probability


@dataclass(frozen=True)
class Hits:
    """How often an event occurred among reports about x and about x'."""

    a: int  # hits about x, of m reports
    m: int
    b: int  # hits about x', of n reports
    n: int


def lower_chance(hits: int, trials: int, level: float) -> float:
    """A chance that is too high with probability at most `level` (Clopper and Pearson, one side)."""
    if hits == 0:
        return 0.0
    from scipy.special import betaincinv  # type: ignore[import-untyped, unused-ignore]

    return float(betaincinv(hits, trials - hits + 1, level))


def upper_chance(hits: int, trials: int, level: float) -> float:
    """A chance that is too low with probability at most `level`."""
    return 1.0 - lower_chance(trials - hits, trials, level)


def chance_for(hits: int, trials: int, power: float = POWER) -> float:
    """The smallest chance with which at least `hits` of `trials` hit with probability `power`."""
    return lower_chance(hits, trials, power) if hits else 0.0


def log_odds(chance: float) -> float:
    if chance <= 0:
        return -math.inf
    return math.inf if chance >= 1 else math.log(chance) - math.log1p(-chance)


def coin_of(epsilon: float) -> float:
    """e^epsilon / (1 + e^epsilon), the largest chance of x given a hit."""
    return 1 / (1 + math.exp(-epsilon))


def coin_bound(hits: Hits, level: float) -> float:
    """Epsilon is at least this, except with probability `level`."""
    return max(0.0, log_odds(lower_chance(hits.a, hits.a + hits.b, level)))


def ratio_bound(hits: Hits, delta: float, level: float) -> float:
    """ln((p_low - delta) / q_high), each end at half the level."""
    low, high = lower_chance(hits.a, hits.m, level / 2), upper_chance(hits.b, hits.n, level / 2)
    return 0.0 if low - delta <= high else math.log((low - delta) / high)


def delta_bound(hits: Hits, epsilon: float, level: float) -> float:
    """p_low - e^epsilon q_high: delta is at least this where epsilon is as claimed."""
    low, high = lower_chance(hits.a, hits.m, level / 2), upper_chance(hits.b, hits.n, level / 2)
    return max(0.0, low - math.exp(min(epsilon, 700.0)) * high)


def needed_hits(claim: float, delta: float, hits: Hits, level: float) -> int | None:
    """How many hits about x contradict the claim, the others staying as they are; None: no number of them does.

    delta = 0: of the a + b hits, how many must be about x. Else: of the m reports about x, how many must hit.
    """
    if delta == 0:
        trials = hits.a + hits.b

        def contradicts(a: int) -> bool:
            return coin_bound(Hits(a, hits.m, trials - a, hits.n), level) > claim
    else:
        trials = hits.m

        def contradicts(a: int) -> bool:
            return ratio_bound(Hits(a, hits.m, hits.b, hits.n), delta, level) > claim

    if trials == 0 or not contradicts(trials):
        return None
    low, high = -1, trials  # the bound grows with a
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if contradicts(middle) else (middle, high)
    return high


def would_have_shown(claim: float, delta: float, hits: Hits, level: float) -> float | None:
    """The smallest epsilon that this event would have shown to be above the claim, with probability POWER."""
    needed = needed_hits(claim, delta, hits, level)
    if needed is None:
        return None
    if delta == 0:
        return log_odds(chance_for(needed, hits.a + hits.b))
    # The chance of a hit about x' is not known. Of its interval the lower end asks most, as noise weighs most there.
    chances = (lower_chance(hits.b, hits.n, 1 - POWER), hits.b / hits.n, upper_chance(hits.b, hits.n, 1 - POWER))
    shown = [_shown_at(max(q, 0.5 / hits.n), claim, delta, hits, level) for q in chances]
    return None if None in shown else max(one for one in shown if one is not None)


def _shown_at(q: float, claim: float, delta: float, hits: Hits, level: float) -> float | None:
    """The same where x' hits with chance q. Both counts are random: each misses its mark half as often as allowed."""

    each = (1 + POWER) / 2
    needed = needed_hits(claim, delta, Hits(hits.a, hits.m, binomial_quantile(each, hits.n, q), hits.n), level)
    if needed is None:
        return None
    chance = chance_for(needed, hits.m, each)
    return math.log((chance - delta) / q) if chance > delta else None


def fewest_hits(claim: float, level: float) -> int:
    """So many hits, all about x, contradict the claim; fewer never do: coin^h <= level."""
    return max(1, math.ceil(math.log(level) / math.log(coin_of(claim))))


def probability_floor(claim: float, trials: int, level: float, delta: float = 0.0) -> float | None:
    """Events that are rarer than this about x can stay unnoticed, whatever they reveal; None: all events can."""
    if delta > 0:
        needed = needed_hits(claim, delta, Hits(0, trials, 0, trials), level)
        return None if needed is None else chance_for(needed, trials)
    fewest = fewest_hits(claim, level) if claim < 30 else trials + 1
    return None if fewest > trials else chance_for(fewest, trials)
