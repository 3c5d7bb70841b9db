"""Any t shares give the secret; any t - 1 fit every secret equally well."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from murmure.core.errors import InvalidParameter
from murmure.secure import shamir
from murmure.secure.errors import SharesDoNotFit
from murmure.secure.shamir import SHARE_BYTES, P, coefficient_bytes, join, lagrange_at, split

SECRET = bytes(range(200, 232))


def random_bytes(seed: int, size: int) -> bytes:
    return np.random.default_rng(seed).bytes(size)


def shared(secret: bytes, threshold: int, xs, seed: int = 1) -> dict[int, bytes]:
    return dict(zip(xs, split(secret, threshold, xs, random_bytes(seed, coefficient_bytes(threshold))), strict=True))


def is_probably_prime(n: int, rounds: int = 40) -> bool:
    """Miller-Rabin; a composite passes one round with a chance of at most 1/4."""
    d, s = n - 1, 0
    while d % 2 == 0:
        d, s = d // 2, s + 1
    for base in range(2, 2 + rounds):
        x = pow(base, d, n)
        if x not in (1, n - 1) and not any((x := x * x % n) == n - 1 for _ in range(s - 1)):
            return False
    return True


def test_p_is_the_least_prime_that_holds_32_bytes():
    assert is_probably_prime(P)
    assert not any(is_probably_prime(n, 2) for n in range(2**256 + 1, P, 2))


@given(st.binary(min_size=32, max_size=32), st.integers(1, 8), st.integers(0, 4), st.integers(0, 2**32), st.data())
@settings(max_examples=100, deadline=None)
def test_any_threshold_of_the_shares_give_the_secret(secret, threshold, extra, seed, data):
    """Whichever survive, also at places as large as the field."""
    places = st.one_of(st.integers(1, 50), st.integers(1, P - 1), st.sampled_from([P - 1, 2**32 - 1, 2**32]))
    xs = data.draw(st.lists(places, min_size=threshold + extra, max_size=threshold + extra, unique=True))
    shares = shared(secret, threshold, xs, seed)
    assert all(len(share) == SHARE_BYTES for share in shares.values())
    kept = data.draw(st.permutations(xs))[: data.draw(st.integers(threshold, len(xs)))]
    assert join({x: shares[x] for x in kept}, threshold) == secret


@pytest.mark.parametrize("secret", [bytes(32), b"\xff" * 32])
def test_secrets_at_both_ends_come_back(secret):
    assert join(shared(secret, 3, range(1, 6)), 3) == secret


def test_a_share_is_the_value_of_the_polynomial():
    """Checked with plain powers: secret + a_1 x + a_2 x**2."""
    stream = random_bytes(5, coefficient_bytes(3))
    a = [int.from_bytes(SECRET, "big"), *(int.from_bytes(stream[i : i + 48], "big") for i in (0, 48))]
    for x, share in zip((1, 9, 2**40), split(SECRET, 3, (1, 9, 2**40), stream), strict=True):
        assert int.from_bytes(share, "big") == sum(c * x**k for k, c in enumerate(a)) % P


def test_fewer_shares_than_the_threshold_fit_every_secret():
    """For any other secret there is exactly one polynomial through the same t - 1 shares, so they say nothing."""
    shares = shared(SECRET, 3, (1, 2, 3))
    for other in (bytes(32), b"\xff" * 32, random_bytes(8, 32)):
        # the share at 3 with which shares 1 and 2 would give `other`: exactly one
        weights = dict(zip((1, 2, 3), lagrange_at((1, 2, 3)).weights, strict=True))
        known = sum(weights[x] * int.from_bytes(shares[x], "big") for x in (1, 2))
        third = (int.from_bytes(other, "big") - known) * pow(weights[3], -1, P) % P
        assert join({**shares, 3: third.to_bytes(33, "big")}, 3) == other
    with pytest.raises(SharesDoNotFit, match="2 shares arrived and 3 are needed"):
        join({x: shares[x] for x in (1, 2)}, 3)


def test_in_a_small_field_t_minus_1_shares_are_uniform_whatever_the_secret(monkeypatch):
    """Enumerated with the same code modulo 5: every pair of shares of a threshold of 3 occurs once for each secret."""
    monkeypatch.setattr(shamir, "P", 5)
    for secret, places in itertools.product(range(5), itertools.combinations(range(1, 5), 2)):
        seen = [tuple(shamir._evaluate([a2, a1, secret], x) for x in places) for a1 in range(5) for a2 in range(5)]
        assert sorted(seen) == sorted(itertools.product(range(5), repeat=2))


def test_weights_are_those_of_lagrange_in_fractions():
    xs = (2, 3, 7, 11)
    for x, weight in zip(xs, lagrange_at(xs).weights, strict=True):
        exact = Fraction(1)
        for other in xs:
            exact *= 1 if other == x else Fraction(other, other - x)
        assert weight == exact.numerator * pow(exact.denominator, -1, P) % P


def test_many_secrets_share_their_weights():
    """100 parties' secrets held by the same survivors: the weights are computed once."""
    shamir.lagrange_at.cache_clear()
    secrets = [random_bytes(i, 32) for i in range(100)]
    for i, secret in enumerate(secrets):
        assert join(shared(secret, 6, range(1, 11), i), 6) == secret

    assert shamir.lagrange_at.cache_info().misses == 1


def test_a_wrong_share_gives_another_secret():
    """It is not noticed here, which `join` says; whoever joins has to compare."""
    shares = shared(SECRET, 3, range(1, 6))
    assert join({**shares, 2: shares[4]}, 3) != SECRET


def test_shares_that_belong_to_no_secret_are_refused():
    """f(0) = 2**256 is in the field and no 32 bytes."""
    stream = random_bytes(3, 48)
    a = int.from_bytes(stream, "big") % P
    wrong = {x: ((2**256 + a * x) % P).to_bytes(33, "big") for x in (1, 2)}
    with pytest.raises(SharesDoNotFit, match="do not belong to a secret"):
        join(wrong, 2)


@pytest.mark.parametrize("share", [b"", bytes(32), bytes(34), P.to_bytes(33, "big"), b"\xff" * 33])
def test_a_share_of_another_size_or_beyond_the_field_is_refused(share):
    shares = shared(SECRET, 2, (1, 2))
    with pytest.raises(SharesDoNotFit):
        join({**shares, 2: share}, 2)


@pytest.mark.parametrize("xs", [(), (0, 1), (1, 1, 2), (-1, 2), (1, P), (1, P + 1)])
def test_places_differ_and_none_is_the_secret_itself(xs):
    with pytest.raises(InvalidParameter):
        split(SECRET, 1, xs, bytes(0))
    with pytest.raises(InvalidParameter):
        lagrange_at(xs)


@pytest.mark.parametrize(
    "secret, threshold, xs, stream",
    [
        (SECRET[:-1], 2, (1, 2), bytes(48)),
        (SECRET, 0, (1, 2), bytes(48)),
        (SECRET, 3, (1, 2), bytes(96)),
        (SECRET, 3, (1, 2, 3), bytes(95)),
    ],
)
def test_what_cannot_be_split_is_refused_without_telling_it(secret, threshold, xs, stream):
    with pytest.raises(InvalidParameter) as caught:
        split(secret, threshold, xs, stream)
    assert secret.hex()[:8] not in str(caught.value) and repr(secret)[2:10] not in str(caught.value)
