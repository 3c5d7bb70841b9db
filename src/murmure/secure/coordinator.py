"""The coordinator: collects the messages of parties, freezes each stage, and learns the sum over the survivors.

The same messages in the same order, with stages closed at the same moments, give the same bytes: so a coordinator that
stores them can restart after a crash.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Literal, NamedTuple

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
    SHARE_OF_KEY,
    SHARE_OF_SELF_MASK,
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
from murmure.secure.session import Session
from murmure.secure.shamir import SECRET_BYTES
from murmure.secure.signatures import Claim, on_two_threads, which_hold
from murmure.secure.unmasking import Unmasking
from murmure.show.phrase import Phrase, Several

Stage = Literal["keys", "shares", "opened", "vectors", "agree", "reveal", "done", "failed"]
KIND_OF_STAGE = {
    "keys": Kind.KEYS,
    "shares": Kind.SHARES,
    "opened": Kind.OPENED,
    "vectors": Kind.MASKED,
    "agree": Kind.AGREE,
    "reveal": Kind.REVEAL,
}
CURVE_PRIME = (1 << 255) - 19
# Points of Curve25519, and of its twist, with which every shared secret is the same; the last two are 0 and 1.
SMALL_ORDER = {
    u.to_bytes(32, "little")
    for u in (
        0,
        1,
        325606250916557431795983626356110631294008115727848805560023387167927233504,
        39382357235489614581723060781553021112529911719440698176882885853963445705823,
        CURVE_PRIME - 1,
        CURVE_PRIME,
        CURVE_PRIME + 1,
    )
}
DEED_OF_STAGE = {
    "keys": Phrase("joined"),
    "shares": Phrase("shared their secrets"),
    "opened": Phrase("could open each other's shares"),
    "vectors": Phrase("sent their vectors"),
}


class Examined(NamedTuple):
    """A message, and what no other message changes about it: why it is refused, if its form or its signature is wrong.

    masked_for: of a vector, whether its sender has signed for whom it is masked; None: not known yet.
    """

    message: Message | None
    refusal: ProtocolRefused | None
    masked_for: bool | None


class Coordinator:
    """One session, from keys to the sum."""

    def __init__(self, session: Session, identity: Identity) -> None:
        if identity.public != session.coordinator.key:
            raise RosterDiffers("this identity is not the coordinator that the study names.")
        self.session, self.identity = session, identity
        self.stage: Stage = "keys"
        self.expected: frozenset[int] = frozenset(session.members)
        self.refused: set[int] = set()
        self.unusable: dict[int, str] = {}  # place of a party whose message cannot be used: the reason
        self.ended: str | None = None
        # hashes of accepted messages, by kind and sender: a repetition is known by its hash, without keeping vectors
        self._accepted: dict[Kind, dict[int, bytes]] = {kind: {} for kind in (*KIND_OF_STAGE.values(), Kind.REFUSE)}
        self._stage_messages: dict[int, Message] = {}
        self._unusable_kind: dict[int, Kind] = {}  # of the message for which a party is in `unusable`
        self._inbox: dict[int, list[bytes]] = {place: [] for place in session.members}
        self._dismissed: set[int] = set()  # who was sent an END message
        self._end_messages: dict[str, bytes] = {}  # by reason
        self._keys: set[bytes] = set()
        self._roster: JoinedParties | None = None
        self._sealed: dict[int, dict[int, bytes]] = {}
        self._unopened: dict[int, tuple[int, ...]] = {}  # by complaining party: whose boxes it could not open
        self._shared: tuple[int, ...] = ()
        self._masking_digest = b""  # what parties sign with their vectors
        self._masking_signatures: dict[int, bytes] = {}
        self._alive: AliveBody | None = None
        self._agreement_digest = b""  # what parties sign before anybody reveals a share
        # Vectors are added as they come and not kept: a coordinator holds one vector, however many parties there are.
        self._sum = np.zeros(session.encoder.words, np.uint64)
        self._revealed: dict[int, RevealBody] = {}
        self._result: list[int] | None = None

    def __repr__(self) -> str:
        return f"Coordinator(round {self.session.round}, stage {self.stage!r}, {len(self.waiting)} awaited)"

    # -- status -------------------------------------------------------------------------------------------------------

    @property
    def received(self) -> frozenset[int]:
        """Who has sent the message of this stage."""
        return frozenset(self._accepted[KIND_OF_STAGE[self.stage]]) if self.stage in KIND_OF_STAGE else frozenset()

    @property
    def waiting(self) -> frozenset[int]:
        """Whose message of this stage is missing and may still come."""
        if self.stage not in KIND_OF_STAGE:
            return frozenset()
        return self.expected - self.received - self.refused - set(self.unusable)

    @property
    def absent(self) -> frozenset[int]:
        """Who refused, was too late, sent an unusable message, or is left out because boxes did not open."""
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
            raise OutOfOrder("there is no sum at stage {stage!r}.", stage=self.stage)
        return self._result

    @property
    def cohort(self) -> tuple[int, ...]:
        """Over whom the sum runs; frozen when the vectors were closed."""
        if self._alive is None:
            raise OutOfOrder("the cohort is not frozen at stage {stage!r}.", stage=self.stage)
        return self._alive.alive

    def inbox(self, place: int) -> list[bytes]:
        """All messages to this party so far, in order."""
        return list(self._inbox[place])

    @property
    def _joined(self) -> JoinedParties:
        assert self._roster is not None, "the keys are not closed yet"
        return self._roster

    @property
    def _lists(self) -> AliveBody:
        assert self._alive is not None, "the vectors are not closed yet"
        return self._alive

    # -- receiving ----------------------------------------------------------------------------------------------------

    def receive(self, raw: bytes) -> int:
        """Check and keep a party's message, and return its sender. The same bytes again change nothing."""
        (examined,) = self.examine([raw])
        return self.take(examined)

    def examine(self, raws: Sequence[bytes]) -> list[Examined]:
        """Messages that came together, to be taken one after the other: their signatures are checked on two threads."""
        forms = [self._examine_form(raw) for raw in raws]
        signed = iter(which_hold([claim for _, _, claims in forms for claim in claims]))
        out: list[Examined] = []
        for message, refusal, claims in forms:
            holding = [next(signed) for _ in claims]
            if claims and not holding[0]:
                refusal = claims[0].card.forgery()
            out.append(Examined(message, refusal, holding[1] if len(claims) > 1 else None))
        return out

    def _examine_form(self, raw: bytes) -> tuple[Message | None, ProtocolRefused | None, list[Claim]]:
        """The message, or why it is refused; and its signatures, of a vector also that under whom it is masked for."""
        try:
            message = parse_message(raw)
            if message.sender not in self._inbox:
                raise RosterDiffers("the sender is not in the roster of this round.")
            claims = [message.claim(self.session.digest, self.session.roster[message.sender])]
        except ProtocolRefused as error:
            return None, error, []
        if self.stage == "vectors" and message.kind is Kind.MASKED and self._has_right_length(message):
            claims.append(self._masking_claim(message))
        return message, None, claims

    def take(self, examined: Examined) -> int:
        """Keep what was examined, and return its sender; or refuse it."""
        message = examined.message
        if examined.refusal is not None:
            raise examined.refusal
        assert message is not None
        if message.kind not in self._accepted:
            raise BadMessage("a coordinator accepts no {name} message here.", name=message.kind.name)
        card = self.session.roster[message.sender]
        accepted, digest = self._accepted[message.kind], hashlib.sha256(message.raw).digest()
        if message.sender in accepted:
            if accepted[message.sender] == digest:
                return message.sender
            raise Equivocation(
                "{name} sent a second, different {kind_name} message.",
                name=card.name,
                kind_name=message.kind.name,
            )
        if self.stage in ("done", "failed"):
            raise OutOfOrder("the session is over ({ended}).", ended=self.ended or Phrase("the sum is known"))
        if message.kind is Kind.REFUSE:
            self.refused.add(message.sender)
        elif message.sender in self.refused:
            raise OutOfOrder("{name} refused, and its messages are no longer accepted in this session.", name=card.name)
        elif message.kind is not KIND_OF_STAGE[self.stage]:
            raise OutOfOrder(
                "a {name} message of {card_name} came at stage {stage!r}.",
                name=message.kind.name,
                card_name=card.name,
                stage=self.stage,
            )
        elif message.sender not in self.expected:
            raise OutOfOrder("{name} came too late: the others went on without it.", name=card.name)
        else:
            self._check_fresh_keys(message)
            try:
                self._handle(message, examined.masked_for)
            except (BadMessage, RosterDiffers) as error:
                # It carries its sender's signature for this session, so nobody else can have made it: the sender is to
                # blame, and the others need not wait for it.
                self.unusable[message.sender] = str(error).splitlines()[0]
                self._unusable_kind[message.sender] = message.kind
                raise
            if self._unusable_kind.get(message.sender) is message.kind:  # a correct message after a wrong one
                del self.unusable[message.sender], self._unusable_kind[message.sender]
        accepted[message.sender] = digest
        return message.sender

    def _check_fresh_keys(self, message: Message) -> None:
        """Refuse the second of two parties with one key. Nobody knows who copied it, so nobody is blamed."""
        keys = {message.body[:SECRET_BYTES], message.body[SECRET_BYTES : 2 * SECRET_BYTES]}
        if message.kind is Kind.KEYS and self._keys & keys:
            raise RosterDiffers(
                "{sender} sent session keys that another party already has.", sender=self._name(message.sender)
            )

    def _handle(self, message: Message, masked_for: bool | None) -> None:
        place = message.sender
        match message.kind:
            case Kind.KEYS:
                keys = KeysBody.parse(message)
                if keys.mask == keys.box:
                    raise RosterDiffers("{place} sent one session key twice.", place=self._name(place))
                if SMALL_ORDER & {keys.mask, keys.box}:  # every neighbour would stop at it
                    raise BadMessage("the session key of {place} is not a key.", place=self._name(place))
                self._keys |= {keys.mask, keys.box}
                self._stage_messages[place] = message
            case Kind.SHARES:
                sealed = SealedBody.parse(message)
                if sealed.places != self._joined.neighbours(place):
                    raise RosterDiffers(
                        "{place} sealed shares for parties that are not its neighbours.", place=self._name(place)
                    )
                self._sealed[place] = dict(zip(sealed.places, sealed.boxes, strict=True))
            case Kind.OPENED:
                unopened = parse_parties(message)
                if not set(unopened) <= set(self._joined.neighbours(place)) & self.expected:
                    raise RosterDiffers(
                        "{place} complains of shares that were not sealed for it.", place=self._name(place)
                    )
                self._unopened[place] = unopened
            case Kind.MASKED:
                if not self._has_right_length(message):
                    raise BadMessage(
                        "the vector of {place} does not have {words} words.",
                        place=self._name(place),
                        words=self.session.encoder.words,
                    )
                masked = MaskedBody.parse(message, self.session.encoder.words)
                # Every neighbour checks this signature, and would stop at a wrong one.
                if not (self._masking_claim(message).holds() if masked_for is None else masked_for):
                    raise RosterDiffers(
                        "{place} masked its vector for parties other than those who shared.", place=self._name(place)
                    )
                self._masking_signatures[place] = masked.signature
                self.session.encoder.ring.add(self._sum, masked.words)
            case Kind.AGREE:
                if message.body != self._agreement_digest:
                    raise RosterDiffers("{place} signed lists other than those it was sent.", place=self._name(place))
                self._stage_messages[place] = message
            case _:
                reveal = RevealBody.parse(message)
                self._check_reveal(place, reveal)
                self._revealed[place] = reveal

    def _has_right_length(self, message: Message) -> bool:
        """Whether this is as long as a vector is."""
        return len(message.body) == 8 * self.session.encoder.words + SIGNATURE_BYTES

    def _masking_claim(self, message: Message) -> Claim:
        """That the sender of a vector has signed for whom it is masked."""
        signature = message.body[-SIGNATURE_BYTES:]
        return self._joined.claim(Kind.MASKED_FOR, message.sender, self._masking_digest, signature)

    def _check_reveal(self, place: int, reveal: RevealBody) -> None:
        shared, alive = set(self._shared), set(self._lists.alive)
        wanted = [other for other in self._joined.holders(place) if other in shared]  # holding is mutual
        kinds = [SHARE_OF_SELF_MASK if other in alive else SHARE_OF_KEY for other in wanted]
        if reveal.places != tuple(wanted) or [kind for kind, _ in reveal.shares] != kinds:
            raise RosterDiffers("{place} revealed shares other than those it was asked for.", place=self._name(place))

    def _name(self, place: int) -> str:
        return self.session.roster[place].name

    # -- closing stages -----------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Freeze this stage with those who answered, and start the next; or fail, when they are too few."""
        if self.stage not in KIND_OF_STAGE:
            raise OutOfOrder("there is nothing to close at stage {stage!r}.", stage=self.stage)
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
            self._stage_messages = {}

    def end(self, reason: str) -> None:
        """End the session, and send the reason to every party."""
        if self.stage in ("done", "failed"):
            return
        self.stage, self.ended = "failed", reason
        for place in self._inbox:
            self._dismiss(place, reason)

    def _check_enough(self) -> None:
        if self.stage in DEED_OF_STAGE:
            present = self.received - self.refused - set(self._disputed())
            check_minimum(self.session, len(present), DEED_OF_STAGE[self.stage])
            return
        if self._roster is None:
            raise OutOfOrder("there is nothing to close at stage {stage!r}.", stage=self.stage)
        if self.refused & self.expected:
            # Its vector is in the sum, and the others could unmask it without its help: only this check makes the
            # refusal count.
            names = ", ".join(self._name(place) for place in sorted(self.refused & self.expected))
            raise Declined("{names} refused after the vectors were frozen: nothing is summed.", names=names)
        if self.stage == "agree":
            quorum = self.session.sharing.quorum
            if len(self._stage_messages) < quorum:
                raise TooFewParties(
                    "{stage_message_count} parties signed the lists; {quorum} are needed.",
                    hint="nothing was revealed; start again with fresh keys when more can take part",
                    stage_message_count=len(self._stage_messages),
                    quorum=quorum,
                )
            return
        if self.stage != "reveal":
            raise OutOfOrder("there is nothing to close at stage {stage!r}.", stage=self.stage)
        counts = dict.fromkeys(self._shared, 0)
        for reveal in self._revealed.values():
            for place in reveal.places:
                counts[place] += 1
        fewest, owner = min((count, place) for place, count in counts.items())
        if fewest < self._joined.threshold:
            threshold = self._joined.threshold
            raise TooFewParties(
                "{fewest} shares of a secret of {owner} came back; {threshold} are needed.",
                hint="too many parties dropped out; start again with fresh keys",
                fewest=fewest,
                owner=self._name(owner),
                threshold=threshold,
            )

    def _close_keys(self) -> None:
        # A party that joined and then refused is left out before anything depends on its keys.
        present = sorted(self.received - self.refused)
        self._roster = JoinedParties(self.session, {place: self._stage_messages[place] for place in present})
        self._advance("shares", present)
        self._send_all(Kind.ROSTER, self._joined.pack())

    def _close_shares(self) -> None:
        sealed = tuple(sorted(self.received - self.refused))
        self._advance("opened", sealed)
        present, bodies = set(sealed), list[bytes]()
        for place in sealed:
            peers = tuple(other for other in self._joined.neighbours(place) if other in present)
            boxes = [self._sealed[other][place] for other in peers]
            bodies.append(SealedBody(peers, boxes, sealed).pack(delivery=True))
        deliveries = on_two_threads(lambda body: self._sign(Kind.DELIVERY, body), bodies)
        for place, delivery in zip(sealed, deliveries, strict=True):
            self._inbox[place].append(delivery)
        self._sealed = {}

    def _disputed(self) -> dict[int, tuple[int, ...]]:
        """Who is left out because boxes did not open, each with the parties that it contradicts."""
        return excluded_parties(self._unopened, self.received - self.refused) if self.stage == "opened" else {}

    def _note_disputes(self) -> None:
        for place, others in self._disputed().items():
            accusers = [self._name(other) for other in others if place in self._unopened[other]]
            accused = [self._name(other) for other in others if other in self._unopened[place]]
            opened = Phrase("what it sealed did not open at {names}", names=Several(accusers))
            others_opened = Phrase("it says that what was sealed by {names} did not open", names=Several(accused))
            reasons = [opened] * bool(accusers) + [others_opened] * bool(accused)
            self.unusable[place] = Phrase("{reasons}", reasons=Several(reasons, between=Phrase("; ")))

    def _close_opened(self) -> None:
        """Nobody has masked a vector yet, so nobody's masks involve a party that is left out now."""
        self._shared = tuple(sorted(self.received - self.refused - set(self._disputed())))
        self._masking_digest = self._joined.masking_digest(self._shared)
        self._advance("vectors", self._shared)
        self._send_all(Kind.SHARED, pack_parties(self._shared))

    def _close_vectors(self) -> None:
        alive = tuple(sorted(self.received))  # a vector that came counts, even if its sender refuses later
        self._joined.check_connected(alive)
        dropped = tuple(sorted(set(self._shared) - set(alive)))
        self._alive = AliveBody(alive, dropped, tuple(self._masking_signatures[place] for place in alive))
        self._agreement_digest = self._joined.agreement_digest(self._shared, self._lists)
        self._advance("agree", alive)
        self._send_all(Kind.ALIVE, self._lists.pack())

    def _close_agree(self) -> None:
        self._advance("reveal", tuple(sorted(self.expected)))
        signed = sorted(self._stage_messages)[: self.session.sharing.quorum]
        self._send_all(
            Kind.AGREED,
            pack_signatures({place: self._stage_messages[place].raw[-SIGNATURE_BYTES:] for place in signed}),
        )

    def _close_reveal(self) -> None:
        unmasking = Unmasking(self.session, self._joined, self._shared, self._lists, self._revealed)
        words = unmasking.unmask(self._sum)
        misfits: dict[int, list[int]] = {}
        for holder, owner in sorted(unmasking.misfits):
            misfits.setdefault(holder, []).append(owner)
        for place, others in excluded_parties(misfits, self._shared).items():
            if len(others) > 1:  # in a single pair nobody can say who was wrong
                self.unusable[place] = "shares that it dealt out or revealed do not fit; the sum was found without them"
        self._result = self.session.encoder.decode(words, len(self._lists.alive))
        self.stage = "done"
        self._send_all(Kind.RESULT, ResultBody(self._lists.alive, words).pack())
        self._sum, self._revealed = words, {}

    def _advance(self, stage: Stage, present: tuple[int, ...] | list[int]) -> None:
        self.stage, self.expected = stage, frozenset(present)
        for place in self._inbox:
            if place not in self.expected:
                self._dismiss(place, "the others went on without this party")

    def _send_all(self, kind: Kind, body: bytes) -> None:
        message = self._sign(kind, body)
        for place in self.expected:
            self._inbox[place].append(message)

    def _sign(self, kind: Kind, body: bytes) -> bytes:
        return sign_message(kind, self.session.digest, FROM_COORDINATOR, body, self.identity)

    def _dismiss(self, place: int, reason: str) -> None:
        if place not in self._dismissed:
            self._dismissed.add(place)
            if reason not in self._end_messages:
                self._end_messages[reason] = self._sign(Kind.END, reason.encode())
            self._inbox[place].append(self._end_messages[reason])
