"""Who shares masks with whom, and how many shares rebuild a secret.

Few parties: everybody with everybody. Many: a ring in random order, each linked to degree/2 on either side; the total
stays the only thing that is revealed as long as the honest survivors hang together and nobody has `threshold` corrupt
neighbours (Bell et al., CCS 2020). Degree and threshold follow the rule of google-parfait/federated-compute
(graph_parameter_finder.cc) against an active server, the threshold rounded up: both hold up to a chance of 2**-40, and
the sum fails to complete in 2**-20.

All comparisons are between integers: nothing here is rounded.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from murmure.core.errors import InvalidParameter, pluralise

MIN_PARTIES = 3  # with two parties each knows the other's part; with three, two may not collude
SECURITY_BITS = 41  # bits for each of two bad events, 2**-40 together
# Who joins last, or says who joined, can try orders of the ring; so many bits more, and 2**64 tries find no bad one.
SECURITY_AGAINST_TRIES = SECURITY_BITS + 64
COMPLETION = 20


def quorum(n: int, colluders: int, dropouts: int) -> int:
    """So many of all n must sign the same lists before anybody reveals a share.

    2 q > n + colluders: two different lists cannot both be signed, since each honest party signs once. q <= n -
    dropouts: those who stay are enough.
    """
    _check(n, colluders, dropouts)
    q = (n + colluders) // 2 + 1
    if q > n - dropouts:
        left = max_dropouts(n, colluders)
        bad = pluralise(colluders, "colluder", "colluders")
        most = f"at most {pluralise(left, 'dropout', 'dropouts')} with {bad}; or "
        raise InvalidParameter(
            f"of {n} parties {q} must sign the same lists, or a coordinator with {colluders} of them could show two "
            f"lists; when {dropouts} vanish {n - dropouts} are left.",
            hint=(most if left >= 0 else "") + "fewer colluders, or more parties",
        )
    return q


def max_dropouts(n: int, colluders: int) -> int:
    """How many may vanish so that a quorum, three parties and two honest ones are left; negative: there is no way."""
    q = (n + colluders) // 2 + 1
    return n - max(q, MIN_PARTIES, colluders + 2)


@lru_cache(maxsize=256)
def graph_parameters(
    n: int, corrupt: int, dropped: int, whoever_vanishes: bool = False, security: int = SECURITY_BITS
) -> tuple[int, int]:
    """(degree, threshold): the least even degree that is safe, and the least threshold for it.

    2 threshold >= degree + corrupt neighbours + 2: even neighbours who were shown different lists do not give both
    secrets of a party. The reference counts on parties that vanish by chance. whoever_vanishes: the ring also holds
    against a coordinator that chooses them, by what every party checks (`falls_apart`); the degree is then such that
    chance alone passes the check. security: bits; the reference's, or AGAINST_TRIES.
    """
    _check(n, corrupt, dropped)
    bad = corrupt + 2 * dropped
    if 10 * bad > 9 * n:
        raise InvalidParameter(
            f"no sparse graph for {n} parties, {corrupt} corrupt and {dropped} dropped: "
            f"corrupt + 2 x dropped may be at most 0.9 of all, and is {bad}.",
            hint='fewer dropouts or colluders, or graph="complete"',
        )
    for k in range(2, n - 1, 2):
        if not _hangs_together(n, k, corrupt + dropped):
            continue
        if whoever_vanishes and not _gaps_hold(n, k, corrupt, dropped, security):
            continue
        colluding = _most(n, corrupt, k, n << security)  # neighbours of anybody, at most
        surviving = k - _most(n, dropped, k, n << COMPLETION)  # neighbours, at least
        t = (k + colluding + 3) // 2
        if t <= surviving:
            return k, t
    raise InvalidParameter(
        f"no sparse graph for {n} parties, {corrupt} corrupt and {dropped} dropped is safe.",
        hint='graph="complete", fewer dropouts or colluders, or more parties',
    )


def ring_order(keys_digest: bytes, members: Iterable[int]) -> NDArray[np.int64]:
    """The members in an order that nobody chooses outright: by a keystream, its key the digest of all public keys."""
    if len(keys_digest) != 32:
        raise InvalidParameter("order: the digest of the keys must be 32 bytes.")
    held = np.array(sorted(members), np.int64)
    if len(held) == 0 or held[0] < 0 or (np.diff(held) == 0).any():
        raise InvalidParameter("order: members must be different numbers from 0 up, and at least one.")
    stream = Cipher(algorithms.AES(keys_digest), modes.CTR(bytes(16))).encryptor()
    words = np.frombuffer(stream.update(bytes(8 * len(held))), "<u8")
    return held[np.argsort(words, kind="stable")]  # stable: two equal words, one case in 2**64, stay in order


def neighbours(order: NDArray[np.int64], degree: int) -> dict[int, tuple[int, ...]]:
    """For each member, with whom it shares masks, in rising order: degree/2 members on either side of the ring."""
    n = len(order)
    if degree < 0 or (degree % 2 and degree < n - 1):
        raise InvalidParameter(f"neighbours: the degree of a ring must be even, got {degree}.")
    # Where both sides meet, everybody is everybody's neighbour.
    steps = np.r_[1:n] if degree >= n - 1 else np.r_[1 : degree // 2 + 1, n - degree // 2 : n]
    twice = np.concatenate([order, order])  # steps go round the end without a division for each
    around = np.sort(twice[np.arange(n)[:, None] + steps], axis=1)
    return dict(zip(order.tolist(), map(tuple, around.tolist()), strict=True))


def max_colluders_in_gaps(n: int, corrupt: int, degree: int, security: int = SECURITY_BITS) -> int:
    """No two gaps of degree/2 places on a ring of n hold more of the corrupt, but for a chance of 2**-security."""
    return _most(n, corrupt, degree, n * n << security)


def can_split(living: NDArray[np.bool_], degree: int, limit: int) -> bool:
    """Whether two gaps with at most `limit` living parties in them part the ring; living: in its order.

    If nobody in them is honest, the masks on either side cancel by themselves, and the coordinator learns two sums. The
    order is known before vectors are sent, and who closes the list may see to it that chosen ones come too late; so the
    list itself is looked at, and whoever is missing, one more lives in any two gaps than colluders can stand there.
    """
    n, half = len(living), degree // 2
    before = np.r_[0, np.cumsum(np.r_[living, living])]  # living among the first i places, the ring gone round twice
    alive_in = before[half : n + half] - before[:n]
    starts = np.flatnonzero(alive_in <= limit)
    for at, i in enumerate(starts.tolist()):
        j = starts[at + 1 :]
        j = j[(j - i >= half) & (i + n - j >= half) & (alive_in[i] + alive_in[j] <= limit)]
        if ((before[j] > before[i + half]) & (before[i + n] > before[j + half])).any():
            return True
    return False


def _gaps_hold(n: int, k: int, corrupt: int, dropped: int, security: int) -> bool:
    """Of the k places of any two gaps more survive, chance dropping them, than colluders can stand there."""
    return k - _most(n, dropped, k, n * n << COMPLETION) > max_colluders_in_gaps(n, corrupt, k, security)


def _hangs_together(n: int, k: int, bad: int) -> bool:
    """The ring falls apart only where k/2 bad parties in a row stand in two places; union bound over n(n-k-1)/2 pairs.

    n (n - k - 1) / 2 * bad! (n - k)! / (n! (bad - k)!) < 2**-41
    """
    return k > bad or (n * (n - k - 1) * math.perm(bad, k) << SECURITY_BITS) < 2 * math.perm(n, k)


def _most(n: int, marked: int, k: int, one_in: int) -> int:
    """The least x with P[more than x of k drawn from n are marked] <= 1 / one_in (hypergeometric law)."""
    x = min(k, marked)
    all_draws = math.comb(n, k)
    ways = math.comb(marked, x) * math.comb(n - marked, k - x)  # draws with exactly x marked
    tail = ways
    while tail * one_in <= all_draws:
        ways = ways * x * (n - marked - k + x) // ((marked - x + 1) * (k - x + 1))  # exact: one fewer marked
        x -= 1
        tail += ways
    return x


def _check(n: int, corrupt: int, dropped: int) -> None:
    if n < 2 or corrupt < 0 or dropped < 0 or corrupt >= n or dropped >= n:
        raise InvalidParameter(
            f"of {n} parties {corrupt} cannot collude and {dropped} vanish: both must be from 0 to one below all."
        )
