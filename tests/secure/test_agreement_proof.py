"""The proof of the agreement, by enumeration: two lists are never both signed, and one list opens one sum.

A model of what parties check, for all small settings and all that a coordinator may tell; docs/decisions/0022 has the
argument for every size. What is enumerated:

1. Each honest party signs one digest, colluders sign all. With 2 q > n + c of all who were invited two digests never
   both have q signatures. Counted among those who are listed as joined, or by a party that signs twice, they do.
2. Complete graph: one agreed world (S, L), and any S' for whoever did not sign. No part of L alone comes out.
3. A ring: the same with neighbours, with and without the signature under whom a vector was masked for.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator

import pytest

from murmure.secure.graph import max_dropouts, quorum

Set = frozenset[int]
SMALL = [(n, c) for n in range(3, 9) for c in range(n - 1) if max_dropouts(n, c) >= 0]


def subsets(of: Iterable[int], least: int = 0) -> Iterator[Set]:
    items = sorted(of)
    for size in range(least, len(items) + 1):
        yield from map(frozenset, itertools.combinations(items, size))


# -- 1. one list -------------------------------------------------------------------------------------------------------


def both_signed(n: int, c: int, q: int, listed: int | None = None, times: int = 1) -> bool:
    """Can two digests have q signatures each? listed: so many are in either roster; times: a party signs so often.

    Colluders are 0..c-1; every honest party signs nothing, the first digest, the second, or both if it signs twice.
    Rosters are any two sets of that size; the signers of a digest are in its roster.
    """
    honest = range(c, n)
    rosters = [Set(range(n))] if listed is None else list(subsets(range(n), listed))[: 2**n]
    for one, two in itertools.product(rosters, repeat=2):
        for first in subsets(one & Set(honest)):
            second = (two & Set(honest)) - (first if times == 1 else Set())
            if len(first) + len(one & Set(range(c))) >= q and len(second) + len(two & Set(range(c))) >= q:
                return True
    return False


@pytest.mark.parametrize("n, c", SMALL)
def test_two_lists_are_never_both_signed(n: int, c: int) -> None:
    d = max_dropouts(n, c)
    q = quorum(n, c, d)
    assert not both_signed(n, c, q)
    if n <= 6:
        assert not both_signed(n, c, q, listed=n - d)  # different rosters, as few in each as may be
    assert both_signed(n, c, (n + c) // 2)  # one less would not do


def test_a_quorum_of_those_listed_or_signing_twice_lets_two_lists_be_signed() -> None:
    """Six invited, one colluder, two may vanish: four must sign; of the four who are listed three would be enough."""
    assert quorum(6, 1, 2) == 4 and quorum(4, 1, 0) == 3
    assert both_signed(6, 1, quorum(4, 1, 0), listed=4)
    assert both_signed(6, 1, quorum(6, 1, 2), times=2)


# -- 2. one sum, complete graph ----------------------------------------------------------------------------------------


def split_on_the_complete_graph(n: int, c: int, d: int, q: int, t: int, masked_for: bool) -> bool:
    """Whether some sum over a proper part of the honest in L comes out, for any S, L, signers and S' of the others.

    Who signed was told S. Of another one the self-mask is opened too, if enough reveal, unless they ask for its
    signature under S. In a sum over A only masks towards A, colluders and those whose keys are open may be left.
    """
    colluders, honest, m = Set(range(c)), Set(range(c, n)), n - d
    for shared in subsets(range(n), m):
        for alive in subsets(shared, m):
            here = alive & honest
            for signers in subsets(here):
                if len(signers) + len(alive & colluders) < q or len(signers) + c < t:
                    continue
                keys = (shared - alive) & honest
                for part in subsets(here, 1):
                    if part == here:
                        continue
                    if all(_can_be_in(u, part, signers, shared, keys, colluders, m, masked_for) for u in part):
                        return True
    return False


def _can_be_in(
    u: int, part: Set, signers: Set, shared: Set, keys: Set, colluders: Set, least: int, masked_for: bool
) -> bool:
    hidden = part | colluders | keys  # with whom u may have masks
    if u in signers or masked_for:
        return shared - {u} <= hidden
    return len(hidden) >= least  # the largest S' that it can have been told


@pytest.mark.parametrize("n, c", [(n, c) for n, c in SMALL if n <= 7])
def test_one_list_opens_one_sum_on_the_complete_graph(n: int, c: int) -> None:
    for d in range(max_dropouts(n, c) + 1):
        q = quorum(n, c, d)
        for masked_for in (False, True):  # either rule is enough here
            assert not split_on_the_complete_graph(n, c, d, q, q, masked_for)


def test_the_model_finds_the_split_where_too_few_sign() -> None:
    assert split_on_the_complete_graph(6, 0, 3, 3, 3, masked_for=False)
    assert not split_on_the_complete_graph(6, 0, 3, 3, 3, masked_for=True)


# -- 3. one sum, on a ring ---------------------------------------------------------------------------------------------


def split_on_a_ring(n: int, k: int, t: int, q: int, d: int, colluders: Set, masked_for: bool) -> Set | None:
    """A part of the honest whose sum comes out, nobody having vanished: the ends of an arc were told another S'.

    All arcs are tried. Who has a neighbour beyond the arc cannot have signed; it was told all but these, if so many may
    be missing and t holders are left. Everybody else signs and reveals, if a quorum does.
    """
    half = k // 2
    near = {p: Set((p + s) % n for s in range(-half, half + 1) if s) for p in range(n)}
    honest = Set(range(n)) - colluders
    for start, length in itertools.product(range(n), range(1, n)):
        arc = Set((start + i) % n for i in range(length)) & honest
        beyond = honest - arc
        if not arc or not beyond:
            continue
        ends = {u for u in arc if near[u] & beyond}
        if any(len(near[u] & beyond) > d or len(near[u] - beyond) < t for u in ends):
            continue
        signers = honest - ends
        if len(signers) + len(colluders) < q or (masked_for and ends):
            continue
        if all(len(near[u] & (signers | colluders)) >= t for u in arc):
            return arc
    return None


def most_near(n: int, k: int, colluders: Set) -> int:
    half = k // 2
    return max(sum((p + s) % n in colluders for s in range(-half, half + 1) if s) for p in range(n))


@pytest.mark.parametrize("n, k", [(9, 4), (12, 4), (12, 6), (18, 6), (18, 8)])
def test_on_a_ring_a_split_needs_vectors_that_were_masked_for_other_lists(n: int, k: int) -> None:
    """Up to four colluders in twenty places each (seeded), all t. Without asking for whom a vector was masked there are
    splits, but none from 2 t = k + c + 2 on, c being all colluders. With asking there is none at all.
    """
    rng, splits = random.Random(n * k), 0
    for c in range(5):
        q = (n + c) // 2 + 1
        for _ in range(20):
            colluders = Set(rng.sample(range(n), c))
            for t in range(c + 1, k + 1):
                split = split_on_a_ring(n, k, t, q, n - q, colluders, masked_for=False)
                splits += split is not None
                assert split is None or 2 * t < k + c + 2
                assert split_on_a_ring(n, k, t, q, n - q, colluders, masked_for=True) is None
    assert splits > 0


def test_on_a_ring_counting_neighbours_alone_leaves_a_split() -> None:
    found = []
    for n, k in ((24, 4), (30, 6), (40, 8)):
        for arc in range(k, n - k):
            colluders = Set({1, 2, arc - 1, arc} if k > 4 else {1, arc})
            c_max = most_near(n, k, colluders)
            t = (k + c_max + 3) // 2
            q = (n + len(colluders)) // 2 + 1
            if split_on_a_ring(n, k, t, q, n - q, colluders, masked_for=False):
                found.append((n, k, t, c_max, len(colluders)))
            assert split_on_a_ring(n, k, t, q, n - q, colluders, masked_for=True) is None
    assert found and all(2 * t >= k + c_max + 2 and c_max < c for _, k, t, c_max, c in found)
