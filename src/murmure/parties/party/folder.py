"""A party's folder: its key, the card to hand to coordinators, and what it remembers."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from murmure.core.errors import InvalidParameter, MurmureError
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
                    f"the folder {str(home.folder)!r} holds a party already.",
                    hint=f"murmure party card {home.folder} shows it; or name another folder",
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
                raise StoreFailed(f"others may read {str(path)!r}, the key of this party.", hint=f"chmod 600 {path}")
            text = path.read_text("ascii")
            identity = Identity.from_bytes(bytes.fromhex(text.strip()))
        except FileNotFoundError:
            raise StoreFailed(
                f"there is no party in {str(self.folder)!r}.", hint=f"murmure party init {self.folder} --name NAME"
            ) from None
        except OSError as error:
            why = os.strerror(error.errno).lower() if error.errno else "unknown"
            raise StoreFailed(f"the key {str(path)!r} cannot be read: {why}.") from None
        except MurmureError:
            raise
        except ValueError:  # without quoting the file: it may be a damaged key
            raise StoreFailed(f"{str(path)!r} holds no key.", hint="restore it from a copy") from None
        return identity

    @cached_property
    def card(self) -> Card:
        public = self.identity.public  # first, since its error says so if there is no party here
        card = read_card(self.folder / CARD)
        if card.key != public:
            raise StoreFailed(
                f"the card in {str(self.folder)!r} is not that of the key beside it.", hint="restore both from a copy"
            )
        return card

    @cached_property
    def store(self) -> PartyStore:
        return PartyStore(self.folder / STORE)

    def locked_for(self, study: bytes) -> AbstractContextManager[None]:
        """One process runs a study for a party."""
        busy = AlreadyRunning(
            f"another process runs this study for the party in {str(self.folder)!r}.",
            hint="wait for it, or stop it first",
        )
        lock = self.folder / f".{study.hex()[:16]}.lock"
        return only_process(lock, busy, lock)

    def place_in(self, study: Study) -> int:
        """This party's place on the roster: by its key, and by its name, so that nobody takes it for another."""
        card = self.card
        if card in study.roster:
            return study.roster.index(card)
        similar = next((other for other in study.roster if other.key == card.key or other.name == card.name), None)
        text = f"the roster of {study.name!r} does not name this party, {card.name} ({card.fingerprint})"
        if similar is not None:
            text += f", but {similar.name} ({similar.fingerprint})"
        raise NotOnRoster(
            f"{text}.", hint="hand your card (murmure party card) to the coordinator, who signs a study with it"
        )
