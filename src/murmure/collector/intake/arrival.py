"""A report as it arrives, and what became of it."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass

from murmure.core.errors import InvalidParameter

TOKEN_BYTES = 16
MAX_REPORT_BYTES = 1 << 18
MAX_SURVEY, MAX_WAVE = (1 << 32) - 1, (1 << 16) - 1


@dataclass(frozen=True, slots=True)
class Arrival:
    """One report. The token is keyed, and distinct for each survey and wave; a link's token is never given here."""

    survey: int
    wave: int
    token: bytes
    report: bytes  # compact JSON, checked before


class Outcome(enum.IntEnum):
    """What became of an arrival. With each of these, the report that the token sent first is on the disk."""

    STORED = 0  # now
    BEFORE = 1  # the same report arrived before
    SPENT = 2  # the token sent another report, which counts


def check_arrivals(arrivals: Sequence[Arrival]) -> int:
    """Refuse what does not fit into a frame, and return the bytes of all reports; plans are checked elsewhere."""
    total = 0
    for arrival in arrivals:
        total += len(arrival.report)
        if len(arrival.token) != TOKEN_BYTES:
            raise InvalidParameter(
                "Arrival.token must have {wanted} bytes, got {got}.", wanted=TOKEN_BYTES, got=len(arrival.token)
            )
        if len(arrival.report) > MAX_REPORT_BYTES:
            raise InvalidParameter(
                "Arrival.report must have at most {wanted:,} bytes, got {got:,}.",
                wanted=MAX_REPORT_BYTES,
                got=len(arrival.report),
            )
        if not (0 <= arrival.survey <= MAX_SURVEY and 0 <= arrival.wave <= MAX_WAVE):
            raise InvalidParameter(
                "Arrival.survey and wave must be at most {survey} and {wave}, got {got_survey} and {got_wave}.",
                survey=MAX_SURVEY,
                wave=MAX_WAVE,
                got_survey=arrival.survey,
                got_wave=arrival.wave,
            )
    return total
