"""The messages, and the one codec: bytes that are read whole or refused.

    b"MU" | version 1 | kind 1 | session 32 | sender 4 | length 4 | body | signature 64       little-endian

The signature is Ed25519 over everything before it. Lists of parties are strictly increasing; nothing may follow.
"""

from __future__ import annotations

import enum
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from murmure.core.errors import Phrase
from murmure.core.fixed import Words64
from murmure.secure.errors import BadMessage, WrongSession
from murmure.secure.identity import Card, Identity
from murmure.secure.masks import BOX_OVERHEAD
from murmure.secure.session import PROTOCOL
from murmure.secure.shamir import SECRET_BYTES, SHARE_BYTES
from murmure.secure.signatures import Claim

HEADER = struct.Struct("<2sBB32sII")
SIGNATURE_BYTES = 64
ENVELOPE_BYTES = HEADER.size + SIGNATURE_BYTES
FROM_COORDINATOR = 0xFFFFFFFF
MAX_BODY_BYTES = 1 << 30
SEALED_BYTES = 2 * SHARE_BYTES + BOX_OVERHEAD
SEALED_RECORD_BYTES = 4 + SEALED_BYTES
SHARE_OF_SELF_MASK, SHARE_OF_KEY = 0, 1  # the kinds of a revealed share, and its place in a sealed pair


class Kind(enum.IntEnum):
    KEYS = 1  # party: public keys of this session
    ROSTER = 2  # coordinator: the keys of all who joined
    SHARES = 3  # party: a sealed pair of shares for every neighbour
    DELIVERY = 4  # coordinator: who sealed shares, and what they sealed for you
    MASKED = 5  # party: the masked vector, and a signature under the list of those who shared
    ALIVE = 6  # coordinator: whose vectors came, with these signatures, and whose did not come
    AGREE = 7  # party: signs these lists
    AGREED = 8  # coordinator: the signatures of a quorum
    REVEAL = 9  # party: for each neighbour one share, never both
    RESULT = 10  # coordinator: the sum
    END = 11  # coordinator: nothing more will come, and why
    REFUSE = 12  # party: does not take part
    ASK = 13  # party: asks for its inbox
    MASKED_FOR = 14  # party: signs the list of those who shared; only its signature travels, in MASKED and in ALIVE
    OPENED = 15  # party: whose boxes it could not open, usually nobody's
    SHARED = 16  # coordinator: the final list of those who shared


BY_PARTIES = {Kind.KEYS, Kind.SHARES, Kind.OPENED, Kind.MASKED, Kind.AGREE, Kind.REVEAL, Kind.REFUSE, Kind.ASK}
BY_PARTIES |= {Kind.MASKED_FOR}


@dataclass(frozen=True)
class Message:
    """One envelope, taken apart."""

    kind: Kind
    session: bytes
    sender: int
    body: bytes = field(repr=False)
    raw: bytes = field(repr=False)

    def check(self, session: bytes, card: Card) -> Message:
        """Refuse it unless it was signed by `card` for this session."""
        if not self.claim(session, card).holds():
            raise card.forgery()
        return self

    def claim(self, session: bytes, card: Card) -> Claim:
        """What is still to be checked of a message for this session: that `card` signed it."""
        if self.session != session:
            raise WrongSession(
                "a {name} message of {card_name} is bound to another study, round, question or roster.",
                hint="it is a replay, or the two sides hold different studies: compare their digests",
                name=self.kind.name,
                card_name=card.name,
            )
        return Claim(card, self.raw[:-SIGNATURE_BYTES], self.raw[-SIGNATURE_BYTES:])


def sign_message(kind: Kind, session: bytes, sender: int, body: bytes, identity: Identity) -> bytes:
    to_sign = signed_bytes(kind, session, sender, body)
    return to_sign + identity.sign(to_sign)


def signed_bytes(kind: Kind, session: bytes, sender: int, body: bytes) -> bytes:
    """The bytes that a signature covers. A reader who knows the body, such as a digest, needs only the signature."""
    return HEADER.pack(b"MU", PROTOCOL, kind, session, sender, len(body)) + body


def parse_message(raw: bytes) -> Message:
    """The parts of an envelope. The signature is left to `check`, the body to the parser of its kind."""
    if len(raw) < ENVELOPE_BYTES:
        raise BadMessage(
            "a message has at least {envelope_bytes} bytes, got {got}: it was truncated.",
            envelope_bytes=ENVELOPE_BYTES,
            got=len(raw),
        )
    magic, version, kind, session, sender, length = HEADER.unpack_from(raw)
    if magic != b"MU":
        raise BadMessage("these bytes are not a message of Murmure.")
    if version != PROTOCOL:
        raise BadMessage(
            "this message has protocol version {version}; this software speaks {protocol}.",
            hint="both sides need the same release",
            version=version,
            protocol=PROTOCOL,
        )
    if kind not in Kind._value2member_map_:
        raise BadMessage("there is no message of kind {kind}.", kind=kind)
    if length > MAX_BODY_BYTES or len(raw) != ENVELOPE_BYTES + length:
        raise BadMessage(
            "the message claims {length} bytes but has {number}: it was truncated or joined with another.",
            length=length,
            number=len(raw) - ENVELOPE_BYTES,
        )
    known = Kind(kind)
    if (sender == FROM_COORDINATOR) == (known in BY_PARTIES):
        whom = Phrase("the coordinator") if known in BY_PARTIES else Phrase("a party")
        raise BadMessage("a {name} message cannot come from {whom}.", name=known.name, whom=whom)
    return Message(known, session, sender, raw[HEADER.size : -SIGNATURE_BYTES], raw)


# -- bodies -----------------------------------------------------------------------------------------------------------


class Cursor:
    """Reads a body from its start to its end, which `end` checks."""

    def __init__(self, body: bytes, kind: Kind) -> None:
        self._body, self._at, self._kind = body, 0, kind

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is None:
            self.end()

    def take(self, size: int) -> bytes:
        if size > len(self._body) - self._at:
            raise BadMessage("the body of a {name} message is too short.", name=self._kind.name)
        self._at += size
        return self._body[self._at - size : self._at]

    def count(self) -> int:
        return int.from_bytes(self.take(4), "little")

    def parties(self) -> tuple[int, ...]:
        """A list of places in the roster, strictly increasing."""
        places = np.frombuffer(self.take(4 * self.count()), "<u4").tolist()
        self._check_increasing(places)
        return tuple(places)

    def records(self, size: int) -> tuple[tuple[int, ...], list[bytes]]:
        """A list of (place, `size` bytes), strictly increasing in the place."""
        record = struct.Struct(f"<I{size}s")
        pairs = list(record.iter_unpack(self.take(self.count() * record.size)))
        places = [place for place, _ in pairs]
        self._check_increasing(places)
        return tuple(places), [rest for _, rest in pairs]

    def end(self) -> None:
        if self._at != len(self._body):
            raise BadMessage("the body of a {name} message is too long.", name=self._kind.name)

    def _check_increasing(self, places: list[int]) -> None:
        if places != sorted(set(places)):
            raise BadMessage("a {name} message lists parties twice, or out of order.", name=self._kind.name)


def reading_body(message: Message) -> Cursor:
    """A cursor over the body; as a context, an error if the block leaves a part of it unread."""
    return Cursor(message.body, message.kind)


def pack_parties(places: Iterable[int]) -> bytes:
    listed = np.array(sorted(places), "<u4")
    return len(listed).to_bytes(4, "little") + listed.tobytes()


def pack_records(records: Sequence[tuple[int, bytes]]) -> bytes:
    """In order of their places."""
    parts = [place.to_bytes(4, "little") + rest for place, rest in sorted(records)]
    return len(parts).to_bytes(4, "little") + b"".join(parts)


@dataclass(frozen=True)
class KeysBody:
    """Two public keys of X25519, for masks and for sealing, and a commitment to the self-mask."""

    mask: bytes
    box: bytes
    commitment: bytes

    SIZE = 3 * SECRET_BYTES

    def pack(self) -> bytes:
        return self.mask + self.box + self.commitment

    @classmethod
    def parse(cls, message: Message) -> KeysBody:
        with reading_body(message) as c:
            out = cls(c.take(SECRET_BYTES), c.take(SECRET_BYTES), c.take(SECRET_BYTES))
        # X25519 ignores the last bit. If it could be set, one key would have two spellings, and a copy would pass.
        if out.mask[-1] >> 7 or out.box[-1] >> 7:
            raise BadMessage("a session key has a bit set that keys never have.")
        return out


KEYS_MESSAGE_BYTES = ENVELOPE_BYTES + KeysBody.SIZE


def pack_envelopes(messages: Sequence[bytes]) -> bytes:
    """Envelopes of one size, one after the other."""
    return len(messages).to_bytes(4, "little") + b"".join(messages)


def parse_envelopes(message: Message, kind: Kind, size: int) -> dict[int, Message]:
    """The envelopes that a ROSTER message carries, by sender; their signatures are not checked yet."""
    out: dict[int, Message] = {}
    last = -1
    with reading_body(message) as c:
        for _ in range(c.count()):
            inner = parse_message(c.take(size))
            if inner.kind is not kind or inner.sender <= last or inner.session != message.session:
                raise BadMessage(
                    "a {name} message must hold {kind_name} messages in order.",
                    name=message.kind.name,
                    kind_name=kind.name,
                )
            last = inner.sender
            out[last] = inner
    return out


def parse_parties(message: Message) -> tuple[int, ...]:
    """OPENED, SHARED: a list of parties and nothing else."""
    with reading_body(message) as c:
        return c.parties()


@dataclass(frozen=True)
class SealedBody:
    """Boxes, and in SHARES: for whom; in DELIVERY: from whom, and all who sealed shares."""

    places: tuple[int, ...]
    boxes: list[bytes] = field(repr=False)
    members: tuple[int, ...] = ()

    def pack(self, delivery: bool = False) -> bytes:
        records = pack_records(list(zip(self.places, self.boxes, strict=True)))
        return pack_parties(self.members) + records if delivery else records

    @classmethod
    def parse(cls, message: Message) -> SealedBody:
        with reading_body(message) as c:
            members = c.parties() if message.kind is Kind.DELIVERY else ()
            return cls(*c.records(SEALED_BYTES), members)


@dataclass(frozen=True)
class MaskedBody:
    """The words of a masked vector, and its owner's signature under the list of those it was masked for."""

    words: Words64
    signature: bytes

    def pack(self) -> bytes:
        return self.words.astype("<u8").tobytes() + self.signature

    @classmethod
    def parse(cls, message: Message, words: int) -> MaskedBody:
        with reading_body(message) as c:
            return cls(_words_from(c.take(8 * words)), c.take(SIGNATURE_BYTES))


@dataclass(frozen=True)
class AliveBody:
    """Whose vectors came, each with the signature in its MASKED message, and whose did not come."""

    alive: tuple[int, ...]
    dropped: tuple[int, ...]
    signatures: tuple[bytes, ...] = field(default=(), repr=False)

    def pack(self) -> bytes:
        return pack_records(list(zip(self.alive, self.signatures, strict=True))) + pack_parties(self.dropped)

    def pack_lists(self) -> bytes:
        """What parties agree on: the two lists, without signatures."""
        return pack_parties(self.alive) + pack_parties(self.dropped)

    @classmethod
    def parse(cls, message: Message) -> AliveBody:
        with reading_body(message) as c:
            alive, signatures = c.records(SIGNATURE_BYTES)
            return cls(alive, c.parties(), tuple(signatures))


def pack_signatures(signatures: Mapping[int, bytes]) -> bytes:
    """AGREED: who signed, and the signatures; every reader knows what they cover."""
    return pack_records(list(signatures.items()))


def parse_signatures(message: Message) -> dict[int, bytes]:
    with reading_body(message) as c:
        return dict(zip(*c.records(SIGNATURE_BYTES), strict=True))


@dataclass(frozen=True)
class RevealBody:
    """For each owner of a secret one share, with its kind: SHARE_OF_SELF_MASK or SHARE_OF_KEY, never both."""

    places: tuple[int, ...]
    shares: list[tuple[int, bytes]] = field(repr=False)

    def pack(self) -> bytes:
        pairs = zip(self.places, self.shares, strict=True)
        return pack_records([(place, bytes([kind]) + share) for place, (kind, share) in pairs])

    @classmethod
    def parse(cls, message: Message) -> RevealBody:
        with reading_body(message) as c:
            places, records = c.records(1 + SHARE_BYTES)
        if any(record[0] not in (SHARE_OF_SELF_MASK, SHARE_OF_KEY) for record in records):
            raise BadMessage("a REVEAL message holds a share of something unknown.")
        return cls(places, [(record[0], record[1:]) for record in records])


@dataclass(frozen=True)
class ResultBody:
    """The parties of the sum, and its words."""

    cohort: tuple[int, ...]
    words: Words64

    def pack(self) -> bytes:
        return pack_parties(self.cohort) + self.words.astype("<u8").tobytes()

    @classmethod
    def parse(cls, message: Message, words: int) -> ResultBody:
        with reading_body(message) as c:
            return cls(c.parties(), _words_from(c.take(8 * words)))


def _words_from(raw: bytes) -> Words64:
    return np.frombuffer(raw, "<u8").astype(np.uint64)


def parse_reason(message: Message) -> str:
    """The reason in an END message."""
    try:
        text = message.body.decode()
    except UnicodeDecodeError:
        raise BadMessage("the reason of an END message is not text.") from None
    if len(message.body) > 500 or not text.isprintable():
        raise BadMessage("the reason of an END message is too long, or cannot be printed.")
    return text
