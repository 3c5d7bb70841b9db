"""A whole session with fixed identities and seeds: the play that the vectors hold, line by line."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from murmure.secure.coordinator import Coordinator
from murmure.secure.identity import Card, Identity
from murmure.secure.party import Party
from murmure.secure.ring import RingEncoder
from murmure.secure.session import Session
from murmure.secure.sharing import PairwiseMasks

PARTIES = 4
VALUES = [[1, -5, 2**40], [2, 7, 0], [3, 0, -(2**40)], [100, 100, 100]]


def fixed(label: str, i: int = 0) -> bytes:
    """32 bytes that are no secret."""
    return f"{label} {i}".encode().ljust(32, b".")


def identity(i: int) -> Identity:
    return Identity.from_bytes(fixed("identity", i))


def session(trust: str = "curious", **changed: Any) -> Session:
    head = Identity.from_bytes(fixed("coordinator"))
    held: dict[str, Any] = dict(
        study=fixed("study"),
        round=1,
        query=fixed("query"),
        roster=tuple(identity(i).card(f"party {i}") for i in range(PARTIES)),
        coordinator=Card("coordinator", head.public),
        sharing=PairwiseMasks(PARTIES, dropouts=1, coordinator=trust),  # type: ignore[arg-type]
        encoder=RingEncoder(3, 2**41, PARTIES),
        members=tuple(range(PARTIES)),
    )
    return Session(**(held | changed))


@dataclass
class Play:
    """Machines with fixed seeds, and every message that passed between them: (who is addressed, bytes)."""

    trust: str = "curious"
    vanishes: tuple[int, ...] = (3,)  # after having shared
    changed: dict[str, Any] = field(default_factory=dict)
    lines: list[tuple[str, bytes]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.session = session(self.trust, **self.changed)
        self.coordinator = Coordinator(self.session, Identity.from_bytes(fixed("coordinator")))
        self.parties = [Party(self.session, identity(i), i, fixed("seed", i)) for i in range(PARTIES)]
        self._heard = [0] * PARTIES

    def say(self, i: int, message: bytes | None) -> None:
        if message is not None:
            self.lines.append(("coordinator", message))
            self.coordinator.receive(message)

    def listen(self, i: int) -> bytes | None:
        """The party hears what is new; its last answer."""
        answer = None
        box = self.coordinator.inbox(i)
        for message in box[self._heard[i] :]:
            self.lines.append((f"party {i}", message))
            answer = self.parties[i].receive(message)
        self._heard[i] = len(box)
        return answer

    def until(self, stage: str) -> Play:
        """Play on until the coordinator stands at this stage."""
        while self.coordinator.stage != stage:
            self.step()
        return self

    def step(self) -> None:
        """Everybody answers, and the coordinator closes."""
        self.answer()
        self.coordinator.close()

    def answer(self) -> None:
        now = self.coordinator.stage
        for i in sorted(self.coordinator.expected):
            if now == "keys":
                self.say(i, self.parties[i].keys())
                continue
            answer = self.listen(i)
            if now not in ("keys", "shares", "opened") and i in self.vanishes:
                continue
            if self.parties[i].stage == "vector":
                answer = self.parties[i].mask(VALUES[i])
            elif self.parties[i].stage == "reveal":
                answer = self.parties[i].reveal()
            self.say(i, answer)

    def finish(self) -> Play:
        self.until("done")
        for i in self.coordinator.cohort:
            self.listen(i)
        return self
