"""Tokens: who may send a report. An open link takes any token that a device makes; a one-time link carries its own.

    token of a one-time link    8 bytes drawn here | 8 bytes of a keyed digest of survey and first half

So nobody can make up a one-time link, and no list of links is stored: somebody who copies the database does not learn
them. A token is stored as a keyed digest with its survey and wave, beside the report that it sent.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from collections.abc import Iterator

from murmure.collector.service.keys import ServiceKey

TOKEN = re.compile(r"[0-9a-f]{32}")
NONCE_BYTES = 8
WORD_BYTES = 8


class SurveyTokens:
    """What tokens of one survey mean."""

    def __init__(self, key: ServiceKey, survey_id: str) -> None:
        self._invitations = key.derive("invitations", survey_id)
        self._digests = key.derive("tokens", survey_id)
        self._coins = key.derive("coins", survey_id)

    def new(self) -> str:
        """The token of a one-time link."""
        nonce = os.urandom(NONCE_BYTES)
        return (nonce + self._code(nonce)).hex()

    def is_invitation(self, token: str) -> bool:
        raw = bytes.fromhex(token)
        return hmac.compare_digest(raw[NONCE_BYTES:], self._code(raw[:NONCE_BYTES]))

    def _code(self, nonce: bytes) -> bytes:
        return hashlib.blake2b(nonce, key=self._invitations, digest_size=8).digest()

    def digest(self, token: str, wave: int) -> bytes:
        """What is stored of a token: 16 bytes, others in each wave."""
        return hashlib.blake2b(f"{wave} {token}".encode(), key=self._digests, digest_size=16).digest()

    def coins(self, token: str, plan: str) -> Iterator[int]:
        """Public words for the report of this token, without end: the same for the same token and plan.

        The token was fixed before, and the key is not known to devices: so a respondent cannot look for a token with
        coins that suit a forger, except by asking for them here, where it is counted.
        """
        number = 0
        while True:
            text = f"murmure coins 1 {plan} {token} {number}".encode()
            block = hashlib.blake2b(text, key=self._coins, digest_size=64).digest()
            for at in range(0, len(block), WORD_BYTES):
                yield int.from_bytes(block[at : at + WORD_BYTES], "little")
            number += 1
