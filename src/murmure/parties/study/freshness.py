"""The body of an ASK message: how many messages were received, and a number that grows from one ASK to the next.

    after u32 | number u64       little-endian

An ASK is signed, but somebody who saw one could send it again and read that inbox. So the coordinator accepts no number
of a party twice, and none below the last. The number is the time in milliseconds, so a party need not store it.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable

from murmure.secure.errors import BadMessage, WrongSession

ASK_BODY = struct.Struct("<IQ")
FIRST_JUMP, MAX_JUMPS = 1024, 32  # milliseconds, doubled: how far ahead a clock may have been earlier


class AskCounter:
    """Numbers the ASK messages of one party, each above the last."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock, self._last, self._ahead = clock, 0, 0

    def next_body(self, after: int) -> bytes:
        self._last = max(self._last + 1, int(self._clock() * 1000) + self._ahead)
        return ASK_BODY.pack(after, self._last)

    def jump_ahead(self) -> None:
        """The coordinator has seen a larger number: this clock was set back since."""
        self._ahead = max(FIRST_JUMP, 2 * self._ahead)

    @property
    def exhausted(self) -> bool:
        """Whether no clock can have been so far ahead: then something else is wrong."""
        return self._ahead >= FIRST_JUMP << MAX_JUMPS


class ReplayFilter:
    """At the coordinator: the last number of every party. It is kept in memory, so a restart forgets it."""

    def __init__(self) -> None:
        self._last: dict[int, int] = {}

    def check(self, place: int, body: bytes) -> int:
        """How many messages this party has received; refuses an ASK that was sent before."""
        after, number = parse_body(body)
        if number <= self._last.get(place, -1):
            raise WrongSession("this ASK message was received before, or is older than one that was.")
        self._last[place] = number
        return after


def parse_body(body: bytes) -> tuple[int, int]:
    if len(body) != ASK_BODY.size:
        raise BadMessage("an inbox must be requested with an ASK message.")
    after, number = ASK_BODY.unpack(body)
    return after, number
