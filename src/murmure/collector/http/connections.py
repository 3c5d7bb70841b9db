"""The connections of respondents: uvicorn's protocol for httptools, with time limits and a limit for headers.

httptools parses in C, and takes a header of any length; here a header that is longer than any browser's is refused, and
so is what is not HTTP, in the one shape that every error of the collector has. Headers can also follow a body that is
sent in chunks, and each chunk can have extensions: nobody reads them here, so a connection with more of that than body
is closed. A browser that reads an answer slowly has time, as long as bytes flow.
"""

from __future__ import annotations

import json
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from murmure.core.serving.listening import raise_file_limit
from murmure.core.serving.timed_connection import SILENT_SECONDS, TimedConnection

MAX_HEADER_BYTES = 64 << 10
GOODBYE_SECONDS = 0.5
BEHIND_PROXY_SECONDS = 75.0  # a proxy keeps idle connections for a minute, and must be the first to close them


class RespondentConnection(TimedConnection, HttpToolsProtocol):
    """One connection."""

    max_header_bytes: ClassVar[int] = MAX_HEADER_BYTES
    _receiving = _reading_header = False  # a request; its header
    _received = _body = 0  # bytes of this request since its first packet, and those that are body

    @classmethod
    def configure(cls, behind_proxy: bool) -> None:
        """Before any connection: how many there may be, and how long one may be silent."""
        cls.max_connections = max(16, raise_file_limit() // 2)
        cls.max_silent = cls.max_connections  # a room full of telephones is silent most of the time
        cls.silent_seconds = BEHIND_PROXY_SECONDS if behind_proxy else SILENT_SECONDS

    def data_received(self, data: bytes) -> None:
        more = self._receiving
        super().data_received(data)
        if not more or not self._receiving:
            return
        self._received += len(data)
        if self._received <= self.max_header_bytes + 2 * self._body:
            return
        if self._reading_header:
            self._refuse(431, "too-large", "the header of this request is too long.")
        else:
            self.transport.abort()

    def on_message_begin(self) -> None:
        self._receiving = self._reading_header = True
        self._received = self._body = 0
        super().on_message_begin()

    def on_body(self, body: bytes) -> None:
        self._body += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._receiving = False
        super().on_message_complete()

    def on_headers_complete(self) -> None:
        self._reading_header = False
        super().on_headers_complete()
        self.header_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._start_timer()  # an answer that is sent in parts waits for a slow reader, but not for ever

    def resume_writing(self) -> None:
        super().resume_writing()
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_timer()

    def shutdown(self) -> None:
        """The service stops. TLS waits until the other side has said goodbye: a telephone in a pocket does not."""
        super().shutdown()
        if self.transport.is_closing():
            self.loop.call_later(GOODBYE_SECONDS, self.transport.abort)

    def send_400_response(self, msg: str) -> None:
        self._refuse(400, "bad-request", "this is not a request that can be read.")

    def _late(self, unsent_then: int) -> None:
        if self._reading_header:
            self._refuse(408, "too-slow", "the header of this request did not arrive in time.")
        else:
            super()._late(unsent_then)

    def _refuse(self, status: int, code: str, message: str) -> None:
        """The error shape of the collector, for what never reaches its app."""
        if self.transport.is_closing():
            return
        if self.cycle is not None and not self.cycle.response_complete:
            if self.cycle.response_started or not self.cycle.more_body or self.pipeline:
                self.transport.abort()  # an answer is on its way: a second one would be read as a part of it
                return
            self.cycle.disconnected = True  # its body cannot be read: the app has nothing to answer
        fields: dict[str, Any] = {"ok": False, "error": code, "message": message, "hint": None, "status": status}
        body = json.dumps(fields).encode()
        headers = (
            b"content-type: application/json\r\ncontent-length: %d\r\n"
            b"cache-control: no-store\r\nconnection: close\r\n\r\n" % len(body)
        )
        self.transport.write(STATUS_LINE[status] + headers + body)
        self.transport.close()
