"""Connections that cannot be held open for nothing: uvicorn's HTTP protocol with a time limit for whoever says nothing.

uvicorn waits for ever for the first request of a connection, and for the end of a header that comes a letter at a time.
Here a connection without a whole request is closed after some seconds; and when very many wait so, the oldest goes
first. Parties who are heard hold a request, and are not touched.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any, ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol

SILENCE = 10.0  # seconds from the connection, or from the last answer, to the end of the next header
MOST_SILENT = 400  # connections


class OnTime(H11Protocol):
    """One connection."""

    # in the order in which they fell silent; one process serves one study
    silent: ClassVar[dict[OnTime, None]] = {}

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._listen()

    def handle_events(self) -> None:
        super().handle_events()
        if self.cycle is not None and not self.cycle.response_complete:
            self._heard()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self.transport.is_closing() and (self.cycle is None or self.cycle.response_complete):
            self._listen()

    def connection_lost(self, exc: Exception | None) -> None:
        self._heard()
        super().connection_lost(exc)

    def _listen(self) -> None:
        self._heard()
        self.silent[self] = None
        self._limit: asyncio.TimerHandle | None = self.loop.call_later(SILENCE, self.transport.abort)
        if len(self.silent) > MOST_SILENT:
            oldest = next(iter(self.silent))
            oldest._heard()
            oldest.transport.abort()

    def _heard(self) -> None:
        self.silent.pop(self, None)
        limit = getattr(self, "_limit", None)
        if limit is not None:
            limit.cancel()
            self._limit = None


def many_files() -> None:
    """As many open connections as the system lets this process have."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = hard if hard != resource.RLIM_INFINITY else 65_536
        if soft != resource.RLIM_INFINITY and soft < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
