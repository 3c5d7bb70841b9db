"""Reads request bodies of strangers: no longer than a message of this study, within a time, and not too many at once.

A body that is announced too long is refused before it is read. All bodies that are being read have room for a few of
the longest messages together; when strangers fill it, the bodies that have taken longest are dropped first: a party
sends a message in one go, and sends it again if it has to.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from murmure.core.errors import MurmureError

if TYPE_CHECKING:
    from starlette.requests import Request

BODY_SECONDS = 30.0
MIN_BODY_BYTES_PER_SECOND = 50_000  # gives a long body more time
ROOM_BYTES = 64 << 20  # of all bodies that are being read; or eight messages, if that is more


class TooLarge(MurmureError):
    """More bytes than any message of this study has."""


class TooSlow(MurmureError):
    """The body did not come in time."""


class BodyReader:
    """The bodies that are being read; the oldest first."""

    def __init__(self, max_message_bytes: Callable[[], int]) -> None:
        self._max_message_bytes = max_message_bytes  # at the moment: a later round may have longer messages
        self._sizes: dict[asyncio.Timeout, int] = {}

    async def read(self, request: Request, max_bytes: int) -> bytes:
        announced = request.headers.get("content-length", "0")
        if not announced.isdecimal() or len(announced) > 12 or int(announced) > max_bytes:
            raise self._too_large(max_bytes)
        parts: list[bytes] = []
        size = 0
        limit = asyncio.timeout(BODY_SECONDS + max_bytes / MIN_BODY_BYTES_PER_SECOND)
        try:
            async with limit:
                self._sizes[limit] = 0
                async for chunk in request.stream():
                    size += len(chunk)
                    if size > max_bytes:
                        raise self._too_large(max_bytes)
                    parts.append(chunk)
                    self._sizes[limit] = size
                    self._make_room()
        except TimeoutError:
            raise TooSlow("the body did not arrive in time.") from None
        finally:
            self._sizes.pop(limit, None)
        return b"".join(parts)

    def _make_room(self) -> None:
        room = max(ROOM_BYTES, 8 * self._max_message_bytes())
        while sum(self._sizes.values()) > room and len(self._sizes) > 1:
            oldest = next(iter(self._sizes))
            del self._sizes[oldest]
            oldest.reschedule(asyncio.get_running_loop().time())

    def _too_large(self, max_bytes: int) -> TooLarge:
        return TooLarge("a message of this study has at most {max_bytes} bytes.", max_bytes=max_bytes)
