"""What a round of messages is bound to: version, study, round, question, encoder, roster. One digest covers all.

The digest goes into every signature and every key, so that a message of one session is worthless in another.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from murmure.core.errors import InvalidParameter
from murmure.secure.identity import Card, lookalike_key
from murmure.secure.ring import RingEncoder
from murmure.secure.sharing import PairwiseMasks

PROTOCOL = 3


@dataclass(frozen=True)
class Session:
    """One sum: who may take part, what is asked, how it is encoded. Parties are numbers: places in the roster."""

    study: bytes  # digest of the study
    round: int
    query: bytes  # digest of the plan
    roster: tuple[Card, ...]
    coordinator: Card
    sharing: PairwiseMasks
    encoder: RingEncoder
    members: tuple[int, ...]  # who may take part in this round: all, or the cohort of the first round

    def __post_init__(self) -> None:
        if len(self.roster) != self.sharing.parties:
            raise InvalidParameter(
                "Session.roster has {roster_count} parties, but the masks are made for {parties}.",
                roster_count=len(self.roster),
                parties=self.sharing.parties,
            )
        if len({card.key for card in self.roster}) < len(self.roster):
            raise InvalidParameter("Session.roster names one key twice.", hint="every party creates its own key")
        if len({lookalike_key(card.name) for card in self.roster}) < len(self.roster):
            raise InvalidParameter("Session.roster gives two parties the same name.", hint="give them different names")
        if list(self.members) != sorted(set(self.members)) or not set(self.members) <= set(range(len(self.roster))):
            raise InvalidParameter("Session.members must be places in the roster, each once, in order.")
        if len(self.study) != 32 or len(self.query) != 32 or self.round < 1:
            raise InvalidParameter("Session: digests must be 32 bytes, and rounds count from 1.")
        if self.encoder.parties < len(self.members):
            raise InvalidParameter("Session.encoder has headroom for fewer parties than may take part.")

    @cached_property
    def digest(self) -> bytes:
        s = self.sharing
        return digest_of(
            b"murmure session",
            PROTOCOL,
            self.study,
            self.round,
            self.query,
            *(part for card in (self.coordinator, *self.roster) for part in (card.name, card.key)),
            *(s.parties, s.minimum, s.colluders, s.coordinator, s.rows, s.graph, s.quorum, s.threshold, s.degree),
            *self.encoder.digest_fields(),
            *self.members,
        )

    @cached_property
    def max_message_bytes(self) -> int:
        """The length of the longest message that a party has reason to send."""
        from murmure.secure.messages import ENVELOPE_BYTES, SEALED_RECORD_BYTES, SIGNATURE_BYTES

        return ENVELOPE_BYTES + max(
            8 * self.encoder.words + SIGNATURE_BYTES, 4 + SEALED_RECORD_BYTES * (len(self.members) + 1)
        )


def digest_of(*fields: bytes | str | int) -> bytes:
    """A hash of several fields, each with its kind and its length, so that ("ab", "c") is not ("a", "bc")."""
    hashed = hashlib.sha256()
    for field in fields:
        if isinstance(field, int):
            kind, text = b"i", str(field).encode()
        elif isinstance(field, str):
            kind, text = b"s", field.encode()
        else:
            kind, text = b"b", field
        hashed.update(kind + len(text).to_bytes(8, "little") + text)
    return hashed.digest()


def derive(seed: bytes, label: str, session: bytes, length: int = 32) -> bytes:
    """A secret of a party in a session. All come from one seed, so that a restart finds the same ones."""
    return HKDF(hashes.SHA256(), length, salt=session, info=b"murmure/1 " + label.encode()).derive(seed)
