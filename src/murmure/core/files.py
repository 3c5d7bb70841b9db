"""A file that is written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from murmure.core.errors import InvalidParameter


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


def cannot_write(path: Path, error: OSError) -> InvalidParameter:
    return InvalidParameter(
        f"cannot write {str(path)!r}: {(error.strerror or str(error)).lower()}.",
        hint="name a folder that exists and that you may write in",
    )
