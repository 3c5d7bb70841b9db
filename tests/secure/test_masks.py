"""Keys are bound to one use; masks are the standard keystream; whatever one adds the other takes off."""

from __future__ import annotations

import itertools
import tracemalloc

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from murmure.core.errors import InvalidParameter
from murmure.secure import masks
from murmure.secure.errors import ForgedMessage
from murmure.secure.masks import BOX_OVERHEAD, add_mask, box_key, box_open, box_seal, masked, pair_key, self_key
from murmure.secure.ring import Ring

SHARED, SESSION = bytes(range(32)), bytes(range(100, 132))
KEY = bytes(range(7, 39))


def keystream(key: bytes, words: int) -> np.ndarray:
    """The definition: AES-256-CTR from counter zero, little-endian words."""
    stream = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()
    return np.frombuffer(stream.update(bytes(8 * words)), "<u8").astype(np.uint64)


def test_keys_are_hkdf_sha256_of_another_implementation():
    """RFC 5869 with the labels of the protocol, against the cryptography package."""

    def hkdf(secret, info):
        return HKDF(SHA256(), 32, None, info).derive(secret)

    pair = (3).to_bytes(4, "big") + (70_000).to_bytes(4, "big")
    assert pair_key(SHARED, SESSION, 3, 70_000) == hkdf(SHARED, b"murmure/1 pair mask" + SESSION + pair)
    assert self_key(SHARED, SESSION) == hkdf(SHARED, b"murmure/1 self mask" + SESSION)
    assert box_key(SHARED, SESSION, 3, 70_000) == hkdf(SHARED, b"murmure/1 share box" + SESSION + pair)


def test_no_two_uses_have_the_same_key():
    """Another secret, session, pair, direction or purpose: another key."""
    secrets, sessions, pairs = (SHARED, SESSION), (SHARED, SESSION, KEY), ((0, 1), (0, 2), (1, 2), (0, 256), (1, 256))
    keys = [pair_key(a, s, *p) for a, s, p in itertools.product(secrets, sessions, pairs)]
    keys += [box_key(a, s, *p) for a, s, p in itertools.product(secrets, sessions, pairs)]
    keys += [box_key(a, s, *p[::-1]) for a, s, p in itertools.product(secrets, sessions, pairs)]
    keys += [self_key(a, s) for a, s in itertools.product(secrets, sessions)]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("words", [0, 1, 2, 3, 8191, 8192, 8193, 30_001])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_mask_is_the_keystream_whatever_the_length(words, sign):
    """Also across the pieces in which it is made."""
    start = np.arange(words, dtype=np.uint64) * np.uint64(2**60 + 7)
    out = start.copy()
    add_mask(out, KEY, sign)
    stream = keystream(KEY, words)
    assert (out == (start + stream if sign == 1 else start - stream)).all()


def test_a_mask_in_a_small_ring_is_the_keystream_modulo_it():
    out = np.ones(100, np.uint64)
    add_mask(out, KEY, -1, Ring(3))
    assert (out == (1 - keystream(KEY, 100)) % 8).all()


def test_a_mask_can_be_added_to_every_other_word():
    """A view that is not contiguous is changed in place, and nothing else."""
    whole = np.zeros(40, np.uint64)
    add_mask(whole[::2], KEY, 1)
    assert (whole[::2] == keystream(KEY, 20)).all()
    assert not whole[1::2].any()


def test_a_mask_needs_no_memory_of_its_own_size():
    """8 MB of words, less than 0.5 MB beside them."""
    out = np.zeros(1_000_000, np.uint64)
    tracemalloc.start()
    add_mask(out, KEY, 1)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 500_000


@pytest.mark.parametrize("parties", [2, 3, 6])
def test_pair_masks_cancel_and_own_masks_stay(parties):
    """The sum of all that is sent, less the own masks, is the sum of all that is held."""
    held = np.array([keystream(bytes([u]) * 32, 50) for u in range(parties)])
    own = [self_key(bytes([50 + u]) * 32, SESSION) for u in range(parties)]

    def key(u, v):
        return pair_key(bytes([u + v, u * v] * 16), SESSION, min(u, v), max(u, v))

    sent = [
        masked(held[u], [key(u, v) for v in range(u + 1, parties)], [key(u, v) for v in range(u)], own[u])
        for u in range(parties)
    ]
    total = np.sum(sent, axis=0, dtype=np.uint64)
    for mask in own:
        add_mask(total, mask, -1)
    assert (total == held.sum(axis=0, dtype=np.uint64)).all()


def test_masked_composes_words_and_keys_alike_and_leaves_its_argument_alone():
    """The proof by enumeration hands over words; they are treated as the keystream of a key is."""
    values = np.arange(5, dtype=np.uint64)
    keys = [bytes([i]) * 32 for i in range(4)]
    words = [keystream(key, 5) for key in keys]
    by_key = masked(values, keys[1:3], keys[3:], keys[0])
    by_words = masked(values, words[1:3], words[3:], words[0])
    assert (by_key == by_words).all()
    assert (by_key == values + words[0] + words[1] + words[2] - words[3]).all()
    assert values.tolist() == [0, 1, 2, 3, 4]


def test_a_box_opens_for_its_key_and_context_only():
    box = box_seal(KEY, b"two shares", b"from 1 to 2")
    assert len(box) == len(b"two shares") + BOX_OVERHEAD
    assert box_open(KEY, box, b"from 1 to 2") == b"two shares"
    flipped = bytes([box[0] ^ 1]) + box[1:]
    for key, held, ad in (
        (SHARED, box, b"from 1 to 2"),
        (KEY, flipped, b"from 1 to 2"),
        (KEY, box[:-1], b"from 1 to 2"),
        (KEY, b"", b"from 1 to 2"),
        (KEY, box, b"from 2 to 1"),
    ):
        with pytest.raises(ForgedMessage):
            box_open(key, held, ad)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: pair_key(SHARED[:-1], SESSION, 0, 1),
        lambda: pair_key(SHARED, SESSION + b"x", 0, 1),
        lambda: pair_key(SHARED, SESSION, 1, 1),
        lambda: pair_key(SHARED, SESSION, 2, 1),
        lambda: pair_key(SHARED, SESSION, -1, 1),
        lambda: box_key(SHARED, SESSION, 1, 1),
        lambda: self_key(b"", SESSION),
        lambda: add_mask(np.zeros(3, np.uint64), KEY, 0),
        lambda: add_mask(np.zeros(3, np.uint64), KEY[:16], 1),
        lambda: add_mask(np.zeros(3, np.int64), KEY, 1),
        lambda: add_mask(np.zeros((3, 2), np.uint64), KEY, 1),
        lambda: masked(np.zeros(3, np.uint64), [np.zeros(1, np.uint64)], [], KEY),
        lambda: masked(np.zeros(3, np.uint64), [], [], np.zeros(3)),
        lambda: box_seal(KEY[:-1], b"", b""),
    ],
)
def test_a_key_of_another_size_a_pair_in_the_wrong_order_or_a_wrong_shape_is_refused(wrong):
    """A mask of one word would be spread over all entries by numpy: a mask used many times."""
    with pytest.raises(InvalidParameter):
        wrong()


@pytest.mark.parametrize("limbs", [2, 3, 5])
def test_masks_of_wide_elements_cancel_across_chunks(limbs):
    """A carry stays within one element, wherever a chunk of the keystream ends."""
    ring = Ring(limbs=limbs)
    before = np.arange(limbs * 9001, dtype=np.uint64)
    out = before.copy()
    add_mask(out, KEY, 1, ring)
    whole = before.copy()
    ring.add(whole, np.frombuffer(masks.keystream(KEY, 8 * len(whole)), "<u8").astype(np.uint64))
    assert (out == whole).all() and (out != before).all()
    add_mask(out, KEY, -1, ring)
    assert (out == before).all()


@pytest.mark.parametrize("limbs", [1, 3])
def test_many_masks_at_once_are_one_after_the_other(limbs):
    """One buffer serves them all, and nothing of one is left for the next."""
    ring = Ring(limbs=limbs)
    keys = [bytes([i]) * 32 for i in range(5)]
    for words in (limbs, limbs * 3001, limbs * 9001):
        wanted = np.arange(words, dtype=np.uint64)
        out = wanted.copy()
        masks_with_signs = [(key, 1 if i % 2 else -1) for i, key in enumerate(keys)]
        for key, sign in masks_with_signs:
            add_mask(wanted, key, sign, ring)

        masks.add_masks(out, iter(masks_with_signs), ring)

        assert (out == wanted).all()


def test_a_wrong_key_or_sign_among_many_is_refused():
    for wrong in ((KEY[:-1], 1), (KEY, 0)):
        with pytest.raises(InvalidParameter):
            masks.add_masks(np.zeros(3, np.uint64), [(KEY, 1), wrong])
