"""One party that sends nonsense is left out and named while enough are left, whatever it spoils, at every step.

Its message is cut, forged, too long, of other shares, sealed so that nobody can open it; or it says that others did
so. The sum comes out over the others, to the last bit; with nobody to spare it does not come out; and of nobody are
shares of both secrets revealed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from lying_parties import (
    SENT,
    SIGNED,
    UNSIGNED,
    Crowd,
    DealsOtherSecrets,
    SealsNoShares,
    Spoil,
    complains,
    cut,
    ones,
    reveals,
    seals_nonsense,
)

from murmure.secure.disputes import excluded_parties
from murmure.secure.messages import Kind
from murmure.secure.sharing import PairwiseMasks

RING = PairwiseMasks(40, dropouts=2, graph="sparse")
SETTINGS = [
    PairwiseMasks(4),
    *(
        pytest.param(sharing, marks=pytest.mark.slow)
        for sharing in (
            PairwiseMasks(5, colluders=0),
            PairwiseMasks(6, coordinator="lying"),
            PairwiseMasks(9, dropouts=3, colluders=2),
            RING,
        )
    ),
]
IN_THE_SUM = (Kind.AGREE, Kind.REVEAL)  # by then the vector of the liar is in it, and others can unmask it
SEALED: dict[str, Callable[[int], bool]] = {
    "for all": lambda k: True,
    "for every second": lambda k: k % 2 == 0,
    "for two": lambda k: k < 2,
    "for one": lambda k: k == 0,
}


def named(value: Any) -> str:
    if isinstance(value, PairwiseMasks):
        return f"{value.parties} of which {value.dropouts} may go"
    return getattr(value, "name", None) or getattr(value, "__name__", None) or str(value)


def check_sum(crowd: Crowd) -> None:
    assert crowd.coordinator.stage == "done", crowd.coordinator.ended
    assert crowd.coordinator.result == crowd.total()
    check_secrets(crowd)


def check_secrets(crowd: Crowd) -> None:
    """Of nobody both; of whoever did not share for good, neither."""
    for place, which in crowd.revealed.items():
        assert len(which) == 1, f"both secrets of party {place}"
        assert place in crowd.coordinator._shared


@pytest.mark.parametrize("kind", SENT, ids=named)
@pytest.mark.parametrize("spoil", [*SIGNED, *UNSIGNED], ids=named)
@pytest.mark.parametrize("sharing", SETTINGS, ids=named)
def test_nonsense_of_any_kind_is_left_out(sharing: PairwiseMasks, kind: Kind, spoil: Spoil) -> None:
    """What is signed is known to come from that party, which is named at once; what is not could be anybody's."""
    for liar in (0, sharing.parties - 1):
        crowd = Crowd(sharing)
        coordinator = crowd.play({liar: (kind, spoil)})
        everybody = set(range(sharing.parties))

        check_sum(crowd)
        assert set(coordinator.cohort) == (everybody if kind in IN_THE_SUM else everybody - {liar})
        assert set(coordinator.unusable) == ({liar} if spoil in SIGNED else set())


@pytest.mark.parametrize("kind", SENT, ids=named)
def test_nobody_waits_for_who_sent_nonsense(kind: Kind) -> None:
    """Once it is known to come from that party; and a right message after it is taken all the same."""
    crowd = Crowd(PairwiseMasks(5))
    waited: list[bool] = []

    def twice(crowd: Crowd, i: int, raw: bytes) -> bytes:
        crowd._send(i, cut(crowd, i, raw))
        waited.append(i in crowd.coordinator.waiting)
        return raw

    crowd.play({2: (kind, twice)})

    assert waited == [False]
    assert crowd.coordinator.result == crowd.total() and crowd.coordinator.cohort == (0, 1, 2, 3, 4)
    assert not crowd.coordinator.unusable


@pytest.mark.parametrize("whom", SEALED)
@pytest.mark.parametrize("sharing", SETTINGS, ids=named)
def test_a_party_that_seals_nonsense_is_left_out_before_anybody_masks(sharing: PairwiseMasks, whom: str) -> None:
    """However few of its boxes do not open. Nobody has to prove anything: nothing is masked for it."""
    for liar in (0, sharing.parties - 1) if sharing.complete else (7,):
        check_sealer(sharing, liar, whom)


def check_sealer(sharing: PairwiseMasks, liar: int, whom: str) -> None:
    crowd = Crowd(sharing)
    coordinator = crowd.play({liar: (Kind.SHARES, seals_nonsense(SEALED[whom]))})

    check_sum(crowd)
    assert set(coordinator.cohort) == set(range(sharing.parties)) - {liar}
    assert list(coordinator.unusable) == [liar] and "did not open at" in coordinator.unusable[liar]
    assert liar not in crowd.revealed


def test_a_party_that_seals_nonsense_on_the_ring() -> None:
    check_sealer(RING, 3, "for all")


@pytest.mark.parametrize("sharing", SETTINGS, ids=named)
def test_boxes_without_shares_in_them_are_like_boxes_that_do_not_open(sharing: PairwiseMasks) -> None:
    crowd = Crowd(sharing, {1: SealsNoShares})
    coordinator = crowd.play({})

    check_sum(crowd)
    assert set(coordinator.cohort) == set(range(sharing.parties)) - {1} and list(coordinator.unusable) == [1]


@pytest.mark.parametrize("of", [1, 2, 3, 100])
@pytest.mark.parametrize("sharing", SETTINGS, ids=named)
def test_a_false_accusation_costs_one_party_at_most(sharing: PairwiseMasks, of: int) -> None:
    """Of several others: it is the accuser who goes. Of one: nobody can know, and one of the two goes."""
    liar = sharing.parties - 1
    crowd = Crowd(sharing)
    coordinator = crowd.play({liar: (Kind.OPENED, complains(of))})
    gone = set(range(sharing.parties)) - set(coordinator.cohort)

    check_sum(crowd)
    assert len(gone) == 1 and set(coordinator.unusable) == gone
    assert gone == {liar} or of == 1


@pytest.mark.parametrize("share", [bytes(32) + b"\7", b"\xff" * 33, bytes(33)], ids=["a number", "no number", "zero"])
@pytest.mark.parametrize("sharing", SETTINGS, ids=named)
def test_wrong_shares_at_the_end_are_found_and_named(sharing: PairwiseMasks, share: bytes) -> None:
    """The rebuilt secret is compared with what was promised; without the wrong share it fits."""
    liar = 2
    crowd = Crowd(sharing)
    coordinator = crowd.play({liar: (Kind.REVEAL, reveals(share))})

    check_sum(crowd)
    assert coordinator.cohort == tuple(range(sharing.parties))
    assert sharing.complete <= (list(coordinator.unusable) == [liar])  # on the ring other shares may have been enough


def test_several_wrong_shares_are_left_out_together() -> None:
    """As many as there are shares to spare."""
    crowd = Crowd(PairwiseMasks(9, dropouts=3, colluders=2))
    wrong = reveals(bytes(32) + b"\7")
    coordinator = crowd.play({i: (Kind.REVEAL, wrong) for i in (0, 1, 2)})

    check_sum(crowd)
    assert sorted(coordinator.unusable) == [0, 1, 2]


@pytest.mark.parametrize("kind", SENT, ids=named)
def test_with_nobody_to_spare_there_is_no_sum(kind: Kind) -> None:
    """Before its vector is in the sum; afterwards the others may still be a quorum, and the sum is exact."""
    crowd = Crowd(PairwiseMasks(5, dropouts=0, colluders=1))
    coordinator = crowd.play({1: (kind, ones)})

    assert coordinator.stage == ("done" if kind in IN_THE_SUM else "failed")
    if kind in IN_THE_SUM:
        check_sum(crowd)
    else:
        assert coordinator.ended == "TooFewParties" and not crowd.revealed
    assert list(coordinator.unusable) == [1]


@pytest.mark.parametrize("of", [1, 4])
def test_with_nobody_to_spare_an_accusation_ends_the_study(of: int) -> None:
    crowd = Crowd(PairwiseMasks(5, dropouts=0))
    coordinator = crowd.play({1: (Kind.OPENED, complains(of))})

    assert coordinator.ended == "TooFewParties" and not crowd.revealed


@pytest.mark.slow
@pytest.mark.parametrize("kinds", [(a, b) for a in SENT for b in SENT], ids=lambda kinds: f"{kinds[0].name}, then")
def test_two_liars_of_two_that_may_go(kinds: tuple[Kind, Kind]) -> None:
    crowd = Crowd(PairwiseMasks(8, dropouts=2))
    coordinator = crowd.play({2: (kinds[0], cut), 5: (kinds[1], ones)})

    check_sum(crowd)
    assert set(coordinator.unusable) == {2, 5}


def test_secrets_other_than_promised_are_found_at_the_end_and_their_dealer_is_named() -> None:
    """Nobody can see it before: a share alone belongs to any secret. The sum is lost, and nothing else."""
    crowd = Crowd(PairwiseMasks(6), {4: DealsOtherSecrets})
    coordinator = crowd.play({})

    assert coordinator.stage == "failed" and coordinator.ended == "SharesDoNotFit"
    check_secrets(crowd)


def test_a_copied_key_blames_nobody() -> None:
    """Who saw the other's keys on the line can be first with them."""
    crowd = Crowd(PairwiseMasks(5))

    def copies(crowd: Crowd, i: int, raw: bytes) -> bytes:
        return crowd.signed(i, raw, crowd.parties[0].keys()[44:-64])

    coordinator = crowd.play({3: (Kind.KEYS, copies)})
    check_sum(crowd)
    assert coordinator.cohort == (0, 1, 2, 4) and not coordinator.unusable


def test_who_is_in_most_pairs_goes_first() -> None:
    """A star has its middle in common; of a pair it is the accused; who has gone accuses nobody."""
    everybody = range(10)
    assert excluded_parties({}, everybody) == {}
    assert excluded_parties({1: [4], 2: [4], 3: [4]}, everybody) == {4: (1, 2, 3)}
    assert excluded_parties({4: [1, 2, 3]}, everybody) == {4: (1, 2, 3)}
    assert excluded_parties({1: [4]}, everybody) == {4: (1,)} and excluded_parties({4: [1]}, everybody) == {1: (4,)}
    assert excluded_parties({1: [4], 4: [1, 2]}, everybody) == {4: (1, 2)}
    assert excluded_parties({1: [4], 2: [4], 3: [5]}, {1, 2, 3, 5}) == {5: (3,)}
    for liar in everybody:  # whatever one party seals and says, it costs one party
        for sealed in range(1, 10):
            for said in range(10):
                others = [i for i in everybody if i != liar]
                told = {liar: others[:said]} | {i: [liar] for i in others[-sealed:]}
                assert len(excluded_parties(told, everybody)) == 1


@pytest.mark.parametrize("liars", range(1, 7))
def test_liars_that_share_their_victims_put_out_no_more_than_themselves(liars: int) -> None:
    """The pairs on which the rule "whoever is in most pairs" does worst: it would put out more than there are liars."""
    complaints: dict[int, list[int]] = {1000 + j: [] for j in range(liars)}
    victim = 0
    for size in range(liars, 0, -1):
        for group in range(liars // size):
            for j in range(group * size, (group + 1) * size):
                complaints[1000 + j].append(victim)
            victim += 1

    gone = excluded_parties(complaints, [*range(victim), *complaints])
    assert len(gone) <= liars
    assert all({by, of} & gone.keys() for by, whom in complaints.items() for of in whom)


@pytest.mark.parametrize(
    ("sharing", "liars"),
    [
        (PairwiseMasks(25, dropouts=5, colluders=5), (10, 11, 12)),
        (PairwiseMasks(30, dropouts=6, colluders=4), (17, 18, 19, 20)),
    ],
    ids=named,
)
def test_wrong_shares_wherever_their_senders_stand(sharing: PairwiseMasks, liars: tuple[int, ...]) -> None:
    """Enough right shares are found among all, and not only among the first ones."""
    crowd = Crowd(sharing)
    coordinator = crowd.play({i: (Kind.REVEAL, reveals(bytes(32) + b"\7")) for i in liars})

    check_sum(crowd)
    assert set(coordinator.unusable) <= set(liars)
