"""A party: from its keys to its share of unmasking. It checks all it hears, and says each thing once.

Everything it draws comes from one seed. So whoever stores the seed, what was heard and the masked vector before it
leaves can start again after a crash and say the same bytes; the vector is never masked a second time.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from typing import Any, Literal

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from murmure.core.errors import InvalidParameter
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
from murmure.secure.joined import JoinedParties, check_minimum, shared_secret
from murmure.secure.masks import Mask, box_key, box_open, box_seal, keystream, masked, pair_key, self_key
from murmure.secure.messages import (
    FROM_COORDINATOR,
    SECRET_BYTES,
    SHARE_BYTES,
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
from murmure.secure.session import Session, derive, digest_of
from murmure.secure.shamir import coefficient_bytes, is_share, split

Stage = Literal["keys", "shares", "shared", "vector", "alive", "agree", "reveal", "result", "done", "failed"]
SELF_MASK, KEY = 0, 1  # what a revealed share is a share of
AWAITED = {
    "shares": Kind.ROSTER,
    "delivery": Kind.DELIVERY,
    "shared": Kind.SHARED,
    "alive": Kind.ALIVE,
    "agree": Kind.AGREED,
    "result": Kind.RESULT,
}


def commitment_to(b: bytes, session: bytes, place: int) -> bytes:
    """By which the coordinator knows that a rebuilt self-mask is the right one."""
    return digest_of(b"murmure self mask", session, place, b)


class Party:
    """One party in one session."""

    def __init__(self, session: Session, identity: Identity, index: int, seed: bytes) -> None:
        if len(seed) != SECRET_BYTES:
            raise InvalidParameter("Party.seed must be 32 bytes.")
        if index not in session.members or session.roster[index].key != identity.public:
            raise RosterDiffers("this identity does not stand at that place of the roster of this round.")
        self.session, self.identity, self.index = session, identity, index
        self._stage: str = "keys"
        self._seed = seed
        self._mask_key = X25519PrivateKey.from_private_bytes(derive(seed, "mask key", session.digest))
        self._box_key = X25519PrivateKey.from_private_bytes(derive(seed, "box key", session.digest))
        self._b = derive(seed, "self mask", session.digest)
        self._heard: dict[Kind, bytes] = {}
        self._joined: JoinedParties | None = None
        self._pair_keys: dict[int, bytes] = {}
        self._held: dict[int, tuple[bytes, bytes]] = {}  # shares of others: of the self-mask, of the key
        self._sealed: tuple[int, ...] = ()  # who sealed shares for others
        self._unopened: frozenset[int] = frozenset()  # those of them whose box does not open here
        self._shared: tuple[int, ...] = ()
        self._lists: AliveBody | None = None
        self.result: list[int] | None = None
        self.ended: str | None = None

    def __repr__(self) -> str:
        return f"Party({self.session.roster[self.index].name!r}, round {self.session.round}, stage {self.stage!r})"

    @property
    def stage(self) -> Stage:
        """What comes next: the name of what is to be said, or awaited."""
        return "shares" if self._stage == "delivery" else self._stage  # type: ignore[return-value]

    @property
    def steps(self) -> int:
        """How many different messages the coordinator sent that this party took: what is sent again is no step."""
        return len(self._heard)

    @property
    def cohort(self) -> tuple[int, ...]:
        """Over whom the sum will run; known once the coordinator has frozen it."""
        if self._lists is None:
            raise OutOfOrder("the coordinator has not said yet whose vectors came.")
        return self._lists.alive

    @property
    def shared(self) -> tuple[int, ...]:
        """Who dealt out shares: the sum will run over some of them; empty before that is known."""
        return self._shared

    # -- what it says -------------------------------------------------------------------------------------------------

    def keys(self) -> bytes:
        """Joining: the public keys of this session."""
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        mask, box = (
            key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw) for key in (self._mask_key, self._box_key)
        )
        if self._stage == "keys":
            self._stage = "shares"
        body = KeysBody(mask, box, commitment_to(self._b, self.session.digest, self.index)).pack()
        return self._write(Kind.KEYS, body)

    def mask(self, values: Sequence[int] | Ints | Any, noisy: bool = False) -> bytes:
        """The masked vector. Store these bytes before they leave: a second vector under these masks would show both."""
        self._now("vector")
        assert self._joined is not None
        try:
            encoded = self.session.encoder.encode(values, wrap=noisy)
        except ProtocolRefused:
            self._stage = "failed"
            raise
        there = [(other, self._pair_keys[other]) for other in self._pair_keys if other in self._shared]
        plus: list[Mask] = [key for other, key in there if other > self.index]
        minus: list[Mask] = [key for other, key in there if other < self.index]
        own = self_key(self._b, self._joined.digest)
        vector = masked(encoded, plus, minus, own, self.session.encoder.ring)
        told = self._joined.masked_for(self._shared)
        signature = self.identity.sign(signed_bytes(Kind.MASKED_FOR, self.session.digest, self.index, told))
        self._stage = "alive"
        return self._write(Kind.MASKED, MaskedBody(vector, signature).pack())

    def resume(self, message: bytes) -> None:
        """After a crash: the masked vector that was stored stands for `mask`."""
        self._now("vector")
        mine = parse_message(message).check(self.session.digest, self.session.roster[self.index])
        if mine.kind is not Kind.MASKED:
            raise BadMessage("the stored message is no masked vector of this session.")
        MaskedBody.of(mine, self.session.encoder.words)
        self._stage = "alive"

    def reveal(self) -> bytes:
        """One share for each neighbour: of the self-mask if its vector came, else of its key."""
        self._now("reveal")
        assert self._joined is not None and self._lists is not None
        alive = set(self._lists.alive)
        places = sorted(self._held)
        shares = [
            (SELF_MASK, self._held[place][0]) if place in alive else (KEY, self._held[place][1]) for place in places
        ]
        self._stage = "result"
        return self._write(Kind.REVEAL, RevealBody(tuple(places), shares).pack())

    def refuse(self) -> bytes:
        """No, without a reason. Nothing more will be said in this session."""
        if self._stage == "done":
            raise OutOfOrder("the sum is known: it is too late to refuse.")
        self._stage = "failed"
        return self._write(Kind.REFUSE, b"")

    def _write(self, kind: Kind, body: bytes) -> bytes:
        return sign_message(kind, self.session.digest, self.index, body, self.identity)

    def _now(self, stage: str) -> None:
        if self._stage != stage:
            raise OutOfOrder(f"a party at stage {self.stage!r} cannot do what belongs to {stage!r}.")

    # -- what it hears ------------------------------------------------------------------------------------------------

    def hear(self, raw: bytes) -> bytes | None:
        """A message of the coordinator: the answer to it, if it has one at once. Refused, the session is over."""
        message = parse_message(raw)
        if message.sender != FROM_COORDINATOR:
            raise BadMessage("a party hears the coordinator only.")
        message.check(self.session.digest, self.session.coordinator)
        if message.kind in self._heard:
            if hmac.compare_digest(self._heard[message.kind], raw):
                return None
            error = AskedTwice if message.kind in (Kind.ALIVE, Kind.AGREED) else Equivocation
            self._stage = "failed"
            raise error(
                f"the coordinator sent a second {message.kind.name} message, and another one.",
                hint="nothing more is said to it in this session",
            )
        if message.kind is Kind.END:
            if self._stage == "done":  # whatever ends now, the sum is here
                return None
            self._heard[Kind.END], self._stage = raw, "failed"  # also where its reason cannot be read
            self.ended = parse_reason(message)
            return None
        if self._stage == "failed":
            raise Declined("this session is over for this party.")
        if AWAITED.get(self._stage) is not message.kind:
            raise OutOfOrder(f"a {message.kind.name} message came at stage {self.stage!r}.")
        try:
            answer = self._listen(message)
        except ProtocolRefused:
            self._stage = "failed"
            raise
        self._heard[message.kind] = raw
        return answer

    def _listen(self, message: Message) -> bytes | None:
        match message.kind:
            case Kind.ROSTER:
                return self._hear_roster(message)
            case Kind.DELIVERY:
                return self._hear_delivery(message)
            case Kind.SHARED:
                return self._hear_shared(message)
            case Kind.ALIVE:
                return self._hear_alive(message)
            case Kind.AGREED:
                return self._hear_agreed(message)
            case _:
                return self._hear_result(message)

    def _hear_roster(self, message: Message) -> bytes:
        joined = JoinedParties.of(self.session, message)
        if self.index not in joined.messages or joined.messages[self.index].raw != self.keys():
            raise RosterDiffers("the list of keys does not hold the keys that this party sent.")
        joined.verify()
        near = joined.neighbours(self.index)
        holders = len(joined.holders(self.index))
        if holders < joined.threshold:
            raise TooFewParties(f"{holders} hold shares of this party's secrets, and {joined.threshold} must.")
        self._joined = joined
        self._pair_keys = {other: self._pair_key(other) for other in near}  # now, while bad keys still cost nothing
        shares = self._own_shares(joined)
        boxes = [
            box_seal(
                box_key(self._box_secret(other), joined.digest, self.index, other),
                b"".join(shares[other]),
                joined.digest,
            )
            for other in near
        ]
        self._stage = "delivery"
        return self._write(Kind.SHARES, SealedBody(near, boxes).pack())

    def _hear_delivery(self, message: Message) -> bytes:
        assert self._joined is not None
        sealed = SealedBody.of(message)
        joined, near = self._joined, self._joined.neighbours(self.index)
        there = set(sealed.members)
        if not there <= set(joined.members) or self.index not in there:
            raise RosterDiffers("the list of those who sealed shares is not part of those who joined.")
        check_minimum(self.session, len(there), "sealed their shares")
        if sealed.places != tuple(other for other in near if other in there):
            raise RosterDiffers("the shares delivered are not those of the neighbours who sealed some.")
        self._holders_left(there)
        for other, box in zip(sealed.places, sealed.boxes, strict=True):
            shares = self._opened(other, box)
            if shares is not None:
                self._held[other] = shares
        if self.index in joined.holders(self.index):
            self._held[self.index] = self._own_shares(joined)[self.index]
        self._sealed, self._unopened = sealed.members, frozenset(sealed.places) - set(self._held)
        self._stage = "shared"
        return self._write(Kind.OPENED, pack_parties(self._unopened))

    def _opened(self, other: int, box: bytes) -> tuple[bytes, bytes] | None:
        """The two shares in it; None: it does not open, or there are no shares in it."""
        assert self._joined is not None
        key = box_key(self._box_secret(other), self._joined.digest, other, self.index)
        try:
            opened = box_open(key, box, self._joined.digest)
        except ForgedMessage:
            return None
        shares = opened[:SHARE_BYTES], opened[SHARE_BYTES:]
        return shares if all(map(is_share, shares)) else None

    def _hear_shared(self, message: Message) -> bytes | None:
        """Who shared for good: nobody's vector is masked before this is known, so whoever is missing is in no mask."""
        shared = parse_parties(message)
        there = set(shared)
        if not there <= set(self._sealed) or self.index not in there:
            raise RosterDiffers("the list of those who shared is not part of those who sealed shares.")
        if there & self._unopened:
            name = self.session.roster[min(there & self._unopened)].name
            raise RosterDiffers(
                f"the list of those who shared names {name}, whose box this party could not open.",
                hint="one of the two has to be left out; nothing was revealed",
            )
        check_minimum(self.session, len(there), "shared their secrets")
        self._holders_left(there)
        self._held = {place: shares for place, shares in self._held.items() if place in there}
        self._shared = shared
        self._stage = "vector"
        return None

    def _hear_alive(self, message: Message) -> bytes | None:
        assert self._joined is not None
        lists = AliveBody.of(message)
        alive, dropped = set(lists.alive), set(lists.dropped)
        if alive & dropped:
            raise RosterDiffers(
                "the coordinator lists a party as alive and as dropped: both shares would open its vector."
            )
        if alive | dropped != set(self._shared):
            raise RosterDiffers("alive and dropped parties together are not those who shared.")
        if self.index not in alive:
            raise RosterDiffers("the coordinator lists this party as dropped, whose vector it was sent.")
        check_minimum(self.session, len(alive), "sent their vectors")
        self._holders_left(alive)
        self._joined.hang_together(alive)
        self._masked_for_the_same(lists)
        self._lists = lists
        self._stage = "agree"
        return self._write(Kind.AGREE, self._joined.agreement(self._shared, lists))

    def _holders_left(self, there: set[int]) -> None:
        assert self._joined is not None
        left = sum(holder in there for holder in self._joined.holders(self.index))
        if left < self._joined.threshold:
            raise TooFewParties(
                f"{left} who hold shares of this party's secrets are left; {self._joined.threshold} must be."
            )

    def _masked_for_the_same(self, lists: AliveBody) -> None:
        """Whose self-mask this party helps to open, masked for those who shared as this party was told.

        Else the coordinator could have told it that some of them did not share: its vector would have no masks to
        them, and the sum over a few would come out although everybody agrees on the lists now.
        """
        assert self._joined is not None
        told = self._joined.masked_for(self._shared)
        for place, signature in zip(lists.alive, lists.signatures, strict=True):
            if place == self.index or place not in self._held:
                continue
            if not self._joined.signed(Kind.MASKED_FOR, place, told, signature):
                raise RosterDiffers(
                    f"{self.session.roster[place].name} did not sign that its vector was masked for those who shared, "
                    "as this party was told.",
                    hint="the coordinator told it another list, or changed what it signed; nothing was revealed",
                )

    def _hear_agreed(self, message: Message) -> bytes | None:
        assert self._joined is not None and self._lists is not None
        signatures = parse_signatures(message)
        # of all who were invited, not of those whom this coordinator lists: two lists could not both have so many
        quorum = self.session.sharing.quorum
        if len(signatures) < quorum:
            raise TooFewParties(f"{len(signatures)} parties signed the same lists, and {quorum} must.")
        if not set(signatures) <= set(self._lists.alive):
            raise RosterDiffers("somebody signed the lists who is not alive in them.")
        shown = self._joined.agreement(self._shared, self._lists)
        for place, signature in signatures.items():
            if not self._joined.signed(Kind.AGREE, place, shown, signature):
                raise RosterDiffers(
                    f"{self.session.roster[place].name} did not sign the lists that this party was shown.",
                    hint="it was shown others, or what it signed was changed; nothing was revealed",
                )
        self._stage = "reveal"
        return None

    def _hear_result(self, message: Message) -> bytes | None:
        assert self._lists is not None
        result = ResultBody.of(message, self.session.encoder.words)
        if result.cohort != self._lists.alive:
            raise RosterDiffers("the result is of other parties than those who were said to be alive.")
        self.result = self.session.encoder.decode(result.words, len(result.cohort))
        self._stage = "done"
        return None

    # -- secrets ------------------------------------------------------------------------------------------------------

    def _pair_key(self, other: int) -> bytes:
        assert self._joined is not None
        secret = shared_secret(self._mask_key, self._joined.keys[other].mask, self.session.roster[other].name)
        return pair_key(secret, self._joined.digest, min(self.index, other), max(self.index, other))

    def _box_secret(self, other: int) -> bytes:
        assert self._joined is not None
        return shared_secret(self._box_key, self._joined.keys[other].box, self.session.roster[other].name)

    def _own_shares(self, joined: JoinedParties) -> dict[int, tuple[bytes, bytes]]:
        """Shares of the self-mask and of the mask key, for all who hold them."""
        holders = joined.holders(self.index)
        xs, t = [place + 1 for place in holders], joined.threshold
        key = derive(self._seed, "mask key", self.session.digest)
        parts = [
            split(secret, t, xs, keystream(derive(self._seed, label, joined.digest), coefficient_bytes(t)))
            for secret, label in ((self._b, "shares of b"), (key, "shares of key"))
        ]
        return dict(zip(holders, zip(*parts, strict=True), strict=True))
