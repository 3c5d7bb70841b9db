"""Masks that cancel, made from keys, and boxes for the shares of those keys.

    y_u = x_u + PRG(b_u) + sum_{v > u} PRG(s_uv) - sum_{v < u} PRG(s_uv)

Bonawitz et al., CCS 2017. Every key is derived for one session (HKDF, RFC 5869) and used once, so that counters and
nonces may start at zero: the same key twice would reveal the difference of two vectors.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable

import numpy as np
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from murmure.core.errors import InvalidParameter, Phrase
from murmure.core.fixed import Words64
from murmure.secure.errors import ForgedMessage
from murmure.secure.ring import Ring
from murmure.secure.session import digest_of

KEY_BYTES = 32
BOX_OVERHEAD = 16  # bytes by which a box is longer than its content: the tag of the cipher
PAIR_MASK, SELF_MASK, SHARE_BOX = b"murmure/1 pair mask", b"murmure/1 self mask", b"murmure/1 share box"

Mask = bytes | Words64
"""A key that is expanded when it is added; or the words themselves, for the proof by enumeration."""

_BUFFER_WORDS = 1 << 13  # 64 KiB: keystream is added while it is still in the cache
_ZEROS = memoryview(bytes(8 * _BUFFER_WORDS))
# Every key is used once, so counter and nonce may start at zero.
_FROM_ZERO, _NONCE = modes.CTR(bytes(16)), bytes(12)
_RING = Ring()
# Of `_check_key`: made once, since a round checks thousands of keys.
_MASK_KEY, _STREAM_KEY, _BOX_KEY = Phrase("a mask's key"), Phrase("a keystream's key"), Phrase("a box's key")
_SECRET, _DIGEST = Phrase("a secret"), Phrase("a session's digest")


def pair_key(shared: bytes, session: bytes, low: int, high: int) -> bytes:
    """The key of the mask that party `low` adds and party `high` subtracts."""
    if not 0 <= low < high:
        raise InvalidParameter("pair_key: party {low} must come before party {high}.", low=low, high=high)
    return _derived(shared, PAIR_MASK, session, low, high)


def self_key(b: bytes, session: bytes) -> bytes:
    """The key of a party's self-mask, from the secret b whose shares it deals out."""
    return _derived(b, SELF_MASK, session)


def commitment_to(b: bytes, session: bytes, place: int) -> bytes:
    """What a party publishes beforehand, so that the coordinator can check a rebuilt b."""
    return digest_of(b"murmure self mask", session, place, b)


def box_key(shared: bytes, session: bytes, sender: int, receiver: int) -> bytes:
    """The key of the one box that `sender` has for `receiver` in this session."""
    if sender == receiver:
        raise InvalidParameter("box_key: party {sender} needs no box for itself.", sender=sender)
    return _derived(shared, SHARE_BOX, session, sender, receiver)


def add_mask(out: Words64, key: bytes, sign: int, ring: Ring = _RING) -> None:
    """out <- out + sign * PRG(key), in place; PRG is AES-256 in counter mode, as little-endian words."""
    add_masks(out, [(key, sign)], ring)


def add_masks(out: Words64, masks: Iterable[tuple[bytes, int]], ring: Ring = _RING) -> None:
    """`add_mask` for each of these keys and signs."""
    if out.dtype != np.uint64 or out.ndim != 1:
        raise InvalidParameter("add_mask adds to one row of words (uint64).")
    # A piece holds whole elements, since a carry goes from word to word of one.
    step = _BUFFER_WORDS // ring.limbs * ring.limbs
    buffer = np.empty(min(step, len(out)) + 2, "<u8")  # update_into wants room for one more block of the cipher
    raw = buffer.view(np.uint8).data
    starts = range(0, len(out), step)
    pieces = [(out[start : start + step], _ZEROS[: 8 * min(step, len(out) - start)]) for start in starts]
    for key, sign in masks:
        _check_key(_MASK_KEY, key)
        if sign not in (1, -1):
            raise InvalidParameter("add_mask: sign must be 1 or -1.")
        apply = ring.add if sign == 1 else ring.subtract
        stream = Cipher(algorithms.AES(key), _FROM_ZERO).encryptor()
        for piece, zeros in pieces:
            stream.update_into(zeros, raw)
            apply(piece, buffer[: len(piece)])


def keystream(key: bytes, size: int) -> bytes:
    """The first bytes of PRG(key)."""
    _check_key(_STREAM_KEY, key)
    return Cipher(algorithms.AES(key), _FROM_ZERO).encryptor().update(bytes(size))


def masked(
    values: Words64, plus: Iterable[Mask], minus: Iterable[Mask], self_mask: Mask, ring: Ring = _RING
) -> Words64:
    """What a party sends: its words plus its self-mask, plus the pair masks it adds, minus those it subtracts."""
    out = np.array(values, np.uint64)
    _apply(out, self_mask, 1, ring)
    for mask in plus:
        _apply(out, mask, 1, ring)
    for mask in minus:
        _apply(out, mask, -1, ring)
    return out


def box_seal(key: bytes, plaintext: bytes, ad: bytes) -> bytes:
    """ChaCha20-Poly1305; the nonce is zero because the key closes one box."""
    _check_key(_BOX_KEY, key)
    return ChaCha20Poly1305(key).encrypt(_NONCE, plaintext, ad)


def box_open(key: bytes, box: bytes, ad: bytes) -> bytes:
    """The content of the box, if this key closed it with this `ad`."""
    _check_key(_BOX_KEY, key)
    try:
        return ChaCha20Poly1305(key).decrypt(_NONCE, box, ad)
    except InvalidTag:
        raise ForgedMessage(
            "a box of shares does not open: it was not closed by this sender, for this receiver, in this session.",
            hint="it was changed in transit, or the sender made it wrongly",
        ) from None


def _apply(out: Words64, mask: Mask, sign: int, ring: Ring) -> None:
    if isinstance(mask, bytes):
        add_mask(out, mask, sign, ring)
        return
    if mask.shape != out.shape or mask.dtype != np.uint64:
        raise InvalidParameter("a mask must be {out_count:_} words (uint64).", out_count=len(out))
    (ring.add if sign == 1 else ring.subtract)(out, mask)


def _derived(secret: bytes, label: bytes, session: bytes, *parties: int) -> bytes:
    """HKDF-SHA256 without salt, one block (RFC 5869), written out as two HMACs: a round needs thousands of keys."""
    _check_key(_SECRET, secret)
    _check_key(_DIGEST, session)
    info = label + session + b"".join(party.to_bytes(4, "big") for party in parties)
    return hmac.digest(hmac.digest(bytes(32), secret, "sha256"), info + b"\x01", "sha256")


def _check_key(what: str, key: bytes) -> None:
    if not isinstance(key, bytes) or len(key) != KEY_BYTES:
        raise InvalidParameter("{what} must be {key_bytes} bytes.", what=what, key_bytes=KEY_BYTES)
