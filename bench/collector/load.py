"""Respondents for a bench: keep-alive connections that post requests which were made beforehand.

In a closed load each connection posts again as soon as it has its answer: as many as the service can take. In an open
load requests are due at a fixed rate, whatever the service does, and an answer is late by the time since its request
was due: a service that stalls is charged for all who would have come meanwhile, not only for those who were let in.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

TICK = 0.001  # seconds between looks at what is due
LAST_ANSWERS = 30.0  # seconds after the end of a load in which answers must come
Pool = list[tuple[bytes, int]]  # requests, and how many reports each has


@dataclass
class Measured:
    """What a load saw. reports: acknowledged ones; late: how long each answer took, in seconds."""

    reports: int = 0
    seconds: float = 0.0
    late: list[float] = field(default_factory=list)
    refused: Counter[int] = field(default_factory=Counter)
    lost: int = 0  # connections that the service closed, and requests that were never answered

    @property
    def per_second(self) -> float:
        return self.reports / self.seconds

    def milliseconds(self, share: float) -> float:
        """So late is this share of the answers at most."""
        ordered = sorted(self.late)
        return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


def request(path: str, body: object) -> bytes:
    raw = json.dumps(body, separators=(",", ":")).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\nContent-Length: {len(raw)}\r\n\r\n"
    )
    return head.encode() + raw


class Line(asyncio.Protocol):
    """One connection, with one request on its way at most."""

    transport: Any

    def __init__(self, load: Load) -> None:
        self._load = load
        self._due, self._reports, self._data = 0.0, 0, b""

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def post(self, due: float) -> None:
        raw, self._reports = self._load.pool.pop()
        self._due = due
        self.transport.write(raw)

    def data_received(self, data: bytes) -> None:
        self._data += data
        end = self._data.find(b"\r\n\r\n")
        if end < 0:
            return
        at = self._data.lower().index(b"content-length:") + 15
        if len(self._data) < end + 4 + int(self._data[at : self._data.index(b"\r", at)]):
            return
        status, self._data = int(self._data[9:12]), b""
        out = self._load.out
        if status in (200, 201):
            out.late.append(time.perf_counter() - self._due)
            out.reports += self._reports
        else:
            out.refused[status] += 1
        self._load.idle(self)

    def connection_lost(self, error: Exception | None) -> None:
        self._load.closed(self)


class Load:
    """One load, open (`rate` requests a second) or closed, until its seconds or its requests are over."""

    def __init__(self, pool: Pool, connections: int, seconds: float, rate: float | None = None) -> None:
        self.pool, self.out = pool, Measured()
        self._connections, self._seconds, self._rate = connections, seconds, rate
        self._idle: deque[Line] = (
            deque()
        )  # that waited longest first: the service closes those that are silent for long
        self._waiting: deque[float] = deque()  # when they were due
        self._lines = connections
        self._over = False
        self._quiet = asyncio.Event()

    async def run(self, host: str, port: int) -> Measured:
        loop = asyncio.get_running_loop()
        lines = [(await loop.create_connection(lambda: Line(self), host, port))[1] for _ in range(self._connections)]
        start = time.perf_counter()
        for line in lines:
            self.idle(line)
        await (self._due(start) if self._rate else self._all(start))
        self._over = True
        if len(self._idle) < self._lines or self._waiting:
            try:
                await asyncio.wait_for(self._quiet.wait(), LAST_ANSWERS)
            except TimeoutError:
                self.out.lost += self._lines - len(self._idle)
        self.out.seconds = time.perf_counter() - start
        self.out.lost += len(self._waiting)
        self._lines = 0  # what closes now was not lost
        for line in lines:
            line.transport.abort()
        return self.out

    async def _all(self, start: float) -> None:
        while self.pool and self._lines and time.perf_counter() < start + self._seconds:
            await asyncio.sleep(TICK)

    async def _due(self, start: float) -> None:
        assert self._rate is not None
        sent, total = 0, min(len(self.pool), int(self._rate * self._seconds))
        while sent < total and self._lines:
            due = min(total, int((time.perf_counter() - start) * self._rate) + 1)
            for number in range(sent, due):
                at = start + number / self._rate
                if self._idle:
                    self._idle.popleft().post(at)
                else:
                    self._waiting.append(at)
            sent = due
            await asyncio.sleep(TICK)

    def idle(self, line: Line) -> None:
        """The next request on this connection, or none."""
        if self._waiting:
            line.post(self._waiting.popleft())
        elif self._rate is None and not self._over and self.pool:
            line.post(time.perf_counter())
        else:
            self._idle.append(line)
            if self._over and len(self._idle) == self._lines:
                self._quiet.set()

    def closed(self, line: Line) -> None:
        """Not by us: whatever it was asked is lost, and one connection is missing from now on."""
        if self._lines:
            self._lines -= 1
            self.out.lost += 1
            if line in self._idle:
                self._idle.remove(line)


def load(
    host: str,
    port: int,
    pool: Pool,
    connections: int,
    seconds: float,
    rate: float | None = None,
    beside: Callable[[asyncio.Event], Awaitable[None]] | None = None,
) -> Measured:
    """Run it to its end. beside: what goes on at the same time, until the event that it is given is set."""
    import uvloop

    async def run() -> Measured:
        if beside is None:
            return await Load(pool, connections, seconds, rate).run(host, port)
        over = asyncio.Event()
        other = asyncio.ensure_future(beside(over))
        try:
            return await Load(pool, connections, seconds, rate).run(host, port)
        finally:
            over.set()
            await other

    return uvloop.run(run())
