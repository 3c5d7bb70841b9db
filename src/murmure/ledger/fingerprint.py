"""How a ledger recognises exactly the same data: a keyed hash of all the bytes of their files.

All bytes: a paid answer is shown again instead of a new one, so one changed row must be noticed. Keyed: somebody who
knows all rows but one could guess the last one by a bare hash. The key is in its own file, never in the ledger. With
another key nothing is recognised, and everything is paid for again.
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
from murmure.ledger.words import system_reason

KEY_BYTES = 32
BLOCK_BYTES = 1 << 20
KEYED_LENGTH = 64  # hexadecimal digits of a fingerprint


def fingerprint(paths: Sequence[Path], key: bytes) -> str:
    """Equal for the same bytes in the same order of files, whatever their names."""
    out = hmac.new(key, b"murmure data 1", hashlib.sha256)
    for path in paths:
        try:
            with path.open("rb") as file:
                inner = hmac.new(key, digestmod=hashlib.sha256)
                while block := file.read(BLOCK_BYTES):
                    inner.update(block)
        except OSError as error:
            raise InvalidParameter(
                "cannot read {path!r}: {error}.", path=str(path), error=system_reason(error)
            ) from None
        out.update(inner.digest())
    return out.hexdigest()


def is_keyed(text: str | None) -> bool:
    """Whether this is a fingerprint of files, and not a name that a person gave."""
    return text is not None and len(text) == KEYED_LENGTH and set(text) <= set("0123456789abcdef")


def open_key(path: Path) -> bytes:
    """The key, made by the first process that needs it, and readable by its owner only. OSError if that fails.

    A whole key is only read: paid answers are found on a file system that cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = path.exists() and path.stat().st_size >= KEY_BYTES
    with locked(path, alone=not whole) as handle:
        status = os.fstat(handle)
        if hasattr(os, "geteuid") and (status.st_uid != os.geteuid() or status.st_mode & 0o077):
            raise InvalidParameter(
                "{path!r}, the key of a ledger, may be read or written by others.",
                hint="it must belong to you alone: chmod 600 {name}",
                path=str(path),
                name=path.name,
            )
        key = os.read(handle, KEY_BYTES + 1)
        if len(key) < KEY_BYTES:  # new, or cut short by a crash before anybody used it
            key = Random.secure().words(KEY_BYTES // 8).tobytes()
            os.ftruncate(handle, 0)
            os.lseek(handle, 0, os.SEEK_SET)
            os.write(handle, key)
            os.fsync(handle)
    if len(key) != KEY_BYTES:
        raise InvalidParameter(
            "{path!r} is not the key of a ledger.",
            hint="remove it; answers that were already paid for will then not be found again",
            path=str(path),
        )
    return key


def file_stamps(paths: Sequence[Path]) -> tuple[tuple[int, ...], ...]:
    """What changes when somebody writes to a file: compared before and after it is read."""
    out = []
    for path in paths:
        try:
            status = path.stat()
        except OSError as error:
            raise InvalidParameter(
                "cannot read {path!r}: {error}.", path=str(path), error=system_reason(error)
            ) from None
        out.append((status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns))
    return tuple(out)


def files_of(source: str | os.PathLike[str]) -> Sequence[Path]:
    """The files behind a path: itself, or those of a folder or a pattern, as the tables are read."""
    from murmure.engines.sources.file_tables import source_paths

    path = Path(source)
    files = [path] if path.is_file() else source_paths(source)
    return [one for file in files for one in (file, *_logs_of(file))]


def _logs_of(path: Path) -> list[Path]:
    """Beside a database: the rows that were written, and are not yet in it."""
    from murmure.engines.sources.file_tables import format_of

    endings = {"sqlite": ("-wal", "-journal"), "duckdb": (".wal",)}.get(format_of(path) or "", ())
    logs = [path.with_name(path.name + ending) for ending in endings]
    return [log for log in logs if log.is_file() and log.stat().st_size]
