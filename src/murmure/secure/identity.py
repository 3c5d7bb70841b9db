"""Who is who: an Ed25519 key that stays private, and a card with its public half to hand to others."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from murmure.core.errors import InvalidParameter, shorten
from murmure.core.random import fresh_key
from murmure.secure.errors import ForgedMessage

VERSION = 1
BLANKS = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"  # letters by their category, but invisible
MAX_NAME_LENGTH = 80


def is_visible_text(text: str) -> bool:
    """Whether people see all of it: composed letters, single blanks between words, no invisible characters."""
    invisible = any(
        unicodedata.category(c) in ("Cf", "Zl", "Zp") or c in BLANKS or "VARIATION" in unicodedata.name(c, "")
        for c in text
    )
    single_blanks = text == " ".join(text.split())
    return text.isprintable() and single_blanks and not invisible and unicodedata.normalize("NFC", text) == text


def lookalike_key(text: str) -> str:
    """Equal for names that people take for one another: capitals, full width and ligatures do not count."""
    return unicodedata.normalize("NFKC", text).casefold()


@dataclass(frozen=True)
class Card:
    """A name and a public key."""

    name: str
    key: bytes

    def __post_init__(self) -> None:
        if (
            not isinstance(self.name, str)
            or not 0 < len(self.name) <= MAX_NAME_LENGTH
            or not is_visible_text(self.name)
        ):
            raise InvalidParameter(
                "Card.name must be 1 to {max_name_length} visible characters, with single spaces between words, got "
                "{got}.",
                max_name_length=MAX_NAME_LENGTH,
                got=shorten(self.name),
            )
        if not isinstance(self.key, bytes) or len(self.key) != 32:
            raise InvalidParameter("Card.key of {name!r} must be 32 bytes (a public key of Ed25519).", name=self.name)

    @property
    def fingerprint(self) -> str:
        """To be compared by voice: 32 hexadecimal digits of a hash of the key."""
        digits = hashlib.sha256(b"murmure card" + self.key).hexdigest()[:32]
        return " ".join(digits[i : i + 4] for i in range(0, 32, 4))

    def has_signed(self, message: bytes, signature: bytes) -> bool:
        try:
            Ed25519PublicKey.from_public_bytes(self.key).verify(signature, message)
        except (InvalidSignature, ValueError):
            return False
        return True

    def verify(self, message: bytes, signature: bytes) -> None:
        if not self.has_signed(message, signature):
            raise self.forgery()

    def forgery(self) -> ForgedMessage:
        return ForgedMessage(
            "this was not signed by {name} ({fingerprint}).",
            hint="it was changed in transit, or someone else wrote it",
            name=self.name,
            fingerprint=self.fingerprint,
        )

    def to_dict(self) -> dict[str, Any]:
        return {"murmure_card": VERSION, "name": self.name, "key": self.key.hex()}

    @classmethod
    def from_dict(cls, fields: Any) -> Card:
        if not isinstance(fields, Mapping) or set(fields) != {"murmure_card", "name", "key"}:
            raise InvalidParameter("this is not a card.", hint="murmure party init writes card.json")
        version = fields["murmure_card"]
        if type(version) is not int or version != VERSION:
            raise InvalidParameter(
                "this is a card of version {version}; this software reads version {version_2}.",
                version=shorten(version),
                version_2=VERSION,
            )
        try:
            key = bytes.fromhex(fields["key"])
        except (TypeError, ValueError):
            raise InvalidParameter("the card's key must be 64 hexadecimal digits.") from None
        return cls(fields["name"], key)


class Identity:
    """The private key. Nothing prints it."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key
        self.public = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)

    @classmethod
    def fresh(cls) -> Identity:
        return cls.from_bytes(fresh_key())

    @classmethod
    def from_bytes(cls, secret: bytes) -> Identity:
        if len(secret) != 32:
            raise InvalidParameter("an identity's secret must be 32 bytes.")
        return cls(Ed25519PrivateKey.from_private_bytes(secret))

    def secret(self) -> bytes:
        """To be written to a file that only its owner reads."""
        return self._key.private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption())

    def card(self, name: str) -> Card:
        return Card(name, self.public)

    def sign(self, message: bytes) -> bytes:
        return self._key.sign(message)

    def __repr__(self) -> str:
        return f"Identity({Card('x', self.public).fingerprint})"

    # A pickle would carry the private key to disks and other processes.
    def __reduce__(self) -> Any:
        raise TypeError("an identity does not travel")
