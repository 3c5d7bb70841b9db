"""Mutants that change nothing, each with its reason: they are not run and not counted.

An entry names file, function, the line as it is and as the mutant has it. It holds as long as these texts are there,
wherever the line has moved to. One that fits no mutant any more is an error: the code has changed, and the reason may
no longer hold.
"""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.mutants import Mutant, SourceFile, places
from tests.mutants.operators import KINDS

FIELDS = ("file", "function", "line", "becomes", "reason")


class StaleEntry(Exception):
    pass


@dataclass(frozen=True)
class Equivalent:
    file: str
    function: str
    line: str
    becomes: str
    reason: str

    def fits(self, mutant: Mutant) -> bool:
        return (self.file, self.function, self.line) == (
            mutant.path,
            mutant.scope,
            mutant.was,
        ) and self.becomes == mutant.becomes


class Equivalents:
    def __init__(self, entries: Iterable[Equivalent]) -> None:
        self.by_file: dict[str, list[Equivalent]] = defaultdict(list)
        for entry in entries:
            self.by_file[entry.file].append(entry)

    @classmethod
    def of_file(cls, path: Path) -> Equivalents:
        entries = tomllib.loads(path.read_text(encoding="utf-8")).get("equivalent", []) if path.exists() else []
        for number, entry in enumerate(entries, 1):
            if (
                set(entry) != set(FIELDS)
                or not all(isinstance(text, str) for text in entry.values())
                or not entry["reason"].strip()
            ):
                raise StaleEntry(
                    f"{path.name}: entry {number} needs texts for {', '.join(FIELDS)}, and has {', '.join(entry)}."
                )
        return cls(Equivalent(**entry) for entry in entries)

    def entry(self, mutant: Mutant) -> Equivalent | None:
        return next((entry for entry in self.by_file.get(mutant.path, ()) if entry.fits(mutant)), None)

    def check(self, root: Path) -> None:
        """Raises StaleEntry with all entries that fit no mutant of the present sources."""
        stale = []
        for path, entries in self.by_file.items():
            text = (root / path).read_text(encoding="utf-8") if (root / path).is_file() else ""
            mutants = [mutant for place in places(SourceFile(path, text), KINDS) for mutant in place.mutants]
            stale += [entry for entry in entries if not any(entry.fits(mutant) for mutant in mutants)]
        if stale:
            listed = "\n".join(f"  {e.file}, {e.function or 'module'}: {e.line!r} -> {e.becomes!r}" for e in stale)
            raise StaleEntry(
                f"These entries of equivalents.toml fit no mutant any more:\n{listed}\n"
                "  Hint: the line has changed; judge it anew, then rewrite the entry or remove it."
            )
