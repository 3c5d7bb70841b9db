"""Degrees and thresholds are those of the reference; the ring is nobody's choice and leaves nobody out."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from murmure.core.errors import InvalidParameter
from murmure.secure.graph import (
    _hangs_together,
    _most,
    complete_threshold,
    falls_apart,
    most_colluders_in_gaps,
    neighbours,
    order,
    parameters,
)

DIGEST = bytes(range(32))

# n, corrupt, dropped, (k, t) for a curious coordinator, (k, t) for a lying one: the values of the unit tests of
# google-parfait/federated-compute, 15 and one that is refused.
REFERENCE = [
    (100, 5, 5, (12, 6), (16, 11)),
    (100, 10, 10, (22, 11), (32, 22)),
    (100, 5, 33, (28, 6), (72, 39)),
    (1_000, 50, 50, (30, 17), (52, 37)),
    (1_000, 50, 330, (72, 24), (398, 223)),
    (1_000, 330, 330, (286, 150), None),
    (10_000, 500, 500, (34, 20), (62, 44)),
    (1_000_000, 50_000, 50_000, (38, 22), (74, 52)),
]


@pytest.mark.parametrize("n, corrupt, dropped, curious, lying", REFERENCE)
def test_degree_and_threshold_are_those_of_the_reference(n, corrupt, dropped, curious, lying):
    assert parameters(n, corrupt, dropped, "curious") == curious
    if lying is None:
        with pytest.raises(InvalidParameter, match=r"0\.9"):
            parameters(n, corrupt, dropped, "lying")
    else:
        assert parameters(n, corrupt, dropped, "lying") == lying


@pytest.mark.parametrize("n, marked", [(10, 0), (10, 3), (10, 7), (10, 10), (60, 20)])
def test_the_tail_of_the_hypergeometric_law_is_exact(n, marked):
    """Against the definition in fractions, at levels that lie on the steps of the law too."""
    for k in (1, 2, 5, min(n, 9)):
        law = [Fraction(math.comb(marked, i) * math.comb(n - marked, k - i), math.comb(n, k)) for i in range(k + 1)]
        tails = [sum(law[x + 1 :]) for x in range(k + 1)]
        levels = {2, 3, 10, 1000, 1 << 41} | {int(1 / tail) for tail in tails if 0 < 2 * tail <= 1}
        for one_in in levels:
            assert _most(n, marked, k, one_in) == next(x for x in range(k + 1) if tails[x] * one_in <= 1)


def test_the_ring_falls_apart_no_more_often_than_is_counted():
    """All sets of bad parties of a ring of 9: the share that cut it is below the union bound, which is not vacuous."""
    n, k = 9, 2
    around = neighbours(np.arange(n), k)
    for bad in range(2, 6):
        cut = 0
        for gone in itertools.combinations(range(n), bad):
            left = set(range(n)) - set(gone)
            reached, edge = {min(left)}, [min(left)]
            while edge:
                fresh = (set(around[edge.pop()]) & left) - reached
                reached |= fresh
                edge += fresh
            cut += reached != left
        bound = Fraction(n * (n - k - 1) * math.perm(bad, k), 2 * math.perm(n, k))
        assert 0 < Fraction(cut, math.comb(n, bad)) <= bound


def test_a_ring_with_more_neighbours_than_bad_parties_cannot_fall_apart():
    assert _hangs_together(100, 12, 11)
    assert not _hangs_together(100, 2, 11)


@pytest.mark.parametrize("n, corrupt, dropped", [(40, 20, 17), (20, 9, 9)])
def test_where_no_sparse_graph_is_safe_it_says_so(n, corrupt, dropped):
    with pytest.raises(InvalidParameter, match="complete"):
        parameters(n, corrupt, dropped, "curious")


@pytest.mark.parametrize("n, corrupt, dropped", [(40, 4, 8), (64, 1, 10), (200, 20, 0), (500, 0, 100)])
@pytest.mark.parametrize("coordinator", ["curious", "lying"])
def test_the_threshold_stands_between_the_corrupt_and_the_surviving_neighbours(n, corrupt, dropped, coordinator):
    """Recomputed from the hypergeometric law in fractions."""
    k, t = parameters(n, corrupt, dropped, coordinator)

    def tail(marked, x):  # P[at least x of k neighbours are marked]
        ways = sum(math.comb(marked, i) * math.comb(n - marked, k - i) for i in range(x, k + 1))
        return Fraction(ways, math.comb(n, k))

    corrupt_needed = t if coordinator == "curious" else 2 * t - k
    assert k % 2 == 0 and 2 <= t <= k
    assert n * tail(corrupt, max(corrupt_needed, 1)) <= Fraction(1, 1 << 41)
    assert n * tail(dropped, k - t + 1) <= Fraction(1, 1 << 20)


@pytest.mark.parametrize("n, t, drops, colluders", [(3, 2, 1, 1), (5, 3, 2, 2), (10, 6, 4, 5)])
def test_complete_thresholds_of_a_curious_coordinator(n, t, drops, colluders):
    """The table: t of n, tolerating so many dropouts and colluders, and not one more of either."""
    assert complete_threshold(n, 1, drops, "curious") == t
    assert complete_threshold(n, colluders, drops, "curious") == t
    with pytest.raises(InvalidParameter):
        complete_threshold(n, colluders + 1, drops, "curious")
    assert complete_threshold(n, n - 1, 0, "curious") == n


@pytest.mark.parametrize("n, t, drops", [(3, 3, 0), (5, 4, 1), (10, 6, 4)])
def test_complete_thresholds_of_a_lying_coordinator(n, t, drops):
    assert complete_threshold(n, 1, drops, "lying") == t
    with pytest.raises(InvalidParameter, match=f"at most {drops} dropouts"):
        complete_threshold(n, 1, drops + 1, "lying")


def test_complete_thresholds_keep_their_inequalities():
    """All n up to 14: t <= survivors; t > c, or 2t > n + c; refused only where no such t is."""
    for n, c, d, lying in itertools.product(range(2, 15), range(14), range(14), (False, True)):
        if c >= n or d >= n:
            continue
        allowed = [t for t in range(2, n - d + 1) if (2 * t > n + c if lying else t > c)]
        coordinator = "lying" if lying else "curious"
        if not allowed:
            with pytest.raises(InvalidParameter):
                complete_threshold(n, c, d, coordinator)
            continue
        t = complete_threshold(n, c, d, coordinator)
        assert t in allowed
        if lying:
            assert t == allowed[0]
        else:  # a majority wherever it can be had, and no more than is needed
            assert t == (allowed[0] if allowed[0] > n // 2 else min(n // 2 + 1, n - d))


def test_the_order_depends_on_the_keys_and_on_who_takes_part_only():
    members = [5, 1, 9, 30, 2]
    held = order(DIGEST, members)
    assert sorted(held.tolist()) == sorted(members)
    assert (held == order(DIGEST, sorted(members))).all()
    assert (order(DIGEST, range(100)) != order(bytes(32), range(100))).any()


def test_every_order_is_equally_likely():
    """24 orders of 4 parties, 4,800 digests: chi square with 23 degrees, refused at 1e-6 (seeded)."""
    rng = np.random.default_rng(20)
    seen: dict[tuple[int, ...], int] = {}
    for _ in range(4800):
        held = tuple(order(rng.bytes(32), range(4)).tolist())
        seen[held] = seen.get(held, 0) + 1
    assert len(seen) == 24
    assert sum((count - 200) ** 2 / 200 for count in seen.values()) < 72.3


@pytest.mark.parametrize("n, degree", [(3, 2), (5, 2), (9, 4), (9, 6), (100, 12), (9, 8), (9, 20), (2, 1), (1, 0)])
def test_neighbours_are_symmetric_distinct_and_as_many_as_said(n, degree):
    ring = order(DIGEST, range(0, 3 * n, 3))
    around = neighbours(ring, degree)
    assert set(around) == set(ring.tolist())
    for member, others in around.items():
        assert list(others) == sorted(set(others) - {member})
        assert len(others) == min(degree, n - 1)
        assert all(member in around[other] for other in others)


def test_neighbours_are_the_next_ones_on_the_ring():
    assert neighbours(np.array([4, 0, 3, 1, 2]), 2) == {4: (0, 2), 0: (3, 4), 3: (0, 1), 1: (2, 3), 2: (1, 4)}


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: order(DIGEST[:-1], [1, 2]),
        lambda: order(DIGEST, [1, 1]),
        lambda: order(DIGEST, [-1, 1]),
        lambda: order(DIGEST, []),
        lambda: neighbours(np.arange(9), 3),
        lambda: neighbours(np.arange(9), -2),
        lambda: parameters(100, 5, 5, "honest"),
        lambda: parameters(100, 100, 0, "curious"),
        lambda: complete_threshold(5, -1, 0, "curious"),
        lambda: complete_threshold(5, 0, 5, "lying"),
    ],
)
def test_what_is_no_graph_is_refused(wrong):
    with pytest.raises(InvalidParameter):
        wrong()


def _split(living: list[bool], degree: int, honest: list[bool]) -> bool:
    """Do the honest living fall into two or more parts, linked within degree/2 places of the ring?"""
    n, half = len(living), degree // 2
    left = [i for i in range(n) if living[i] and honest[i]]
    if not left:
        return False
    seen, todo = {left[0]}, [left[0]]
    while todo:
        i = todo.pop()
        for step in range(1, half + 1):
            for j in ((i + step) % n, (i - step) % n):
                if living[j] and honest[j] and j not in seen:
                    seen.add(j)
                    todo.append(j)
    return len(seen) < len(left)


def test_a_ring_that_passes_the_check_hangs_together_whoever_colludes() -> None:
    """All ways to choose up to `limit` colluders on small rings: none of them parts a list that was let through.

    And a list that was not let through can be parted: by as many colluders as there may be, standing in two gaps.
    """
    rng = np.random.default_rng(5)
    passed = refused = 0
    for _ in range(80):
        n, degree, limit = int(rng.integers(7, 12)), int(rng.choice([2, 4])), int(rng.integers(0, 4))
        living = rng.random(n) < 0.85
        places = np.flatnonzero(living).tolist()
        ways = itertools.combinations(places, min(limit, len(places)))
        parted = any(_split(living.tolist(), degree, [i not in chosen for i in range(n)]) for chosen in ways)
        if falls_apart(living, degree, limit):
            refused += 1
        else:
            passed += 1
            assert not parted
    assert passed > 10 and refused > 10


@pytest.mark.parametrize("n, corrupt, dropped", [(40, 2, 5), (100, 5, 33), (300, 30, 60), (1000, 50, 330)])
def test_chance_alone_passes_the_check(n: int, corrupt: int, dropped: int) -> None:
    """200 lists of survivors, dropped by chance: fails for one in 5,000 if the degree were at its bound of 2**-20."""
    degree, threshold = parameters(n, corrupt, dropped, "curious", True)
    least = parameters(n, corrupt, dropped, "curious")
    limit = most_colluders_in_gaps(n, corrupt, degree)
    rng = np.random.default_rng(7)
    for _ in range(200):
        living = np.ones(n, bool)
        living[rng.choice(n, dropped, replace=False)] = False
        assert not falls_apart(living, degree, limit)
    assert degree >= least[0] and threshold >= 2
