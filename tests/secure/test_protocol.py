"""A session from keys to the sum: who vanishes, who lies, what is never said."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

sys.path.insert(0, str(Path(__file__).parent))
from play import PARTIES, VALUES, Play, fixed, identity, session

from murmure.core.errors import InvalidParameter
from murmure.secure.coordinator import SMALL_ORDER, Coordinator
from murmure.secure.errors import (
    Declined,
    OutOfBound,
    OutOfOrder,
    RosterDiffers,
    SharesDoNotFit,
    TooFewParties,
)
from murmure.secure.identity import Card, Identity
from murmure.secure.in_process import session_in_process, sum_in_process
from murmure.secure.joined import JoinedParties
from murmure.secure.messages import (
    FROM_COORDINATOR,
    SHARE_OF_KEY,
    SHARE_OF_SELF_MASK,
    Kind,
    MaskedBody,
    RevealBody,
    parse_message,
    sign_message,
)
from murmure.secure.party import Party
from murmure.secure.ring import RingEncoder
from murmure.secure.sharing import EXAMPLES, PairwiseMasks

STAGES = ("keys", "shares", "opened", "vectors", "agree", "reveal")


def sums(values: list[list[int]], cohort: tuple[int, ...]) -> list[int]:
    return [sum(values[i][k] for i in cohort) for k in range(len(values[0]))]


WHEN = [  # of many parties all but one stage are for the long run: they take a second each
    pytest.param(sharing, stage, marks=[pytest.mark.slow] if sharing.parties > 50 and stage != "vectors" else [])
    for sharing in EXAMPLES
    for stage in STAGES
]


@pytest.mark.parametrize(("sharing", "stage"), WHEN, ids=str)
def test_the_sum_over_the_survivors_is_exact(sharing: PairwiseMasks, stage: Any) -> None:
    """As many vanish as may, all at one stage; the sum is over those whose vectors came, to the last bit."""
    assert sharing.dropouts is not None
    values = [[(i + 1) ** 3, -i, 10**15 + i] for i in range(sharing.parties)]
    first = sharing.parties // 3
    vanish = dict.fromkeys(range(first, first + sharing.dropouts), stage)
    encoder = RingEncoder(3, 2 * 10**15, sharing.parties)
    done = sum_in_process(sharing, encoder, values, vanish)

    alive = tuple(i for i in range(sharing.parties) if i not in vanish or stage in ("agree", "reveal"))
    assert done.cohort == alive
    assert done.result == sums(values, alive)


@pytest.mark.parametrize("trust", ["curious", "lying"])
@pytest.mark.parametrize("stage", STAGES)
def test_one_more_than_may_vanish_gives_no_sum(trust: Any, stage: Any) -> None:
    """Below the minimum nothing is summed, whenever they vanish."""
    sharing = PairwiseMasks(7, dropouts=2, colluders=2, coordinator=trust)
    vanish = dict.fromkeys(range(7 - (sharing.threshold - 1)), stage)
    with pytest.raises(TooFewParties):
        sum_in_process(sharing, RingEncoder(1, 1, 7), [[1]] * 7, vanish)


def test_everyone_is_not_no_one() -> None:
    """The lecture's protocol returns 0 where every party holds the largest value; here it is their number."""
    done = sum_in_process(PairwiseMasks(5), RingEncoder(2, 1, 5), [[1, 0]] * 5)

    assert done.result == [5, 0]


def test_wide_sums_are_exact() -> None:
    """Numbers of 300 bits, of both signs, in limbs."""
    values = [[(-1) ** i * (3**180 + i), i - 2] for i in range(5)]
    encoder = RingEncoder(2, 3**181, 5)
    done = sum_in_process(PairwiseMasks(5), encoder, values, {2: "vectors"})

    assert encoder.limbs is not None and encoder.limbs == 5
    assert done.result == sums(values, (0, 1, 3, 4))


def test_too_few_shares_close_nothing_and_everybody_is_told() -> None:
    """A session that fails says so to every party, with the name of the reason."""
    play = Play().until("vectors")
    for i in (0, 1):
        play.listen(i)
        play.say(i, play.parties[i].mask(VALUES[i]))

    assert not play.coordinator.can_close
    with pytest.raises(TooFewParties):
        play.coordinator.close()
    assert play.coordinator.stage == "failed"
    for i in range(PARTIES):
        play.listen(i)
        assert play.parties[i].ended == "TooFewParties" and play.parties[i].stage == "failed"


def test_a_survivor_reveals_one_share_of_each_peer_and_never_both() -> None:
    play = Play().finish()
    revealed = [RevealBody.parse(m) for _, raw in play.lines if (m := parse_message(raw)).kind is Kind.REVEAL]

    assert len(revealed) == 3
    for reveal in revealed:
        assert reveal.places == (0, 1, 2, 3)
        assert [what for what, _ in reveal.shares] == [
            SHARE_OF_SELF_MASK,
            SHARE_OF_SELF_MASK,
            SHARE_OF_SELF_MASK,
            SHARE_OF_KEY,
        ]


def test_one_wrong_share_spoils_nothing_and_two_give_no_number() -> None:
    """A rebuilt secret is held against what its owner promised."""
    for liars, ends in (((1,), "done"), ((1, 2), "failed")):
        play = Play(vanishes=()).until("reveal")
        for i in range(PARTIES):
            play.listen(i)
            message = play.parties[i].reveal()
            if i in liars:
                reveal = RevealBody.parse(parse_message(message))
                wrong = [(what, bytes(32) + bytes([7 + i])) for what, _ in reveal.shares]
                body = RevealBody(reveal.places, wrong).pack()
                message = sign_message(Kind.REVEAL, play.session.digest, i, body, identity(i))
            play.say(i, message)
        if ends == "done":
            play.coordinator.close()
            assert play.coordinator.result == sums(VALUES, (0, 1, 2, 3))
        else:
            with pytest.raises(SharesDoNotFit):
                play.coordinator.close()
        assert play.coordinator.stage == ends


def test_a_party_starts_again_from_its_seed_and_says_the_same() -> None:
    """Seed, what was heard and the stored vector are all that a restart needs, at every boundary."""
    for trust in ("curious", "lying"):
        play = Play(trust, vanishes=()).finish()
        heard = [raw for to, raw in play.lines if to == "party 1"]
        said = [raw for _, raw in play.lines if parse_message(raw).sender == 1]
        for crash in range(len(heard) + 1):
            party = Party(play.session, identity(1), 1, fixed("seed", 1))
            again: list[bytes | None] = [party.keys()]
            for number, raw in enumerate(heard):
                if number == crash:  # a fresh process hears all from the start
                    party = Party(play.session, identity(1), 1, fixed("seed", 1))
                    assert party.keys() == said[0]
                    _hear_all(party, heard[:number], said)
                again.append(party.receive(raw))
                if party.stage == "vector":
                    party.resume(next(m for m in said if parse_message(m).kind is Kind.MASKED))
                if party.stage == "reveal":
                    again.append(party.reveal())
            assert party.result == play.coordinator.result
            assert [m for m in again if m is not None] == [m for m in said if parse_message(m).kind is not Kind.MASKED]


def _hear_all(party: Party, heard: list[bytes], said: list[bytes]) -> None:
    for raw in heard:
        party.receive(raw)
        if party.stage == "vector":
            party.resume(next(m for m in said if parse_message(m).kind is Kind.MASKED))
        if party.stage == "reveal":
            party.reveal()


def test_a_vector_is_masked_once() -> None:
    """A second vector under the same masks would show the difference of the two."""
    play = Play().until("vectors")
    play.listen(0)
    play.parties[0].mask(VALUES[0])
    with pytest.raises(OutOfOrder):
        play.parties[0].mask(VALUES[0])


def test_a_value_beyond_its_bound_stops_at_the_party() -> None:
    play = Play().until("vectors")
    play.listen(0)
    with pytest.raises(OutOfBound, match="entry 1"):
        play.parties[0].mask([0, 2**41 + 1, 0])


@pytest.mark.parametrize("trust", ["curious", "lying"])
def test_whoever_vanishes_after_its_vector_and_before_signing_is_in_the_sum(trust: Any) -> None:
    """As many as may: those who are left are a quorum. With one more nothing is revealed."""
    sharing = PairwiseMasks(8, dropouts=3, coordinator=trust)
    done = sum_in_process(sharing, RingEncoder(1, 1, 8), [[1]] * 8, dict.fromkeys((0, 3, 7), "agree"))
    assert done.result == [8] and sharing.quorum == 5
    with pytest.raises(TooFewParties, match="4 parties signed the lists; 5 are needed"):
        sum_in_process(sharing, RingEncoder(1, 1, 8), [[1]] * 8, dict.fromkeys((0, 3, 5, 7), "agree"))


def test_an_agreement_is_a_quorum_of_all_who_were_invited_however_few_are_listed() -> None:
    """Eleven invited, eight join: seven must sign and seven shares rebuild, where eight invited would need five."""
    sharing = PairwiseMasks(11, dropouts=4)
    here, head, identities = session_in_process(sharing, RingEncoder(1, 1, 11))
    coordinator = Coordinator(here, head)
    for i, who in enumerate(identities[:8]):
        coordinator.receive(Party(here, who, i, fixed("seed", i)).keys())
    coordinator.close()
    joined = coordinator._joined
    assert joined is not None and len(joined.members) == 8
    assert sharing.quorum == joined.threshold == 7 and joined.sharing.quorum == 5


@pytest.mark.parametrize(
    "sharing",
    [PairwiseMasks(7, dropouts=1), PairwiseMasks(60, dropouts=3, colluders=3, graph="sparse")],
    ids=["complete", "sparse"],
)
def test_neighbours_who_were_split_in_two_never_give_both_secrets(sharing: PairwiseMasks) -> None:
    """Even without agreement: t shares of either secret, colluding holders giving both, need 2 t <= holders + c."""
    here, head, identities = session_in_process(sharing, RingEncoder(1, 1, sharing.parties))
    coordinator = Coordinator(here, head)
    for i, who in enumerate(identities):
        coordinator.receive(Party(here, who, i, fixed("seed", i)).keys())
    coordinator.close()
    joined = coordinator._joined
    assert joined is not None
    for place in range(sharing.parties):
        holders = joined.holders(place)
        assert (place in holders) == sharing.complete
        assert len(holders) == (sharing.parties if sharing.complete else sharing.degree)
        assert all(place in joined.holders(other) for other in holders)
        assert 2 * joined.threshold > len(holders) + sharing.colluders


def test_a_coordinator_cannot_choose_who_vanishes_so_that_an_arc_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The ring's order is known before vectors are sent. Two gaps around a few parties would give away their sum.

    A thousand parties, of whom so many may vanish that the gaps could be made; a party asks before it signs the lists.
    """
    sharing = PairwiseMasks(1000, dropouts=300)
    here, head, identities = session_in_process(sharing, RingEncoder(1, 1, 1000))
    coordinator = Coordinator(here, head)
    for i, who in enumerate(identities):
        coordinator.receive(Party(here, who, i, fixed("seed", i)).keys())
    coordinator.close()
    joined = coordinator._joined
    assert joined is not None and not sharing.complete
    ring, half = joined._order.tolist(), sharing.degree // 2
    gaps = {*ring[:half], *ring[half + 100 : 2 * half + 100]}  # around a hundred parties
    assert len(gaps) <= 300
    joined.check_connected(ring[: 1000 - len(gaps)])
    with pytest.raises(TooFewParties, match="two sums"):
        joined.check_connected(set(ring) - gaps)

    def apart(self: JoinedParties, alive: Any) -> None:
        raise TooFewParties("two sums")

    play = Play(vanishes=()).until("agree")
    monkeypatch.setattr(JoinedParties, "check_connected", apart)
    with pytest.raises(TooFewParties, match="two sums"):
        play.listen(0)
    assert play.parties[0].stage == "failed"


def test_the_graph_is_that_of_those_who_joined() -> None:
    """Who never joins makes the ring shorter, and colluders weigh more in it: degree and threshold follow."""
    sharing = PairwiseMasks(60, dropouts=20, colluders=4)
    here, head, identities = session_in_process(sharing, RingEncoder(1, 1, 60))
    coordinator = Coordinator(here, head)
    for i, who in enumerate(identities[:42]):
        coordinator.receive(Party(here, who, i, fixed("seed", i)).keys())
    coordinator.close()
    joined = coordinator._joined
    assert joined is not None
    assert joined.sharing == PairwiseMasks(42, dropouts=2, colluders=4)
    assert joined.sharing.minimum == sharing.minimum and joined.sharing.honest == sharing.honest
    done = sum_in_process(sharing, RingEncoder(1, 1, 60), [[1]] * 60, dict.fromkeys(range(20), "keys"))
    assert done.result == [40]


def test_a_party_that_refuses_is_left_out_and_not_heard_again() -> None:
    play = Play(vanishes=())
    play.answer()
    play.say(3, play.parties[3].refuse())
    play.coordinator.close()

    assert play.coordinator.expected == {0, 1, 2} and play.coordinator.absent == {3}
    with pytest.raises(OutOfOrder, match="refused"):
        play.coordinator.receive(sign_message(Kind.SHARES, play.session.digest, 3, b"", identity(3)))
    with pytest.raises(Declined):
        play.parties[3].receive(play.coordinator.inbox(0)[0])
    play.vanishes = ()
    assert play.finish().coordinator.result == sums(VALUES, (0, 1, 2))


@pytest.mark.parametrize("trust", ["curious", "lying"])
def test_a_survivor_that_refuses_stops_the_sum(trust: str) -> None:
    """Its vector is there and the others' shares would do: the refusal is heeded all the same."""
    play = Play(trust, vanishes=()).until("reveal")
    for i in range(PARTIES):
        play.listen(i)
        play.say(i, play.parties[i].refuse() if i == 1 else play.parties[i].reveal())

    assert not play.coordinator.can_close and not play.coordinator.waiting
    with pytest.raises(Declined, match="party 1 refused"):
        play.coordinator.close()
    assert play.coordinator.stage == "failed"
    play.listen(0)
    assert play.parties[0].ended == "Declined" and play.parties[0].result is None


@pytest.mark.parametrize(
    "changed",
    [
        {"study": fixed("another")},
        {"round": 2},
        {"query": fixed("another")},
        {"encoder": RingEncoder(3, 2**41 + 1, PARTIES)},
        {"encoder": RingEncoder(3, 2**41, PARTIES, limbs=2)},
        {"members": (0, 1, 2)},
        {"sharing": PairwiseMasks(PARTIES, dropouts=0)},
        {"sharing": PairwiseMasks(PARTIES, dropouts=1, rows=5)},
        {"coordinator": Card("another name", Identity.from_bytes(fixed("coordinator")).public)},
        {"roster": tuple(identity(i).card(f"party {i + 1}") for i in range(PARTIES))},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_nothing_said_in_one_session_means_anything_in_another(changed: dict[str, Any]) -> None:
    """Version, study, round, question, encoder, roster, rules: each changes the digest, the keys and the masks."""
    one, other = session(), session(**changed)

    assert one.digest != other.digest
    said = [Party(s, identity(0), 0, fixed("seed", 0)).keys() for s in (one, other)]
    assert parse_message(said[0]).body != parse_message(said[1]).body


def test_the_same_values_under_two_seeds_look_unrelated() -> None:
    """Masked vectors of equal values share no word."""
    vectors = []
    for label in ("seed", "another seed"):
        play = Play(vanishes=())
        play.parties = [Party(play.session, identity(i), i, fixed(label, i)) for i in range(PARTIES)]
        play.until("reveal")
        vectors += [
            MaskedBody.parse(m, 3).words for _, raw in play.lines if (m := parse_message(raw)).kind is Kind.MASKED
        ]

    assert len(np.unique(np.concatenate(vectors))) == 8 * 3


def test_no_secret_stands_in_a_repr() -> None:
    play = Play().finish()
    seeds = [fixed("seed", i) for i in range(PARTIES)] + [fixed("identity", i) for i in range(PARTIES)]
    shown = repr([play.parties, play.coordinator, identity(0), play.session, parse_message(play.lines[0][1])])

    assert not any(seed.hex() in shown or repr(seed)[2:-1] in shown for seed in seeds)


@pytest.mark.parametrize(
    "name",
    [
        "",
        " a",
        "a ",
        "a  b",
        "a\u200bb",
        "a\u3164",
        "a\u2800b",
        "e\u0301",
        "a\ufe0f",
        "a\u202eb",
        "a\nb",
        "x" * 81,
        7,
        "a\xa0b",
    ],
    ids=ascii,
)
def test_names_that_hide_something_are_refused(name: Any) -> None:
    with pytest.raises(InvalidParameter, match=r"Card\.name"):
        Card(name, bytes(32))
    assert Card("H\u00f4pital d\u2019Angers, 2e", bytes(32)).name


def test_keys_of_small_order_are_those_with_which_every_secret_is_the_same() -> None:
    """X25519 itself refuses each of them, for a random private key; the list holds all there are below 2**255."""
    private = X25519PrivateKey.from_private_bytes(fixed("any"))
    for point in SMALL_ORDER:
        with pytest.raises(ValueError):
            private.exchange(X25519PublicKey.from_public_bytes(point))
    assert len(SMALL_ORDER) == 7 and all(point[-1] < 0x80 for point in SMALL_ORDER)


def test_a_sum_that_is_known_stays_known() -> None:
    """END after RESULT changes nothing, and it is too late to refuse."""
    play = Play(vanishes=()).finish()
    head = Identity.from_bytes(fixed("coordinator"))
    party = play.parties[0]
    assert party.receive(sign_message(Kind.END, play.session.digest, FROM_COORDINATOR, b"late", head)) is None
    with pytest.raises(OutOfOrder):
        party.refuse()
    assert party.stage == "done" and party.result == sums(VALUES, (0, 1, 2, 3))


def test_the_roster_names_each_key_and_each_party_once() -> None:
    cards = [identity(i).card(f"party {i}") for i in range(PARTIES)]
    with pytest.raises(InvalidParameter, match="one key twice"):
        session(roster=(*cards[:3], Card("x", cards[0].key)))
    with pytest.raises(InvalidParameter, match="the same name"):
        session(roster=(*cards[:3], Card(cards[0].name.upper(), cards[3].key)))
    with pytest.raises(RosterDiffers):
        Party(session(), identity(1), 0, fixed("seed"))
    with pytest.raises(RosterDiffers):
        Coordinator(session(), identity(1))


@pytest.mark.parametrize(
    "arguments",
    [
        {"parties": 2},
        {"parties": 5, "dropouts": 3},
        {"parties": 5, "dropouts": 2, "colluders": 2},
        {"parties": 5, "colluders": 4},
        {"parties": 5, "dropouts": 2},
        {"parties": 5, "dropouts": 2, "coordinator": "lying"},
        {"parties": 10, "dropouts": 3, "colluders": 4},
        {"parties": 100, "dropouts": 50, "graph": "sparse"},
        {"parties": 5, "coordinator": "honest"},
        {"parties": 5.0},
        {"parties": True},
        {"parties": 5, "rows": 0},
        {"parties": 5, "graph": "star"},
    ],
    ids=str,
)
def test_masks_that_protect_nobody_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        PairwiseMasks(**arguments)
