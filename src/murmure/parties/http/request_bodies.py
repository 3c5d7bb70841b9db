"""What is read of strangers: no more than a message of this study can have, not for long, and not much at once.

A body that is announced too long is refused before it is read. All bodies that are under way together have room for
a few of the longest messages; when strangers fill it, those who have taken longest over theirs go first: a party sends
a message in one go, and sends it again if it has to.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from murmure.core.errors import MurmureError

if TYPE_CHECKING:
    from starlette.requests import Request

LATE = 30.0  # seconds for one body
MIN_BODY_BYTES_PER_SECOND = 50_000  # bytes a second, beyond that
ROOM = 64 << 20  # bytes of all bodies under way, or that of eight messages


class TooLarge(MurmureError):
    """More bytes than any message of this study has."""


class TooSlow(MurmureError):
    """The body did not come in time."""


class BodyReader:
    """Those that are being read; the oldest first."""

    def __init__(self, longest: Callable[[], int]) -> None:
        self._longest = longest  # of the study as it stands: a later round may have longer messages
        self._held: dict[asyncio.Timeout, int] = {}

    async def read(self, request: Request, most: int) -> bytes:
        announced = request.headers.get("content-length", "0")
        if not announced.isdecimal() or len(announced) > 12 or int(announced) > most:
            raise self._too_large(most)
        parts: list[bytes] = []
        size = 0
        limit = asyncio.timeout(LATE + most / MIN_BODY_BYTES_PER_SECOND)
        try:
            async with limit:
                self._held[limit] = 0
                async for chunk in request.stream():
                    size += len(chunk)
                    if size > most:
                        raise self._too_large(most)
                    parts.append(chunk)
                    self._held[limit] = size
                    self._make_room()
        except TimeoutError:
            raise TooSlow("the body did not come in time.") from None
        finally:
            self._held.pop(limit, None)
        return b"".join(parts)

    @property
    def longest(self) -> int:
        return self._longest()

    def _make_room(self) -> None:
        room = max(ROOM, 8 * self.longest)
        while sum(self._held.values()) > room and len(self._held) > 1:
            oldest = next(iter(self._held))
            del self._held[oldest]
            oldest.reschedule(asyncio.get_running_loop().time())

    def _too_large(self, most: int) -> TooLarge:
        return TooLarge(f"no message of this study that comes here has more than {most} bytes.")
