"""The files of the log. Each is named after its position in the whole log, where its header says it again.

    reports-0000000000000000.log:  magic 8 bytes, version u32, position u64, CRC-32 u32, then frames

A position counts every byte of the log, headers too: a segment starts where the one before it ends.
"""

from __future__ import annotations

import os
import re
import struct
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from murmure.core.sqlite_files import sync_folder

NAME = re.compile(r"reports-([0-9a-f]{16})\.log")
HEADER = struct.Struct("<8sIQI")
MAGIC, VERSION = b"murmure\n", 1


class Segment(NamedTuple):
    """One file of the log."""

    path: Path
    start: int  # its position in the whole log
    size: int

    @property
    def end(self) -> int:
        return self.start + self.size


def list_segments(folder: Path) -> list[Segment]:
    """In the order of the log."""
    found = [(path, NAME.fullmatch(path.name)) for path in folder.iterdir()]
    return sorted(
        (Segment(path, int(match[1], 16), path.stat().st_size) for path, match in found if match), key=lambda s: s.start
    )


def segment_path(folder: Path, start: int) -> Path:
    return folder / f"reports-{start:016x}.log"


def header(start: int, version: int = VERSION) -> bytes:
    content = HEADER.pack(MAGIC, version, start, 0)[:-4]
    return content + crc32(content).to_bytes(4, "little")


def header_version(data: bytes, start: int) -> int | None:
    """The version of a segment by its first bytes, or None if they are not the header of this place in the log."""
    if len(data) < HEADER.size:
        return None
    magic, version, position, _ = HEADER.unpack_from(data)
    return version if data[: HEADER.size] == header(position, version) and (magic, position) == (MAGIC, start) else None


def create_segment(folder: Path, start: int) -> int:
    """A new file with its header, on the disk, open for appending. After an error there is none.

    A file of this name can only be one whose creation was interrupted: it has no frames, and is made again.
    """
    path = segment_path(folder, start)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
    try:
        write_all(handle, header(start))
        os.fsync(handle)
        sync_folder(folder)
    except BaseException:
        os.close(handle)
        with suppress(OSError):
            path.unlink()
        raise
    return handle


def write_all(handle: int, data: bytes) -> None:
    """One os.write, and more of them after a short one."""
    written = os.write(handle, data)
    while written < len(data):
        more = os.write(handle, memoryview(data)[written:])
        if more <= 0:
            raise OSError(f"wrote {written} of {len(data)} bytes")
        written += more
