"""Files and folders that are written completely or not at all, and files that one process locks at a time."""

from __future__ import annotations

import errno
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from murmure.core.errors import CannotWrite, Phrase, shorten

START = 4096  # bytes by which the kind of a file is recognised
PATIENCE = 60.0  # seconds; our locks last for milliseconds


@contextmanager
def all_or_nothing(path: Path) -> Iterator[Path]:
    """A temporary path, renamed to `path` at the end; after an error nothing is left."""
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
        part.chmod(0o666 & ~mask)  # mkstemp makes files private; results get the usual permissions
        os.replace(part, path)
    except OSError as error:
        raise cannot_write(path, error) from None
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def folder_or_nothing(path: Path) -> Iterator[Path]:
    """A temporary folder, which becomes `path` at the end; after an error nothing is left.

    A folder `path` that exists is kept, since a terminal may be in it: files are moved into it, and must not be there.
    """
    keep = path.is_dir()
    try:
        part = Path(
            tempfile.mkdtemp(dir=path if keep else path.parent, prefix=f".{path.absolute().name}.", suffix=".part")
        )
    except OSError as error:
        raise cannot_write(path, error) from None
    try:
        yield part
        if keep:
            _move_files(part, path)
        else:
            mask = os.umask(0)
            os.umask(mask)
            part.chmod(0o777 & ~mask)  # mkdtemp makes private ones
            os.rename(part, path)
    except OSError as error:
        raise cannot_write(path, error) from None
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _move_files(source: Path, target: Path) -> None:
    """All of them or none."""
    moved: list[Path] = []
    try:
        for file in sorted(source.iterdir()):
            place = target / file.name
            if place.exists():
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(place))
            moved.append(place)
            os.rename(file, place)
    except BaseException:
        for place in moved:
            place.unlink(missing_ok=True)
        raise


@contextmanager
def locked(path: Path, alone: bool = True, patience: float = PATIENCE) -> Iterator[int]:
    """The file, open and locked against other processes and threads: `alone` to write it, or shared by its readers.

    It is created if missing, for its owner only. The system unlocks it when a process ends for any reason, so a process
    that keeps a lock is alive: after `patience` seconds that is a TimeoutError, and never an endless wait.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT if alone else os.O_RDONLY, 0o600)
    try:
        end, pause = time.monotonic() + patience, 0.001
        # Polling, since neither flock nor msvcrt has a lock with a time limit.
        while not _try_lock(handle, alone):
            if time.monotonic() >= end:
                raise TimeoutError(f"another process has held it for {patience:g} s")
            time.sleep(pause)
            pause = min(2 * pause, 0.05)
        yield handle
    finally:
        os.close(handle)  # which unlocks it


def _try_lock(handle: int, alone: bool) -> bool:
    """Whether the lock was free, without waiting. An OSError where the file system has no locks."""
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
    """Refuse a missing folder, or a file that is not ours; `ours` recognises our files by their first bytes."""
    try:
        refuse_missing_parent(path)
        if not path.exists():
            return
        if not path.is_file():
            raise CannotWrite("cannot write {path!r}: it is not a file.", hint="name a file", path=str(path))
        with path.open("rb") as file:
            start = file.read(START)
    except OSError as error:
        raise cannot_write(path, error) from None
    if start and not ours(start):  # an empty file has nothing to lose
        raise CannotWrite(
            "{path!r} exists and is not {what}: it would be overwritten.",
            hint="choose another name, or move the file first",
            path=str(path),
            what=what,
        )


def refuse_missing_parent(path: Path) -> None:
    if not path.parent.is_dir():
        raise CannotWrite(
            "cannot write {path!r}: there is no folder {parent!r}.",
            hint="create the folder first, or choose one that exists",
            path=str(path),
            parent=str(path.parent),
        )


def cannot_write(path: Path, error: OSError) -> CannotWrite:
    hint = Phrase("choose a folder that exists and that you can write to")
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        hint = Phrase("no partial file was left behind; free some space, or write to another disk")
    elif error.errno in (errno.EEXIST, errno.ENOTEMPTY):
        hint = Phrase("another process wrote it in the meantime; choose another name")
    why = os.strerror(error.errno).lower() if error.errno else shorten(str(error), 160)
    return CannotWrite("cannot write {path!r}: {why}.", hint=hint, path=str(path), why=why)
