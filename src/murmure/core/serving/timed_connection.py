"""Connections that cannot be held open for nothing: a part of uvicorn's HTTP protocols, with time limits.

uvicorn waits for ever for the first request of a connection, and for the end of a header that comes a letter at a time.
Here a connection without a whole request is closed after some seconds; and when very many wait so, the oldest is
closed first. Clients that wait for an answer have sent a whole request, and are not affected. A client that reads an
answer slowly has time, as long as bytes flow. All connections together take at most half of the files that the process
may open: the log needs some.
"""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from murmure.core.serving.listening import DEFAULT_MAX_FILES, raise_file_limit

SILENT_SECONDS = 10.0  # from the connection, or from the last answer, to the end of the next header
MAX_SILENT = 400  # connections; beyond, the oldest is closed
MIN_ANSWER_BYTES_PER_SECOND = 1000


class TimedConnection:
    """One connection. A subclass adds a protocol of uvicorn, and calls `header_complete` when a request has begun."""

    # of uvicorn's protocols
    loop: asyncio.AbstractEventLoop
    transport: Any
    cycle: Any

    silent: ClassVar[dict[Any, None]]  # in the order in which they fell silent; one process runs one service
    opened: ClassVar[dict[Any, None]]  # all, in the order in which they came
    max_connections: ClassVar[int] = DEFAULT_MAX_FILES // 2
    max_silent: ClassVar[int] = MAX_SILENT
    silent_seconds: ClassVar[float] = SILENT_SECONDS
    _limit: asyncio.TimerHandle | None = None

    def __init_subclass__(cls) -> None:
        cls.silent, cls.opened = {}, {}

    @classmethod
    def share_files(cls) -> None:
        """Half of the files that this process may open are for connections."""
        cls.max_connections = max(16, raise_file_limit() // 2)

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)  # type: ignore[misc]
        self.opened[self] = None
        self._start_timer()
        if len(self.opened) > self.max_connections:
            self._make_room()

    def header_complete(self) -> None:
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_timer()

    def on_response_complete(self) -> None:
        super().on_response_complete()  # type: ignore[misc]
        if not self.transport.is_closing() and (self.cycle is None or self.cycle.response_complete):
            self._start_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self.opened.pop(self, None)
        self._stop_timer()
        super().connection_lost(exc)  # type: ignore[misc]

    def _start_timer(self) -> None:
        self._stop_timer()
        self.silent[self] = None
        self._limit = self.loop.call_later(self.silent_seconds, self._late, self._unsent)
        if len(self.silent) > self.max_silent:
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
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None
