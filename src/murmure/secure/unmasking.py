"""From the sum of masked vectors to the sum: self-masks of survivors, and pair masks with those who vanished, come off.

Every rebuilt secret is held against what its owner promised (a commitment, a public key), so that a wrong share can
spoil nothing but itself.
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
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from murmure.core.fixed import Words64
from murmure.secure.errors import SharesDoNotFit
from murmure.secure.joined import JoinedParties, shared_secret
from murmure.secure.masks import add_mask, pair_key, self_key
from murmure.secure.messages import AliveBody, RevealBody
from murmure.secure.party import commitment_to
from murmure.secure.session import Session
from murmure.secure.shamir import join

SLICES = 2  # threads; each has a vector of its own
MAX_TRIES = 5_000  # sets of shares, for one secret
LONG = 1 << 13  # words; for shorter vectors key agreements, which share one lock, take the time


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
        # (who revealed, whose secret): shares that do not fit the secret that others' shares gave. Which of the two was
        # wrong, the one that dealt it out or the one that revealed it, does not show in one pair.
        self.misfits: set[tuple[int, int]] = set()
        self._shares: dict[int, dict[int, bytes]] = {place: {} for place in shared}  # of whom: held by whom
        for holder in sorted(revealed):
            for place, (_, share) in zip(revealed[holder].places, revealed[holder].shares, strict=True):
                self._shares[place][holder + 1] = share

    def of(self, total: Words64) -> Words64:
        """The sum without masks."""
        ring = self.session.encoder.ring
        slices = SLICES if len(total) >= LONG else 1
        parts = [total.copy(), *(np.zeros_like(total) for _ in range(1, slices))]

        def work(i: int) -> None:
            doubted: set[int] = set()  # of this thread alone: what is tried must not depend on which thread was first
            for place in self.shared[i::slices]:
                for key, sign in self._masks(place, doubted):
                    add_mask(parts[i], key, sign, ring)

        if slices == 1:
            work(0)
            return parts[0]
        with ThreadPoolExecutor(slices) as pool:
            list(pool.map(work, range(slices)))
        for part in parts[1:]:
            ring.add(parts[0], part)
        return parts[0]

    def _masks(self, place: int, doubted: set[int]) -> Iterator[tuple[bytes, int]]:
        """The keys of the masks that this party left in the sum, and the sign that takes each away."""
        session, joined = self.session, self.joined
        if place in self._alive:
            yield self_key(self._rebuilt(place, self._fits_commitment, doubted), joined.digest), -1
            return
        private = X25519PrivateKey.from_private_bytes(self._rebuilt(place, self._fits_key, doubted))
        for other in joined.neighbours(place):
            if other in self._alive:
                secret = shared_secret(private, joined.keys[other].mask, session.roster[other].name)
                key = pair_key(secret, joined.digest, min(place, other), max(place, other))
                yield key, -1 if place > other else 1  # the survivor added it for those above, subtracted it for below

    def _fits_commitment(self, place: int, secret: bytes) -> bool:
        commitment = commitment_to(secret, self.session.digest, place)
        return hmac.compare_digest(commitment, self.joined.keys[place].commitment)

    def _fits_key(self, place: int, secret: bytes) -> bool:
        public = X25519PrivateKey.from_private_bytes(secret).public_key()
        return public.public_bytes(Encoding.Raw, PublicFormat.Raw) == self.joined.keys[place].mask

    def _rebuilt(self, place: int, fits: Callable[[int, bytes], bool], doubted: set[int]) -> bytes:
        """The secret; where some shares are wrong, from the others. doubted: who revealed a wrong one before."""
        t, shares = self.joined.threshold, self._shares[place]
        for tries, chosen in enumerate(itertools.islice(self._sets(place, t, doubted), MAX_TRIES)):
            secret = self._joined_of(shares, chosen, t)
            if secret is None or not fits(place, secret):
                continue
            if tries or doubted:  # some share is wrong, or may be: which ones?
                known = chosen[:-1]
                wrong = {x for x in shares.keys() - set(chosen) if self._joined_of(shares, (*known, x), t) != secret}
                self.misfits |= {(x - 1, place) for x in wrong}
                doubted |= wrong
            return secret
        raise SharesDoNotFit(
            f"the shares of a secret of {self.session.roster[place].name} do not rebuild what it promised.",
            hint=f"{self.session.roster[place].name} dealt out wrong ones, or several parties sent wrong ones; start "
            "again with fresh keys",
        )

    def _joined_of(self, shares: Mapping[int, bytes], chosen: Sequence[int], t: int) -> bytes | None:
        try:
            return join({x: shares[x] for x in chosen}, t)
        except SharesDoNotFit:
            return None

    def _sets(self, place: int, t: int, doubted: set[int]) -> Iterator[tuple[int, ...]]:
        """Sets of t shares: the first ones, without those who revealed a wrong one before; then any, in an order that
        nobody chooses and that is the same when the log is played again."""
        xs = sorted(self._shares[place], key=lambda x: (x in doubted, x))
        yield tuple(xs[:t])
        trusted = [x for x in xs if x not in doubted]
        for turn in itertools.count() if len(xs) >= t else ():
            start = hashlib.sha256(self.joined.digest + place.to_bytes(4, "little") + turn.to_bytes(4, "little"))

            def drawn(x: int, start: Any = start) -> bytes:
                own = start.copy()
                own.update(x.to_bytes(4, "little"))
                return bytes(own.digest())

            among = trusted if len(trusted) > t and turn % 2 else xs
            yield tuple(sorted(among, key=drawn)[:t])
