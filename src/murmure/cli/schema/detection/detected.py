"""What was found out about how a file is written, in settings and in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from murmure.cli.schema.detection.cell_evidence import ColumnEvidence
from murmure.core.file_format import PLAIN_FILE, FileFormat
from murmure.show.phrase import Phrase


@dataclass(frozen=True)
class Detected:
    """The settings of [file], what each was taken from, and what is in doubt; nothing is decided silently."""

    format: FileFormat = PLAIN_FILE
    taken: tuple[Phrase, ...] = ()
    doubts: tuple[Phrase, ...] = ()
    decided: frozenset[str] = frozenset()  # the settings that something in the file speaks for
    columns: Mapping[str, ColumnEvidence] = field(default_factory=dict, repr=False)
    ragged: int = 0  # rows with another number of fields than the header

    def setting(self, *taken: Phrase, **settings: Any) -> Detected:
        """The same with more settings, and the sentences that say what they were taken from."""
        return replace(
            self,
            format=replace(self.format, **settings),
            taken=(*self.taken, *taken),
            decided=self.decided | settings.keys(),
        )

    def doubting(self, *doubts: Phrase) -> Detected:
        return replace(self, doubts=(*self.doubts, *doubts))

    def decides(self, setting: str) -> bool:
        return setting in self.decided
