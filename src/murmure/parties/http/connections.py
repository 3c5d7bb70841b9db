"""The connections of a study: uvicorn's HTTP protocol with the time limits of `core.serving`."""

from __future__ import annotations

from uvicorn.protocols.http.h11_impl import H11Protocol

from murmure.core.serving.timed_connection import TimedConnection


class TimedProtocol(TimedConnection, H11Protocol):
    """One connection. Parties that wait for an answer have sent a whole request, and are not affected."""

    def handle_events(self) -> None:
        super().handle_events()
        self.header_complete()
