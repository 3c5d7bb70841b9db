"""Degrees and thresholds are those of the reference; the ring is nobody's choice and leaves nobody out."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from murmure.core.errors import InvalidParameter
from murmure.secure.graph import (
    SECURITY_AGAINST_TRIES,
    SECURITY_BITS,
    _hypergeometric_quantile,
    _stays_connected,
    can_split,
    graph_parameters,
    max_colluders_in_gaps,
    max_dropouts,
    neighbours,
    quorum,
    ring_order,
)
from murmure.secure.sharing import PairwiseMasks

DIGEST = bytes(range(32))

# n, corrupt, dropped, (k, t) against an active server: the values of the unit tests of google-parfait/federated-compute
# and one that is refused; then ours, whose threshold is rounded up where the reference's is not.
REFERENCE = [
    (100, 5, 5, (16, 11), (18, 13)),
    (100, 10, 10, (32, 22), (32, 22)),
    (100, 5, 33, (72, 39), (74, 41)),
    (1_000, 50, 50, (52, 37), (52, 37)),
    (1_000, 50, 330, (398, 223), (398, 223)),
    (1_000, 330, 330, None, None),
    (10_000, 500, 500, (62, 44), (62, 44)),
    (1_000_000, 50_000, 50_000, (74, 52), (78, 55)),
]


@pytest.mark.parametrize("n, corrupt, dropped, theirs, ours", REFERENCE)
def test_degree_and_threshold_are_those_of_the_reference_or_above(n, corrupt, dropped, theirs, ours):
    """2 t >= k + corrupt neighbours + 2; the reference asks for one less where their sum is odd, and has its t then."""
    if theirs is None:
        with pytest.raises(InvalidParameter, match=r"0\.9"):
            graph_parameters(n, corrupt, dropped)
        return
    assert graph_parameters(n, corrupt, dropped) == ours
    k, t = theirs
    colluding = _hypergeometric_quantile(n, corrupt, k, n << 41)
    assert t == -((5 - 4 * (colluding + k)) // 8) + 1  # the reference: ceil((c + k - 1.25) / 2) + 1
    assert (ours == theirs) == ((k + colluding) % 2 == 0)


@pytest.mark.parametrize("n, marked", [(10, 0), (10, 3), (10, 7), (10, 10), (60, 20)])
def test_the_tail_of_the_hypergeometric_law_is_exact(n, marked):
    """Against the definition in fractions, at levels that lie on the steps of the law too."""
    for k in (1, 2, 5, min(n, 9)):
        law = [Fraction(math.comb(marked, i) * math.comb(n - marked, k - i), math.comb(n, k)) for i in range(k + 1)]
        tails = [sum(law[x + 1 :]) for x in range(k + 1)]
        levels = {2, 3, 10, 1000, 1 << 41} | {int(1 / tail) for tail in tails if 0 < 2 * tail <= 1}
        for one_in in levels:
            assert _hypergeometric_quantile(n, marked, k, one_in) == next(
                x for x in range(k + 1) if tails[x] * one_in <= 1
            )


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
    """With as many bad parties as neighbours it can, where k/2 of them stand in each of two places."""
    assert _stays_connected(100, 12, 11)
    assert not _stays_connected(100, 2, 11)
    for n in range(5, 40):
        for k in range(2, min(n - 2, 12), 2):
            assert _stays_connected(n, k, k - 1) and _stays_connected(n, k, 0)
            pairs = Fraction(n * (n - k - 1), 2)
            assert _stays_connected(n, k, k) == (pairs / math.comb(n, k) < Fraction(1, 1 << SECURITY_BITS))


def test_a_ring_is_connected_where_the_union_bound_says_so_and_nowhere_else():
    """n (n - k - 1) / 2 pairs of gaps: C(n - k, bad - k) of C(n, bad) sets of bad parties hold all k places of one."""
    found = set()
    for n in range(44, 90, 5):
        for k, bad in itertools.combinations(range(2, n - 1), 2):
            pairs = Fraction(n * (n - k - 1), 2)
            chance = pairs * Fraction(math.comb(n - k, bad - k), math.comb(n, bad))
            found.add(_stays_connected(n, k, bad))
            assert _stays_connected(n, k, bad) == (chance < Fraction(1, 1 << SECURITY_BITS))
    assert found == {True, False}


def test_the_least_degree_is_looked_for_up_to_everybody_and_no_further():
    """Exactly where 2 t >= k + corrupt + 2 and dropouts leave t of k = n - 2 neighbours, and no fewer would do."""
    assert graph_parameters(6, 0, 1) == (4, 3) and graph_parameters(6, 2, 0) == (4, 4)
    assert graph_parameters(5, 0, 0) == (2, 2) == graph_parameters(4, 0, 0)
    for few in ((3, 0, 0), (6, 3, 0), (4, 0, 1)):
        with pytest.raises(InvalidParameter, match="is safe"):
            graph_parameters(*few)


def test_nine_tenths_of_corrupt_and_twice_dropped_are_not_too_many():
    """The border of the reference belongs to what is looked at, and one party more does not."""
    assert graph_parameters(1000, 100, 400)[0] < 998
    with pytest.raises(InvalidParameter, match=r"0\.9"):
        graph_parameters(1000, 101, 400)


@pytest.mark.parametrize("n, corrupt, dropped", [(40, 20, 17), (20, 9, 9)])
def test_where_no_sparse_graph_is_safe_it_says_so(n, corrupt, dropped):
    with pytest.raises(InvalidParameter, match="complete"):
        graph_parameters(n, corrupt, dropped)


@pytest.mark.parametrize("n, corrupt, dropped", [(40, 4, 8), (64, 1, 10), (200, 20, 0), (500, 0, 100)])
@pytest.mark.parametrize("security", [SECURITY_BITS, SECURITY_AGAINST_TRIES])
def test_the_threshold_stands_between_the_corrupt_and_the_surviving_neighbours(n, corrupt, dropped, security):
    """Recomputed from the hypergeometric law in fractions."""
    k, t = graph_parameters(n, corrupt, dropped, security=security)

    def tail(marked, x):  # P[at least x of k neighbours are marked]
        ways = sum(math.comb(marked, i) * math.comb(n - marked, k - i) for i in range(x, k + 1))
        return Fraction(ways, math.comb(n, k))

    assert k % 2 == 0 and 2 <= t <= k
    assert n * tail(corrupt, 2 * t - k - 1) <= Fraction(1, 1 << security)  # more than c_max = 2 t - k - 2
    assert n * tail(dropped, k - t + 1) <= Fraction(1, 1 << 20)


# n: (quorum, most dropouts) for 0, 1, 2 and n // 3 colluders; None: two honest parties would not be left
QUORUMS = {
    3: [(2, 0), (3, 0), None, (3, 0)],
    4: [(3, 1), (3, 1), (4, 0), (3, 1)],
    5: [(3, 2), (4, 1), (4, 1), (4, 1)],
    6: [(4, 2), (4, 2), (5, 1), (5, 1)],
    7: [(4, 3), (5, 2), (5, 2), (5, 2)],
    8: [(5, 3), (5, 3), (6, 2), (6, 2)],
    9: [(5, 4), (6, 3), (6, 3), (7, 2)],
    10: [(6, 4), (6, 4), (7, 3), (7, 3)],
    30: [(16, 14), (16, 14), (17, 13), (21, 9)],
    100: [(51, 49), (51, 49), (52, 48), (67, 33)],
}


@pytest.mark.parametrize("n", QUORUMS)
def test_quorums_and_the_most_dropouts(n):
    for c, row in zip((0, 1, 2, n // 3), QUORUMS[n], strict=True):
        if row is None:
            assert max_dropouts(n, c) < 0
            with pytest.raises(InvalidParameter):
                PairwiseMasks(n, colluders=c)
            continue
        q, most = row
        assert (quorum(n, c, most), max_dropouts(n, c)) == (q, most)
        masks = PairwiseMasks(n, most, c, graph="complete")
        assert masks.quorum == masks.threshold == q
        with pytest.raises(InvalidParameter):
            PairwiseMasks(n, most + 1, c)
        assert PairwiseMasks(n, colluders=c).dropouts == min(most, math.ceil(n / 5))


@pytest.mark.parametrize("trust", ["curious", "lying"])
def test_no_setting_is_weaker_than_a_quorum(trust):
    """All n up to 14: refused exactly where no q has 2 q > n + c and q <= n - d, or too few are left."""
    for n, c, d in itertools.product(range(3, 15), range(14), range(14)):
        allowed = [q for q in range(1, n - d + 1) if 2 * q > n + c]
        if not allowed or n - d < 3 or n - d - c < 2:
            with pytest.raises(InvalidParameter):
                PairwiseMasks(n, d, c, trust)
            continue
        masks = PairwiseMasks(n, d, c, trust)
        assert masks.quorum == masks.threshold == allowed[0] and d <= max_dropouts(n, c)


def test_a_refusal_says_how_many_may_vanish():
    with pytest.raises(InvalidParameter, match="at most 3 dropouts with 1 colluder;"):
        PairwiseMasks(9, dropouts=4)
    with pytest.raises(InvalidParameter, match="at most 49 dropouts"):
        PairwiseMasks(100, dropouts=50, graph="sparse")


@pytest.mark.parametrize("n, c, d", [(40, 1, 8), (100, 5, 5), (100, 1, 20), (200, 10, 20), (1000, 10, 300)])
@pytest.mark.parametrize("trust", ["curious", "lying"])
def test_a_sparse_graph_has_the_quorum_of_all_and_the_bits_against_tries(n, c, d, trust):
    masks = PairwiseMasks(n, d, c, trust, graph="sparse")
    assert not masks.complete and masks.quorum == (n + c) // 2 + 1
    most = _hypergeometric_quantile(n, c, masks.degree, n << SECURITY_AGAINST_TRIES)
    assert 2 * masks.threshold >= masks.degree + most + 2
    assert "2**64" in masks.assumption


def test_the_order_depends_on_the_keys_and_on_who_takes_part_only():
    members = [5, 1, 9, 30, 2]
    held = ring_order(DIGEST, members)
    assert sorted(held.tolist()) == sorted(members)
    assert (held == ring_order(DIGEST, sorted(members))).all()
    assert (ring_order(DIGEST, range(100)) != ring_order(bytes(32), range(100))).any()


def test_every_order_is_equally_likely():
    """24 orders of 4 parties, 4,800 digests: chi square with 23 degrees, refused at 1e-6 (seeded)."""
    rng = np.random.default_rng(20)
    seen: dict[tuple[int, ...], int] = {}
    for _ in range(4800):
        held = tuple(ring_order(rng.bytes(32), range(4)).tolist())
        seen[held] = seen.get(held, 0) + 1
    assert len(seen) == 24
    assert sum((count - 200) ** 2 / 200 for count in seen.values()) < 72.3


@pytest.mark.parametrize("n, degree", [(3, 2), (5, 2), (9, 4), (9, 6), (100, 12), (9, 8), (9, 20), (2, 1), (1, 0)])
def test_neighbours_are_symmetric_distinct_and_as_many_as_said(n, degree):
    ring = ring_order(DIGEST, range(0, 3 * n, 3))
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
        lambda: ring_order(DIGEST[:-1], [1, 2]),
        lambda: ring_order(DIGEST, [1, 1]),
        lambda: ring_order(DIGEST, [-1, 1]),
        lambda: ring_order(DIGEST, []),
        lambda: neighbours(np.arange(9), 3),
        lambda: neighbours(np.arange(9), -2),
        lambda: graph_parameters(100, 100, 0),
        lambda: quorum(5, -1, 0),
        lambda: quorum(5, 0, 5),
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

    And some way parts each list that was not let through.
    """
    rng = np.random.default_rng(5)
    passed = refused = 0
    for _ in range(120):
        n, degree, limit = int(rng.integers(7, 12)), int(rng.choice([2, 4])), int(rng.integers(0, 4))
        living = rng.random(n) < 0.85
        places = np.flatnonzero(living).tolist()
        ways = itertools.chain.from_iterable(itertools.combinations(places, k) for k in range(limit + 1))
        parted = any(_split(living.tolist(), degree, [i not in chosen for i in range(n)]) for chosen in ways)
        refused, passed = refused + parted, passed + (not parted)

        assert can_split(living, degree, limit) == parted
    assert passed > 10 and refused > 10


# Many parties, of whom hardly anybody vanishes: the corrupt can fill two gaps before they can outvote a threshold.
GAPS_DECIDE = [(500, 200, 0), (1000, 600, 0), (3000, 900, 0), (10_000, 4000, 1), (30_000, 12_000, 6)]
GAPS_DECIDE += [(100_000, 10_000, 1), (100_000, 25_000, 5)]


@pytest.mark.parametrize("n, corrupt, dropped", [*GAPS_DECIDE, (40, 4, 8), (1000, 50, 330)])
def test_the_degree_is_the_least_at_which_two_gaps_hold_more_survivors_than_colluders(n, corrupt, dropped):
    """Recomputed from the hypergeometric law in whole numbers; n * n is more than there are pairs of gaps."""
    held = graph_parameters(n, corrupt, dropped, True, SECURITY_AGAINST_TRIES)
    free = graph_parameters(n, corrupt, dropped, False, SECURITY_AGAINST_TRIES)

    def most(marked, k, bits):  # of k places, at most, but for a chance of 2**-bits of any two gaps
        ways, all_ways, x = 0, math.comb(n, k), k
        while (ways := ways + math.comb(marked, x) * math.comb(n - marked, k - x)) * n * n << bits <= all_ways:
            x -= 1
        return x

    def gaps_hold(k):
        return k - most(dropped, k, 20) > most(corrupt, k, SECURITY_AGAINST_TRIES)

    if (n, corrupt, dropped) not in GAPS_DECIDE:
        assert held == free and gaps_hold(held[0])
        return
    assert free < held
    assert [gaps_hold(k) for k in range(free[0], held[0] + 1, 2)] == [False] * ((held[0] - free[0]) // 2) + [True]


@pytest.mark.parametrize("n, corrupt, dropped", GAPS_DECIDE[:4])
def test_a_list_of_everybody_passes_the_check(n: int, corrupt: int, dropped: int) -> None:
    """Nobody vanished, so nobody may say that the coordinator chose who did."""
    degree, _ = graph_parameters(n, corrupt, dropped, True, SECURITY_AGAINST_TRIES)

    assert not can_split(np.ones(n, bool), degree, max_colluders_in_gaps(n, corrupt, degree, SECURITY_AGAINST_TRIES))


@pytest.mark.parametrize("n, corrupt, dropped", [(40, 2, 5), (100, 5, 33), (300, 30, 60), (1000, 50, 330)])
def test_chance_alone_passes_the_check(n: int, corrupt: int, dropped: int) -> None:
    """200 lists of survivors, dropped by chance: fails for one in 5,000 if the degree were at its bound of 2**-20."""
    degree, threshold = graph_parameters(n, corrupt, dropped, True, SECURITY_AGAINST_TRIES)
    least = graph_parameters(n, corrupt, dropped)
    limit = max_colluders_in_gaps(n, corrupt, degree, SECURITY_AGAINST_TRIES)
    rng = np.random.default_rng(7)
    for _ in range(200):
        living = np.ones(n, bool)
        living[rng.choice(n, dropped, replace=False)] = False
        assert not can_split(living, degree, limit)
    assert degree >= least[0] and threshold >= 2
