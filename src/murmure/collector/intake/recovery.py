"""What a log holds after any end of the process: whole commits, and at most one that was never acknowledged.

A commit that was interrupted is cut off. Damage that is followed by whole frames is another matter: a commit is written
only after the one before is on the disk, so what is damaged there was acknowledged, and cutting it off would lose
reports without a word. The one exception is a hole of zeros inside the last commit: a machine that lost power wrote its
pages in another order.
"""

from __future__ import annotations

import os
from itertools import zip_longest
from pathlib import Path
from typing import BinaryIO

from murmure.collector.intake.errors import LogDamaged
from murmure.collector.intake.frames import decode, later_frames
from murmure.collector.intake.log_reader import READ_BYTES
from murmure.collector.intake.segments import HEADER, VERSION, Segment, header_version, list_segments
from murmure.core.errors import Phrase

SECTOR = 512  # bytes that a disk writes as a whole


def recover(folder: Path, folded: int) -> int:
    """The end of the log, from the position on that is in the database; a commit that was interrupted is cut off."""
    position = folded
    segments = list_segments(folder)
    for segment, following in zip_longest(segments, segments[1:]):
        if following is not None and following.start <= position:
            continue  # all of it is in the database
        if segment.start > position:
            raise _damaged(
                segment.path,
                Phrase("the reports between positions {a:,} and {b:,} are missing", a=position, b=segment.start),
            )
        with segment.path.open("rb") as file:
            start = file.read(HEADER.size)
        if following is None and segment.size <= HEADER.size and header_version(start, segment.start) is None:
            segment.path.unlink()  # its creation was interrupted
            break
        _check_header(segment, start)
        position = max(position, segment.start + HEADER.size)
        position = _whole_part(segment, position, following)
        if following is not None and position != following.start:
            raise _damaged(segment.path, Phrase("it does not end where the next file starts"))
    return position


def _check_header(segment: Segment, start: bytes) -> None:
    version = header_version(start, segment.start)
    if version is None:
        raise _damaged(segment.path, Phrase("its first bytes are not those of a log at this place"))
    if version != VERSION:
        raise LogDamaged(
            "{file!r} was written by another version of Murmure (format {got}; this one reads {wanted}).",
            hint="start the collector with the version of Murmure that wrote it",
            file=str(segment.path),
            got=version,
            wanted=VERSION,
        )


def _whole_part(segment: Segment, position: int, following: Segment | None) -> int:
    """The position after the last whole frame, cut off there unless that would lose acknowledged reports."""
    begin = position - segment.start
    with segment.path.open("r+b") as file:
        while position < segment.end:
            file.seek(position - segment.start)
            frames, length = decode(file.read(READ_BYTES), position)
            if not frames:
                break
            position += length
        if position < segment.end:
            file.seek(position - segment.start)
            rest = file.read()
            place = position - segment.start
            if following is not None or not _interrupted(rest, place, position):
                raise _damaged(
                    segment.path, Phrase("a report at byte {place:,} is damaged, and others follow it", place=place)
                )
            file.truncate(place)
        # Of a process that was killed before fdatasync, the last commit may be in the system's memory alone. From now
        # on a second sending of these reports is acknowledged.
        if following is None:
            _write_again(file, begin, position - segment.start)
            os.fsync(file.fileno())
    return position


def _write_again(file: BinaryIO, begin: int, end: int) -> None:
    """After a write that failed, a system may take what it kept in memory for written, and a sync does nothing."""
    for place in range(begin, end, READ_BYTES):
        file.seek(place)
        part = file.read(min(READ_BYTES, end - place))
        file.seek(place)
        file.write(part)
    file.flush()


def _interrupted(rest: bytes, place: int, position: int) -> bool:
    """Whether these bytes, which start with a damaged frame, can be a commit that was never acknowledged."""
    later = later_frames(rest, position)
    if not later:
        return True
    (first_whole, _), (_, begins) = later[0], later[-1]
    if begins:  # a later commit
        return False
    sectors = range(-place % SECTOR, first_whole - SECTOR + 1, SECTOR)
    return any(not any(rest[sector : sector + SECTOR]) for sector in sectors)


def _damaged(path: Path, what: Phrase) -> LogDamaged:
    return LogDamaged(
        "the log of reports {file!r} is damaged: {what}.",
        hint="restore the file from a copy; or move it out of the folder, and lose the reports in it that are not in "
        "reports.db yet",
        file=str(path),
        what=what,
    )
