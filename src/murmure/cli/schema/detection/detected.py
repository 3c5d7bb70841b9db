"""What was found out about how a file is written, in settings and in sentences."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from murmure.core.file_format import PLAIN_FILE, FileFormat
from murmure.show.phrase import Phrase


@dataclass(frozen=True)
class Detected:
    """The settings of [file], what each was taken from, and what is in doubt; nothing is decided silently."""

    format: FileFormat = PLAIN_FILE
    taken: tuple[Phrase, ...] = ()
    doubts: tuple[Phrase, ...] = ()
    one_letter_alphabet: bool = field(default=False, compare=False)  # nothing beyond ASCII: any encoding would do

    def setting(self, *taken: Phrase, **settings: Any) -> Detected:
        """The same with more settings, and the sentences that say what they were taken from."""
        return replace(self, format=replace(self.format, **settings), taken=(*self.taken, *taken))

    def doubting(self, *doubts: Phrase) -> Detected:
        return replace(self, doubts=(*self.doubts, *doubts))

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"file": self.format.to_dict(), "taken": list(self.taken), "doubts": list(self.doubts)}
