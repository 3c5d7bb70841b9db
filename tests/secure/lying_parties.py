"""Parties that send nonsense: each kind of message spoiled in each way, among honest ones. (No test in here.)"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator

from murmure.core.random import fresh_key
from murmure.secure.coordinator import Coordinator
from murmure.secure.errors import ProtocolRefused
from murmure.secure.in_process import session_in_process
from murmure.secure.joined import JoinedParties
from murmure.secure.messages import (
    SEALED_BYTES,
    SHARE_BYTES,
    SIGNATURE_BYTES,
    Kind,
    RevealBody,
    SealedBody,
    pack_parties,
    parse_message,
    sign_message,
)
from murmure.secure.party import Party
from murmure.secure.ring import RingEncoder
from murmure.secure.sharing import PairwiseMasks

SENT = (Kind.KEYS, Kind.SHARES, Kind.OPENED, Kind.MASKED, Kind.AGREE, Kind.REVEAL)
Spoil = Callable[["Crowd", int, bytes], bytes]  # the message as it should be, and as it is sent


class Crowd:
    """A session among honest parties and some that spoil the messages of one kind."""

    def __init__(self, sharing: PairwiseMasks, party: dict[int, type[Party]] | None = None) -> None:
        n = sharing.parties
        self.sharing, self.encoder = sharing, RingEncoder(2, 10**6, n)
        self.session, head, self.identities = session_in_process(sharing, self.encoder)
        self.coordinator = Coordinator(self.session, head)
        self.values = [[7 * i + 1, -i] for i in range(n)]
        self.parties = [
            (party or {}).get(i, Party)(self.session, who, i, fresh_key()) for i, who in enumerate(self.identities)
        ]
        self.liars = frozenset(party or ())
        self.revealed: dict[int, set[int]] = defaultdict(set)  # of whom: shares of which secrets, by honest parties
        self._heard = [0] * n

    def play(self, liars: dict[int, tuple[Kind, Spoil]]) -> Coordinator:
        """To the end; what a liar sends may be refused, and what the others send never is."""
        self.liars |= set(liars)
        while self.coordinator.stage not in ("done", "failed"):
            for i in sorted(self.coordinator.expected):
                for raw in self._says(i):
                    kind, spoil = liars.get(i, (None, None))
                    self._send(i, spoil(self, i, raw) if spoil and parse_message(raw).kind is kind else raw)
            try:
                self.coordinator.close()
            except ProtocolRefused:
                break
        return self.coordinator

    def _says(self, i: int) -> Iterator[bytes]:
        party = self.parties[i]
        if self.coordinator.stage == "keys":
            yield party.keys()
        box = self.coordinator.inbox(i)
        new, self._heard[i] = box[self._heard[i] :], len(box)
        for message in new:
            try:
                answer = party.receive(message)
            except ProtocolRefused:
                assert i in self.liars, "an honest party refuses"
                return
            if answer is not None:
                yield answer
            if party.stage == "vector":
                yield party.mask(self.values[i])
            elif party.stage == "reveal":
                yield party.reveal()

    def _send(self, i: int, raw: bytes) -> None:
        try:
            self.coordinator.receive(raw)
        except ProtocolRefused:
            assert i in self.liars, "an honest party's message is refused"
        if i not in self.liars and parse_message(raw).kind is Kind.REVEAL:
            reveal = RevealBody.parse(parse_message(raw))
            for place, (what, _) in zip(reveal.places, reveal.shares, strict=True):
                self.revealed[place].add(what)

    def signed(self, i: int, raw: bytes, body: bytes) -> bytes:
        return sign_message(parse_message(raw).kind, self.session.digest, i, body, self.identities[i])

    def total(self) -> list[int]:
        return [sum(self.values[i][k] for i in self.coordinator.cohort) for k in range(2)]


# -- what may be sent instead, of any kind -----------------------------------------------------------------------------


def cut(crowd: Crowd, i: int, raw: bytes) -> bytes:
    return crowd.signed(i, raw, parse_message(raw).body[:-1])


def longer(crowd: Crowd, i: int, raw: bytes) -> bytes:
    return crowd.signed(i, raw, parse_message(raw).body + b"\0")


def empty(crowd: Crowd, i: int, raw: bytes) -> bytes:
    return crowd.signed(i, raw, b"")


def ones(crowd: Crowd, i: int, raw: bytes) -> bytes:
    """As long as it should be, and every bit set."""
    return crowd.signed(i, raw, b"\xff" * len(parse_message(raw).body))


def forged(crowd: Crowd, i: int, raw: bytes) -> bytes:
    return raw[:-SIGNATURE_BYTES] + bytes(SIGNATURE_BYTES)


def noise(crowd: Crowd, i: int, raw: bytes) -> bytes:
    return fresh_key() * 10


SIGNED = (cut, longer, empty, ones)
UNSIGNED = (forged, noise)


# -- what takes knowledge of the protocol ------------------------------------------------------------------------------


def seals_nonsense(for_whom: Callable[[int], bool]) -> Spoil:
    """Boxes that do not open, for some of its neighbours: the first, the second, ..."""

    def spoil(crowd: Crowd, i: int, raw: bytes) -> bytes:
        sealed = SealedBody.parse(parse_message(raw))
        boxes = [b"\7" * SEALED_BYTES if for_whom(k) else box for k, box in enumerate(sealed.boxes)]
        return crowd.signed(i, raw, SealedBody(sealed.places, boxes).pack())

    return spoil


def complains(of: int) -> Spoil:
    """Of its first neighbours, who sealed as they should."""

    def spoil(crowd: Crowd, i: int, raw: bytes) -> bytes:
        joined = crowd.coordinator._joined
        assert joined is not None
        return crowd.signed(i, raw, pack_parties(joined.neighbours(i)[:of]))

    return spoil


def reveals(share: bytes) -> Spoil:
    """For everybody the same share, which is nobody's."""

    def spoil(crowd: Crowd, i: int, raw: bytes) -> bytes:
        reveal = RevealBody.parse(parse_message(raw))
        return crowd.signed(i, raw, RevealBody(reveal.places, [(what, share) for what, _ in reveal.shares]).pack())

    return spoil


class SealsNoShares(Party):
    """Its boxes open, and what is in them is not a share of anything."""

    def _split_secrets(self, joined: JoinedParties) -> dict[int, tuple[bytes, bytes]]:
        right = super()._split_secrets(joined)
        return {
            place: shares if place == self.index else (b"\xff" * SHARE_BYTES,) * 2 for place, shares in right.items()
        }


class DealsOtherSecrets(Party):
    """Its boxes open, what is in them are shares, and they belong to nothing that it promised."""

    def _split_secrets(self, joined: JoinedParties) -> dict[int, tuple[bytes, bytes]]:
        return {place: (bytes(32) + bytes([place + 1]),) * 2 for place in super()._split_secrets(joined)}
