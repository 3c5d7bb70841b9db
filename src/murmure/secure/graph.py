"""Who shares masks with whom, and how many shares rebuild a secret.

Few parties: everybody with everybody. Many: a ring in random order, each linked to degree/2 on either side. Only the
total is revealed as long as the honest survivors stay connected and nobody has `threshold` corrupt neighbours (Bell et
al., CCS 2020). Degree and threshold follow the rule of google-parfait/federated-compute (graph_parameter_finder.cc)
against an active server, with the threshold rounded up: both conditions fail with a chance of at most 2**-40, and the
sum fails to complete with one of 2**-20.

All comparisons are between integers: nothing here is rounded.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from murmure.core.errors import InvalidParameter, Phrase, Plural

MIN_PARTIES = 3  # with two parties each knows the other's part; with three, two may not collude
SECURITY_BITS = 41  # bits for each of two bad events, 2**-40 together
# The party that joins last, and the coordinator, can try orders of the ring: with 64 bits more, 2**64 tries find no
# bad one.
SECURITY_AGAINST_TRIES = SECURITY_BITS + 64
COMPLETION_BITS = 20


def quorum(n: int, colluders: int, dropouts: int) -> int:
    """How many of all n must sign the same lists before anybody reveals a share.

    2 q > n + colluders: two different lists cannot both be signed, since each honest party signs once. q <= n -
    dropouts: those who stay are enough.
    """
    _check_counts(n, colluders, dropouts)
    q = (n + colluders) // 2 + 1
    if q > n - dropouts:
        left = max_dropouts(n, colluders)
        bad = Plural("{n} colluder", "{n} colluders", n=colluders)
        allowed = Phrase(
            "at most {pluralise} with {bad}; or ", pluralise=Plural("{n} dropout", "{n} dropouts", n=left), bad=bad
        )
        raise InvalidParameter(
            "of {n} parties, {q} must sign the same lists, or a coordinator with {colluders} of them could show two "
            "lists; when {dropouts} drop out, {number} are left.",
            hint="{detail}fewer colluders, or more parties",
            n=n,
            q=q,
            colluders=colluders,
            dropouts=dropouts,
            number=n - dropouts,
            detail=allowed if left >= 0 else "",
        )
    return q


def max_dropouts(n: int, colluders: int) -> int:
    """How many may vanish so that a quorum, three parties and two honest ones are left; negative if nothing will do."""
    q = (n + colluders) // 2 + 1
    return n - max(q, MIN_PARTIES, colluders + 2)


@lru_cache(maxsize=256)
def graph_parameters(
    n: int, corrupt: int, dropped: int, chosen_dropouts: bool = False, security: int = SECURITY_BITS
) -> tuple[int, int]:
    """(degree, threshold): the least even degree that is safe, and the least threshold for it.

    2 threshold >= degree + corrupt neighbours + 2: even neighbours who were shown different lists do not give both
    secrets of a party. The reference assumes that parties vanish by chance. chosen_dropouts: the ring also holds if the
    coordinator chooses them, because every party checks the list of survivors (`can_split`); the degree is then large
    enough that dropouts by chance pass the check. security: bits; the reference's, or SECURITY_AGAINST_TRIES.
    """
    _check_counts(n, corrupt, dropped)
    bad = corrupt + 2 * dropped
    if 10 * bad > 9 * n:
        raise InvalidParameter(
            "no sparse graph for {n} parties, {corrupt} corrupt and {dropped} dropped: "
            "corrupt + 2 x dropped may be at most 0.9 of all, and is {bad}.",
            hint='fewer dropouts or colluders, or graph="complete"',
            n=n,
            corrupt=corrupt,
            dropped=dropped,
            bad=bad,
        )
    for k in range(2, n - 1, 2):
        if not _stays_connected(n, k, corrupt + dropped):
            continue
        if chosen_dropouts and not _gaps_hold(n, k, corrupt, dropped, security):
            continue
        colluding = _hypergeometric_quantile(n, corrupt, k, n << security)  # neighbours of anybody, at most
        surviving = k - _hypergeometric_quantile(n, dropped, k, n << COMPLETION_BITS)  # neighbours, at least
        t = (k + colluding + 3) // 2
        if t <= surviving:
            return k, t
    raise InvalidParameter(
        "no sparse graph for {n} parties, {corrupt} corrupt and {dropped} dropped is safe.",
        hint='graph="complete", fewer dropouts or colluders, or more parties',
        n=n,
        corrupt=corrupt,
        dropped=dropped,
    )


def ring_order(keys_digest: bytes, members: Iterable[int]) -> NDArray[np.int64]:
    """The members in an order that nobody chooses alone: by a keystream, its key the digest of all public keys."""
    if len(keys_digest) != 32:
        raise InvalidParameter("order: the digest of the keys must be 32 bytes.")
    places = np.array(sorted(members), np.int64)
    if len(places) == 0 or places[0] < 0 or (np.diff(places) == 0).any():
        raise InvalidParameter("order: members must be different numbers from 0 up, and at least one.")
    stream = Cipher(algorithms.AES(keys_digest), modes.CTR(bytes(16))).encryptor()
    words = np.frombuffer(stream.update(bytes(8 * len(places))), "<u8")
    return places[np.argsort(words, kind="stable")]  # stable: two equal words, one case in 2**64, stay in order


def neighbours(order: NDArray[np.int64], degree: int) -> dict[int, tuple[int, ...]]:
    """For each member, with whom it shares masks, in rising order: degree/2 members on either side of the ring."""
    n = len(order)
    if degree < 0 or (degree % 2 and degree < n - 1):
        raise InvalidParameter("neighbours: the degree of a ring must be even, got {got}.", got=degree)
    # A degree of n - 1 or more: both sides meet, and everybody is everybody's neighbour.
    steps = np.r_[1:n] if degree >= n - 1 else np.r_[1 : degree // 2 + 1, n - degree // 2 : n]
    twice = np.concatenate([order, order])  # so that steps past the end need no modulo
    around = np.sort(twice[np.arange(n)[:, None] + steps], axis=1)
    return dict(zip(order.tolist(), map(tuple, around.tolist()), strict=True))


def max_colluders_in_gaps(n: int, corrupt: int, degree: int, security: int = SECURITY_BITS) -> int:
    """No two gaps of degree/2 places on a ring of n hold more of the corrupt, but for a chance of 2**-security."""
    return _hypergeometric_quantile(n, corrupt, degree, n * n << security)


def can_split(survives: NDArray[np.bool_], degree: int, limit: int) -> bool:
    """Whether two gaps with at most `limit` survivors in them split the ring; `survives` is in the ring's order.

    If no survivor in the gaps is honest, the masks on either side cancel separately, and the coordinator learns two
    sums. The order is known before vectors are sent, and a coordinator can close the list before chosen ones arrive. So
    the list itself is checked: any two gaps must hold more survivors than there can be colluders in them.
    """
    n, half = len(survives), degree // 2
    running = np.r_[0, np.cumsum(np.r_[survives, survives])]  # survivors in the first i places, twice around the ring
    in_gap = running[half : n + half] - running[:n]  # in the gap of `half` places that starts here
    starts = np.flatnonzero(in_gap <= limit)
    for at, i in enumerate(starts.tolist()):
        j = starts[at + 1 :]
        j = j[in_gap[i] + in_gap[j] <= limit]
        if ((running[j] > running[i + half]) & (running[i + n] > running[j + half])).any():
            return True
    return False


def _gaps_hold(n: int, k: int, corrupt: int, dropped: int, security: int) -> bool:
    """Of the k places of any two gaps, more survive dropouts by chance than there can be colluders in them."""
    survivors = k - _hypergeometric_quantile(n, dropped, k, n * n << COMPLETION_BITS)
    return survivors > max_colluders_in_gaps(n, corrupt, k, security)


def _stays_connected(n: int, k: int, bad: int) -> bool:
    """The ring splits only where k/2 bad parties follow one another in two places; union bound over n(n-k-1)/2 pairs.

    n (n - k - 1) / 2 * bad! (n - k)! / (n! (bad - k)!) < 2**-41
    """
    return k > bad or (n * (n - k - 1) * math.perm(bad, k) << SECURITY_BITS) < 2 * math.perm(n, k)


def _hypergeometric_quantile(n: int, marked: int, k: int, one_in: int) -> int:
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


def _check_counts(n: int, corrupt: int, dropped: int) -> None:
    if n < 2 or corrupt < 0 or dropped < 0 or corrupt >= n or dropped >= n:
        raise InvalidParameter(
            "of {n} parties, {corrupt} cannot collude while {dropped} drop out: both numbers must be from 0 to "
            "one less than the total.",
            n=n,
            corrupt=corrupt,
            dropped=dropped,
        )
