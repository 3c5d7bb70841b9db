"""The proof, by enumeration: what the coordinator sees depends on nothing but the sum it is meant to learn.

All masks of a small ring are gone through at once: entry i of every array below is case i of the randomness, and the
function that masks is the very one that parties run. The coordinator's view is every vector that was sent (also one
that came too late), the self-masks of the survivors, the pair masks of whoever was dropped; and all that colluders
know. The proof holds if, for all inputs,

    - unmasking gives the sum of the survivors,
    - the view is uniform on the values that it takes,
    - inputs with the same sum over the honest survivors give the same law of the view, whatever a dropped party held.

Keys instead of masks make this computational: it then rests on X25519, HKDF and AES as well. Mutants show that the
proof can fail.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np
import pytest

from murmure.secure import masks, party
from murmure.secure.masks import masked
from murmure.secure.ring import Ring

Pair = tuple[int, int]


@dataclass
class Given:
    """The masks of one entry of the vectors: own[u], and pair[u, v] for u < v; each an array over all cases."""

    own: dict[int, np.ndarray]
    pair: dict[Pair, np.ndarray]

    def between(self, u: int, v: int) -> np.ndarray:
        return self.pair[min(u, v), max(u, v)]


Send = Callable[[int, np.ndarray, Given, int, Ring], np.ndarray]


def as_agreed(u: int, values: np.ndarray, given: Given, m: int, ring: Ring) -> np.ndarray:
    plus = [given.pair[u, v] for v in range(u + 1, m)]
    minus = [given.pair[v, u] for v in range(u)]
    return masked(values, plus, minus, given.own[u], ring)


@dataclass
class World:
    """m parties, of which some were dropped after sharing and some collude with the coordinator."""

    m: int
    bits: int
    dropped: frozenset[int] = frozenset()
    colluders: frozenset[int] = frozenset()
    entries: int = 1
    send: Send = as_agreed
    reveals_both: bool = False  # a client that answers for a peer that is said to be alive and dropped
    values_of_a_mask: int | None = None  # all of the ring, if nothing is said
    same_masks: Callable[[list[Given]], list[Given]] = field(default=lambda given: given)

    def __post_init__(self) -> None:
        self.ring, self.size = Ring(self.bits), 1 << self.bits
        self.parties = range(self.m)
        self.pairs = list(itertools.combinations(self.parties, 2))
        self.survivors = [u for u in self.parties if u not in self.dropped]
        self.given = self.same_masks(self._every_case())

    def _every_case(self) -> list[Given]:
        base = self.values_of_a_mask or self.size
        count = self.entries * (self.m + len(self.pairs))
        case = np.arange(base**count, dtype=np.uint64)
        drawn = iter([case // np.uint64(base**i) % np.uint64(base) for i in range(count)])
        return [
            Given({u: next(drawn) for u in self.parties}, {pair: next(drawn) for pair in self.pairs})
            for _ in range(self.entries)
        ]

    def sent(self, entry: int, inputs: tuple[int, ...]) -> list[np.ndarray]:
        given = self.given[entry]
        cases = len(given.own[0])
        held = [np.full(cases, inputs[u], np.uint64) for u in self.parties]
        return [self.send(u, held[u], given, self.m, self.ring) for u in self.parties]

    def unmasked(self, entry: int, sent: list[np.ndarray]) -> np.ndarray:
        """What the coordinator computes from what it learns."""
        given, total = self.given[entry], np.zeros_like(sent[0])
        for u in self.survivors:
            self.ring.add(total, sent[u])
            self.ring.subtract(total, given.own[u])
            for v in self.dropped:  # u added the mask if it comes first
                (self.ring.subtract if u < v else self.ring.add)(total, given.between(u, v))
        return total

    def view(self, entry: int, sent: list[np.ndarray]) -> list[np.ndarray]:
        given = self.given[entry]
        own = self.parties if self.reveals_both else sorted({*self.survivors} | self.colluders)
        known = self.dropped | self.colluders
        pairs = [pair for pair in self.pairs if known & set(pair)]
        return [*sent, *(given.own[u] for u in own), *(given.pair[pair] for pair in pairs)]

    def sum_for(self, inputs: Iterable[int], whom: Iterable[int]) -> int:
        held = tuple(inputs)
        return sum(held[u] for u in whom) % self.size

    def failure(self, some_inputs: Iterable[tuple[tuple[int, ...], ...]] | None = None) -> str | None:
        """Why the proof fails, or None. Inputs: for each entry, what each party holds; all there are, by default."""
        honest = [u for u in self.survivors if u not in self.colluders]
        vectors = list(itertools.product(range(self.size), repeat=self.m))
        laws: dict[object, tuple[bytes, bytes]] = {}
        for inputs in some_inputs or itertools.product(vectors, repeat=self.entries):
            seen: list[np.ndarray] = []
            for entry, held in enumerate(inputs):
                sent = self.sent(entry, held)
                if (self.unmasked(entry, sent) != self.sum_for(held, self.survivors)).any():
                    return "wrong sum"
                seen += self.view(entry, sent)
            code = np.zeros_like(seen[0])
            for part in seen:
                assert len(seen) * self.bits <= 64 and int(part.max()) < self.size
                code = code * np.uint64(self.size) + part
            views, counts = np.unique(code, return_counts=True)
            if counts.min() != counts.max():
                return "not uniform"
            may_know = tuple(
                (self.sum_for(held, honest), *(held[u] for u in sorted(self.colluders))) for held in inputs
            )
            law = (views.tobytes(), counts.tobytes())
            if laws.setdefault(may_know, law) != law:
                return "depends on more than the sum"
        return None


def test_the_proof_is_about_the_function_that_parties_run():
    assert party.masked is masks.masked is masked


WORLDS = [
    World(3, 2),
    World(3, 2, dropped=frozenset({0})),
    World(3, 2, dropped=frozenset({1})),
    World(3, 2, dropped=frozenset({2})),
    World(3, 2, colluders=frozenset({0})),
    World(3, 2, colluders=frozenset({1})),
    World(3, 2, colluders=frozenset({2})),
    World(4, 1),
    World(4, 1, colluders=frozenset({1, 3})),
    World(4, 1, dropped=frozenset({2}), colluders=frozenset({0})),
    World(4, 1, dropped=frozenset({0, 3})),
    World(3, 1, entries=2),
    World(3, 1, entries=2, dropped=frozenset({1})),
]


@pytest.mark.parametrize(
    "world", WORLDS, ids=lambda w: f"{w.m} mod {w.size} x{w.entries} drop {set(w.dropped)} collude {set(w.colluders)}"
)
def test_the_view_depends_on_the_sum_alone(world):
    """For all inputs: every law of the view is uniform, and one law belongs to each sum of the honest survivors."""
    assert world.failure() is None


def test_one_dropped_one_colluding_and_two_honest_modulo_four():
    """A million cases of the masks; all honest inputs with sum 1, and others for the dropped party."""
    world = World(4, 2, dropped=frozenset({1}), colluders=frozenset({3}))
    inputs = [((x, d, (1 - x) % 4, 2),) for x in range(4) for d in (0, 3)]
    assert world.failure(inputs) is None


@pytest.mark.parametrize("total", range(4))
def test_the_view_is_uniform_on_all_that_fit_the_sum_and_symmetric(total):
    """Three parties, nobody dropped: all (y, b) with sum (y - b) = total occur, equally often, and no other.

    So exchanging parties changes nothing: the coordinator cannot tell who sent what.
    """
    world = World(3, 2)
    for inputs in itertools.product(range(4), repeat=3):
        if sum(inputs) % 4 != total:
            continue
        seen = np.array(world.view(0, world.sent(0, inputs)))
        views, counts = np.unique(seen, axis=1, return_counts=True)
        fits = {v for v in itertools.product(range(4), repeat=6) if (sum(v[:3]) - sum(v[3:])) % 4 == total}
        assert set(map(tuple, views.T.tolist())) == fits
        assert set(counts.tolist()) == {4**6 // len(fits)}
        for order in itertools.permutations(range(3)):
            exchanged = np.unique(seen[[*order, *(3 + u for u in order)]], axis=1, return_counts=True)
            assert (exchanged[0] == views).all() and (exchanged[1] == counts).all()


def test_all_but_one_colluding_is_beyond_any_protocol():
    """The claim is no stronger than it can be: with all others colluding, every mask of the last one comes off."""
    world = World(3, 2, colluders=frozenset({0, 2}))
    given = world.given[0]
    for x in range(4):
        left = world.sent(0, (1, x, 1))[1].copy()
        world.ring.subtract(left, given.own[1])  # revealed: party 1 survived
        world.ring.subtract(left, given.pair[1, 2])
        world.ring.add(left, given.pair[0, 1])
        assert (left == x).all()


# -- mutants: the proof must reject every one ----------------------------------------------------------------------


def without_own_mask(u: int, values: np.ndarray, given: Given, m: int, ring: Ring) -> np.ndarray:
    return as_agreed(u, values, Given({u: np.zeros_like(values)}, given.pair), m, ring)


def wrong_sign(u: int, values: np.ndarray, given: Given, m: int, ring: Ring) -> np.ndarray:
    """The last party adds what it should take off."""
    plus = [given.pair[u, v] for v in range(u + 1, m)]
    minus = [given.pair[v, u] for v in range(u)]
    return masked(values, plus + minus, [], given.own[u], ring) if u == m - 1 else as_agreed(u, values, given, m, ring)


def one_pair_forgotten(u: int, values: np.ndarray, given: Given, m: int, ring: Ring) -> np.ndarray:
    """Parties 0 and 1 leave out their common mask: the sum is right all the same."""
    nothing = {**given.pair, (0, 1): np.zeros_like(values)}
    return as_agreed(u, values, Given(given.own, nothing), m, ring)


def one_mask_for_all_pairs(given: list[Given]) -> list[Given]:
    return [Given(g.own, dict.fromkeys(g.pair, g.pair[0, 1])) for g in given]


def same_masks_for_every_entry(given: list[Given]) -> list[Given]:
    return [given[0]] * len(given)


def same_own_masks_for_every_party(given: list[Given]) -> list[Given]:
    return [Given(dict.fromkeys(g.own, g.own[0]), g.pair) for g in given]


class Unmasks(World):
    """For parties without a self-mask the coordinator has none to take off."""

    def unmasked(self, entry: int, sent: list[np.ndarray]) -> np.ndarray:
        total = super().unmasked(entry, sent)
        for u in self.survivors:
            self.ring.add(total, self.given[entry].own[u])
        return total


LATE = frozenset({1})
MORE = "depends on more than the sum"
MUTANTS = {
    "no self mask, and a vector that came late": (Unmasks(3, 2, dropped=LATE, send=without_own_mask), MORE),
    "the same pair mask for all pairs": (World(3, 2, same_masks=one_mask_for_all_pairs), MORE),
    "the same masks for two entries": (World(3, 1, entries=2, same_masks=same_masks_for_every_entry), MORE),
    "the same masks in two rounds, one dropped": (
        World(3, 1, entries=2, dropped=LATE, same_masks=same_masks_for_every_entry),
        MORE,
    ),
    "one self mask for all, and a vector that came late": (
        World(3, 2, dropped=LATE, same_masks=same_own_masks_for_every_party),
        MORE,
    ),
    "a wrong sign": (World(3, 2, send=wrong_sign), "wrong sum"),
    "a pair without a mask, its neighbour colluding": (
        World(3, 2, colluders=frozenset({2}), send=one_pair_forgotten),
        MORE,
    ),
    "both secrets of a dropped party": (World(3, 2, dropped=LATE, reveals_both=True), MORE),
    "masks that never take their largest value": (World(3, 2, values_of_a_mask=3), "not uniform"),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_the_proof_rejects(name):
    """Each mutant fails, and for the reason that it should."""
    world, why = MUTANTS[name]
    assert world.failure() == why


def test_without_dropouts_no_self_mask_is_needed_which_is_why_it_is_easily_forgotten():
    """The mutant passes where everybody answers in time: a test without a late vector would not see it."""
    assert Unmasks(3, 2, send=without_own_mask).failure() is None
