"""Connections that cannot be held open for nothing: uvicorn's HTTP protocol with a time limit for silent clients.

uvicorn waits for ever for the first request of a connection, and for the end of a header that comes a letter at a time.
Here a connection without a whole request is closed after some seconds; and when very many wait so, the oldest is
closed first. Parties that wait for an answer have sent a whole request, and are not affected. A client that reads an
answer slowly has time, as long as bytes flow. All connections together take at most half of the files that the process
may open: the log needs some.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any, ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol

SILENT_SECONDS = 10.0  # from the connection, or from the last answer, to the end of the next header
MAX_SILENT = 400  # connections
MIN_ANSWER_BYTES_PER_SECOND = 1000
DEFAULT_MAX_FILES = 1024  # that a process may open, where the system does not say


class TimedProtocol(H11Protocol):
    """One connection."""

    # in the order in which they fell silent; one process serves one study
    silent: ClassVar[dict[TimedProtocol, None]] = {}
    # all, in the order in which they came
    opened: ClassVar[dict[TimedProtocol, None]] = {}
    max_connections: ClassVar[int] = DEFAULT_MAX_FILES // 2

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.opened[self] = None
        self._start_timer()
        if len(self.opened) > self.max_connections:
            self._make_room()

    def handle_events(self) -> None:
        super().handle_events()
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_timer()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self.transport.is_closing() and (self.cycle is None or self.cycle.response_complete):
            self._start_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self.opened.pop(self, None)
        self._stop_timer()
        super().connection_lost(exc)

    def _start_timer(self) -> None:
        self._stop_timer()
        self.silent[self] = None
        self._limit: asyncio.TimerHandle | None = self.loop.call_later(SILENT_SECONDS, self._late, self._unsent)
        if len(self.silent) > MAX_SILENT:
            oldest = next(iter(self.silent))
            oldest._stop_timer()
            oldest.transport.abort()

    @property
    def _unsent(self) -> int:
        return int(self.transport.get_write_buffer_size())

    def _late(self, unsent_then: int) -> None:
        """Nothing came; but the last answer may still be on its way."""
        unsent_now = self._unsent
        if 0 < unsent_now <= unsent_then - MIN_ANSWER_BYTES_PER_SECOND * SILENT_SECONDS or (
            unsent_now == 0 < unsent_then
        ):
            self._limit = self.loop.call_later(SILENT_SECONDS, self._late, unsent_now)
        else:
            self.transport.abort()

    @property
    def _served(self) -> bool:
        """Whether a whole request is here and its answer is not finished: a poll that waits, or work."""
        return self.cycle is not None and not self.cycle.more_body and not self.cycle.response_complete

    def _make_room(self) -> None:
        oldest = next((connection for connection in self.opened if not connection._served), self)
        self.opened.pop(oldest, None)  # so that it is not chosen twice
        oldest._stop_timer()
        oldest.transport.abort()

    def _stop_timer(self) -> None:
        self.silent.pop(self, None)
        limit = getattr(self, "_limit", None)
        if limit is not None:
            limit.cancel()
            self._limit = None


def raise_file_limit() -> None:
    """Raise the limit of open files as far as the system allows; half of it is for connections."""
    with suppress(ImportError, ValueError, OSError):
        _raise_limit()
    with suppress(ImportError, ValueError, OSError):  # not on Windows; and the limit may not be raised
        import resource

        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        TimedProtocol.max_connections = max(16, (soft if soft != resource.RLIM_INFINITY else 65_536) // 2)


def _raise_limit() -> None:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    target = hard if hard != resource.RLIM_INFINITY else 65_536
    if soft != resource.RLIM_INFINITY and soft < target:
        resource.setrlimit(resource.RLIMIT_NOFILE, (target, hard))
