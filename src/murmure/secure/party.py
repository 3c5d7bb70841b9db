"""A party: from its keys to its share of unmasking. It checks every message, and sends each of its own once.

Everything it draws comes from one seed. So a party that stores the seed, the messages it received and the masked vector
before it leaves can restart after a crash and send the same bytes; the vector is never masked a second time.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from typing import Any, Literal

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from murmure.core.errors import InvalidParameter, Phrase
from murmure.core.types import Ints
from murmure.secure.errors import (
    AskedTwice,
    BadMessage,
    Declined,
    Equivocation,
    ForgedMessage,
    OutOfOrder,
    ProtocolRefused,
    RosterDiffers,
    TooFewParties,
)
from murmure.secure.identity import Identity
from murmure.secure.joined import JoinedParties, check_minimum, public_bytes, shared_secret
from murmure.secure.masks import Mask, box_key, box_open, box_seal, commitment_to, keystream, masked, pair_key, self_key
from murmure.secure.messages import (
    FROM_COORDINATOR,
    SHARE_OF_KEY,
    SHARE_OF_SELF_MASK,
    AliveBody,
    KeysBody,
    Kind,
    MaskedBody,
    Message,
    ResultBody,
    RevealBody,
    SealedBody,
    pack_parties,
    parse_message,
    parse_parties,
    parse_reason,
    parse_signatures,
    sign_message,
    signed_bytes,
)
from murmure.secure.session import Session, derive
from murmure.secure.shamir import SECRET_BYTES, SHARE_BYTES, coefficient_bytes, is_share, split
from murmure.secure.signatures import which_hold

Stage = Literal["keys", "shares", "shared", "vector", "alive", "agree", "reveal", "result", "done", "failed"]
AWAITED = {
    "shares": Kind.ROSTER,
    "delivery": Kind.DELIVERY,
    "shared": Kind.SHARED,
    "alive": Kind.ALIVE,
    "agree": Kind.AGREED,
    "result": Kind.RESULT,
}


class Party:
    """One party in one session."""

    def __init__(self, session: Session, identity: Identity, index: int, seed: bytes) -> None:
        if len(seed) != SECRET_BYTES:
            raise InvalidParameter("Party.seed must be 32 bytes.")
        if index not in session.members or session.roster[index].key != identity.public:
            raise RosterDiffers("this identity is not at that place in the roster of this round.")
        self.session, self.identity, self.index = session, identity, index
        self._stage: str = "keys"
        self._seed = seed
        self._mask_key = X25519PrivateKey.from_private_bytes(derive(seed, "mask key", session.digest))
        self._box_key = X25519PrivateKey.from_private_bytes(derive(seed, "box key", session.digest))
        self._b = derive(seed, "self mask", session.digest)  # b_u of the papers
        self._received: dict[Kind, bytes] = {}
        self._roster: JoinedParties | None = None
        self._pair_keys: dict[int, bytes] = {}
        self._box_secrets: dict[int, bytes] = {}
        self._peer_shares: dict[int, tuple[bytes, bytes]] = {}  # by owner: a share of its self-mask, and of its key
        self._sealed: tuple[int, ...] = ()  # who sealed shares for others
        self._unopened: frozenset[int] = frozenset()  # those whose box does not open here
        self._shared: tuple[int, ...] = ()
        self._alive: AliveBody | None = None
        self.result: list[int] | None = None
        self.ended: str | None = None

    def __repr__(self) -> str:
        return f"Party({self.session.roster[self.index].name!r}, round {self.session.round}, stage {self.stage!r})"

    @property
    def stage(self) -> Stage:
        """What comes next: the message that this party sends, or the one that it awaits."""
        return "shares" if self._stage == "delivery" else self._stage  # type: ignore[return-value]

    @property
    def steps(self) -> int:
        """How many different messages of the coordinator this party accepted; a repetition does not count."""
        return len(self._received)

    @property
    def cohort(self) -> tuple[int, ...]:
        """Over whom the sum will run; known once the coordinator has frozen it."""
        if self._alive is None:
            raise OutOfOrder("the coordinator has not yet said whose vectors arrived.")
        return self._alive.alive

    @property
    def shared(self) -> tuple[int, ...]:
        """Who dealt out shares: the sum will run over some of these. Empty until the coordinator froze the list."""
        return self._shared

    @property
    def _joined(self) -> JoinedParties:
        assert self._roster is not None, "the keys are not closed yet"
        return self._roster

    @property
    def _lists(self) -> AliveBody:
        assert self._alive is not None, "the vectors are not closed yet"
        return self._alive

    # -- sending ------------------------------------------------------------------------------------------------------

    def keys(self) -> bytes:
        """Joining: the public keys of this session."""
        if self._stage == "keys":
            self._stage = "shares"
        commitment = commitment_to(self._b, self.session.digest, self.index)
        body = KeysBody(public_bytes(self._mask_key), public_bytes(self._box_key), commitment)
        return self._sign(Kind.KEYS, body.pack())

    def mask(self, values: Sequence[int] | Ints | Any, noisy: bool = False) -> bytes:
        """The masked vector. Store it before it leaves: the difference to a second one under its masks has no mask."""
        self._require_stage("vector")
        try:
            encoded = self.session.encoder.encode(values, wrap=noisy)
        except ProtocolRefused:
            self._stage = "failed"
            raise
        present = {other: key for other, key in self._pair_keys.items() if other in self._shared}
        plus: list[Mask] = [key for other, key in present.items() if other > self.index]
        minus: list[Mask] = [key for other, key in present.items() if other < self.index]
        self_mask = self_key(self._b, self._joined.digest)
        vector = masked(encoded, plus, minus, self_mask, self.session.encoder.ring)
        masking = self._joined.masking_digest(self._shared)
        signature = self.identity.sign(signed_bytes(Kind.MASKED_FOR, self.session.digest, self.index, masking))
        self._stage = "alive"
        return self._sign(Kind.MASKED, MaskedBody(vector, signature).pack())

    def resume(self, message: bytes) -> None:
        """After a crash: take the stored masked vector instead of masking again."""
        self._require_stage("vector")
        stored = parse_message(message).check(self.session.digest, self.session.roster[self.index])
        if stored.kind is not Kind.MASKED:
            raise BadMessage("the stored message is not a masked vector of this session.")
        MaskedBody.parse(stored, self.session.encoder.words)
        self._stage = "alive"

    def reveal(self) -> bytes:
        """One share for each neighbour: of its self-mask if its vector came, otherwise of its key."""
        self._require_stage("reveal")
        alive = set(self._lists.alive)
        places = sorted(self._peer_shares)
        kinds = [SHARE_OF_SELF_MASK if place in alive else SHARE_OF_KEY for place in places]
        shares = [(kind, self._peer_shares[place][kind]) for place, kind in zip(places, kinds, strict=True)]
        self._stage = "result"
        return self._sign(Kind.REVEAL, RevealBody(tuple(places), shares).pack())

    def refuse(self) -> bytes:
        """No, without a reason. This party sends nothing more in this session."""
        if self._stage == "done":
            raise OutOfOrder("the sum is known: it is too late to refuse.")
        self._stage = "failed"
        return self._sign(Kind.REFUSE, b"")

    def _sign(self, kind: Kind, body: bytes) -> bytes:
        return sign_message(kind, self.session.digest, self.index, body, self.identity)

    def _require_stage(self, stage: str) -> None:
        if self._stage != stage:
            raise OutOfOrder(
                "a party at stage {stage!r} cannot do the step of stage {stage_2!r}.", stage=self.stage, stage_2=stage
            )

    # -- receiving ----------------------------------------------------------------------------------------------------

    def receive(self, raw: bytes) -> bytes | None:
        """Take a message of the coordinator and return the answer, if there is one. A refusal ends the session."""
        message = parse_message(raw)
        if message.sender != FROM_COORDINATOR:
            raise BadMessage("a party accepts messages only from the coordinator.")
        message.check(self.session.digest, self.session.coordinator)
        # A network may deliver twice: the same bytes are ignored, but a second version is a lie.
        if message.kind in self._received:
            if hmac.compare_digest(self._received[message.kind], raw):
                return None
            error = AskedTwice if message.kind in (Kind.ALIVE, Kind.AGREED) else Equivocation
            self._stage = "failed"
            raise error(
                "the coordinator sent a second, different {name} message.",
                hint="nothing more is sent to it in this session",
                name=message.kind.name,
            )
        if message.kind is Kind.END:
            if self._stage == "done":  # an END after the result changes nothing
                return None
            # The session is over even if the reason cannot be read: parse_reason may raise.
            self._received[Kind.END], self._stage = raw, "failed"
            self.ended = parse_reason(message)
            return None
        if self._stage == "failed":
            raise Declined("this session is over for this party.")
        if AWAITED.get(self._stage) is not message.kind:
            raise OutOfOrder("a {name} message came at stage {stage!r}.", name=message.kind.name, stage=self.stage)
        try:
            answer = self._handle(message)
        except ProtocolRefused:
            self._stage = "failed"
            raise
        self._received[message.kind] = raw
        return answer

    def _handle(self, message: Message) -> bytes | None:
        match message.kind:
            case Kind.ROSTER:
                return self._on_roster(message)
            case Kind.DELIVERY:
                return self._on_delivery(message)
            case Kind.SHARED:
                return self._on_shared(message)
            case Kind.ALIVE:
                return self._on_alive(message)
            case Kind.AGREED:
                return self._on_agreed(message)
            case _:
                return self._on_result(message)

    def _on_roster(self, message: Message) -> bytes:
        joined = JoinedParties.parse(self.session, message)
        if self.index not in joined.messages or joined.messages[self.index].raw != self.keys():
            raise RosterDiffers("the list of keys does not hold the keys that this party sent.")
        joined.verify()
        peers = joined.neighbours(self.index)
        holders = len(joined.holders(self.index))
        if holders < joined.threshold:
            raise TooFewParties(
                "{holders} parties hold shares of this party's secrets; {threshold} are needed.",
                holders=holders,
                threshold=joined.threshold,
            )
        self._roster = joined
        self._pair_keys = {other: self._pair_key(other) for other in peers}  # bad keys are found before any is needed
        shares = self._split_secrets(joined)
        boxes = [
            box_seal(
                box_key(self._box_secret(other), joined.digest, self.index, other),
                b"".join(shares[other]),
                joined.digest,
            )
            for other in peers
        ]
        self._stage = "delivery"
        return self._sign(Kind.SHARES, SealedBody(peers, boxes).pack())

    def _on_delivery(self, message: Message) -> bytes:
        sealed = SealedBody.parse(message)
        joined, peers = self._joined, self._joined.neighbours(self.index)
        present = set(sealed.members)
        if not present <= set(joined.members) or self.index not in present:
            raise RosterDiffers("the list of those who sealed shares is not part of those who joined.")
        check_minimum(self.session, len(present), Phrase("sealed their shares"))
        # A coordinator that withholds a box must also admit that its sender is out.
        if sealed.places != tuple(other for other in peers if other in present):
            raise RosterDiffers("the delivered shares are not those of the neighbours who sealed shares.")
        self._check_holders(present)
        for other, box in zip(sealed.places, sealed.boxes, strict=True):
            shares = self._open_box(other, box)
            if shares is not None:
                self._peer_shares[other] = shares
        # On the complete graph a party holds a share of its own secrets too; nobody has to seal that one.
        if self.index in joined.holders(self.index):
            self._peer_shares[self.index] = self._split_secrets(joined)[self.index]
        self._sealed, self._unopened = sealed.members, frozenset(sealed.places) - set(self._peer_shares)
        self._stage = "shared"
        return self._sign(Kind.OPENED, pack_parties(self._unopened))

    def _open_box(self, other: int, box: bytes) -> tuple[bytes, bytes] | None:
        """The two shares in the box; None if it does not open, or does not hold shares."""
        key = box_key(self._box_secret(other), self._joined.digest, other, self.index)
        try:
            opened = box_open(key, box, self._joined.digest)
        except ForgedMessage:
            return None
        shares = opened[:SHARE_BYTES], opened[SHARE_BYTES:]
        return shares if all(map(is_share, shares)) else None

    def _on_shared(self, message: Message) -> bytes | None:
        """The final list of those who shared. Vectors are masked after it, so a party not on it is in no mask."""
        shared = parse_parties(message)
        present = set(shared)
        if not present <= set(self._sealed) or self.index not in present:
            raise RosterDiffers("the list of those who shared is not part of those who sealed shares.")
        if present & self._unopened:
            name = self.session.roster[min(present & self._unopened)].name
            raise RosterDiffers(
                "the list of those who shared names {name}, whose box this party could not open.",
                hint="one of the two must be left out; nothing was revealed",
                name=name,
            )
        check_minimum(self.session, len(present), Phrase("shared their secrets"))
        self._check_holders(present)
        self._peer_shares = {place: shares for place, shares in self._peer_shares.items() if place in present}
        self._shared = shared
        self._stage = "vector"
        return None

    def _on_alive(self, message: Message) -> bytes | None:
        lists = AliveBody.parse(message)
        alive, dropped = set(lists.alive), set(lists.dropped)
        if alive & dropped:
            raise RosterDiffers(
                "the coordinator lists a party as alive and as dropped: both shares would open its vector."
            )
        if alive | dropped != set(self._shared):
            raise RosterDiffers("alive and dropped parties together are not the parties who shared their secrets.")
        if self.index not in alive:
            raise RosterDiffers("the coordinator lists this party as dropped, although it was sent its vector.")
        check_minimum(self.session, len(alive), Phrase("sent their vectors"))
        self._check_holders(alive)
        self._joined.check_connected(alive)
        self._check_masking(lists)
        self._alive = lists
        self._stage = "agree"
        return self._sign(Kind.AGREE, self._joined.agreement_digest(self._shared, lists))

    def _check_holders(self, present: set[int]) -> None:
        left = sum(holder in present for holder in self._joined.holders(self.index))
        if left < self._joined.threshold:
            raise TooFewParties(
                "{left} parties that hold shares of this party's secrets are left; {threshold} are needed.",
                left=left,
                threshold=self._joined.threshold,
            )

    def _check_masking(self, lists: AliveBody) -> None:
        """Check that the parties whose self-masks this one helps to open masked for the same list of parties.

        Otherwise the coordinator could have sent one of them a shorter list: its vector would have no masks with those
        left out, and the sum over a few would come out although everybody agrees on the lists now.
        """
        masking = self._joined.masking_digest(self._shared)
        claims = {
            place: self._joined.claim(Kind.MASKED_FOR, place, masking, signature)
            for place, signature in zip(lists.alive, lists.signatures, strict=True)
            if place != self.index and place in self._peer_shares
        }
        for place, holds in zip(claims, which_hold(list(claims.values())), strict=True):
            if not holds:
                raise RosterDiffers(
                    "{name} did not sign that its vector was masked for those who shared, as this party was told.",
                    hint="the coordinator sent it another list, or changed what it signed; nothing was revealed",
                    name=self.session.roster[place].name,
                )

    def _on_agreed(self, message: Message) -> bytes | None:
        signatures = parse_signatures(message)
        # A quorum of all who were invited, not of those whom this coordinator lists: two lists cannot both have one.
        quorum = self.session.sharing.quorum
        if len(signatures) < quorum:
            raise TooFewParties(
                "{signature_count} parties signed the same lists; {quorum} are needed.",
                signature_count=len(signatures),
                quorum=quorum,
            )
        if not set(signatures) <= set(self._lists.alive):
            raise RosterDiffers("a party that is not alive in the lists signed them.")
        agreement = self._joined.agreement_digest(self._shared, self._lists)
        claims = [self._joined.claim(Kind.AGREE, place, agreement, signatures[place]) for place in signatures]
        for place, holds in zip(signatures, which_hold(claims), strict=True):
            if not holds:
                raise RosterDiffers(
                    "{name} did not sign the lists that this party was shown.",
                    hint="it was shown other lists, or what it signed was changed; nothing was revealed",
                    name=self.session.roster[place].name,
                )
        self._stage = "reveal"
        return None

    def _on_result(self, message: Message) -> bytes | None:
        result = ResultBody.parse(message, self.session.encoder.words)
        if result.cohort != self._lists.alive:
            raise RosterDiffers("the result is of parties other than those listed as alive.")
        self.result = self.session.encoder.decode(result.words, len(result.cohort))
        self._stage = "done"
        return None

    # -- secrets ------------------------------------------------------------------------------------------------------

    def _pair_key(self, other: int) -> bytes:
        secret = shared_secret(self._mask_key, self._joined.keys[other].mask, self.session.roster[other].name)
        return pair_key(secret, self._joined.digest, min(self.index, other), max(self.index, other))

    def _box_secret(self, other: int) -> bytes:
        """Of the two boxes between this party and another, which have different keys."""
        if other not in self._box_secrets:
            public, name = self._joined.keys[other].box, self.session.roster[other].name
            self._box_secrets[other] = shared_secret(self._box_key, public, name)
        return self._box_secrets[other]

    def _split_secrets(self, joined: JoinedParties) -> dict[int, tuple[bytes, bytes]]:
        """Shares of the self-mask and of the mask key, for all who hold them."""
        holders = joined.holders(self.index)
        xs, t = [place + 1 for place in holders], joined.threshold
        key = derive(self._seed, "mask key", self.session.digest)
        parts = [
            split(secret, t, xs, keystream(derive(self._seed, label, joined.digest), coefficient_bytes(t)))
            for secret, label in ((self._b, "shares of b"), (key, "shares of key"))
        ]
        return dict(zip(holders, zip(*parts, strict=True), strict=True))
