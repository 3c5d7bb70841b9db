"""The coordinator: collects what parties say, freezes each stage, and learns the sum over the survivors.

The same messages in the same order, closed at the same moments, give the same bytes: what is stored can start again.
"""

from __future__ import annotations

import hashlib
from typing import Literal

import numpy as np

from murmure.secure.disputes import excluded_parties
from murmure.secure.errors import (
    BadMessage,
    Declined,
    Equivocation,
    OutOfOrder,
    ProtocolRefused,
    RosterDiffers,
    TooFewParties,
)
from murmure.secure.identity import Identity
from murmure.secure.joined import JoinedParties, check_minimum
from murmure.secure.messages import (
    FROM_COORDINATOR,
    SECRET_BYTES,
    SIGNATURE_BYTES,
    AliveBody,
    KeysBody,
    Kind,
    MaskedBody,
    Message,
    ResultBody,
    RevealBody,
    SealedBody,
    pack_parties,
    pack_signatures,
    parse_message,
    parse_parties,
    sign_message,
)
from murmure.secure.party import KEY, SELF_MASK
from murmure.secure.session import Session
from murmure.secure.unmasking import Unmasking

Stage = Literal["keys", "shares", "opened", "vectors", "agree", "reveal", "done", "failed"]
KIND_OF_STAGE = {
    "keys": Kind.KEYS,
    "shares": Kind.SHARES,
    "opened": Kind.OPENED,
    "vectors": Kind.MASKED,
    "agree": Kind.AGREE,
    "reveal": Kind.REVEAL,
}
P = (1 << 255) - 19
SMALL_ORDER = {  # points of Curve25519, and of its twist, with which every secret is the same; the last two are 0 and 1
    u.to_bytes(32, "little")
    for u in (
        0,
        1,
        325606250916557431795983626356110631294008115727848805560023387167927233504,
        39382357235489614581723060781553021112529911719440698176882885853963445705823,
        P - 1,
        P,
        P + 1,
    )
}
WORDS = {
    "keys": "joined",
    "shares": "shared their secrets",
    "opened": "could open each other's shares",
    "vectors": "sent their vectors",
}


class Coordinator:
    """One session, from keys to the sum."""

    def __init__(self, session: Session, identity: Identity) -> None:
        if identity.public != session.coordinator.key:
            raise RosterDiffers("this identity is not the coordinator that the study names.")
        self.session, self.identity = session, identity
        self.stage: Stage = "keys"
        self.expected: frozenset[int] = frozenset(session.members)
        self.refused: set[int] = set()
        self.unusable: dict[int, str] = {}  # who sent what cannot be used, and what that was
        self.ended: str | None = None
        self._said: dict[Kind, dict[int, bytes]] = {
            kind: {} for kind in (*KIND_OF_STAGE.values(), Kind.REFUSE)
        }  # hashes
        self._now: dict[int, Message] = {}  # messages of this stage
        self._wrong_kind: dict[int, Kind] = {}  # of the message for which a party is in `unusable`
        self._inbox: dict[int, list[bytes]] = {place: [] for place in session.members}
        self._left: set[int] = set()  # who was told that it goes on without them
        self._ends: dict[str, bytes] = {}
        self._keys: set[bytes] = set()
        self._joined: JoinedParties | None = None
        self._sealed: dict[int, dict[int, bytes]] = {}
        self._unopened: dict[int, tuple[int, ...]] = {}  # by whom: whose boxes
        self._shared: tuple[int, ...] = ()
        self._told = b""  # what parties sign with their vectors
        self._masked_for: dict[int, bytes] = {}  # their signatures
        self._lists: AliveBody | None = None
        self._sum = np.zeros(session.encoder.words, np.uint64)
        self._revealed: dict[int, RevealBody] = {}
        self._result: list[int] | None = None

    def __repr__(self) -> str:
        return f"Coordinator(round {self.session.round}, stage {self.stage!r}, {len(self.waiting)} awaited)"

    # -- where it stands ----------------------------------------------------------------------------------------------

    @property
    def received(self) -> frozenset[int]:
        """Who has said what this stage asks for."""
        return frozenset(self._said[KIND_OF_STAGE[self.stage]]) if self.stage in KIND_OF_STAGE else frozenset()

    @property
    def waiting(self) -> frozenset[int]:
        """Of whom nothing came yet, and may."""
        if self.stage not in KIND_OF_STAGE:
            return frozenset()
        return self.expected - self.received - self.refused - set(self.unusable)

    @property
    def gone(self) -> frozenset[int]:
        """Who refused, did not come in time, sent what cannot be used, or is left out since boxes did not open."""
        here = self.expected - self.refused - set(self.unusable) - set(self._disputed())
        return frozenset(self.session.members) - here

    @property
    def can_close(self) -> bool:
        try:
            self._check_enough()
        except (Declined, OutOfOrder, TooFewParties):
            return False
        return True

    @property
    def result(self) -> list[int]:
        if self._result is None:
            raise OutOfOrder(f"there is no sum at stage {self.stage!r}.")
        return self._result

    @property
    def cohort(self) -> tuple[int, ...]:
        """Over whom the sum runs; frozen when the vectors were closed."""
        if self._lists is None:
            raise OutOfOrder(f"the cohort is not frozen at stage {self.stage!r}.")
        return self._lists.alive

    def inbox(self, place: int) -> list[bytes]:
        """All that was said to this party so far, in order."""
        return list(self._inbox[place])

    # -- what it hears ------------------------------------------------------------------------------------------------

    def receive(self, raw: bytes) -> int:
        """A party's message: checked, and kept. Returns who sent it; the same bytes again change nothing."""
        message = parse_message(raw)
        if message.sender not in self._inbox:
            raise RosterDiffers("the sender is not in the roster of this round.")
        card = self.session.roster[message.sender]
        message.check(self.session.digest, card)
        if message.kind not in self._said:
            raise BadMessage(f"a coordinator takes no {message.kind.name} message here.")
        said, digest = self._said[message.kind], hashlib.sha256(raw).digest()
        if message.sender in said:
            if said[message.sender] == digest:
                return message.sender
            raise Equivocation(f"{card.name} sent a second {message.kind.name} message, and another one.")
        if self.stage in ("done", "failed"):
            raise OutOfOrder(f"the session is over ({self.ended or 'the sum is known'}).")
        if message.kind is Kind.REFUSE:
            self.refused.add(message.sender)
        elif message.sender in self.refused:
            raise OutOfOrder(f"{card.name} refused, and is not heard any more in this session.")
        elif message.kind is not KIND_OF_STAGE[self.stage]:
            raise OutOfOrder(f"a {message.kind.name} message of {card.name} came at stage {self.stage!r}.")
        elif message.sender not in self.expected:
            raise OutOfOrder(f"{card.name} came too late: the others went on without.")
        else:
            self._check_copied(message)
            try:
                self._listen(message)
            except (BadMessage, RosterDiffers) as error:
                # signed by its sender, for this session: nobody else can have made it, and nobody waits for the sender
                self.unusable[message.sender] = str(error).splitlines()[0]
                self._wrong_kind[message.sender] = message.kind
                raise
            if self._wrong_kind.get(message.sender) is message.kind:  # a right one after a wrong one: all is well
                del self.unusable[message.sender], self._wrong_kind[message.sender]
        said[message.sender] = digest
        return message.sender

    def _check_copied(self, message: Message) -> None:
        """Two parties with one key: it is not known who copied it, so the second is refused and nobody is blamed."""
        if message.kind is Kind.KEYS and self._keys & {
            message.body[:SECRET_BYTES],
            message.body[SECRET_BYTES : 2 * SECRET_BYTES],
        }:
            raise RosterDiffers(f"{self._name(message.sender)} sent session keys that somebody has already.")

    def _listen(self, message: Message) -> None:
        place = message.sender
        match message.kind:
            case Kind.KEYS:
                mine = KeysBody.of(message)
                if mine.mask == mine.box:
                    raise RosterDiffers(f"{self._name(place)} sent one session key twice.")
                if SMALL_ORDER & {mine.mask, mine.box}:  # they would stop every neighbour
                    raise BadMessage(f"the session key of {self._name(place)} is no key.")
                self._keys |= {mine.mask, mine.box}
                self._now[place] = message
            case Kind.SHARES:
                assert self._joined is not None
                sealed = SealedBody.of(message)
                if sealed.places != self._joined.neighbours(place):
                    raise RosterDiffers(f"{self._name(place)} sealed shares for others than its neighbours.")
                self._sealed[place] = dict(zip(sealed.places, sealed.boxes, strict=True))
            case Kind.OPENED:
                assert self._joined is not None
                unopened = parse_parties(message)
                if not set(unopened) <= set(self._joined.neighbours(place)) & self.expected:
                    raise RosterDiffers(f"{self._name(place)} complains of shares that were not sealed for it.")
                self._unopened[place] = unopened
            case Kind.MASKED:
                assert self._joined is not None
                if len(message.body) != 8 * self.session.encoder.words + SIGNATURE_BYTES:
                    raise BadMessage(
                        f"the vector of {self._name(place)} does not have {self.session.encoder.words} words."
                    )
                masked = MaskedBody.of(message, self.session.encoder.words)
                # it would stop every neighbour
                if not self._joined.signed(Kind.MASKED_FOR, place, self._told, masked.signature):
                    raise RosterDiffers(f"{self._name(place)} masked its vector for others than those who shared.")
                self._masked_for[place] = masked.signature
                self.session.encoder.ring.add(self._sum, masked.words)
            case Kind.AGREE:
                assert self._joined is not None and self._lists is not None
                if message.body != self._joined.agreement(self._shared, self._lists):
                    raise RosterDiffers(f"{self._name(place)} signed other lists than those it was sent.")
                self._now[place] = message
            case _:
                reveal = RevealBody.of(message)
                self._check_reveal(place, reveal)
                self._revealed[place] = reveal

    def _check_reveal(self, place: int, reveal: RevealBody) -> None:
        assert self._joined is not None and self._lists is not None
        shared, alive = set(self._shared), set(self._lists.alive)
        wanted = [other for other in self._joined.holders(place) if other in shared]  # holding is mutual
        whats = [SELF_MASK if other in alive else KEY for other in wanted]
        if reveal.places != tuple(wanted) or [what for what, _ in reveal.shares] != whats:
            raise RosterDiffers(f"{self._name(place)} revealed other shares than it was asked for.")

    def _name(self, place: int) -> str:
        return self.session.roster[place].name

    # -- what it freezes ----------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Freeze this stage with those who answered, and go on; or fail, when they are too few."""
        if self.stage not in KIND_OF_STAGE:
            raise OutOfOrder(f"there is nothing to close at stage {self.stage!r}.")
        self._note_disputes()
        try:
            self._check_enough()
            match self.stage:
                case "keys":
                    self._close_keys()
                case "shares":
                    self._close_shares()
                case "opened":
                    self._close_opened()
                case "vectors":
                    self._close_vectors()
                case "agree":
                    self._close_agree()
                case _:
                    self._close_reveal()
        except ProtocolRefused as error:
            self.end(type(error).__name__)
            raise
        if self.stage in KIND_OF_STAGE:
            self._now = {}

    def end(self, reason: str) -> None:
        """Nothing more will come; every party is told."""
        if self.stage in ("done", "failed"):
            return
        self.stage, self.ended = "failed", reason
        for place in self._inbox:
            self._leave(place, reason)

    def _check_enough(self) -> None:
        if self.stage in WORDS:
            there = self.received - self.refused - set(self._disputed())
            check_minimum(self.session, len(there), WORDS[self.stage])
            return
        if self._joined is None:
            raise OutOfOrder(f"there is nothing to close at stage {self.stage!r}.")
        if self.refused & self.expected:
            # its vector is in the sum, and the others could unmask it: the refusal counts because it is heeded here
            names = ", ".join(self._name(place) for place in sorted(self.refused & self.expected))
            raise Declined(f"{names} refused after the vectors were frozen: nothing is summed.")
        if self.stage == "agree":
            quorum = self.session.sharing.quorum
            if len(self._now) < quorum:
                raise TooFewParties(
                    f"{len(self._now)} parties signed the lists, and {quorum} must.",
                    hint="nothing was revealed; start again with fresh keys when more can take part",
                )
            return
        if self.stage != "reveal":
            raise OutOfOrder(f"there is nothing to close at stage {self.stage!r}.")
        held = dict.fromkeys(self._shared, 0)
        for reveal in self._revealed.values():
            for place in reveal.places:
                held[place] += 1
        least, who = min((count, place) for place, count in held.items())
        if least < self._joined.threshold:
            raise TooFewParties(
                f"{least} shares of a secret of {self._name(who)} came back, and {self._joined.threshold} are needed.",
                hint="too many parties vanished; start again with fresh keys",
            )

    def _close_keys(self) -> None:
        # One who joined and then refused is left out before anything depends on it.
        there = sorted(self.received - self.refused)
        self._joined = JoinedParties(self.session, {place: self._now[place] for place in there})
        self._go_on("shares", there)
        self._tell_all(Kind.ROSTER, self._joined.pack())

    def _close_shares(self) -> None:
        assert self._joined is not None
        sealed = tuple(sorted(self.received - self.refused))
        self._go_on("opened", sealed)
        there = set(sealed)
        for place in sealed:
            near = tuple(other for other in self._joined.neighbours(place) if other in there)
            boxes = [self._sealed[other][place] for other in near]
            self._tell(place, Kind.DELIVERY, SealedBody(near, boxes, sealed).pack(delivery=True))
        self._sealed = {}

    def _disputed(self) -> dict[int, tuple[int, ...]]:
        """Who is left out since boxes did not open, and with whom each was at odds."""
        return excluded_parties(self._unopened, self.received - self.refused) if self.stage == "opened" else {}

    def _note_disputes(self) -> None:
        for place, others in self._disputed().items():
            by = [self._name(other) for other in others if place in self._unopened[other]]
            of = [self._name(other) for other in others if other in self._unopened[place]]
            said = [f"what it sealed did not open at {', '.join(by)}"] if by else []
            said += [f"it says that what was sealed by {', '.join(of)} did not open"] if of else []
            self.unusable[place] = "; ".join(said)

    def _close_opened(self) -> None:
        """Nobody has masked a vector yet, so whoever is left out now is in nobody's masks."""
        assert self._joined is not None
        self._shared = tuple(sorted(self.received - self.refused - set(self._disputed())))
        self._told = self._joined.masked_for(self._shared)
        self._go_on("vectors", self._shared)
        self._tell_all(Kind.SHARED, pack_parties(self._shared))

    def _close_vectors(self) -> None:
        assert self._joined is not None
        alive = tuple(sorted(self.received))  # a vector that came counts, also of one who refuses later
        self._joined.hang_together(alive)
        dropped = tuple(sorted(set(self._shared) - set(alive)))
        self._lists = AliveBody(alive, dropped, tuple(self._masked_for[place] for place in alive))
        self._go_on("agree", alive)
        self._tell_all(Kind.ALIVE, self._lists.pack())

    def _close_agree(self) -> None:
        self._go_on("reveal", tuple(sorted(self.expected)))
        signed = sorted(self._now)[: self.session.sharing.quorum]
        self._tell_all(
            Kind.AGREED, pack_signatures({place: self._now[place].raw[-SIGNATURE_BYTES:] for place in signed})
        )

    def _close_reveal(self) -> None:
        assert self._joined is not None and self._lists is not None
        unmasking = Unmasking(self.session, self._joined, self._shared, self._lists, self._revealed)
        words = unmasking.of(self._sum)
        contradict: dict[int, list[int]] = {}
        for holder, owner in sorted(unmasking.misfits):
            contradict.setdefault(holder, []).append(owner)
        for place, others in excluded_parties(contradict, self._shared).items():
            if len(others) > 1:  # of a single pair nobody can say who was wrong
                self.unusable[place] = "shares that it dealt out or revealed do not fit; the sum was found without them"
        self._result = self.session.encoder.decode(words, len(self._lists.alive))
        self.stage = "done"
        body = ResultBody(self._lists.alive, words).pack()
        self._tell_all(Kind.RESULT, body)
        self._sum, self._revealed = words, {}

    def _go_on(self, stage: Stage, there: tuple[int, ...] | list[int]) -> None:
        self.stage, self.expected = stage, frozenset(there)
        for place in self._inbox:
            if place not in self.expected:
                self._leave(place, "the others went on without this party")

    def _tell_all(self, kind: Kind, body: bytes) -> None:
        message = self._written(kind, body)
        for place in self.expected:
            self._inbox[place].append(message)

    def _tell(self, place: int, kind: Kind, body: bytes) -> None:
        self._inbox[place].append(self._written(kind, body))

    def _written(self, kind: Kind, body: bytes) -> bytes:
        return sign_message(kind, self.session.digest, FROM_COORDINATOR, body, self.identity)

    def _leave(self, place: int, reason: str) -> None:
        if place not in self._left:
            self._left.add(place)
            if reason not in self._ends:
                self._ends[reason] = self._written(Kind.END, reason.encode())
            self._inbox[place].append(self._ends[reason])
