"""Reading the log in order, behind the thread that appends to it: only what is known to be on the disk."""

from __future__ import annotations

import os
from pathlib import Path

from murmure.collector.intake.errors import LogDamaged
from murmure.collector.intake.frames import MAX_PAYLOAD_BYTES, Frame, decode
from murmure.collector.intake.segments import HEADER, list_segments, segment_path

READ_BYTES = 1 << 20  # at a time; at least one frame fits
READ_FRAMES = 8000  # at a time: a tally of 8,192 reports would load Numba, which takes a hundred megabytes
assert READ_BYTES > 2 * MAX_PAYLOAD_BYTES


class LogReader:
    """For one thread. Segments that were read to their end are deleted by `drop_before`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._handle: int | None = None
        self._start = -1

    def read(self, position: int, end: int) -> tuple[list[Frame], int]:
        """Some frames from this position on and before `end`, and the position after them."""
        while position < end:
            if segment_path(self._folder, position).exists():
                self._open(position)
                position += HEADER.size
                continue
            if self._handle is None:
                self._open(max(s.start for s in list_segments(self._folder) if s.start <= position))
            assert self._handle is not None
            size = min(READ_BYTES, end - position)
            frames, length = decode(os.pread(self._handle, size, position - self._start), position, READ_FRAMES)
            if frames:
                return frames, position + length
            raise LogDamaged(
                "the log of reports {file!r} is damaged at byte {place:,}, though it was written as a whole.",
                hint="check the disk; restarting the collector reads the log again",
                file=str(segment_path(self._folder, self._start)),
                place=position - self._start,
            )
        return [], position

    def drop_before(self, position: int, finished: bool = False) -> None:
        """Delete the segments that end at or before this position; the last one only if nobody appends to it."""
        segments = list_segments(self._folder)
        for segment in segments if finished else segments[:-1]:
            if segment.end <= position:
                segment.path.unlink()

    def close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def _open(self, start: int) -> None:
        self.close()
        self._handle = os.open(segment_path(self._folder, start), os.O_RDONLY)
        self._start = start
