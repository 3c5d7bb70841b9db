"""How often somebody may try: buckets of tokens in memory, gone when the process ends.

A client is known by a keyed digest of its address, under a key that this process draws and never stores: so nothing
here can be turned back into an address. Of IPv6, the first half counts: it is what a provider gives to one customer,
who may choose the other half for every request. (Reports are not limited by address: a class or an office shares one.)
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any, TypeVar

from murmure.collector.http.bodies import Scope
from murmure.collector.service.errors import RequestRefused
from murmure.core.random import fresh_key

MAX_CLIENTS = 100_000  # buckets; the ones that waited longest are forgotten first
PORT = re.compile(r"(?:\[([^]]*)\]|([0-9.]+))(?::[0-9]+)?")  # as some proxies write addresses
Result = TypeVar("Result")


class RateLimit:
    """At most `burst` at once, and `per_minute` in the long run, for each name."""

    def __init__(self, burst: int, per_minute: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._burst, self._rate, self._clock = burst, per_minute / 60, clock
        self._buckets: OrderedDict[bytes, tuple[float, float]] = OrderedDict()
        self._key = fresh_key()

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
            raise RequestRefused("too-many", "too many attempts.", hint="wait half a minute, then try again")

    def give_back(self, name: str) -> None:
        """A try that was right does not count."""
        digest = self._digest(name)
        if digest in self._buckets:
            left, then = self._buckets[digest]
            self._buckets[digest] = (min(self._burst, left + 1), then)

    def _digest(self, name: str) -> bytes:
        return hashlib.blake2b(name.encode("utf-8", "replace"), key=self._key, digest_size=16).digest()


class SlowLane:
    """Work that takes a tenth of a second and 64 MiB, such as hashing a password: one at a time, in a thread of its
    own, so that nobody else waits for it. When many wait for it, more are refused."""

    def __init__(self, max_waiting: int) -> None:
        self._max_waiting, self._waiting = max_waiting, 0
        self._thread = ThreadPoolExecutor(1, "passwords")

    async def run(self, work: Callable[..., Result], *values: Any, first: bool = False) -> Result:
        """first: of somebody who is known here, for whom there is more room."""
        if self._waiting >= self._max_waiting * (2 if first else 1):
            raise RequestRefused(
                "busy", "too many people are signing in at the moment.", hint="try again in a few seconds"
            )
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, work, *values)
        finally:
            self._waiting -= 1


def client_of(scope: Scope, trust_proxy: bool) -> str:
    """Whose request it is, for limits alone. Behind a proxy, its last hop says it: at the end of the last header of
    this name, since a client may have sent others."""
    forwarded = [value for name, value in scope["headers"] if name == b"x-forwarded-for"] if trust_proxy else []
    if forwarded:
        return _network(forwarded[-1].decode("latin-1").rpartition(",")[2].strip())
    client = scope.get("client")
    return _network(str(client[0])) if client else ""


def _network(text: str) -> str:
    """An address without a port; of IPv6 its first half; anything else as it is."""
    with_port = PORT.fullmatch(text)
    try:
        address = ip_address(with_port[1] or with_port[2] if with_port else text)
    except ValueError:
        return text
    if isinstance(address, IPv6Address):
        return str(address.ipv4_mapped or ip_network((int(address) >> 64 << 64, 64)))
    return str(address)
