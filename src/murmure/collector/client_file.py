"""What a respondent in Python keeps from one run to the next: the token and the report. Never an answer or a word.

The report is in the file, and on the disk, before it is sent: a program that is killed sends the same one again, and
does not draw another. Whoever reads the file can send in this person's place, so it is for its owner only.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from murmure.core.errors import InvalidParameter, Phrase
from murmure.core.files import cannot_write, locked
from murmure.core.sqlite_files import sync_folder

VERSION = 1
MAX_BYTES = 1 << 20  # the longest report has 25 kB


@dataclass
class KeptState:
    """Of one survey. pending: what is sent until it is acknowledged; answered: waves whose report is settled."""

    survey: str
    token: str | None = None
    pending: dict[str, Any] | None = None
    answered: list[int] = field(default_factory=list)


class ClientFile:
    """One file of one survey. Two processes never work on it at the same time."""

    def __init__(self, path: str | Path, survey: str) -> None:
        self.path, self._survey = Path(path), survey

    @contextmanager
    def alone(self) -> Iterator[KeptState]:
        """What is kept, while no other process can read or change it."""
        with ExitStack() as stack:
            try:
                stack.enter_context(locked(self.path.with_name(f"{self.path.name}.lock"), patience=0))
            except TimeoutError:
                raise InvalidParameter(
                    "another process is answering with {path!r}.", hint="wait until it has ended", path=str(self.path)
                ) from None
            except OSError as error:
                raise cannot_write(self.path, error) from None
            yield self._read()

    def write(self, state: KeptState) -> None:
        """Whole and on the disk before this returns; a file that mkstemp makes is private."""
        text = json.dumps({"murmure_client": VERSION, **asdict(state)}, indent=1).encode()
        part: str | None = None
        try:
            handle, part = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}.")
            with os.fdopen(handle, "wb") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, self.path)
            part = None
            sync_folder(self.path.parent)
        except OSError as error:
            raise cannot_write(self.path, error) from None
        finally:
            if part is not None:
                Path(part).unlink(missing_ok=True)

    def _read(self) -> KeptState:
        try:
            handle = os.open(self.path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        except FileNotFoundError:
            return KeptState(self._survey)
        except OSError as error:
            raise self._refused(os.strerror(error.errno or 0).lower()) from None
        with os.fdopen(handle, "rb") as file:
            if os.name == "posix" and os.fstat(handle).st_mode & 0o077:
                raise InvalidParameter(
                    "others can read {path!r}, which holds what is needed to answer in this person's place.",
                    hint="run chmod 600, and ask for a new link if somebody may have read it",
                    path=str(self.path),
                )
            text = file.read(MAX_BYTES + 1)
        try:
            fields = json.loads(text)
            if fields.pop("murmure_client") != VERSION or len(text) > MAX_BYTES:
                raise ValueError
            state = KeptState(**fields)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise self._refused(Phrase("it is not such a file")) from None
        if state.survey != self._survey:
            raise self._refused(Phrase("it belongs to another survey"))
        return state

    def _refused(self, why: str) -> InvalidParameter:
        return InvalidParameter(
            "{path!r} cannot be used as the file of a respondent: {why}.",
            hint="name another file; a report that is in this one must not be drawn a second time",
            path=str(self.path),
            why=why,
        )
