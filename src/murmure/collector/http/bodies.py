"""Bodies of requests: at most so long, within a time. Announced too long, they are refused before they are read."""

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
JSON_TYPE = b"application/json"


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
    message = await _next(receive)  # nearly always all of it
    body: bytes = message.get("body", b"")
    if not message.get("more_body", False):
        if len(body) > max_bytes:
            raise _too_large(max_bytes)
        return body
    parts, size = [body], len(body)
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while message.get("more_body", False):
                message = await _next(receive)
                parts.append(message.get("body", b""))
                size += len(parts[-1])
                if size > max_bytes:
                    raise _too_large(max_bytes)
    except TimeoutError:
        raise RequestRefused("too-slow", "the body did not arrive in time.", hint="send it again") from None
    return b"".join(parts)


class ClientGone(Exception):
    """The client left before its request was complete: there is nobody to answer."""


async def _next(receive: Receive) -> Message:
    message = await receive()
    if message["type"] == "http.disconnect":
        raise ClientGone
    return message


def _too_large(max_bytes: int) -> RequestRefused:
    return RequestRefused("too-large", "the body must have at most {n:,} bytes.", n=max_bytes)
