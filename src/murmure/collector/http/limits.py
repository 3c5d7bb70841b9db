"""How often somebody may try: buckets of tokens in memory, gone when the process ends.

A client is known by a keyed digest of its address, under a key that this process draws and never stores: so nothing
here can be turned back into an address. (Reports are not limited by address: a class or an office shares one.)
"""

from __future__ import annotations

import hashlib
import os
import time
from collections import OrderedDict
from collections.abc import Callable

from murmure.collector.http.bodies import Scope, header
from murmure.collector.service.errors import RequestRefused

MAX_CLIENTS = 100_000  # buckets; the ones that waited longest are forgotten first
KEY_BYTES = 32


class RateLimit:
    """At most `burst` at once, and `per_minute` in the long run, for each name."""

    def __init__(self, burst: int, per_minute: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._burst, self._rate, self._clock = burst, per_minute / 60, clock
        self._buckets: OrderedDict[bytes, tuple[float, float]] = OrderedDict()
        self._key = os.urandom(KEY_BYTES)

    def take(self, name: str) -> None:
        """One try of this name, or a refusal."""
        digest = self._digest(name)
        now = self._clock()
        left, then = self._buckets.pop(digest, (float(self._burst), now))
        left = min(self._burst, left + (now - then) * self._rate)
        self._buckets[digest] = (max(0.0, left - 1), now)
        if len(self._buckets) > MAX_CLIENTS:
            self._buckets.popitem(last=False)
        if left < 1:
            raise RequestRefused("too-many", "too many tries.", hint="wait half a minute, then try again")

    def give_back(self, name: str) -> None:
        """A try that was right does not count."""
        digest = self._digest(name)
        if digest in self._buckets:
            left, then = self._buckets[digest]
            self._buckets[digest] = (min(self._burst, left + 1), then)

    def _digest(self, name: str) -> bytes:
        return hashlib.blake2b(name.encode("utf-8", "replace"), key=self._key, digest_size=16).digest()


def client_of(scope: Scope, trust_proxy: bool) -> str:
    """Whose request it is, for limits alone. Behind a proxy, its last hop says it."""
    if trust_proxy and (forwarded := header(scope, b"x-forwarded-for")):
        return forwarded.decode("latin-1").rpartition(",")[2].strip()
    client = scope.get("client")
    return str(client[0]) if client else ""
