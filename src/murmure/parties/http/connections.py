"""Connections that cannot be held open for nothing: uvicorn's HTTP protocol with a time limit for whoever says nothing.

uvicorn waits for ever for the first request of a connection, and for the end of a header that comes a letter at a time.
Here a connection without a whole request is closed after some seconds; and when very many wait so, the oldest goes
first. Parties who are heard hold a request, and are not touched. Whoever reads an answer slowly is waited for as long
as bytes flow. All connections together take half of the files that the process may open at most: the log needs some.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any, ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol

SILENCE = 10.0  # seconds from the connection, or from the last answer, to the end of the next header
MAX_SILENT = 400  # connections
MIN_ANSWER_BYTES_PER_SECOND = 1000  # bytes a second at which an answer has to leave
FILES = 1024  # that a process may open, where the system does not say


class TimedProtocol(H11Protocol):
    """One connection."""

    # in the order in which they fell silent; one process serves one study
    silent: ClassVar[dict[TimedProtocol, None]] = {}
    # all, in the order in which they came
    opened: ClassVar[dict[TimedProtocol, None]] = {}
    most: ClassVar[int] = FILES // 2

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.opened[self] = None
        self._listen()
        if len(self.opened) > self.most:
            self._make_room()

    def handle_events(self) -> None:
        super().handle_events()
        if self.cycle is not None and not self.cycle.response_complete:
            self._heard()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self.transport.is_closing() and (self.cycle is None or self.cycle.response_complete):
            self._listen()

    def connection_lost(self, exc: Exception | None) -> None:
        self.opened.pop(self, None)
        self._heard()
        super().connection_lost(exc)

    def _listen(self) -> None:
        self._heard()
        self.silent[self] = None
        self._limit: asyncio.TimerHandle | None = self.loop.call_later(SILENCE, self._late, self._unsent)
        if len(self.silent) > MAX_SILENT:
            oldest = next(iter(self.silent))
            oldest._heard()
            oldest.transport.abort()

    @property
    def _unsent(self) -> int:
        return int(self.transport.get_write_buffer_size())

    def _late(self, before: int) -> None:
        """Nothing came; but the last answer may still be leaving."""
        now = self._unsent
        if 0 < now <= before - MIN_ANSWER_BYTES_PER_SECOND * SILENCE or (now == 0 < before):
            self._limit = self.loop.call_later(SILENCE, self._late, now)
        else:
            self.transport.abort()

    @property
    def _served(self) -> bool:
        """The request is here as a whole, and its answer is not: a poll that waits, or work."""
        return self.cycle is not None and not self.cycle.more_body and not self.cycle.response_complete

    def _make_room(self) -> None:
        oldest = next((one for one in self.opened if not one._served), self)
        self.opened.pop(oldest, None)  # so that it is not chosen twice
        oldest._heard()
        oldest.transport.abort()

    def _heard(self) -> None:
        self.silent.pop(self, None)
        limit = getattr(self, "_limit", None)
        if limit is not None:
            limit.cancel()
            self._limit = None


def raise_file_limit() -> None:
    """As many open connections as the system lets this process have, and half of them for whoever comes."""
    with suppress(ImportError, ValueError, OSError):
        _raise_limit()
    with suppress(ImportError, ValueError, OSError):
        import resource

        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        TimedProtocol.most = max(16, (soft if soft != resource.RLIM_INFINITY else 65_536) // 2)


def _raise_limit() -> None:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = hard if hard != resource.RLIM_INFINITY else 65_536
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
