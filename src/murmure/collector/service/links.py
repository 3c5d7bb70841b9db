"""Tokens: who may send a report. An open link takes any token that a device makes; a one-time link carries its own.

    signed token    8 bytes | 8 bytes of a keyed digest of the survey and the first half

One-time links carry a signed token whose first half was drawn here. So nobody can make one up, and no list of links is
stored: somebody who copies the database does not learn them. A token is stored as a keyed digest with its survey and
wave, beside the report that it sent.

On an open link with public coins the device draws the first half, and gets the second one with its coins: that is its
registration. A report needs a signed token, so nobody sees what its coins are, or finds out by trying reports, before
the token is fixed and counted. A forger can still register many tokens and use those with the best coins; each of
them is counted.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterator

from murmure.collector.service.keys import ServiceKey
from murmure.core.random import fresh_key

TOKEN = re.compile(r"[0-9a-f]{32}")
NONCE_BYTES = 8
WORD_BYTES = 8


class SurveyTokens:
    """What the tokens of one survey mean."""

    def __init__(self, key: ServiceKey, survey_id: str) -> None:
        self._invitations = key.derive("invitations", survey_id)
        self._digests = key.derive("tokens", survey_id)
        self._coins = key.derive("coins", survey_id)

    def new(self) -> str:
        """The token of a one-time link."""
        return self.sign(fresh_key()[:NONCE_BYTES].hex())

    def sign(self, token: str) -> str:
        """The signed token with the first half of this one."""
        nonce = bytes.fromhex(token)[:NONCE_BYTES]
        return (nonce + self._code(nonce)).hex()

    def is_signed(self, token: str) -> bool:
        return hmac.compare_digest(token, self.sign(token))

    def _code(self, nonce: bytes) -> bytes:
        return hashlib.blake2b(nonce, key=self._invitations, digest_size=8).digest()

    def digest(self, token: str, wave: int) -> bytes:
        """What is stored of a token: 16 bytes, others in each wave."""
        return hashlib.blake2b(f"{wave} {token}".encode(), key=self._digests, digest_size=16).digest()

    def coins(self, token: str, plan: str) -> Iterator[int]:
        """Public words for the report of this token, without end: the same for the same token and plan.

        The token was fixed before, and the key is not known to devices: so a respondent cannot look for a token with
        coins that suit a forger, except by registering token after token, and that is counted.
        """
        number = 0
        while True:
            text = f"murmure coins 1 {plan} {token} {number}".encode()
            block = hashlib.blake2b(text, key=self._coins, digest_size=64).digest()
            for at in range(0, len(block), WORD_BYTES):
                yield int.from_bytes(block[at : at + WORD_BYTES], "little")
            number += 1
