"""A file that is written whole or not at all, and a file that one process has at a time."""

from __future__ import annotations

import errno
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from murmure.core.errors import CannotWrite, shorten

START = 4096  # bytes that tell what a file is
PATIENCE = 60.0  # seconds; whoever holds a lock of ours holds it for milliseconds


@contextmanager
def all_or_nothing(path: Path) -> Iterator[Path]:
    """A name to write under, which becomes `path` at the end, or nothing at all."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}.", suffix=f".part{path.suffix}")
    except OSError as error:
        raise cannot_write(path, error) from None
    os.close(handle)
    part = Path(name)
    try:
        yield part
        mask = os.umask(0)
        os.umask(mask)
        part.chmod(0o666 & ~mask)  # mkstemp is more secretive than a picture needs
        os.replace(part, path)
    except OSError as error:
        raise cannot_write(path, error) from None
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def locked(path: Path, alone: bool = True, patience: float = PATIENCE) -> Iterator[int]:
    """The file, open and locked against other processes and threads: `alone` to write it, or shared by its readers.

    Made where there is none, for its owner only. The system unlocks it when a process ends, however it ends, so what
    keeps a lock is alive: after `patience` seconds that is a TimeoutError, and never a wait for ever.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT if alone else os.O_RDONLY, 0o600)
    try:
        end, pause = time.monotonic() + patience, 0.001
        while not _try_lock(handle, alone):
            if time.monotonic() >= end:
                raise TimeoutError(f"another process has held it for {patience:g} s")
            time.sleep(pause)
            pause = min(2 * pause, 0.05)
        yield handle
    finally:
        os.close(handle)  # and unlocked


def _try_lock(handle: int, alone: bool) -> bool:
    """At once: whether it is ours now. An OSError where the file system knows no locks."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EAGAIN, errno.EACCES, errno.EDEADLK, errno.EINTR):
            return False
        raise
    return True


def refuse_to_replace(path: Path, ours: Callable[[bytes], bool], what: str) -> None:
    """Refuse a place that does not exist, or where something else stands; `ours` knows our files by how they start."""
    try:
        if not path.parent.is_dir():
            raise CannotWrite(
                f"cannot write {str(path)!r}: there is no folder {str(path.parent)!r}.",
                hint="make the folder first, or name one that exists",
            )
        if not path.exists():
            return
        if not path.is_file():
            raise CannotWrite(f"cannot write {str(path)!r}: it is not a file.", hint="name a file")
        with path.open("rb") as file:
            start = file.read(START)
    except OSError as error:
        raise cannot_write(path, error) from None
    if start and not ours(start):  # an empty file has nothing to lose
        raise CannotWrite(
            f"{str(path)!r} exists and is not {what}: it would be lost.",
            hint="write under another name, or move it away first",
        )


def cannot_write(path: Path, error: OSError) -> CannotWrite:
    hint = "name a folder that exists and that you may write in"
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        hint = "nothing was left behind; make room, or write to another disk"
    elif error.errno == errno.EEXIST:
        hint = "somebody else wrote it meanwhile; write under another name"
    why = os.strerror(error.errno).lower() if error.errno else shorten(str(error), 160)
    return CannotWrite(f"cannot write {str(path)!r}: {why}.", hint=hint)
