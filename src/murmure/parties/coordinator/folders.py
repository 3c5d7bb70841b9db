"""Where a coordinator keeps its things: one folder for itself, and in it one for each study.

office/identity.key             murmure study init: 32 bytes in hexadecimal; only its owner reads it
office/card.json                name and public key, to hand to the parties
office/released.db              over whom exact sums were released, in any study
office/stay-2026/study.json     murmure study new: signed; what every party approves
office/stay-2026/page.token     who has it may look at the page
office/stay-2026/log.db         all that was heard and done (coordinator_store.py)
"""

from __future__ import annotations

import json
import os
import re
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from murmure.core.errors import CannotWrite, InvalidParameter
from murmure.core.files import cannot_write, locked
from murmure.core.random import fresh_key
from murmure.core.sqlite_files import sync_folder
from murmure.parties.coordinator.errors import AlreadyServed
from murmure.secure.identity import Card, Identity

if TYPE_CHECKING:
    from murmure.parties.study.document import Study

MAX_FILE_BYTES = 64 << 20  # bytes of a file that is read whole
TOKEN = 32  # letters at least that keep the page closed to who guesses


@dataclass(frozen=True)
class CoordinatorFolder:
    """The coordinator's own folder."""

    path: Path

    @classmethod
    def create(cls, path: Path, name: str) -> CoordinatorFolder:
        identity = Identity.fresh()
        card = identity.card(name)  # a bad name is refused before anything is written
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise cannot_write(path, error) from None
        write_new(path / "identity.key", identity.secret().hex().encode() + b"\n")
        write_new(path / "card.json", json.dumps(card.to_dict(), indent=1, ensure_ascii=False).encode() + b"\n", 0o644)
        return cls(path)

    @cached_property
    def identity(self) -> Identity:
        place = self.path / "identity.key"
        text = read_file(place, "murmure study init makes one")
        if os.name == "posix" and place.stat().st_mode & 0o077:
            raise InvalidParameter(f"others may read {str(place)!r}, the coordinator's key.", hint=f"chmod 600 {place}")
        try:
            return Identity.from_bytes(bytes.fromhex(text.decode().strip()))
        except ValueError:
            raise InvalidParameter(f"{str(place)!r} holds no identity.", hint="restore it from a copy") from None

    @cached_property
    def card(self) -> Card:
        card = read_card(self.path / "card.json")
        if card.key != self.identity.public:
            raise InvalidParameter(
                f"in {str(self.path)!r} the card and the identity do not belong together.",
                hint="restore both from the same copy",
            )
        return card

    @property
    def released(self) -> Path:
        return self.path / "released.db"


@dataclass(frozen=True)
class StudyFolder:
    """One study's folder, inside its coordinator's."""

    path: Path

    @classmethod
    def create(cls, home: CoordinatorFolder, study: Study) -> StudyFolder:
        path = home.path / folder_name(study.name)
        try:
            path.mkdir(mode=0o700)
        except FileExistsError:
            raise CannotWrite(
                f"{str(path)!r} exists: a study of that name was made before.",
                hint="give the study another name; one that has begun cannot be changed",
            ) from None
        except OSError as error:
            raise cannot_write(path, error) from None
        write_new(path / "page.token", fresh_key().hex().encode() + b"\n")
        write_new(path / "study.json", study.signed(home.identity), 0o644)
        return cls(path)

    @property
    def home(self) -> CoordinatorFolder:
        return CoordinatorFolder(self.path.absolute().parent)

    @property
    def log(self) -> Path:
        return self.path / "log.db"

    @cached_property
    def signed(self) -> bytes:
        return read_file(self.path / "study.json", "name the folder that murmure study new made")

    @cached_property
    def study(self) -> Study:
        from murmure.parties.study.document import Study

        return Study.open(self.signed)

    @cached_property
    def token(self) -> str:
        place, hint = self.path / "page.token", "restore it from a copy, or write 64 letters into it"
        text = read_file(place, hint).decode("ascii", "replace").strip()
        if len(text) < TOKEN:
            raise InvalidParameter(f"{str(place)!r} has {len(text)} letters, and needs at least {TOKEN}.", hint=hint)
        return text

    @contextmanager
    def alone(self) -> Iterator[None]:
        """One process serves a study: two would each answer with a log of their own."""
        lock = locked(self.path / ".serving", patience=0.0)
        try:
            lock.__enter__()
        except TimeoutError:
            raise AlreadyServed(
                f"another process serves the study in {str(self.path)!r}.",
                hint="murmure study status shows how it stands",
            ) from None
        except OSError as error:
            raise cannot_write(self.path, error) from None
        try:
            yield
        finally:
            lock.__exit__(None, None, None)


def folder_name(name: str) -> str:
    """stay-2026, for "Stay 2026": letters that every file system takes."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:60] or "study"


def read_card(path: Path) -> Card:
    text = read_file(path, "murmure party init writes card.json, and murmure study init too")
    try:
        held = json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidParameter(f"{str(path)!r} is no card.", hint="murmure party init writes card.json") from None
    return Card.from_dict(held)


def read_file(path: Path, hint: str) -> bytes:
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise InvalidParameter(f"{str(path)!r} is larger than any such file can be.", hint=hint)
        return path.read_bytes()
    except OSError as error:
        why = os.strerror(error.errno).lower() if error.errno else str(error)
        raise InvalidParameter(f"cannot read {str(path)!r}: {why}.", hint=hint) from None


def write_new(path: Path, text: bytes, mode: int = 0o600) -> None:
    """A file that was not there, whole and on the disk; what is there is never replaced."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with suppress(FileNotFoundError):
            part.unlink()
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(handle, "wb") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.link(part, path)
        sync_folder(path.parent)
    except FileExistsError:
        raise CannotWrite(f"{str(path)!r} exists.", hint="name another folder; this one is in use") from None
    except OSError as error:
        raise cannot_write(path, error) from None
    finally:
        with suppress(OSError):
            part.unlink()
