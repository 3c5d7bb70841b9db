"""From the sum of masked vectors to the sum: subtract self-masks of survivors, and pair masks with those who vanished.

Every rebuilt secret is compared with what its owner published (a commitment, a public key), so that a wrong share is
found and the secret is rebuilt from others.
"""

from __future__ import annotations

import hashlib
import hmac
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from murmure.core.fixed import Words64
from murmure.secure.errors import SharesDoNotFit
from murmure.secure.joined import JoinedParties, public_bytes, shared_secret
from murmure.secure.masks import add_masks, commitment_to, pair_key, self_key
from murmure.secure.messages import AliveBody, RevealBody
from murmure.secure.session import Session
from murmure.secure.shamir import join

THREADS = 2  # each adds to a separate vector
MAX_TRIES = 5_000  # sets of shares, for one secret
MIN_PARALLEL_WORDS = 1 << 13  # in shorter vectors most of the time goes into key agreements, which share one lock


class Unmasking:
    """All that the survivors revealed, and what it opens."""

    def __init__(
        self,
        session: Session,
        joined: JoinedParties,
        shared: tuple[int, ...],
        lists: AliveBody,
        revealed: Mapping[int, RevealBody],
    ) -> None:
        self.session, self.joined, self.shared, self.lists = session, joined, shared, lists
        self._alive = set(lists.alive)
        # (holder, owner) of a share that does not fit the secret that other shares gave. One such pair does not show
        # which of the two was wrong: the owner may have dealt it out so, or the holder revealed another one.
        self.misfits: set[tuple[int, int]] = set()
        self._private: dict[int, X25519PrivateKey] = {}  # of those who vanished, once rebuilt
        self._shares: dict[int, dict[int, bytes]] = {place: {} for place in shared}  # by owner, then by x of the holder
        for holder in sorted(revealed):
            for place, (_, share) in zip(revealed[holder].places, revealed[holder].shares, strict=True):
                self._shares[place][holder + 1] = share

    def unmask(self, total: Words64) -> Words64:
        """The sum without masks."""
        ring = self.session.encoder.ring
        threads = THREADS if len(total) >= MIN_PARALLEL_WORDS else 1
        parts = [total.copy(), *(np.zeros_like(total) for _ in range(1, threads))]

        def remove_masks(i: int) -> None:
            doubted: set[int] = set()  # per thread: the sets that are tried must not depend on which thread was first
            masks = (mask for place in self.shared[i::threads] for mask in self._masks(place, doubted))
            add_masks(parts[i], masks, ring)

        if threads == 1:
            remove_masks(0)
            return parts[0]
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(remove_masks, range(threads)))
        for part in parts[1:]:
            ring.add(parts[0], part)
        return parts[0]

    def _masks(self, place: int, doubted: set[int]) -> Iterator[tuple[bytes, int]]:
        """The keys of the masks that this party left in the sum, each with the sign that removes it."""
        session, joined = self.session, self.joined
        if place in self._alive:
            yield self_key(self._rebuild(place, self._fits_commitment, doubted), joined.digest), -1
            return
        self._rebuild(place, self._fits_key, doubted)
        private = self._private[place]
        for other in joined.neighbours(place):
            if other in self._alive:
                secret = shared_secret(private, joined.keys[other].mask, session.roster[other].name)
                key = pair_key(secret, joined.digest, min(place, other), max(place, other))
                yield key, -1 if place > other else 1  # the survivor added it for those above, subtracted it for below

    def _fits_commitment(self, place: int, secret: bytes) -> bool:
        commitment = commitment_to(secret, self.session.digest, place)
        return hmac.compare_digest(commitment, self.joined.keys[place].commitment)

    def _fits_key(self, place: int, secret: bytes) -> bool:
        self._private[place] = private = X25519PrivateKey.from_private_bytes(secret)
        return public_bytes(private) == self.joined.keys[place].mask

    def _rebuild(self, place: int, fits: Callable[[int, bytes], bool], doubted: set[int]) -> bytes:
        """The secret; where some shares are wrong, from the others. doubted: who has revealed a wrong share so far."""
        t, shares = self.joined.threshold, self._shares[place]
        for tries, chosen in enumerate(itertools.islice(self._share_sets(place, t, doubted), MAX_TRIES)):
            secret = self._try_join(shares, chosen, t)
            if secret is None or not fits(place, secret):
                continue
            if tries or doubted:  # some share is wrong, or may be: test each with t - 1 shares that are right
                right = chosen[:-1]
                wrong = {x for x in shares.keys() - set(chosen) if self._try_join(shares, (*right, x), t) != secret}
                self.misfits |= {(x - 1, place) for x in wrong}
                doubted |= wrong
            return secret
        raise SharesDoNotFit(
            "the shares of a secret of {name} do not rebuild what it committed to.",
            hint="{name} sent out wrong shares, or several parties returned wrong ones; start again with fresh keys",
            name=self.session.roster[place].name,
        )

    def _try_join(self, shares: Mapping[int, bytes], chosen: Sequence[int], t: int) -> bytes | None:
        try:
            return join({x: shares[x] for x in chosen}, t)
        except SharesDoNotFit:
            return None

    def _share_sets(self, place: int, t: int, doubted: set[int]) -> Iterator[tuple[int, ...]]:
        """Sets of t shares: first those of holders that are not doubted, then any.

        The order comes from a hash: nobody chooses it, and it is the same when the log is replayed.
        """
        xs = sorted(self._shares[place])
        if doubted:
            xs.sort(key=doubted.__contains__)
        yield tuple(xs[:t])
        trusted = [x for x in xs if x not in doubted]
        for turn in itertools.count() if len(xs) >= t else ():
            start = hashlib.sha256(self.joined.digest + place.to_bytes(4, "little") + turn.to_bytes(4, "little"))

            def rank(x: int, start: Any = start) -> bytes:
                state = start.copy()
                state.update(x.to_bytes(4, "little"))
                return bytes(state.digest())

            among = trusted if len(trusted) > t and turn % 2 else xs
            yield tuple(sorted(among, key=rank)[:t])
