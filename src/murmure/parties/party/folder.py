"""A party's folder: its key, the card to hand to coordinators, and what it remembers."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from murmure.core.errors import InvalidParameter, MurmureError, Phrase
from murmure.core.files import cannot_write
from murmure.parties.party.refusals import AlreadyRunning, NotOnRoster, StoreFailed
from murmure.parties.party.store import PartyStore
from murmure.parties.study.key_files import CARD, KEY, only_process, others_may_read, read_card, write_card, write_key
from murmure.secure.identity import Card, Identity

if TYPE_CHECKING:
    from murmure.parties.study.document import Study

STORE = "party.db"


class PartyFolder:
    """Files are read when they are needed; nothing prints the key."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)

    @classmethod
    def create(cls, folder: str | os.PathLike[str], name: str) -> PartyFolder:
        """Make a fresh key. A folder that has a key is refused: other parties know this party by it."""
        home = cls(folder)
        identity = Identity.fresh()
        card = identity.card(name)  # a bad name is refused before anything is written
        try:
            home.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if any((home.folder / name_of_file).exists() for name_of_file in (KEY, CARD, STORE)):
                raise InvalidParameter(
                    "the folder {folder!r} already holds a party.",
                    hint="murmure party card {home_folder} shows it; or name another folder",
                    folder=str(home.folder),
                    home_folder=home.folder,
                )
        except OSError as error:
            raise cannot_write(home.folder, error) from None
        home.store.file.create()
        write_card(home.folder, card)
        write_key(home.folder, identity)  # last: where there is a key, all of it is there
        return home

    @cached_property
    def identity(self) -> Identity:
        path = self.folder / KEY
        try:
            if others_may_read(path):
                raise StoreFailed(
                    "other users can read {path!r}, the key of this party.",
                    hint="chmod 600 {path_2}",
                    path=str(path),
                    path_2=path,
                )
            text = path.read_text("ascii")
            identity = Identity.from_bytes(bytes.fromhex(text.strip()))
        except FileNotFoundError:
            raise StoreFailed(
                "there is no party in {folder!r}.",
                hint="murmure party init {this_folder} --name NAME",
                folder=str(self.folder),
                this_folder=self.folder,
            ) from None
        except OSError as error:
            why = os.strerror(error.errno).lower() if error.errno else "unknown"
            raise StoreFailed("the key {path!r} cannot be read: {why}.", path=str(path), why=why) from None
        except MurmureError:
            raise
        except ValueError:  # without quoting the file: it may be a damaged key
            raise StoreFailed(
                "{path!r} does not hold a key.", hint="restore it from a backup", path=str(path)
            ) from None
        return identity

    @cached_property
    def card(self) -> Card:
        public = self.identity.public  # first, since its error says so if there is no party here
        card = read_card(self.folder / CARD)
        if card.key != public:
            raise StoreFailed(
                "the card in {folder!r} does not belong to the key beside it.",
                hint="restore both from a backup",
                folder=str(self.folder),
            )
        return card

    @cached_property
    def store(self) -> PartyStore:
        return PartyStore(self.folder / STORE)

    def locked_for(self, study: bytes) -> AbstractContextManager[None]:
        """One process runs a study for a party."""
        busy = AlreadyRunning(
            "another process is running this study for the party in {folder!r}.",
            hint="wait for it, or stop it first",
            folder=str(self.folder),
        )
        lock = self.folder / f".{study.hex()[:16]}.lock"
        return only_process(lock, busy, lock)

    def place_in(self, study: Study) -> int:
        """This party's place on the roster: by its key, and by its name, so that nobody takes it for another."""
        card = self.card
        if card in study.roster:
            return study.roster.index(card)
        similar = next((other for other in study.roster if other.key == card.key or other.name == card.name), None)
        but = "" if similar is None else Phrase(", but {name} ({key})", name=similar.name, key=similar.fingerprint)
        raise NotOnRoster(
            "the roster of {study!r} does not name this party, {name} ({key}){but}.",
            hint="give your card (murmure party card) to the coordinator, who signs a study that includes it",
            study=study.name,
            name=card.name,
            key=card.fingerprint,
            but=but,
        )
