"""One secret of the service, in a file beside its database, from which every other key is derived by name.

Tokens are stored as keyed digests, invitations carry a code that only this key can make, and public coins follow from
it. Without the file the database is useless to somebody who copies it alone. A database without its key is refused, and
so is one with another key: under it no token would be known, and everybody could send a second report.
"""

from __future__ import annotations

import hashlib
import os
import threading
from pathlib import Path

from murmure.collector.service.errors import CollectorFailed
from murmure.core.random import fresh_key
from murmure.core.sqlite_files import rename_if_free, sync_folder

KEY_FILE = "service.key"
KEY_BYTES = 32


class ServiceKey:
    """Keys by name. No repr shows it."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def derive(self, *names: str) -> bytes:
        """32 bytes that follow from the secret and the names, and from which neither can be found."""
        text = "\0".join(names).encode()
        return hashlib.blake2b(text, key=self._secret, digest_size=32, person=b"murmure key 1").digest()

    @property
    def fingerprint(self) -> str:
        """What tells this secret from others, and from which it cannot be found."""
        return self.derive("fingerprint").hex()[:32]

    def __repr__(self) -> str:
        return "ServiceKey(...)"


def make_key(folder: Path) -> None:
    """A new secret, for its owner only, on the disk when this returns; or FileExistsError. Nobody sees half of it."""
    part = folder / f".{KEY_FILE}.{os.getpid()}.{threading.get_ident()}.part"
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(handle, fresh_key())
        os.fsync(handle)
        rename_if_free(part, folder / KEY_FILE)
    finally:
        os.close(handle)
        part.unlink(missing_ok=True)
    sync_folder(folder)


def read_key(folder: Path) -> ServiceKey:
    try:
        secret = (folder / KEY_FILE).read_bytes()
    except FileNotFoundError:
        raise CollectorFailed(
            "the folder {path!r} has surveys, but not their key {name!r}.",
            hint="restore the file from a backup of the folder: without it no link can be checked",
            path=str(folder),
            name=KEY_FILE,
        ) from None
    if len(secret) != KEY_BYTES:
        raise CollectorFailed(
            "{name!r} in {path!r} must have {wanted} bytes, got {got}.",
            hint="restore it from a backup of the folder",
            name=KEY_FILE,
            path=str(folder),
            wanted=KEY_BYTES,
            got=len(secret),
        )
    return ServiceKey(secret)
