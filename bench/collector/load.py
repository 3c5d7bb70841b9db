"""Respondents for a bench: keep-alive connections that post prepared requests as fast as they are answered.

The requests are made beforehand, so that the generator costs as little as it can; it still shares the two cores.
"""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass, field


@dataclass
class Measured:
    """What a load saw. reports: acknowledged ones; late: how long answers took, in seconds."""

    reports: int = 0
    seconds: float = 0.0
    late: list[float] = field(default_factory=list)
    refused: dict[int, int] = field(default_factory=dict)

    @property
    def per_second(self) -> float:
        return self.reports / self.seconds

    def percentile(self, share: float) -> float:
        """In milliseconds."""
        ordered = sorted(self.late)
        return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


def request(path: str, body: object) -> bytes:
    raw = json.dumps(body, separators=(",", ":")).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\nContent-Length: {len(raw)}\r\n\r\n"
    )
    return head.encode() + raw


async def connection(
    host: str, port: int, pool: list[tuple[bytes, int]], end: float, pause: float, out: Measured
) -> None:
    reader, writer = await asyncio.open_connection(host, port, limit=1 << 20)
    try:
        while pool and time.perf_counter() < end:
            raw, reports = pool.pop()
            start = time.perf_counter()
            writer.write(raw)
            head = await reader.readuntil(b"\r\n\r\n")
            low = head.lower()
            at = low.index(b"content-length:") + 15
            await reader.readexactly(int(low[at : low.index(b"\r\n", at)]))
            status = int(head[9:12])
            if status in (200, 201):
                out.late.append(time.perf_counter() - start)
                out.reports += reports
            else:
                out.refused[status] = out.refused.get(status, 0) + 1
            if pause:
                await asyncio.sleep(max(0.0, pause - (time.perf_counter() - start)))
    finally:
        writer.close()


async def run(
    host: str, port: int, pool: list[tuple[bytes, int]], connections: int, seconds: float, rate: float | None = None
) -> Measured:
    """rate: requests a second over all connections; None: as many as are answered."""
    out = Measured()
    pause = connections / rate if rate else 0.0
    start = time.perf_counter()
    await asyncio.gather(
        *(connection(host, port, pool, start + seconds, pause, out) for _ in range(connections)),
        return_exceptions=False,
    )
    out.seconds = time.perf_counter() - start
    return out


def load(
    host: str, port: int, pool: list[tuple[bytes, int]], connections: int, seconds: float, rate: float | None = None
) -> Measured:
    try:
        import uvloop

        return uvloop.run(run(host, port, pool, connections, seconds, rate))
    except ImportError:
        return asyncio.run(run(host, port, pool, connections, seconds, rate))
