"""The machines through a network that loses, repeats, cuts, changes, swaps and holds back what it carries.

Parties and the coordinator are killed between any two messages and come back from what they wrote down, or, of the
parties, never. Every run is made from its seed. It ends in the exact sum over the survivors or in a refusal that has a
name; it never ends in a wrong number, and it always ends.
"""

from __future__ import annotations

import contextlib
import random
from collections import Counter, defaultdict
from dataclasses import dataclass, field

import pytest

from murmure.secure import messages
from murmure.secure.coordinator import Coordinator
from murmure.secure.errors import OutOfOrder, ProtocolRefused, TooFewParties
from murmure.secure.identity import Identity
from murmure.secure.messages import Kind
from murmure.secure.party import Party
from murmure.secure.ring import RingEncoder
from murmure.secure.session import Session
from murmure.secure.sharing import PairwiseMasks

MOST_STEPS = 20_000  # of one run; they take a few hundred
PATIENCE = 120  # steps that a stage waits


@dataclass
class Member:
    """A party's process: what it wrote down outlives a kill, the machine does not."""

    index: int
    identity: Identity
    seed: bytes
    values: list[int]
    gone_after: int | None  # so many messages heard it vanishes for good, its last answers posted or not
    refuses_after: int | None
    heard: list[bytes] = field(default_factory=list)
    sent: dict[Kind, bytes] = field(default_factory=dict)
    unacknowledged: list[bytes] = field(default_factory=list)
    machine: Party | None = None
    over: str | None = None  # why it does nothing more


class World:
    def __init__(self, seed: int) -> None:
        self.rng = rng = random.Random(seed)
        trust = rng.choice(["curious", "curious", "lying"])
        self.parties = parties = rng.randint(3, 9) if rng.random() < 0.95 else 40
        # forty on a sparse graph: six or ten neighbours each
        dropouts = rng.randint(2, 4) if parties == 40 else None
        sharing = PairwiseMasks(parties, dropouts, coordinator=trust)  # type: ignore[arg-type]
        bound = rng.choice([1, 1 << 30, 1 << 70])
        self.mine = self.identity()
        identities = [self.identity() for _ in range(parties)]
        self.session = Session(
            study=rng.randbytes(32),
            round=1,
            query=rng.randbytes(32),
            roster=tuple(one.card(f"party {i}") for i, one in enumerate(identities)),
            coordinator=self.mine.card("coordinator"),
            sharing=sharing,
            encoder=RingEncoder(3, bound, parties),
            members=tuple(range(parties)),
        )
        weather = rng.choice([0.0, 0.1, 0.3])  # how often something is damaged, lost or killed
        self.damage, self.kill, self.patience = weather, weather / 4, PATIENCE * max(1, parties // 8)
        vanish = rng.choice([0.0, 0.05, 0.2, 0.5])  # how likely each party is to go for good
        self.members = [
            Member(
                i,
                identities[i],
                rng.randbytes(32),
                [rng.randint(-bound, bound) for _ in range(3)],
                gone_after=rng.randrange(5) if rng.random() < vanish else None,
                refuses_after=rng.randrange(5) if rng.random() < 0.03 else None,
            )
            for i in range(parties)
        ]
        self.events: list[bytes | None] = []  # what the coordinator wrote down; None: a stage was closed
        self.flying: list[tuple[int, bytes, bool]] = []
        self.said: dict[tuple[int, Kind], set[bytes]] = defaultdict(set)  # by every life of a party
        self.refusals: Counter[str] = Counter()
        self.coordinator = Coordinator(self.session, self.mine)
        self.waited = 0
        self.ended: str | None = None

    def identity(self) -> Identity:
        return Identity.from_bytes(self.rng.randbytes(32))

    # -- a party ------------------------------------------------------------------------------------------------------

    def wake(self, member: Member) -> Party:
        """The machine as it was, from what was written down: the same bytes come out again."""
        machine = Party(self.session, member.identity, member.index, member.seed)
        member.machine = machine
        self.say(member, Kind.KEYS, machine.keys())
        for message in list(member.heard):
            self.step(member, message)
        return machine

    def say(self, member: Member, kind: Kind, message: bytes) -> None:
        """Written down first; what was said in an earlier life is said again, byte for byte."""
        self.said[member.index, kind].add(message)
        if kind not in member.sent:
            member.sent[kind] = message
            member.unacknowledged.append(message)
        assert member.sent[kind] == message, f"party {member.index} says another {kind.name} after a restart"

    def step(self, member: Member, message: bytes) -> None:
        machine = member.machine
        assert machine is not None
        answer = machine.receive(message)
        if answer is not None:
            self.say(member, messages.parse_message(answer).kind, answer)
        if machine.stage == "vector":
            if Kind.MASKED in member.sent:
                machine.resume(member.sent[Kind.MASKED])
            else:
                self.say(member, Kind.MASKED, machine.mask(member.values))
        if machine.stage == "reveal":
            self.say(member, Kind.REVEAL, machine.reveal())

    def tell(self, member: Member, message: bytes) -> None:
        """One message of the inbox, perhaps after a damaged copy, one too early or one too late."""
        machine = member.machine
        assert machine is not None
        if self.rng.random() < self.damage:
            before = machine.stage
            with pytest.raises(ProtocolRefused):
                machine.receive(self.damaged(message))
            assert machine.stage == before, "a damaged message moved a party"
        if member.heard and self.rng.random() < self.damage:
            before = machine.stage
            try:
                again = machine.receive(self.rng.choice(member.heard))
            except ProtocolRefused:
                again = None
            assert again is None or again in member.sent.values(), "another answer to the same message"
            assert machine.stage == before, "a message heard twice moved a party"
        if self.rng.random() < self.kill:  # killed when it had worked and written nothing down
            kept = dict(member.sent), list(member.unacknowledged)
            with contextlib.suppress(ProtocolRefused):
                self.step(member, message)
            (member.sent, member.unacknowledged), member.machine = kept, None
            return
        member.heard.append(message)
        try:
            self.step(member, message)
        except ProtocolRefused as refused:
            member.over = type(refused).__name__
            self.refusals[member.over] += 1
            return
        if machine.stage in ("done", "failed"):
            member.over = machine.stage

    def damaged(self, message: bytes) -> bytes:
        """Cut short, one bit changed, or something added."""
        how = self.rng.randrange(3)
        if how == 0:
            return message[: self.rng.randrange(len(message))]
        if how == 1:
            place = self.rng.randrange(len(message))
            return message[:place] + bytes([message[place] ^ 1 << self.rng.randrange(8)]) + message[place + 1 :]
        return message + self.rng.randbytes(self.rng.randint(1, 9))

    def life_of(self, member: Member) -> None:
        """Something that a party does, if it is there."""
        rng = self.rng
        if member.over:
            return
        if member.machine is None:
            self.wake(member)
            return
        if member.gone_after is not None and len(member.heard) >= member.gone_after:
            if rng.random() < 0.5:
                self.flying += [(member.index, message, False) for message in member.unacknowledged]
            member.over, member.machine = "gone", None
            return
        if member.refuses_after is not None and len(member.heard) >= member.refuses_after:
            self.flying.append((member.index, member.machine.refuse(), False))
            member.over = "refuses"
            return
        if rng.random() < self.kill:
            member.machine = None
            return
        for message in member.unacknowledged:  # posted again until the coordinator says that it has it
            if rng.random() < self.damage:
                self.flying.append((member.index, self.damaged(message), True))
            for _ in range(rng.choice([1, 1, 1, 2])):
                self.flying.append((member.index, message, False))
        inbox = self.coordinator.inbox(member.index)
        assert [bytes(m) for m in inbox[: len(member.heard)]] == member.heard, "the inbox has changed"
        for message in inbox[len(member.heard) :]:
            if member.over or not member.machine or rng.random() < self.damage:  # the answer is lost on its way
                return
            self.tell(member, message)

    # -- the coordinator ----------------------------------------------------------------------------------------------

    def restart(self) -> None:
        """The same machine from the events; it must have the same inboxes."""
        before = self.coordinator
        self.replay()
        assert self.coordinator.stage == before.stage
        for i in range(self.parties):
            assert self.coordinator.inbox(i) == before.inbox(i), "another inbox after a restart"

    def replay(self) -> None:
        self.coordinator = Coordinator(self.session, self.mine)
        for i, event in enumerate(self.events):
            if event is not None:
                self.coordinator.receive(event)
                continue
            try:
                self.coordinator.close()
            except ProtocolRefused:
                assert None not in self.events[i + 1 :]

    def arrive(self) -> None:
        sender, message, is_damaged = self.flying.pop(self.rng.randrange(len(self.flying)))
        stage = self.coordinator.stage
        try:
            assert self.coordinator.receive(message) == sender
        except ProtocolRefused as refused:
            if not is_damaged:
                assert isinstance(refused, OutOfOrder), f"{refused!r} of an honest party's message"
            self.refusals[type(refused).__name__] += 1
            assert self.coordinator.stage == stage
            accepted = isinstance(refused, OutOfOrder)  # too late: it need not be posted again
        else:
            assert not is_damaged, "a damaged message was taken"
            if self.rng.random() < self.kill:  # killed when it had worked and written nothing down
                self.replay()
                return
            self.events.append(message)
            accepted = True
        waiting = self.members[sender].unacknowledged
        if accepted and message in waiting and self.rng.random() >= self.damage:  # else the answer is lost
            waiting.remove(message)

    def tick(self) -> None:
        """The runner: closes a stage when nobody is waited for, or when it has waited long enough."""
        if self.coordinator.stage in ("done", "failed"):
            return
        self.waited += 1
        if self.coordinator.waiting and self.waited < self.patience:
            return
        self.waited = 0
        could, stage = self.coordinator.can_close, self.coordinator.stage
        self.events.append(None)
        try:
            self.coordinator.close()
        except ProtocolRefused as refused:
            self.ended = type(refused).__name__
            assert self.coordinator.stage == "failed", f"{refused!r} at {stage}, which it survived"
            assert not (could and isinstance(refused, TooFewParties))
        else:
            assert could, f"closed {stage}, though it could not"
            assert self.coordinator.stage != stage

    # -- a run --------------------------------------------------------------------------------------------------------

    def run(self) -> str:
        for _ in range(MOST_STEPS):
            over = self.coordinator.stage in ("done", "failed")
            if over and all(m.over for m in self.members) and not self.flying:
                return self.verdict()
            if self.rng.random() < self.kill / 5:
                self.restart()
            if self.flying and self.rng.random() < 0.7:
                self.arrive()
            else:
                self.life_of(self.rng.choice(self.members))
            self.tick()
        raise AssertionError(f"no end: {self.coordinator.stage}, waiting for {self.coordinator.waiting}")

    def verdict(self) -> str:
        for (index, kind), said in self.said.items():
            assert len(said) == 1, f"party {index} said two different things as {kind.name}"
        self.never_both()
        if self.coordinator.stage == "failed":
            refuse = any(member.over == "refuses" for member in self.members)
            assert self.ended in {"TooFewParties", *["Declined"] * refuse}, f"{self.ended} among honest parties"
            assert not any(m.over == "done" for m in self.members)
            return self.ended
        cohort = self.coordinator.cohort
        assert len(cohort) >= self.session.sharing.minimum
        true = [sum(column) for column in zip(*(self.members[i].values for i in cohort), strict=True)]
        assert self.coordinator.result == true
        for member in self.members:
            if member.over == "done":
                assert member.machine is not None and member.machine.result == true
        return "sum"

    def never_both(self) -> None:
        """Of nobody were shares of both secrets let go."""
        what = defaultdict(set)
        for (_, kind), said in self.said.items():
            for message in said if kind is Kind.REVEAL else ():
                reveal = messages.RevealBody.parse(messages.parse_message(message))
                for place, (which, _) in zip(reveal.places, reveal.shares, strict=True):
                    what[place].add(which)
        assert all(len(kinds) == 1 for kinds in what.values())


def outcomes(seeds: range) -> Counter[str]:
    """How many runs ended how; a failure names its seed."""
    ends: Counter[str] = Counter()
    for seed in seeds:
        try:
            ends[World(seed).run()] += 1
        except BaseException as error:
            error.add_note(f"in the run of seed {seed}")
            raise
    return ends


def test_every_run_ends_in_the_exact_sum_or_in_a_named_refusal() -> None:
    """Seeds 0 to 59; the sums are in the majority, and both ends occur."""
    ends = outcomes(range(60))
    assert ends["sum"] > 30
    assert ends["TooFewParties"] > 0
    assert sum(ends.values()) == 60


@pytest.mark.slow
def test_a_thousand_runs_end_in_the_exact_sum_or_in_a_named_refusal() -> None:
    """Seeds 1,000 to 1,999."""
    assert sum(outcomes(range(1_000, 2_000)).values()) == 1_000


if __name__ == "__main__":
    import sys

    print(dict(outcomes(range(int(sys.argv[1]), int(sys.argv[2])))))
