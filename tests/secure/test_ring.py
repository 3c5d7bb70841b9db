"""Encoding, adding and decoding is exact addition; what does not fit is refused, never clipped or wrapped."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from murmure.core.errors import InvalidParameter
from murmure.secure.errors import ImpossibleTotal, NoHeadroom, OutOfBound
from murmure.secure.ring import WORD_BITS, Ring, RingEncoder


def added(encoder: RingEncoder, vectors: list) -> np.ndarray:
    total = np.zeros(encoder.words, np.uint64)
    for vector in vectors:
        encoder.ring.add(total, encoder.encode(vector))
    return total


@st.composite
def sums_of_parties(draw):
    bound = draw(st.integers(0, 2 ** draw(st.integers(0, 300))))
    entries, parties = draw(st.integers(1, 4)), draw(st.integers(1, 6))
    extra = draw(st.integers(0, 2))
    values = st.one_of(st.sampled_from([-bound, -1 if bound else 0, 0, bound]), st.integers(-bound, bound))
    vectors = draw(st.lists(st.lists(values, min_size=entries, max_size=entries), min_size=parties, max_size=parties))
    return bound, entries, parties, extra, vectors


@given(sums_of_parties())
@settings(max_examples=300, deadline=None)
def test_sums_come_back_exactly_whatever_their_width(case):
    """For bounds up to 2**300, any number of limbs that fits, and values at both ends of the bound."""
    bound, entries, parties, extra, vectors = case
    limbs = RingEncoder(entries, bound, parties).limbs + extra
    encoder = RingEncoder(entries, bound, parties, limbs)
    assert encoder.words == entries * limbs
    expected = [sum(column) for column in zip(*vectors, strict=True)]
    assert encoder.decode(added(encoder, vectors), parties) == expected


@pytest.mark.parametrize("parties", [1, 2, 1000, 1 << 24])
@pytest.mark.parametrize("limbs", [1, 2, 3])
def test_the_largest_bound_that_fits_is_decoded_at_both_ends_and_the_next_is_refused(parties, limbs):
    """Everyone at +bound or at -bound, for as many parties as fit; one more and the encoder refuses."""
    low, high = 0, 1 << 300  # the largest bound that is accepted, by bisection
    while high - low > 1:
        middle = (low + high) // 2
        try:
            RingEncoder(1, middle, parties, limbs)
            low = middle
        except NoHeadroom:
            high = middle
    assert (parties * low).bit_length() == WORD_BITS * limbs - 1
    encoder = RingEncoder(1, low, parties, limbs)
    for value in (low, -low, -1, 0):
        total, doubled, left = np.zeros(limbs, np.uint64), encoder.encode([value]), parties
        while left:  # everyone's words, by doubling
            if left & 1:
                encoder.ring.add(total, doubled)
            encoder.ring.add(doubled, doubled.copy())
            left >>= 1
        assert encoder.decode(total, parties) == [parties * value]


def test_one_limb_is_plain_twos_complement():
    """Anybody can check a word by hand."""
    assert RingEncoder(4, 5, 3).encode([0, 1, -1, 5]).tolist() == [0, 1, 2**64 - 1, 5]


def test_limbs_are_the_words_of_twos_complement():
    """-1 is all ones; the lowest word stands first, the words of one entry together."""
    encoder = RingEncoder(2, 2**150, 3, limbs=3)
    words = encoder.encode([-1, 5 + (7 << 64) + (9 << 128)]).reshape(2, 3)
    assert words[0].tolist() == [2**64 - 1] * 3
    assert words[1].tolist() == [5, 7, 9]


def test_two_sums_that_are_equal_are_the_same_words():
    """Whatever the parts were: words that are added without carry would tell how often single parts went round."""
    encoder = RingEncoder(1, 2**70, 3)
    for parts in itertools.product([0, 1, -1, 2**63, 2**64 - 1, -(2**64), 2**69], repeat=3):
        other = [sum(parts), 0, 0] if abs(sum(parts)) <= 2**70 else [sum(parts) - 2**70, 2**70, 0]
        if max(map(abs, other)) <= 2**70:
            assert added(encoder, [[p] for p in parts]).tolist() == added(encoder, [[p] for p in other]).tolist()


@pytest.mark.parametrize(("bits", "limbs"), [(1, 2), (2, 2), (1, 4), (3, 1)])
def test_words_with_carry_are_the_integers_of_the_larger_ring(bits, limbs):
    """All pairs of elements, added and subtracted: what the proof shows modulo 2**n holds for words with carry."""
    size = 1 << bits * limbs
    pairs = list(itertools.product(range(size), repeat=2))

    def words(numbers):
        return np.array([x >> bits * k & (1 << bits) - 1 for x in numbers for k in range(limbs)], np.uint64)

    for change, sign in ((Ring(bits, limbs).add, 1), (Ring(bits, limbs).subtract, -1)):
        out = words(x for x, _ in pairs)
        change(out, words(y for _, y in pairs))
        assert out.tolist() == words((x + sign * y) % size for x, y in pairs).tolist()


@given(st.lists(st.tuples(st.integers(0, 2**192 - 1), st.integers(0, 2**192 - 1)), min_size=1, max_size=5))
@settings(max_examples=200, deadline=None)
def test_words_of_64_bits_carry(pairs):
    ring = Ring(limbs=3)

    def words(numbers):
        return np.array([x >> 64 * k & 2**64 - 1 for x in numbers for k in range(3)], np.uint64)

    for change, sign in ((ring.add, 1), (ring.subtract, -1)):
        out = words(x for x, _ in pairs)
        change(out, words(y for _, y in pairs))
        assert out.tolist() == words((x + sign * y) % 2**192 for x, y in pairs).tolist()


def test_everyone_is_never_no_one():
    """The lecture's protocol wraps when all hold the largest value; here the ring is strictly larger than that sum."""
    with pytest.raises(NoHeadroom):
        RingEncoder(1, 2**62, 2, limbs=1)
    assert RingEncoder(1, 2**62, 2).limbs == 2
    encoder = RingEncoder(1, 2**62 - 1, 2, limbs=1)
    assert encoder.decode(added(encoder, [[2**62 - 1]] * 2), 2) == [2**63 - 2]
    assert encoder.decode(added(encoder, [[-(2**62) + 1]] * 2), 2) == [-(2**63) + 2]


def test_limbs_are_as_few_as_fit():
    """One more bit than a word holds costs one more word, not a new protocol."""
    assert RingEncoder(1, 2**63 - 1, 1).limbs == 1
    assert RingEncoder(1, 2**63, 1).limbs == 2
    assert RingEncoder(1, 2**127 - 1, 1).limbs == 2
    with pytest.raises(NoHeadroom):
        RingEncoder(1, 2**127, 1, 2)
    assert RingEncoder(1, 1, 1 << 24).limbs == 1 and RingEncoder(1, 2**60, 1 << 24).limbs == 2


def test_no_headroom_says_how_many_bits_and_three_ways_out():
    with pytest.raises(NoHeadroom) as caught:
        RingEncoder(3, 10**18, 1000, limbs=1)
    text = str(caught.value)
    assert "needs 71 bits with its sign, 64 are available" in text
    assert all(way in text for way in ("more limbs", "tighter bounds", "fewer parties"))


@pytest.mark.parametrize("bound", [10, 10**30])
@pytest.mark.parametrize("side", [1, -1])
def test_a_sum_beyond_its_bound_is_refused_and_not_told(bound, side):
    """The message names the entry; the value itself is a secret."""
    encoder = RingEncoder(3, bound, 5)
    with pytest.raises(OutOfBound) as caught:
        encoder.encode([0, bound, side * (bound + 1)])
    assert "entry 2" in str(caught.value)
    assert str(bound + 1) not in str(caught.value)


def test_the_least_of_int64_is_out_of_bound_too():
    """abs(-2**63) is negative in int64; the check does not fall for it."""
    with pytest.raises(OutOfBound):
        RingEncoder(1, 10, 2).encode(np.array([-(2**63)]))


@pytest.mark.parametrize("bound", [10, 2**70])
def test_with_noise_nothing_depends_on_how_large_the_noise_came_out(bound):
    """wrap=True never raises; a total that is right again after cancelling is decoded exactly."""
    encoder = RingEncoder(1, bound, 3)
    total = np.zeros(encoder.words, np.uint64)
    for value in (2**500 + 3, -(2**500) + 4, -(bound // 2)):
        encoder.ring.add(total, encoder.encode([value], wrap=True))
    assert encoder.decode(total, 3) == [7 - bound // 2]


@pytest.mark.parametrize("bound, total", [(10, [31]), (10, [-31]), (2**70, [3 * 2**70 + 1]), (2**70, [-3 * 2**70 - 1])])
def test_a_total_that_so_many_parties_cannot_have_is_refused(bound, total):
    encoder = RingEncoder(1, bound, 4)
    words = RingEncoder(1, 4 * bound, 1, encoder.limbs).encode(total)
    assert encoder.decode(words, 4) == total
    with pytest.raises(ImpossibleTotal):
        encoder.decode(words, 3)


@pytest.mark.parametrize("values", [[1.0], np.array([1.0]), ["1"], [None], np.array([True]), np.array([1.5], object)])
def test_only_whole_numbers_are_encoded(values):
    with pytest.raises(InvalidParameter, match="whole numbers"):
        RingEncoder(1, 10, 3).encode(values)


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint64, object])
def test_every_kind_of_integer_gives_the_same_words(dtype):
    encoder = RingEncoder(3, 2**70, 3)
    assert (encoder.encode(np.array([1, 2, 127], dtype)) == encoder.encode([1, 2, 127])).all()


@pytest.mark.parametrize("values", [[], [1], [1, 2, 3], np.array([[1, 2]]), np.array(1)])
def test_the_number_of_entries_is_agreed_on(values):
    with pytest.raises((InvalidParameter, TypeError)):
        RingEncoder(2, 10, 3).encode(values)


@pytest.mark.parametrize(
    "fields", [(0, 1, 1), (1, -1, 1), (1, 1, 0), (1, 1, 1, 0), (1, 1.5, 1), (True, 1, 1), (1, 1, 1, "2")]
)
def test_an_encoder_is_made_of_whole_numbers(fields):
    with pytest.raises(InvalidParameter):
        RingEncoder(*fields)


def test_decode_wants_its_own_shape_and_a_possible_number_of_survivors():
    encoder = RingEncoder(2, 10, 3)
    for total, survivors in (
        (np.zeros(2, np.uint64), 0),
        (np.zeros(2, np.uint64), 4),
        (np.zeros(3, np.uint64), 3),
        (np.zeros(2, np.int64), 3),
    ):
        with pytest.raises(InvalidParameter):
            encoder.decode(total, survivors)


def test_encoders_that_agree_have_the_same_fields_and_others_do_not():
    """The digest of a session binds whatever changes the words."""
    held = {
        RingEncoder(*fields).digest_fields() for fields in ((2, 9, 3), (3, 9, 3), (2, 8, 3), (2, 9, 4), (2, 9, 3, 2))
    }
    assert len(held) == 5
    assert RingEncoder(2, 9, 3) == RingEncoder(2, 9, 3, limbs=1)


@pytest.mark.parametrize("bits", [1, 2, 7, 63, 64])
def test_a_ring_adds_and_subtracts_modulo_two_to_its_bits(bits):
    held = [0, 1, 2**bits - 1, 2 ** (bits - 1)]
    a = np.array([x for x in held for _ in held], np.uint64)
    b = np.array([y for _ in held for y in held], np.uint64)
    for change, sign in ((Ring(bits).add, 1), (Ring(bits).subtract, -1)):
        out = a.copy()
        change(out, b)
        assert out.tolist() == [(x + sign * y) % 2**bits for x in held for y in held]


@pytest.mark.parametrize("bits", [0, 65, 2.0, True])
def test_a_ring_has_1_to_64_bits(bits):
    with pytest.raises(InvalidParameter):
        Ring(bits)
    with pytest.raises(InvalidParameter):
        Ring(64, bits)
