"""The bounds hold at their level, by exact enumeration of all that coins can show."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special, stats

from murmure.attacks.audits.bounds import (
    Hits,
    coin_bound,
    coin_of,
    delta_bound,
    fewest_hits,
    needed_hits,
    probability_floor,
    ratio_bound,
    would_have_shown,
)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("hits", [1, 7, 40, 300])
def test_the_coin_bound_is_above_the_truth_no_more_often_than_its_level(epsilon: float, hits: int) -> None:
    """Given the hits, x is the source of each with chance e^eps / (1 + e^eps) at most: all outcomes are enumerated."""
    level = 0.03
    wrong = sum(
        stats.binom.pmf(a, hits, coin_of(epsilon))
        for a in range(hits + 1)
        if coin_bound(Hits(a, 1000, hits - a, 1000), level) > epsilon
    )
    assert wrong <= level


def test_the_ratio_bound_is_above_the_truth_no_more_often_than_its_level() -> None:
    n, q, epsilon, delta, level = 60, 0.2, 0.9, 0.05, 0.1
    p = math.exp(epsilon) * q + delta
    wrong = sum(
        stats.binom.pmf(a, n, p) * stats.binom.pmf(b, n, q)
        for a in range(n + 1)
        for b in range(n + 1)
        if ratio_bound(Hits(a, n, b, n), delta, level) > epsilon
    )
    assert 0 < wrong <= level


def test_the_delta_bound_is_above_the_truth_no_more_often_than_its_level() -> None:
    n, q, epsilon, delta, level = 60, 0.1, 1.0, 0.2, 0.1
    p = math.exp(epsilon) * q + delta
    wrong = sum(
        stats.binom.pmf(a, n, p) * stats.binom.pmf(b, n, q)
        for a in range(n + 1)
        for b in range(n + 1)
        if delta_bound(Hits(a, n, b, n), epsilon, level) > delta
    )
    assert 0 < wrong <= level


@pytest.mark.parametrize("claim", [0.5, 1.0, 2.0])
def test_would_have_seen_has_the_power_that_it_states(claim: float) -> None:
    """At the epsilon that is named, the event contradicts the claim with probability 0.95, and below with less."""
    hits, level = Hits(150, 400, 50, 400), 0.01
    shown = would_have_shown(claim, 0.0, hits, level)
    assert shown is not None and shown > claim

    def power(epsilon: float) -> float:
        chances = stats.binom(200, coin_of(epsilon))
        bound = (coin_bound(Hits(a, 400, 200 - a, 400), level) > claim for a in range(201))
        return float(sum(chances.pmf(a) for a, found in enumerate(bound) if found))

    assert power(shown) == pytest.approx(0.95, abs=1e-9)
    assert power(shown - 0.01) < 0.95


def test_an_event_without_enough_hits_shows_nothing() -> None:
    assert needed_hits(1.0, 0.0, Hits(0, 500, 0, 500), 0.01) is None
    assert would_have_shown(1.0, 0.0, Hits(3, 500, 0, 500), 0.01) is None
    assert coin_bound(Hits(0, 500, 0, 500), 0.01) == 0


def test_the_floor_is_where_certain_evidence_starts_to_count() -> None:
    """fewest hits, all about x, contradict the claim; one fewer never does."""
    h = fewest_hits(1.0, 0.01)
    assert coin_bound(Hits(h, 999, 0, 999), 0.01) > 1.0 >= coin_bound(Hits(h - 1, 999, 0, 999), 0.01)
    floor = probability_floor(1.0, 999, 0.01)
    assert floor is not None
    assert stats.binom.sf(h - 1, 999, floor) == pytest.approx(0.95)
    assert probability_floor(8.0, 100, 0.01) is None


@pytest.mark.parametrize("q, epsilon, delta", [(0.05, 1.0, 0.01), (0.002, 1.0, 0.01), (0.2, 0.5, 0.01)])
def test_with_a_delta_both_counts_are_random_and_the_power_holds(q: float, epsilon: float, delta: float) -> None:
    """50 experiments at the claim name an epsilon each; at it, 400 simulated audits each contradict the claim.

    The mean power of 20,000 simulated audits has a standard error below 0.002 at 0.95.
    """
    rng, n, level = np.random.default_rng(7), 10_000, 0.0125
    powers = []
    for _ in range(50):
        a, b = rng.binomial(n, math.exp(epsilon) * q + delta), rng.binomial(n, q)
        shown = would_have_shown(epsilon, delta, Hits(int(a), n, int(b), n), level)
        assert shown is not None and shown > epsilon
        p = min(1.0, math.exp(shown) * q + delta)
        a, b = rng.binomial(n, p, 400), rng.binomial(n, q, 400)
        low, high = special.betaincinv(a, n - a + 1, level / 2), 1 - special.betaincinv(n - b, b + 1, level / 2)
        powers.append(np.mean(low - delta > math.exp(epsilon) * high))
    assert np.mean(powers) > 0.95


def test_the_floor_with_a_delta_lies_above_it() -> None:
    """An event that x' never shows, and x with chance delta, is allowed: only more than that counts."""
    n, level, delta = 10_000, 0.0125, 0.01
    floor = probability_floor(1.0, n, level, delta)
    fewest = next(a for a in range(n) if ratio_bound(Hits(a, n, 0, n), delta, level) > 1.0)
    assert floor is not None and floor > delta
    assert stats.binom.sf(fewest - 1, n, floor) == pytest.approx(0.95)
