"""All parties and the coordinator in one process: the same machines and bytes as over a network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from murmure.core.random import fresh_key
from murmure.secure.coordinator import Coordinator
from murmure.secure.identity import Card, Identity
from murmure.secure.party import Party
from murmure.secure.ring import RingEncoder
from murmure.secure.session import Session, digest_of
from murmure.secure.sharing import PairwiseMasks

Stage = Literal["keys", "shares", "opened", "vectors", "agree", "reveal"]


@dataclass(frozen=True)
class SessionResult:
    """The exact sum, the parties that are in it, and how many bytes each party sent."""

    result: list[int]
    cohort: tuple[int, ...]
    sent: Mapping[int, int]


def session_in_process(
    sharing: PairwiseMasks, encoder: RingEncoder, query: bytes = bytes(32)
) -> tuple[Session, Identity, list[Identity]]:
    """A session with fresh identities: of the coordinator, and of the parties."""
    identities = [Identity.fresh() for _ in range(sharing.parties)]
    roster = tuple(Card(f"party {i + 1}", identity.public) for i, identity in enumerate(identities))
    of_coordinator = Identity.fresh()
    study = digest_of(b"murmure in process", of_coordinator.public)
    everybody, card = tuple(range(sharing.parties)), of_coordinator.card("coordinator")
    return Session(study, 1, query, roster, card, sharing, encoder, everybody), of_coordinator, identities


def sum_in_process(
    sharing: PairwiseMasks,
    encoder: RingEncoder,
    vectors: Sequence[Any],
    vanish: Mapping[int, Stage] | None = None,
    query: bytes = bytes(32),
    noisy: bool = False,
) -> SessionResult:
    """The sum of `vectors`, one for each party, by the protocol.

    vanish: who stops sending, and the stage whose message is the first that is missing.
    """
    vanish = vanish or {}
    session, of_coordinator, identities = session_in_process(sharing, encoder, query)
    coordinator = Coordinator(session, of_coordinator)
    parties = [Party(session, identity, i, fresh_key()) for i, identity in enumerate(identities)]
    delivered = dict.fromkeys(range(len(parties)), 0)  # messages, by party
    sent = dict.fromkeys(range(len(parties)), 0)
    order = get_args(Stage)

    outbox: list[bytes] = []

    def send(i: int, message: bytes) -> None:
        sent[i] += len(message)
        outbox.append(message)

    def close() -> None:
        for examined in coordinator.examine(outbox):
            coordinator.take(examined)
        outbox.clear()
        coordinator.close()

    def has_vanished(i: int, stage: str) -> bool:
        return i in vanish and order.index(stage) >= order.index(vanish[i])

    for i, party in enumerate(parties):
        if not has_vanished(i, "keys"):
            send(i, party.keys())
    close()
    while coordinator.stage != "done":
        stage = coordinator.stage
        for i in sorted(coordinator.expected):
            party, inbox = parties[i], coordinator.inbox(i)
            answers = [party.receive(message) for message in inbox[delivered[i] :]]
            delivered[i] = len(inbox)
            if has_vanished(i, stage):
                continue
            if party.stage == "vector":
                send(i, party.mask(vectors[i], noisy))
            elif party.stage == "reveal":
                send(i, party.reveal())
            else:
                for answer in answers:
                    if answer is not None:
                        send(i, answer)
        close()
    return SessionResult(coordinator.result, coordinator.cohort, sent)
