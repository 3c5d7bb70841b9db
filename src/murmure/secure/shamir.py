"""A secret in shares: any `threshold` of them give it back, fewer say nothing about it.

    f(x) = secret + a_1 x + ... + a_(t-1) x**(t-1)  modulo p = 2**256 + 297;   a share is f(x), the secret is f(0).

Shamir, "How to share a secret", CACM 1979. A secret has 32 bytes; p is the least prime that holds all of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from murmure.core.errors import InvalidParameter
from murmure.secure.errors import SharesDoNotFit

P = (1 << 256) + 297
SECRET_BYTES, SHARE_BYTES = 32, 33
# 384 bits reduced modulo p are uniform up to p / 2**384 < 2**-126, whatever is done with them.
COEFFICIENT_BYTES = 48
_SMALL_X = 1 << 32  # below this x is a party's number, and powers of it need no reduction


def coefficient_bytes(threshold: int) -> int:
    """How many bytes of keystream `split` needs. They must be fresh for every secret."""
    return COEFFICIENT_BYTES * (threshold - 1)


def split(secret: bytes, threshold: int, xs: Sequence[int], coefficients: bytes) -> list[bytes]:
    """One share for each x, in that order."""
    _check_threshold(threshold)
    _check_xs(tuple(xs))
    if not isinstance(secret, bytes) or len(secret) != SECRET_BYTES:
        raise InvalidParameter("split: a secret must be {secret_bytes} bytes.", secret_bytes=SECRET_BYTES)
    if threshold > len(xs):
        raise InvalidParameter(
            "split: {xs_count} shares can never be the {threshold} that are needed.",
            xs_count=len(xs),
            threshold=threshold,
        )
    if len(coefficients) < coefficient_bytes(threshold):
        raise InvalidParameter(
            "split: threshold {threshold} needs {coefficient_bytes} random bytes, got {got}.",
            threshold=threshold,
            coefficient_bytes=coefficient_bytes(threshold),
            got=len(coefficients),
        )
    ends = range(coefficient_bytes(threshold), 0, -COEFFICIENT_BYTES)
    falling = [int.from_bytes(coefficients[end - COEFFICIENT_BYTES : end], "big") % P for end in ends]
    falling.append(int.from_bytes(secret, "big"))
    return [_evaluate(falling, x).to_bytes(SHARE_BYTES, "big") for x in xs]


def is_share(raw: bytes) -> bool:
    """Whether these bytes have the form of a share."""
    return len(raw) == SHARE_BYTES and int.from_bytes(raw, "big") < P


def join(shares: Mapping[int, bytes], threshold: int) -> bytes:
    """The secret, from the first `threshold` of these shares in the order of x.

    A wrong share gives a wrong secret: the caller must compare the secret with what its owner promised.
    """
    _check_threshold(threshold)
    if len(shares) < threshold:
        raise SharesDoNotFit(
            "{share_count} shares arrived and {threshold} are needed: the secret stays secret.",
            hint="more parties must answer",
            share_count=len(shares),
            threshold=threshold,
        )
    xs = tuple(sorted(shares)[:threshold])
    return lagrange_at(xs).secret([shares[x] for x in xs])


@dataclass(frozen=True)
class Lagrange:
    """f(0) = sum of weight_i f(x_i), for every f of degree below the number of xs."""

    xs: tuple[int, ...]
    weights: tuple[int, ...]

    def secret(self, shares: Sequence[bytes]) -> bytes:
        """The secret, from its shares in the order of xs."""
        if len(shares) != len(self.xs):
            raise SharesDoNotFit(
                "{share_count} shares arrived for {xs_count} places.", share_count=len(shares), xs_count=len(self.xs)
            )
        total = 0
        for weight, share in zip(self.weights, shares, strict=True):
            value = int.from_bytes(share, "big")
            if len(share) != SHARE_BYTES or value >= P:
                raise SharesDoNotFit(
                    "a share must be {share_bytes} bytes, below 2**256 + 297.", share_bytes=SHARE_BYTES
                )
            total += weight * value
        total %= P
        if total >> 8 * SECRET_BYTES:
            raise SharesDoNotFit(
                "these shares do not belong to a secret of 32 bytes.",
                hint="a party sent a wrong share, or shares are mixed up",
            )
        return total.to_bytes(SECRET_BYTES, "big")


@lru_cache(maxsize=512)  # many secrets are shared among the same parties
def lagrange_at(xs: tuple[int, ...]) -> Lagrange:
    """weight_i = product of x_j / (x_j - x_i) over j != i."""
    _check_xs(xs)
    numerator = math.prod(xs)
    # prod of all x / (x_i prod (x_j - x_i)): the products stay small where the xs are numbers of parties
    denominators = [x * math.prod([other - x for other in xs if other != x]) % P for x in xs]
    return Lagrange(xs, tuple(numerator * inverse % P for inverse in _inverses(denominators)))


def _inverses(values: Sequence[int]) -> list[int]:
    """All inverses modulo p for the price of one and three products each (Montgomery's trick)."""
    products = [1]
    for value in values:
        products.append(products[-1] * value % P)
    inverse = pow(products[-1], -1, P)
    out = []
    for value, product in zip(reversed(values), reversed(products[:-1]), strict=True):
        out.append(inverse * product % P)
        inverse = inverse * value % P
    return out[::-1]


def _evaluate(falling: Sequence[int], x: int) -> int:
    """Horner's rule, coefficients from the highest down."""
    value = 0
    if x < _SMALL_X:  # one reduction at the end is cheaper than one at each step
        for coefficient in falling:
            value = value * x + coefficient
        return value % P
    for coefficient in falling:
        value = (value * x + coefficient) % P
    return value


def _check_threshold(threshold: int) -> None:
    if not isinstance(threshold, int) or threshold < 1:
        raise InvalidParameter("a threshold must be a whole number, at least 1.")


def _check_xs(xs: tuple[int, ...]) -> None:
    if not xs or len(set(xs)) != len(xs) or not all(0 < x < P for x in xs):
        raise InvalidParameter(
            "shares must be at different places, from 1 up: x = 0 is the secret itself.",
            hint="the index of a party plus one",
        )
