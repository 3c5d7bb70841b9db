"""How a ledger recognises the very same data: a keyed hash of all the bytes of their files.

All of them: an answer that was paid for is shown again instead of a new one, so one changed row must be seen. Keyed:
whoever knows all rows but one could try a bare hash for the last one. The key is in a file of its own, never in the
ledger, and whoever has another key recognises nothing, and pays again.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Sequence
from pathlib import Path

from murmure.core.errors import InvalidParameter
from murmure.core.files import locked
from murmure.core.random import Random

KEY = 32  # bytes
BLOCK = 1 << 20


def fingerprint(paths: Sequence[Path], key: bytes) -> str:
    """Equal for the same bytes in the same order of files, whatever their names."""
    out = hmac.new(key, b"murmure data 1", hashlib.sha256)
    for path in paths:
        try:
            with path.open("rb") as file:
                inner = hmac.new(key, digestmod=hashlib.sha256)
                while block := file.read(BLOCK):
                    inner.update(block)
        except OSError as error:
            why = os.strerror(error.errno).lower() if error.errno else str(error)
            raise InvalidParameter(f"cannot read {str(path)!r}: {why}.") from None
        out.update(inner.digest())
    return out.hexdigest()


def is_keyed(text: str | None) -> bool:
    """Whether this is a fingerprint of files, and not a name that somebody gave their data."""
    return text is not None and len(text) == 64 and set(text) <= set("0123456789abcdef")


def open_key(path: Path) -> bytes:
    """The key, made by whoever comes first, and readable by its owner alone. OSError where that cannot be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with locked(path) as handle:
        held = os.fstat(handle)
        if hasattr(os, "geteuid") and (held.st_uid != os.geteuid() or held.st_mode & 0o077):
            raise InvalidParameter(
                f"{str(path)!r}, the key of a ledger, may be read or written by others.",
                hint=f"it must belong to you alone: chmod 600 {path.name}",
            )
        key = os.read(handle, KEY + 1)
        if len(key) < KEY:  # new, or cut short by a crash before anybody used it
            key = Random.secure().words(KEY // 8).tobytes()
            os.ftruncate(handle, 0)
            os.lseek(handle, 0, os.SEEK_SET)
            os.write(handle, key)
            os.fsync(handle)
    if len(key) != KEY:
        raise InvalidParameter(
            f"{str(path)!r} is not the key of a ledger.", hint="remove it: what was answered is then not found again"
        )
    return key


def files_of(source: str | os.PathLike[str]) -> Sequence[Path]:
    """The files behind a path: itself, or those of a folder or a pattern, as the tables are read."""
    path = Path(source)
    if path.is_file():
        return [path]
    from murmure.engines.sources.tables import open_table

    return open_table(source).paths
