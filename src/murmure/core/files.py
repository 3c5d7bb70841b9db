"""A file that is written whole or not at all."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from murmure.core.errors import CannotWrite, shorten

START = 4096  # bytes that tell what a file is


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
