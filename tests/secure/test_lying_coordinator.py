"""A coordinator that lies opens nothing but the sum that was agreed on, however it splits the parties.

Each attack is a story that every party is told. It opens something where a rule is missing, which the mutants show
with the same lines; against the parties as they are it opens nothing, at every size.
"""

from __future__ import annotations

import functools
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

sys.path.insert(0, str(Path(__file__).parent))
from liar import Liar, World

from murmure.secure.errors import ProtocolRefused
from murmure.secure.graph import max_dropouts
from murmure.secure.identity import Card
from murmure.secure.joined import JoinedParties, public_bytes, shared_secret
from murmure.secure.messages import FROM_COORDINATOR, AliveBody, Kind, Message, parse_signatures, sign_message
from murmure.secure.party import Party
from murmure.secure.session import digest_of
from murmure.secure.sharing import PairwiseMasks

Told = dict[int, World]


@pytest.fixture(autouse=True)
def _each_signature_is_checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two hundred parties check the same thousands of signatures: the answer is kept, and needs no second thread."""
    monkeypatch.setattr(Card, "has_signed", functools.cache(Card.has_signed))
    monkeypatch.setattr("murmure.secure.signatures.MIN_SHARED", sys.maxsize)


@pytest.fixture(autouse=True)
def _each_pair_of_keys_is_multiplied_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both sides of a pair find the same secret, to seal and to open: the first one's is kept."""
    public_of = functools.cache(public_bytes)
    known: dict[frozenset[bytes], bytes] = {}

    def secret_of(private: X25519PrivateKey, public: bytes, owner: str) -> bytes:
        pair = frozenset({public_of(private), public})
        if pair not in known:
            known[pair] = shared_secret(private, public, owner)
        return known[pair]

    monkeypatch.setattr("murmure.secure.party.shared_secret", secret_of)


# -- the stories ------------------------------------------------------------------------------------------------------


def split_alive(liar: Liar) -> Told:
    """Half of those who hold shares of X are told that it is alive, the others that it vanished."""
    x = min(liar.honest)
    near = [i for i in liar._joined_of(liar.everybody).neighbours(x) if i in liar.honest]
    gone = World(liar.everybody, liar.everybody - {x})
    return dict.fromkeys(liar.honest, World(liar.everybody)) | dict.fromkeys(near[len(near) // 2 :], gone)


def split_shared(liar: Liar) -> Told:
    """X is told that as few shared as may be; the others that just those vanished, in turns."""
    x, *others = sorted(liar.honest)
    d = liar.sharing.dropouts or 0
    inner = others[: liar.sharing.minimum - 1 - len(liar.colluders)]
    return _in_turns(liar, inner, others, d) | {x: World({x, *liar.colluders, *inner})}


def many_lists(liar: Liar) -> Told:
    """Everybody is told of other parties that they vanished, so that in all more than may."""
    d, t = liar.sharing.dropouts or 0, liar.sharing.threshold - len(liar.colluders)
    others = sorted(liar.honest)
    for few in range(2, len(others)):
        told = _in_turns(liar, others[few:], others, d)
        if all(sum(v not in world.alive for world in told.values()) >= t for v in others[few:]):
            return told
    return _in_turns(liar, others[2:], others, d)


def _in_turns(liar: Liar, whom: list[int], others: list[int], d: int) -> Told:
    told, votes = Told(), dict.fromkeys(whom, 0)
    for i in sorted(others, key=lambda i: i in votes):  # those who cannot be told that they vanished themselves, last
        gone = sorted((v for v in whom if v != i), key=lambda v: votes[v])[:d]
        for v in gone:
            votes[v] += 1
        told[i] = World(liar.everybody, liar.everybody - set(gone))
    return told


def an_arc(liar: Liar) -> Told:
    """Ring: the ends of an arc are told that beyond it nobody shared; everybody else signs one list, the true one.

    Nobody vanishes, and nobody's two secrets are needed.
    """
    ring, half, n = liar.ring(), liar.sharing.degree // 2, liar.sharing.parties
    arc = min(6 * half, n - 2 * half - 2)
    told = dict.fromkeys(range(n), World(liar.everybody))
    for p in range(1, half + 1):
        told[p] = World(liar.everybody - {ring[q % n] for q in range(p - half, 1)})
        told[arc + 1 - p] = World(liar.everybody - {ring[q % n] for q in range(arc + 1, arc + 2 + half - p)})
    return {ring[p]: world for p, world in told.items() if ring[p] in liar.honest}


def two_worlds(liar: Liar) -> Told:
    """Ring: an arc is told that most of the gaps beside it never shared; the others, that the rest of them vanished."""
    ring, k, d = liar.ring(), liar.sharing.degree, liar.sharing.dropouts or 0
    t, n, half = liar.sharing.threshold, liar.sharing.parties, liar.sharing.degree // 2
    for arc in range(1, n - 2 * k):
        for few in range(half + 1):
            left, right = list(range(half)), list(range(half + arc, k + arc))
            gone = {*left[:few], *right[half - few :]}
            absent = {*left, *right} - gone
            inside = {*range(half, half + arc)} | gone
            if max(len(absent), len(gone)) > d or not _both_agree(n, half, t, inside, absent, gone):
                continue
            apart = World({ring[p] for p in range(n) if p not in absent})
            rest = World(liar.everybody, {ring[p] for p in range(n) if p not in gone})
            return {ring[p]: apart if p in inside else rest for p in range(n) if ring[p] in liar.honest}
    return dict.fromkeys(liar.honest, World(liar.everybody))


def _both_agree(n: int, half: int, t: int, inside: set[int], absent: set[int], gone: set[int]) -> bool:
    """Does everybody who counts have t neighbours who are told the same?"""

    def near(p: int) -> list[int]:
        return [(p + s) % n for s in range(-half, half + 1) if s]

    out = {p: absent if p in inside else gone for p in range(n)}
    signs = {p: sum(q not in out[p] for q in near(p)) >= t for p in range(n)}
    reveals = {}
    for p in range(n):
        same = [q for q in near(p) if signs[q] and (q in inside) == (p in inside) and q not in out[p]]
        reveals[p] = signs[p] and len(same) >= t
    arc = inside - gone
    return (
        all(signs[p] for p in arc)
        and all(sum(reveals[q] for q in near(p) if q not in gone) >= t for p in arc)
        and all(sum(reveals[q] for q in near(p) if q not in inside) >= t for p in gone)
    )


STORIES = [split_alive, split_shared, many_lists, an_arc, two_worlds]


# -- parties as they are ----------------------------------------------------------------------------------------------


def harmless(liar: Liar) -> bool:
    """Nothing is open, or the one sum over as many honest parties as were promised."""
    opened = liar.opened()
    return len(opened) <= 1 and all(len(part) >= liar.sharing.honest for part in opened)


def liars(sharing: PairwiseMasks, party: type[Party] = Party) -> list[Liar]:
    """Without colluders, and with as many as there may be, in different places."""
    n, c = sharing.parties, sharing.colluders
    places: list[range | list[int]] = [range(0), range(1, 1 + c), range(n - c, n)]
    return [Liar(sharing, chosen, party) for chosen in places[: 3 if c else 1]]


SETTINGS = [
    *(PairwiseMasks(n) for n in range(3, 13)),
    *(PairwiseMasks(n, coordinator="lying") for n in (5, 8)),
    *(PairwiseMasks(n, d, c) for n, d, c in ((6, 2, 0), (7, 2, 2), (9, 3, 2), (10, 4, 0), (12, 2, 6), (8, 0, 6))),
    PairwiseMasks(30),
    PairwiseMasks(30, dropouts=14),
    PairwiseMasks(40, dropouts=2, graph="sparse"),
    PairwiseMasks(40, dropouts=8, colluders=0, graph="sparse"),
]
LARGE = [
    PairwiseMasks(100, dropouts=10, colluders=0, graph="sparse"),
    PairwiseMasks(100, dropouts=5, colluders=4, graph="sparse"),
    PairwiseMasks(200, dropouts=20, graph="sparse"),
    PairwiseMasks(200, dropouts=20, colluders=0, graph="sparse"),
]
ALL = [*SETTINGS, *(pytest.param(one, marks=pytest.mark.slow) for one in LARGE)]


def named(value: Any) -> str:
    if isinstance(value, PairwiseMasks):
        return f"{value.parties}, {value.dropouts} vanish, {value.colluders} collude, {value.coordinator}"
    return str(getattr(value, "__name__", value))


@pytest.mark.parametrize("sharing", ALL, ids=named)
def test_no_story_opens_more_than_the_sum(sharing: PairwiseMasks) -> None:
    for story in STORIES if not sharing.complete else STORIES[:3]:
        for liar in liars(sharing):
            liar.play(story(liar))
            assert harmless(liar), story.__name__


@pytest.mark.parametrize("sharing", ALL, ids=named)
def test_told_the_truth_they_open_the_sum_over_all_honest(sharing: PairwiseMasks) -> None:
    """So that what is called open here is what a coordinator would open."""
    for liar in liars(sharing):
        gone = set(sorted(liar.honest)[: sharing.dropouts])
        liar.play(dict.fromkeys(liar.honest, World(liar.everybody)))
        assert liar.opened() == [liar.honest] and not liar.refused
    if not sharing.complete:  # chance is tried elsewhere; who is chosen may leave a gap
        return
    liar = Liar(sharing)
    liar.play(dict.fromkeys(liar.honest - gone, World(liar.everybody, liar.everybody - gone)))
    assert not gone or liar.opened() == []  # they have not sent a vector here, so nobody could sign for them
    liar = Liar(sharing)
    told = World(liar.everybody, liar.everybody - gone)
    liar.play(dict.fromkeys(liar.honest - gone, told) | dict.fromkeys(gone, World(liar.everybody)))
    assert liar.opened() == [liar.honest - gone]


RUNS = {True: 12, False: 2}


@pytest.mark.parametrize("sharing", ALL, ids=named)
def test_a_coordinator_that_equivocates_at_every_message_opens_nothing_else(sharing: PairwiseMasks) -> None:
    """Two versions of ROSTER, DELIVERY and ALIVE, drawn anew for each party; signatures as the parties gave them.

    Lists are drawn among those that a party would not refuse at once, some equal in both worlds, so that many of the
    runs come to an end.
    """
    rng = random.Random(sharing.parties)
    d = sharing.dropouts or 0
    for run in range(RUNS[sharing.complete]):
        liar = Liar(sharing, rng.sample(range(sharing.parties), rng.randint(0, sharing.colluders)))

        def fewer(whom: frozenset[int], most: int) -> frozenset[int]:
            return whom - set(rng.sample(sorted(whom), rng.randint(0, most)))

        rosters = [liar.everybody, fewer(liar.everybody, d) if rng.random() < 0.3 else liar.everybody]
        shared = [fewer(one, d - (sharing.parties - len(one))) if run % 3 else one for one in rosters]
        alive = [fewer(one, d - (sharing.parties - len(one))) for one in shared]
        often = rng.choice([0.5, 0.8, 0.95])

        def world() -> int:
            return int(rng.random() > often)  # noqa: B023

        told = {}
        for i in liar.honest:
            members, there = rosters[world()] | {i}, shared[world()] | {i}
            told[i] = World(there & members, (alive[world()] | {i}) & there & members, members)
        liar.play(told)
        assert harmless(liar)


SOME = [one for one in SETTINGS if one.parties in (4, 7, 10)]


@pytest.mark.parametrize("sharing", [*SOME, *(pytest.param(one, marks=pytest.mark.slow) for one in LARGE)], ids=named)
def test_a_coordinator_that_damages_boxes_and_leaves_out_whom_it_likes_opens_nothing_else(
    sharing: PairwiseMasks,
) -> None:
    """Honest parties say that they cannot open each other's boxes. Whom it leaves out it tells each of them anew."""
    rng = random.Random(sharing.parties + 1)
    opened = 0
    for run in range(12 if sharing.complete else 4):
        liar = Liar(sharing, rng.sample(range(sharing.parties), rng.randint(0, sharing.colluders)))
        lists = [set(rng.sample(sorted(liar.everybody), rng.randint(sharing.minimum, sharing.parties))) for _ in "ab"]
        told = {}
        for i in liar.honest:
            shared = lists[0] if run % 2 else rng.choice(lists) | {i}
            damaged = set(rng.sample(sorted(liar.everybody - {i}), 2))
            if run % 2 or rng.random() < 0.5:  # only boxes of those whom it leaves out
                damaged -= shared
            if i in shared:
                told[i] = World(shared, None, None, liar.everybody, damaged)
        liar.play(told)
        assert harmless(liar)
        opened += len(liar.opened())
        for i, world in told.items():
            assert not world.spoiled & world.shared or "could not open" in str(liar.refused[i])
    assert opened > 0, "some of these runs end in the sum"


def test_a_party_masks_for_nobody_whose_box_it_could_not_open() -> None:
    """Whatever the coordinator says: it would hold no share of that party's secrets."""
    for other in (0, 2, 4):
        liar = Liar(PairwiseMasks(5))
        liar.roster(1, liar.everybody)
        for i in liar.everybody - {1}:
            liar.roster(i, liar.everybody)
        liar.deliver(1, liar.everybody, spoiled={other})
        assert "could not open" in str(liar.refused[1]) and liar.parties[1].stage == "failed"
        liar.deliver(3, liar.everybody - {other}, liar.everybody, {other})
        assert 3 not in liar.refused and other not in liar.parties[3]._peer_shares


def test_replays_and_second_versions_move_nobody() -> None:
    """Every message again, those of another party, a second list: the one REVEAL is all there is."""
    sharing = PairwiseMasks(6)
    liar = Liar(sharing)
    said: dict[int, list[bytes]] = {i: [] for i in liar.honest}
    heard = {i: one.receive for i, one in liar.parties.items()}

    def listen(i: int) -> Callable[[bytes], bytes | None]:
        def receive(raw: bytes) -> bytes | None:
            for before in said[i]:
                assert heard[i](before) is None
            said[i].append(raw)
            return heard[i](raw)

        return receive

    for i, one in liar.parties.items():
        one.receive = listen(i)  # type: ignore[method-assign]
    liar.play(dict.fromkeys(liar.honest, World(liar.everybody)))
    assert liar.opened() == [liar.honest]
    for i, one in liar.parties.items():
        second = World(liar.everybody, liar.everybody - {(i + 1) % 6})
        for raw in said[(i + 1) % 6]:  # what another one was told
            with pytest.raises(ProtocolRefused) if raw not in said[i] else pytest.MonkeyPatch.context():
                heard[i](raw)
        liar.alive(i, second.alive)
        assert one.stage == "failed"
        with pytest.raises(ProtocolRefused):
            one.reveal()
    assert liar.opened() == [liar.honest]


def test_a_result_over_others_is_refused() -> None:
    liar = Liar(PairwiseMasks(6))
    liar.play(dict.fromkeys(liar.honest, World(liar.everybody)))
    body = (5).to_bytes(4, "little") + b"".join(i.to_bytes(4, "little") for i in range(5)) + bytes(16)
    raw = sign_message(Kind.RESULT, liar.session.digest, FROM_COORDINATOR, body, liar.head)
    with pytest.raises(ProtocolRefused, match="parties other than"):
        liar.parties[0].receive(raw)


# -- mutants: where a rule is missing, the same stories work ----------------------------------------------------------


class BelievesDelivery(Party):
    """Does not ask for whom its peers masked their vectors."""

    def _check_masking(self, lists: AliveBody) -> None:
        pass


class DoesNotAgree(Party):
    """Reveals as soon as it is told who is alive."""

    def _on_alive(self, message: Message) -> bytes | None:
        super()._on_alive(message)
        self._stage = "reveal"
        return None


class OldDefault(DoesNotAgree, BelievesDelivery):
    """Version 0.5.0 by default."""


class CountsNeighbours(BelievesDelivery):
    """Version 0.5.0 with coordinator="lying": so many of those who hold its shares agree."""

    def _on_agreed(self, message: Message) -> bytes | None:
        assert self._joined is not None
        holders = set(self._joined.holders(self.index))
        if len(set(parse_signatures(message)) & holders) >= self._joined.threshold:
            self._stage = "reveal"
        return None


class SignsTheRosterOnly(Party):
    """Its digest has nothing about who is alive."""

    def receive(self, raw: bytes) -> bytes | None:
        def agreement(joined: JoinedParties, shared: tuple[int, ...], lists: AliveBody) -> bytes:
            return digest_of(b"murmure agree", joined.digest)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(JoinedParties, "agreement_digest", agreement)
            return super().receive(raw)


class OldMasks(PairwiseMasks):
    """Thresholds of version 0.5.0."""

    @property
    def quorum(self) -> int:  # type: ignore[override]
        assert self.dropouts is not None
        return max(self.colluders + 1, min(self.parties // 2 + 1, self.parties - self.dropouts), 2)


class Half(PairwiseMasks):
    @property
    def quorum(self) -> int:  # type: ignore[override]
        return self.parties // 2


class OldRing(PairwiseMasks):
    """Against a lying coordinator, as the reference rounds."""

    @property
    def _graph(self) -> tuple[int, int]:  # type: ignore[override]
        return 28, 15


def opens(sharing: PairwiseMasks, story: Callable[[Liar], Told], party: type[Party], real: int = 0) -> int | None:
    """Over how few honest parties a sum comes out."""
    liar = Liar(sharing, range(1, 1 + real), party)
    liar.play(story(liar))
    return min(map(len, liar.opened()), default=None)


@pytest.mark.parametrize("n, real", [*((n, 0) for n in (5, 7, 8, 9, 10, 11, 12, 30)), (6, 1)])
def test_version_0_5_0_opened_one_party_by_a_lie_about_who_shared(n: int, real: int) -> None:
    """Default settings then: as many may vanish as leave a majority."""
    old = OldMasks(n, dropouts=n - n // 2 - 1) if n % 2 == 0 else _unchecked(n, n - n // 2 - 1)
    assert opens(old, split_shared, OldDefault, real) == 1
    assert opens(PairwiseMasks(n), split_shared, Party, real) is None


def _unchecked(n: int, d: int) -> PairwiseMasks:
    """Settings that are refused now."""
    old = OldMasks(n, dropouts=0)
    object.__setattr__(old, "dropouts", d)
    return old


@pytest.mark.parametrize("n, d", [(5, 1), (7, 2)])
def test_version_0_5_0_opened_one_party_by_a_lie_about_who_is_alive(n: int, d: int) -> None:
    assert opens(OldMasks(n, dropouts=d), split_alive, OldDefault, real=1) == 1
    assert opens(PairwiseMasks(n, dropouts=d), split_alive, Party, real=1) is None


@pytest.mark.slow
def test_version_0_5_0_opened_an_arc_against_its_own_rule_for_lying_coordinators() -> None:
    """Degree 28, threshold 15, no colluder: 16 parties of the 179 that were promised."""
    old = OldRing(200, dropouts=20, graph="sparse")
    assert opens(old, two_worlds, CountsNeighbours) == 16
    assert opens(PairwiseMasks(200, dropouts=20, graph="sparse"), two_worlds, Party) in (None, 200)


@pytest.mark.parametrize("n", [10, 12, 30])
def test_without_agreement_more_vanish_than_may(n: int) -> None:
    """2 t > n + c, and everybody masked for the same: many lists open a sum over fewer than promised all the same."""
    sharing = PairwiseMasks(n, dropouts=max_dropouts(n, 1))
    for party in (DoesNotAgree, SignsTheRosterOnly):
        few = opens(sharing, many_lists, party)
        assert few is not None and few < sharing.honest
    assert opens(sharing, many_lists, Party) is None


@pytest.mark.parametrize("n", [6, 8, 10, 30])
def test_half_of_all_is_no_quorum(n: int) -> None:
    sharing = Half(n, dropouts=1)
    assert opens(sharing, split_alive, Party, real=1) == 1


class SmallRing(PairwiseMasks):
    """2 t = k + c_max + 2 where no party has more than c_max = 2 colluding neighbours, of four colluders in all."""

    @property
    def _graph(self) -> tuple[int, int]:  # type: ignore[override]
        return 8, 6


@pytest.mark.parametrize("party, opened", [(BelievesDelivery, 20), (Party, None)])
def test_a_global_quorum_and_2t_at_least_k_plus_c_plus_2_do_not_stop_a_lie_about_who_shared(
    party: type[Party], opened: int | None
) -> None:
    """With one list that all sign, two colluders at either end of an arc of 24, out of sixty parties.

    So vectors come with a signature under whom they were masked for.
    """
    sharing = SmallRing(60, dropouts=4, colluders=4, graph="sparse")
    liar = Liar(sharing, party=party)
    ring = liar.ring()
    liar.corrupt(ring[p] for p in (1, 2, 23, 24))
    near = liar._joined_of(liar.everybody)
    assert max(len(liar.colluders & set(near.neighbours(i))) for i in liar.honest) == 2
    liar.play(an_arc(liar))
    assert min(map(len, liar.opened()), default=None) == opened
    assert sharing.honest == 52


def test_a_party_wants_a_quorum_of_all_who_were_invited_and_not_of_those_it_is_shown() -> None:
    """Six of ten are listed as joined; four signatures would be a quorum of six, and six are wanted."""
    sharing = PairwiseMasks(10, dropouts=4, colluders=1)
    few = frozenset(range(6))
    liar = Liar(sharing)
    for show in (liar.roster, liar.deliver, liar.alive):
        for place in few:
            show(place, few)
    liar._signed = {digest: dict(list(signed.items())[:4]) for digest, signed in liar._signed.items()}
    liar.agreed_and_revealed(0)

    assert sharing.quorum == 6
    assert "4 parties signed the same lists; 6 are needed" in str(liar.refused[0])
