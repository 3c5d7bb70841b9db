"""The log that reports are appended to: a commit is on the disk as a whole, or it was cut off.

If the disk is full, the log is cut back to the last whole commit, and the next commit is tried again. If fdatasync
fails, nobody knows which pages are on the disk (Linux forgets that they were not written), so nothing is appended any
more.
"""

from __future__ import annotations

import os
from pathlib import Path

from murmure.collector.intake.errors import DiskRefused, LogUntrusted
from murmure.collector.intake.segments import HEADER, create_segment, write_all
from murmure.core.sqlite_files import why

SEGMENT_BYTES = 64 << 20


class ReportLog:
    """The end of the log, for one thread that appends to it. durable: all before this position is on the disk.

    Each process begins a segment of its own with its first commit: results can be read on a full disk.
    """

    def __init__(self, folder: Path, end: int, segment_bytes: int = SEGMENT_BYTES) -> None:
        self._folder, self._segment_bytes = folder, segment_bytes
        self.durable = end
        self.failure: LogUntrusted | None = None
        self._handle: int | None = None
        self._start = self._position = end

    def prepare(self) -> int:
        """The position of the next commit: in a new file if there is none, or if it is long enough."""
        if self.failure is not None:
            raise self.failure
        if self._handle is None or self._position - self._start >= self._segment_bytes:
            try:
                self._begin_segment(self._position)
            except OSError as error:
                raise _refused(self._folder, error) from None
        return self._position

    def commit(self, data: bytes) -> None:
        """Append after `prepare`, and return when it is on the disk; after DiskRefused the log is as it was."""
        assert self._handle is not None
        try:
            write_all(self._handle, data)
        except OSError as error:
            self._cut_back(error)
            raise _refused(self._folder, error) from None
        try:
            _sync(self._handle)
        except OSError as error:
            raise self._untrusted(error) from None
        self._position += len(data)
        self.durable = self._position

    def distrust(self, error: Exception) -> LogUntrusted:
        """From now on nothing is appended: what is in memory may not be what is in the log."""
        return self._untrusted(error)

    def close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def _begin_segment(self, start: int) -> None:
        handle = create_segment(self._folder, start)
        if self._handle is not None:
            os.close(self._handle)
        self._handle, self._start, self._position = handle, start, start + HEADER.size

    def _cut_back(self, error: OSError) -> None:
        assert self._handle is not None
        try:
            os.ftruncate(self._handle, self._position - self._start)
        except OSError as second:
            raise self._untrusted(second) from error

    def _untrusted(self, error: Exception) -> LogUntrusted:
        self.failure = LogUntrusted(
            "the disk did not confirm what was written to {folder!r} ({why}): no report is taken any more.",
            hint="check the disk and restart the collector: it reads the log again, and no acknowledged report is lost",
            folder=str(self._folder),
            why=why(error),
        )
        return self.failure


def _sync(handle: int) -> None:
    sync = getattr(os, "fdatasync", os.fsync)  # macOS and Windows have no fdatasync
    sync(handle)


def _refused(folder: Path, error: OSError) -> DiskRefused:
    return DiskRefused(
        "a report could not be written to {folder!r}: {why}.",
        hint="free some space on this disk; the report can be sent again, and the collector need not be restarted",
        folder=str(folder),
        why=why(error),
    )
