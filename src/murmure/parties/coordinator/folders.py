"""Where a coordinator keeps its files: one folder for itself, and in it one for each study.

office/identity.key             murmure study init: 32 bytes in hexadecimal; only its owner reads it
office/card.json                name and public key, to hand to the parties
office/released.db              which parties were in each exact sum that was released, in any study
office/stay-2026/study.json     murmure study new: signed; what every party approves
office/stay-2026/page.token     opens the page
office/stay-2026/log.db         all messages received and stages closed (store.py)
"""

from __future__ import annotations

import re
import unicodedata
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from murmure.core.errors import CannotWrite, InvalidParameter, Phrase
from murmure.core.files import cannot_write
from murmure.core.random import fresh_key
from murmure.parties.coordinator.errors import AlreadyServed
from murmure.parties.study.key_files import (
    CARD,
    KEY,
    only_process,
    others_may_read,
    read_card,
    read_file,
    write_card,
    write_key,
    write_new,
)
from murmure.secure.identity import Card, Identity

if TYPE_CHECKING:
    from murmure.parties.study.document import Study

MIN_TOKEN_LENGTH = 32  # letters: enough that nobody guesses the address of the page


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
        write_key(path, identity)
        write_card(path, card)
        return cls(path)

    @cached_property
    def identity(self) -> Identity:
        file = self.path / KEY
        text = read_file(file, Phrase("murmure study init creates one"))
        if others_may_read(file):
            raise InvalidParameter(
                "other users can read {file!r}, the coordinator's key.",
                hint="chmod 600 {file_2}",
                file=str(file),
                file_2=file,
            )
        try:
            return Identity.from_bytes(bytes.fromhex(text.decode().strip()))
        except ValueError:
            raise InvalidParameter(
                "{file!r} does not hold an identity.", hint="restore it from a backup", file=str(file)
            ) from None

    @cached_property
    def card(self) -> Card:
        card = read_card(self.path / CARD)
        if card.key != self.identity.public:
            raise InvalidParameter(
                "the card and the identity in {path!r} do not belong together.",
                hint="restore both from the same backup",
                path=str(self.path),
            )
        return card

    @property
    def release_log(self) -> Path:
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
                "{path!r} exists: there is already a study with this name.",
                hint="give the study another name; a study that has begun cannot be changed",
                path=str(path),
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
        return read_file(self.path / "study.json", Phrase("name the folder that murmure study new created"))

    @cached_property
    def study(self) -> Study:
        from murmure.parties.study.document import Study

        return Study.open(self.signed)

    @cached_property
    def token(self) -> str:
        file, hint = self.path / "page.token", Phrase("restore it from a backup, or write 64 characters into it")
        text = read_file(file, hint).decode("ascii", "replace").strip()
        if len(text) < MIN_TOKEN_LENGTH:
            raise InvalidParameter(
                "{file!r} has {text_count} characters, but needs at least {min_token_length}.",
                hint=hint,
                file=str(file),
                text_count=len(text),
                min_token_length=MIN_TOKEN_LENGTH,
            )
        return text

    def locked(self) -> AbstractContextManager[None]:
        """One process serves a study: two would each answer with a log of their own."""
        busy = AlreadyServed(
            "another process is serving the study in {path!r}.",
            hint="murmure study status shows its progress",
            path=str(self.path),
        )
        return only_process(self.path / ".serving", busy, self.path)


def folder_name(name: str) -> str:
    """stay-2026, for "Stay 2026": letters that every file system takes."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:60] or "study"
