"""All parties and the coordinator in one process: the same machines and bytes as over a network, passed by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from murmure.core.random import fresh_key
from murmure.secure.coordinator import Coordinator
from murmure.secure.identity import Card, Identity
from murmure.secure.party import Party
from murmure.secure.ring import RingEncoder
from murmure.secure.session import Session, digest_of
from murmure.secure.sharing import PairwiseMasks

Vanish = Literal[
    "keys", "shares", "opened", "vectors", "agree", "reveal"
]  # the message of this stage is not sent any more


@dataclass(frozen=True)
class SessionResult:
    """The exact sum, over whom, and what each sent."""

    result: list[int]
    cohort: tuple[int, ...]
    sent: Mapping[int, int]  # bytes


def session_in_process(
    sharing: PairwiseMasks, encoder: RingEncoder, query: bytes = bytes(32)
) -> tuple[Session, Identity, list[Identity]]:
    """Fresh identities for everybody."""
    identities = [Identity.fresh() for _ in range(sharing.parties)]
    roster = tuple(Card(f"party {i + 1}", identity.public) for i, identity in enumerate(identities))
    head = Identity.fresh()
    study = digest_of(b"murmure in process", head.public)
    everybody = tuple(range(sharing.parties))
    return Session(study, 1, query, roster, head.card("coordinator"), sharing, encoder, everybody), head, identities


def sum_in_process(
    sharing: PairwiseMasks,
    encoder: RingEncoder,
    vectors: Sequence[Any],
    vanish: Mapping[int, Vanish] | None = None,
    query: bytes = bytes(32),
    noisy: bool = False,
) -> SessionResult:
    """The sum of `vectors`, one for each party, by the protocol; `vanish` says who stops answering, and when."""
    vanish = vanish or {}
    session, head, identities = session_in_process(sharing, encoder, query)
    coordinator = Coordinator(session, head)
    parties = [Party(session, identity, i, fresh_key()) for i, identity in enumerate(identities)]
    heard = dict.fromkeys(range(len(parties)), 0)
    sent = dict.fromkeys(range(len(parties)), 0)

    def say(i: int, message: bytes) -> None:
        sent[i] += len(message)
        coordinator.receive(message)

    def gone(i: int, stage: str) -> bool:
        order = ("keys", "shares", "opened", "vectors", "agree", "reveal", "done")
        return i in vanish and order.index(stage) >= order.index(vanish[i])

    for i, party in enumerate(parties):
        if not gone(i, "keys"):
            say(i, party.keys())
    coordinator.close()
    while coordinator.stage != "done":
        stage = coordinator.stage
        for i in sorted(coordinator.expected):
            party, box = parties[i], coordinator.inbox(i)
            answers = [party.hear(message) for message in box[heard[i] :]]
            heard[i] = len(box)
            if gone(i, stage):
                continue
            if party.stage == "vector":
                say(i, party.mask(vectors[i], noisy))
            elif party.stage == "reveal":
                say(i, party.reveal())
            else:
                for answer in answers:
                    if answer is not None:
                        say(i, answer)
        coordinator.close()
    return SessionResult(coordinator.result, coordinator.cohort, sent)
