"""Who joined, frozen: everybody's keys, the graph that follows from all of them, and one digest that binds it all."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cached_property, lru_cache

import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from numpy.typing import NDArray

from murmure.core.errors import InvalidParameter, Phrase
from murmure.secure.errors import BadMessage, RosterDiffers, TooFewParties
from murmure.secure.graph import SECURITY_AGAINST_TRIES, can_split, max_colluders_in_gaps, neighbours, ring_order
from murmure.secure.messages import (
    KEYS_MESSAGE_BYTES,
    AliveBody,
    KeysBody,
    Kind,
    Message,
    pack_envelopes,
    pack_parties,
    parse_envelopes,
    signed_bytes,
)
from murmure.secure.session import Session, digest_of
from murmure.secure.sharing import PairwiseMasks
from murmure.secure.signatures import Claim, which_hold


class JoinedParties:
    """Computed from the KEYS messages themselves, by every party and by the coordinator alike."""

    def __init__(self, session: Session, messages: Mapping[int, Message]) -> None:
        self.session, self.messages = session, messages
        self.members = tuple(messages)
        if not set(self.members) <= set(session.members):
            raise RosterDiffers("the list of keys names a party that is not in the roster of this round.")
        check_minimum(session, len(self.members), Phrase("joined"))
        self.sharing = _terms_for(session.sharing, len(self.members))
        self.keys = {place: KeysBody.parse(message) for place, message in messages.items()}
        every_key = [key for keys in self.keys.values() for key in (keys.mask, keys.box)]
        if len(set(every_key)) < len(every_key):
            raise RosterDiffers("a session key is in the list twice.", hint="one party copied the keys of another")

    @classmethod
    def parse(cls, session: Session, roster: Message) -> JoinedParties:
        return cls(session, parse_envelopes(roster, Kind.KEYS, KEYS_MESSAGE_BYTES))

    def pack(self) -> bytes:
        return pack_envelopes([message.raw for message in self.messages.values()])

    @cached_property
    def digest(self) -> bytes:
        """Of the session and of every key in it: what masks, seals and agreements are bound to."""
        return digest_of(b"murmure joined", self.session.digest, hashlib.sha256(self.pack()).digest())

    @cached_property
    def _ring(self) -> Mapping[int, tuple[int, ...]] | None:
        # Nobody chooses the order alone: it follows from the keys of all (but see PairwiseMasks.assumption).
        return None if self.sharing.complete else neighbours(self._order, self.sharing.degree)

    @cached_property
    def _order(self) -> NDArray[np.int64]:
        return ring_order(self.digest, self.members)

    def check_connected(self, alive: Collection[int]) -> None:
        """Refuse a list of survivors whose masks might cancel in two parts: that would reveal two sums."""
        sharing = self.sharing
        if sharing.complete:
            return
        survives = np.isin(self._order, np.fromiter(alive, np.int64))
        limit = max_colluders_in_gaps(len(survives), sharing.colluders, sharing.degree, SECURITY_AGAINST_TRIES)
        if can_split(survives, sharing.degree, limit):
            raise TooFewParties(
                "the parties whose vectors arrived leave gaps in the ring of masks: the survivors could fall into "
                "two sums.",
                hint="nothing was revealed; start again with fresh keys, or on the complete graph",
            )

    def neighbours(self, place: int) -> tuple[int, ...]:
        """With whom this party shares masks, in order."""
        return self._neighbours[place]

    @cached_property
    def _neighbours(self) -> Mapping[int, tuple[int, ...]]:
        if self._ring is not None:
            return self._ring
        return {place: (*self.members[:i], *self.members[i + 1 :]) for i, place in enumerate(self.members)}

    def holders(self, place: int) -> tuple[int, ...]:
        """Who holds shares of this party's secrets: its neighbours, and on the complete graph itself.

        On the complete graph the threshold t counts among all n. On a sparse graph it counts among neighbours, and
        2 t >= degree + colluding neighbours + 2 would not hold with one more holder.
        """
        peers = self.neighbours(place)
        return tuple(sorted((*peers, place))) if self.sharing.complete else peers

    @property
    def threshold(self) -> int:
        """How many shares rebuild a secret. On the complete graph always as if everybody invited had joined."""
        return self.session.sharing.quorum if self.sharing.complete else self.sharing.threshold

    def verify(self) -> None:
        """Check that the parties of the roster signed these keys. All of them, since every key changes the graph."""
        cards = [self.session.roster[place] for place in self.messages]
        claims = [m.claim(self.session.digest, card) for m, card in zip(self.messages.values(), cards, strict=True)]
        for card, holds in zip(cards, which_hold(claims), strict=True):
            if not holds:
                raise card.forgery()

    def masking_digest(self, shared: tuple[int, ...]) -> bytes:
        """What a party signs with its vector: who joined, and the list of those who shared that it was sent."""
        return digest_of(b"murmure masked for", self.digest, pack_parties(shared))

    def agreement_digest(self, shared: tuple[int, ...], lists: AliveBody) -> bytes:
        """What parties sign before anybody reveals a share: who joined, who shared, whose vectors came."""
        return digest_of(b"murmure agree", self.digest, pack_parties(shared), lists.pack_lists())

    def claim(self, kind: Kind, place: int, digest: bytes, signature: bytes) -> Claim:
        """That this party signed this digest, as a message of this kind would be."""
        text = signed_bytes(kind, self.session.digest, place, digest)
        return Claim(self.session.roster[place], text, signature)


def _terms_for(sharing: PairwiseMasks, joined: int) -> PairwiseMasks:
    """The same terms for those who joined. The others count as dropouts; the colluders are taken to have joined."""
    left = joined - sharing.minimum  # the minimum stays as agreed: who did not join uses up a dropout
    try:
        return replace(sharing, parties=joined, dropouts=left)
    except InvalidParameter:  # too few for a sparse graph
        return replace(sharing, parties=joined, dropouts=left, graph="complete")


def check_minimum(session: Session, count: int, did: Phrase) -> None:
    if count < session.sharing.minimum:
        raise TooFewParties(
            "{count} of {parties} parties {did}; the agreed minimum is {minimum}.",
            hint="nothing was revealed; start again with fresh keys when more can take part",
            count=count,
            parties=session.sharing.parties,
            did=did,
            minimum=session.sharing.minimum,
        )


def public_bytes(private: X25519PrivateKey) -> bytes:
    return private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)


_public_key = lru_cache(4096)(X25519PublicKey.from_public_bytes)  # every key is used many times


def shared_secret(private: X25519PrivateKey, public: bytes, owner: str) -> bytes:
    """The secret that two X25519 keys agree on; `owner` is the name of the public one's party, for the error."""
    try:
        return private.exchange(_public_key(public))
    except ValueError:  # a point of small order: the secret would be known to all
        raise BadMessage("the session key of {owner} is not a key.", owner=owner) from None
