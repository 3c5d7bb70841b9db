"""A party's folder: its key, the card to hand to coordinators, and what it remembers."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path

from murmure.core.errors import InvalidParameter, MurmureError
from murmure.core.files import cannot_write, locked
from murmure.parties.coordinator.folders import read_card, write_new
from murmure.parties.party.refusals import AlreadyRunning, StoreFailed
from murmure.parties.party.store import PartyStore
from murmure.secure.identity import Card, Identity

KEY, CARD, STORE = "identity.key", "card.json", "party.db"


class PartyFolder:
    """What is read of it is read when it is needed; nothing prints the key."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)

    @classmethod
    def create(cls, folder: str | os.PathLike[str], name: str) -> PartyFolder:
        """A fresh key. A folder that has one is left as it is: a lost key is a lost name."""
        home = cls(folder)
        identity = Identity.fresh()
        card = identity.card(name)  # refuses a name that cannot be one before anything is made
        try:
            home.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if any((home.folder / one).exists() for one in (KEY, CARD, STORE)):
                raise InvalidParameter(
                    f"the folder {str(home.folder)!r} holds a party already.",
                    hint=f"murmure party card {home.folder} shows it; or name another folder",
                )
        except OSError as error:
            raise cannot_write(home.folder, error) from None
        home.store.file.create()
        write_new(home.folder / CARD, json.dumps(card.to_dict(), indent=1, ensure_ascii=False).encode() + b"\n", 0o644)
        write_new(home.folder / KEY, identity.secret().hex().encode() + b"\n")  # last: with the key, all of it is there
        return home

    @cached_property
    def identity(self) -> Identity:
        path = self.folder / KEY
        try:
            if os.name == "posix" and path.stat().st_mode & 0o077:
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
        except ValueError:  # without a word of what stands there
            raise StoreFailed(f"{str(path)!r} holds no key.", hint="restore it from a copy") from None
        return identity

    @cached_property
    def card(self) -> Card:
        public = self.identity.public  # says it first if there is no party here
        card = read_card(self.folder / CARD)
        if card.key != public:
            raise StoreFailed(
                f"the card in {str(self.folder)!r} is not that of the key beside it.", hint="restore both from a copy"
            )
        return card

    @cached_property
    def store(self) -> PartyStore:
        return PartyStore(self.folder / STORE)

    @contextmanager
    def alone(self, study: bytes) -> Iterator[None]:
        """One process runs a study for a party; the system unlocks it when that one ends, however it ends."""
        path = self.folder / f".{study.hex()[:16]}.lock"
        held = ExitStack()
        try:
            held.enter_context(locked(path, patience=0.0))
        except TimeoutError:
            raise AlreadyRunning(
                f"another process runs this study for the party in {str(self.folder)!r}.",
                hint="wait for it, or stop it first",
            ) from None
        except OSError as error:
            raise cannot_write(path, error) from None
        with held:
            yield
