"""Bodies of requests: at most so long, within a time. Announced too long, they are refused before they are read.

Bodies that come in parts wait in memory, and anybody may send one. So all of them together may take so much memory;
beyond it, clients are asked to come back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from murmure.collector.service.errors import RequestRefused

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

BODY_SECONDS = 15.0
MAX_PARTIAL_BYTES = 64 << 20  # of all bodies that have not arrived as a whole
JSON_TYPE = b"application/json"


class PartialBodies:
    """The memory that unfinished bodies take; for one event loop."""

    def __init__(self) -> None:
        self.size = 0

    def grow(self, size: int) -> None:
        if self.size + size > MAX_PARTIAL_BYTES:
            raise RequestRefused("busy", "too many long requests are arriving at the moment.", hint="send it again")
        self.size += size

    def release(self, size: int) -> None:
        self.size -= size


PARTIAL = PartialBodies()


def header(scope: Scope, name: bytes) -> bytes | None:
    """The value of a header; None where there is none."""
    for key, value in scope["headers"]:
        if key == name:
            return bytes(value)
    return None


def check_json(scope: Scope) -> None:
    """Only JSON: a form of another site cannot send it without asking first."""
    kind = header(scope, b"content-type")
    if kind is None or kind.partition(b";")[0].strip().lower() != JSON_TYPE:
        raise RequestRefused("type", "the body must be JSON.", hint="send Content-Type: application/json")


async def read_body(scope: Scope, receive: Receive, max_bytes: int) -> bytes:
    announced = header(scope, b"content-length")
    if announced is not None and (not announced.isdigit() or len(announced) > 12 or int(announced) > max_bytes):
        raise _too_large(max_bytes)
    try:
        async with asyncio.timeout(BODY_SECONDS):
            message = await _next(receive)  # nearly always all of it
            if message.get("more_body", False):
                return await _joined(message, receive, max_bytes)
    except TimeoutError:
        raise RequestRefused("too-slow", "the body did not arrive in time.", hint="send it again") from None
    body: bytes = message.get("body", b"")
    if len(body) > max_bytes:
        raise _too_large(max_bytes)
    return body


async def _joined(message: Message, receive: Receive, max_bytes: int) -> bytes:
    body = bytearray()
    try:
        while True:
            part = message.get("body", b"")
            PARTIAL.grow(len(part))
            body += part  # as many bytes as were counted, whatever happens next
            if len(body) > max_bytes:
                raise _too_large(max_bytes)
            if not message.get("more_body", False):
                return bytes(body)
            message = await _next(receive)
    finally:
        PARTIAL.release(len(body))


class ClientGone(Exception):
    """The client left before its request was complete: there is nobody to answer."""


async def _next(receive: Receive) -> Message:
    message = await receive()
    if message["type"] == "http.disconnect":
        raise ClientGone
    return message


def _too_large(max_bytes: int) -> RequestRefused:
    return RequestRefused("too-large", "the body must have at most {n:,} bytes.", n=max_bytes)
