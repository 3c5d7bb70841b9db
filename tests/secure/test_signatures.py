"""Messages that came together are examined together, and treated as if each had come alone."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from tests.secure.play import VALUES, Play, fixed, identity

from murmure.secure.coordinator import Coordinator
from murmure.secure.errors import ForgedMessage, ProtocolRefused, RosterDiffers
from murmure.secure.identity import Identity
from murmure.secure.messages import SIGNATURE_BYTES, Kind, Message, parse_message, sign_message
from murmure.secure.signatures import MIN_SHARED, Claim, on_two_threads, which_hold


def claims(n: int) -> list[Claim]:
    text = fixed("text")
    return [Claim(identity(i).card(f"party {i}"), text, identity(i).sign(text)) for i in range(n)]


@pytest.mark.parametrize("n", [0, 1, MIN_SHARED - 1, MIN_SHARED, 7])
def test_each_claim_is_judged_for_itself(n: int) -> None:
    good = claims(n)
    assert which_hold(good) == [True] * n
    for wrong in range(n):
        told = list(good)
        told[wrong] = good[wrong]._replace(text=fixed("another text"))

        assert which_hold(told) == [i != wrong for i in range(n)]


def test_a_key_that_is_none_holds_nothing() -> None:
    (claim,) = claims(1)
    assert not claim._replace(signature=b"").holds()
    assert not claim._replace(signature=bytes(SIGNATURE_BYTES)).holds()


def test_the_work_is_shared_by_two_threads_and_keeps_its_order() -> None:
    by: set[int] = set()
    meet = threading.Barrier(2, timeout=30)

    def work(i: int) -> int:
        if i in (0, 9):
            meet.wait()  # each half waits here for the other
        by.add(threading.get_ident())
        return -i

    assert on_two_threads(work, range(10)) == [-i for i in range(10)]
    assert len(by) == 2


@pytest.mark.parametrize("where", [0, 9])
def test_an_error_in_either_half_is_raised(where: int) -> None:
    def work(i: int) -> int:
        if i == where:
            raise ZeroDivisionError
        return i

    with pytest.raises(ZeroDivisionError):
        on_two_threads(work, range(10))


# -- a coordinator ----------------------------------------------------------------------------------------------------


def one_by_one(coordinator: Coordinator, raws: list[bytes]) -> list[str]:
    return [outcome(lambda raw=raw: coordinator.receive(raw)) for raw in raws]  # type: ignore[misc]


def together(coordinator: Coordinator, raws: list[bytes]) -> list[str]:
    return [outcome(lambda one=one: coordinator.take(one)) for one in coordinator.examine(raws)]  # type: ignore[misc]


def outcome(call: Callable[[], object]) -> str:
    try:
        return str(call())
    except ProtocolRefused as error:
        return f"{type(error).__name__}: {error}"


def spoiled(play: Play, raws: list[bytes]) -> list[bytes]:
    """What parties say at this stage, and everything that can be wrong with it, before it and after it."""
    first = parse_message(raws[0])
    other = identity(first.sender)
    forged = raws[1][:-1] + bytes([raws[1][-1] ^ 1])
    signed_by_another = sign_message(first.kind, first.session, first.sender + 1, first.body, other)
    elsewhere = sign_message(first.kind, fixed("elsewhere"), first.sender, first.body, other)
    stranger = sign_message(first.kind, first.session, 99, first.body, other)
    of_another_stage = sign_message(Kind.REVEAL, first.session, first.sender, b"", other)
    unusable = sign_message(first.kind, first.session, first.sender, first.body + b".", other)
    wrong = [b"", b"nonsense", forged, signed_by_another, elsewhere, stranger, of_another_stage, unusable]
    return [*wrong, *raws, raws[0], unusable, *wrong]


@pytest.mark.parametrize("trust", ["curious", "lying"])
def test_together_is_one_by_one(trust: str) -> None:
    """The same refusals in the same words, the same blame, and the same bytes for everybody."""
    alone, joint = Play(trust), Play(trust)
    while alone.coordinator.stage != "done":
        said: list[list[bytes]] = []
        for play in (alone, joint):
            raws: list[bytes] = []
            play.say = lambda i, message, raws=raws: raws.extend([message] if message else [])  # type: ignore[method-assign, misc]
            play.answer()
            said.append(raws)
        assert said[0] == said[1] and len(said[0]) > 1
        raws = spoiled(alone, said[0])

        assert together(joint.coordinator, raws) == one_by_one(alone.coordinator, raws)
        assert joint.coordinator.unusable == alone.coordinator.unusable
        assert joint.coordinator.received == alone.coordinator.received
        for play in (alone, joint):
            play.coordinator.close()
        for i in range(len(alone.parties)):
            assert joint.coordinator.inbox(i) == alone.coordinator.inbox(i)
    assert joint.coordinator.result == alone.coordinator.result == [sum(v) for v in zip(*VALUES[:3], strict=True)]


def masked_for_others(play: Play, raw: bytes) -> bytes:
    """The same vector, with a signature of its sender under another list."""
    message = parse_message(raw)
    owner = identity(message.sender)
    inner = owner.sign(fixed("another list"))
    return sign_message(message.kind, message.session, message.sender, message.body[:-SIGNATURE_BYTES] + inner, owner)


def vectors(play: Play) -> list[bytes]:
    raws: list[bytes] = []
    play.say = lambda i, message: raws.extend([message] if message else [])  # type: ignore[method-assign]
    play.answer()
    return raws


def test_a_vector_that_is_masked_for_others_is_refused_in_a_batch() -> None:
    play = Play(vanishes=()).until("vectors")
    raws = vectors(play)
    bad = masked_for_others(play, raws[2])

    outcomes = together(play.coordinator, [raws[0], raws[1], bad, raws[3]])

    assert [text.partition(":")[0] for text in outcomes] == ["0", "1", "RosterDiffers", "3"]
    assert set(play.coordinator.unusable) == {2} and play.coordinator.received == {0, 1, 3}


@pytest.mark.parametrize("good", [True, False])
def test_a_vector_that_was_examined_too_early_is_checked_when_it_is_taken(good: bool) -> None:
    """Before the list of those who shared is frozen, nobody knows what its second signature must be under."""
    raw = vectors(Play(vanishes=()).until("vectors"))[2]
    play = Play(vanishes=()).until("opened")
    (early,) = play.coordinator.examine([raw if good else masked_for_others(play, raw)])
    assert early.refusal is None and early.masked_for is None
    play.until("vectors")
    if good:
        assert play.coordinator.take(early) == 2
    else:
        with pytest.raises(RosterDiffers, match="masked its vector for parties other"):
            play.coordinator.take(early)
    assert (2 in play.coordinator.received) == good


def test_a_forged_envelope_is_not_taken_even_if_its_inner_signature_is_good() -> None:
    """Both signatures of a vector count: a changed word keeps the inner one and breaks the outer."""
    play = Play(vanishes=()).until("vectors")
    raws = vectors(play)
    changed = raws[0][:60] + bytes([raws[0][60] ^ 1]) + raws[0][61:]

    first, *rest = play.coordinator.examine([changed, *raws])

    assert isinstance(first.refusal, ForgedMessage) and first.masked_for is True
    with pytest.raises(ForgedMessage):
        play.coordinator.take(first)
    assert [play.coordinator.take(one) for one in rest] == [0, 1, 2, 3]
    assert not play.coordinator.unusable


def test_a_roster_with_a_forged_key_is_refused_by_its_owner_s_name() -> None:
    play = Play().until("shares")
    (roster,) = play.coordinator.inbox(0)
    message = parse_message(roster)
    last = message.body[-1] ^ 1
    forged = sign_message(
        message.kind,
        message.session,
        message.sender,
        message.body[:-1] + bytes([last]),
        Identity.from_bytes(fixed("coordinator")),
    )
    assert isinstance(parse_message(forged), Message)
    with pytest.raises(ForgedMessage, match="party 3"):
        play.parties[0].receive(forged)
