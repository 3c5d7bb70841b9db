"""Frames of the log: how one report is written, and which bytes are a whole report.

    frame   = word u32, check u32, payload                                   (little endian)
    word    = length of the payload, and the highest bit on the first frame of a commit
    payload = survey u32, wave u16, hour u32 (hours since 1970), token 16 bytes, report

The check is the CRC-32 of the payload. It starts from the frame's position in the whole log, so that a frame that was
shifted, or left over from another time, never passes; and from the highest bit of the word. No address and no
finer time is written.

The first frame of a commit is marked since a commit is written only after the one before is on the disk. Bytes that are
damaged and followed by a later commit were therefore acknowledged once; those of the last commit may never have been.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterable
from typing import NamedTuple
from zlib import crc32

import numpy as np

from murmure.collector.intake.arrival import MAX_REPORT_BYTES, TOKEN_BYTES, Arrival

FRAME, PAYLOAD = struct.Struct("<II"), struct.Struct("<IHI")
HEAD_BYTES = PAYLOAD.size + TOKEN_BYTES  # of a payload, before the report
MAX_PAYLOAD_BYTES = HEAD_BYTES + MAX_REPORT_BYTES
FIRST = 1 << 31  # the mark of a commit's first frame
PRIME = (1 << 32) - 5  # positions 4 GiB apart differ as well; it is not a multiple of any sector


class Frame(NamedTuple):
    """One report of the log."""

    survey: int
    wave: int
    hour: int
    token: bytes
    report: bytes


def encode_commit(arrivals: Iterable[Arrival], hour: int, position: int) -> list[bytes]:
    """The bytes of a commit that starts at this position."""
    parts: list[bytes] = []
    append, frame, pack = parts.append, FRAME.pack, PAYLOAD.pack
    mark, start = FIRST, 2 * position + 1
    for arrival in arrivals:
        payload = pack(arrival.survey, arrival.wave, hour) + arrival.token + arrival.report
        length = len(payload)
        append(frame(length | mark, crc32(payload, start % PRIME)))
        append(payload)
        position += 8 + length
        mark, start = 0, 2 * position
    return parts


def frame_end(data: bytes, place: int, position: int) -> int | None:
    """Where the frame at data[place:] ends, or None if it is not whole; `position` is that of data[0] in the log."""
    if place + FRAME.size > len(data):
        return None
    word, check = FRAME.unpack_from(data, place)
    length = word & ~FIRST
    end = place + FRAME.size + length
    if not HEAD_BYTES <= length <= MAX_PAYLOAD_BYTES or end > len(data):
        return None
    start = (2 * (position + place) + (word >> 31)) % PRIME
    return end if crc32(data[place + FRAME.size : end], start) == check else None


def decode(data: bytes, position: int, most: int = sys.maxsize) -> tuple[list[Frame], int]:
    """The whole frames at the start of data, at most so many, and how many bytes they take."""
    frames: list[Frame] = []
    append, unpack = frames.append, PAYLOAD.unpack_from
    place = 0
    while len(frames) < most and (end := frame_end(data, place, position)) is not None:
        head = place + FRAME.size
        survey, wave, hour = unpack(data, head)
        append(Frame(survey, wave, hour, data[head + PAYLOAD.size : head + HEAD_BYTES], data[head + HEAD_BYTES : end]))
        place = end
    return frames, place


def later_frames(data: bytes, position: int) -> list[tuple[int, bool]]:
    """Whole frames anywhere in data, which starts with a damaged one: where each is, and whether it begins a commit.

    All offsets are tried, since a damaged length says nothing about where the next frame starts. The first that begins
    a commit ends the search: it decides.
    """
    found = []
    for place in _plausible_places(data):
        if place and frame_end(data, place, position) is not None:
            first = bool(FRAME.unpack_from(data, place)[0] & FIRST)
            found.append((place, first))
            if first:
                break
    return found


def _plausible_places(data: bytes) -> Iterable[int]:
    """Offsets at which a length is possible, 1 MiB at a time."""
    block = 1 << 20
    for start in range(0, max(0, len(data) - FRAME.size - HEAD_BYTES + 1), block):
        piece = np.frombuffer(data[start : start + block + 3], np.uint8).astype(np.uint32)
        words = piece[:-3] | piece[1:-2] << 8 | piece[2:-1] << 16 | piece[3:] << 24
        lengths = words & np.uint32(FIRST - 1)
        for place in np.flatnonzero((lengths >= HEAD_BYTES) & (lengths <= MAX_PAYLOAD_BYTES)):
            yield start + int(place)
