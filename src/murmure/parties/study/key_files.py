"""The folder of an identity, of a party or of a coordinator: its key, its card, and a lock for one process.

identity.key    32 bytes in hexadecimal; only its owner may read it
card.json       name and public key, to hand to others
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from murmure.core.errors import CannotWrite, InvalidParameter, MurmureError, Phrase
from murmure.core.files import cannot_write, locked
from murmure.core.sqlite_files import sync_folder
from murmure.secure.identity import Card, Identity

KEY, CARD = "identity.key", "card.json"
MAX_FILE_BYTES = 64 << 20  # of a file that is read whole


def read_card(path: Path) -> Card:
    text = read_file(path, Phrase("murmure party init writes card.json, and murmure study init too"))
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidParameter(
            "{path!r} is not a card.", hint="murmure party init writes card.json", path=str(path)
        ) from None
    return Card.from_dict(fields)


def write_card(folder: Path, card: Card) -> None:
    write_new(folder / CARD, json.dumps(card.to_dict(), indent=1, ensure_ascii=False).encode() + b"\n", 0o644)


def write_key(folder: Path, identity: Identity) -> None:
    write_new(folder / KEY, identity.secret().hex().encode() + b"\n")


def others_may_read(path: Path) -> bool:
    return os.name == "posix" and bool(path.stat().st_mode & 0o077)


def read_file(path: Path, hint: str) -> bytes:
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise InvalidParameter("{path!r} is too large to be such a file.", hint=hint, path=str(path))
        return path.read_bytes()
    except OSError as error:
        why = os.strerror(error.errno).lower() if error.errno else str(error)
        raise InvalidParameter("cannot read {path!r}: {why}.", hint=hint, path=str(path), why=why) from None


def write_new(path: Path, text: bytes, mode: int = 0o600) -> None:
    """Write a new file, whole and on the disk. An existing file is never replaced."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with suppress(FileNotFoundError):
            part.unlink()
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(handle, "wb") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        # A link fails where the name exists, and a rename would replace that file.
        os.link(part, path)
        sync_folder(path.parent)
    except FileExistsError:
        raise CannotWrite("{path!r} exists.", hint="name another folder; this one is in use", path=str(path)) from None
    except OSError as error:
        raise cannot_write(path, error) from None
    finally:
        with suppress(OSError):
            part.unlink()


@contextmanager
def only_process(lock: Path, busy: MurmureError, folder: Path) -> Iterator[None]:
    """Hold the lock file, or raise `busy` at once. The system releases it when the process ends, even by kill -9."""
    holder = ExitStack()
    try:
        holder.enter_context(locked(lock, patience=0.0))
    except TimeoutError:
        raise busy from None
    except OSError as error:
        raise cannot_write(folder, error) from None
    with holder:
        yield
