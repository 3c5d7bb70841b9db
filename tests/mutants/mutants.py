"""Mutants: one replacement in one file, and a seeded sample of them that hardly moves when the code does."""

from __future__ import annotations

import ast
import difflib
import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tests.mutants.operators import USUAL, Replacement, mutated, replacements


def digest_of(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


@dataclass(frozen=True)
class SourceFile:
    """A file of the package: its path from the root of the project, and its text."""

    path: str
    text: str

    @cached_property
    def digest(self) -> str:
        return digest_of(self.text)

    @cached_property
    def functions(self) -> list[tuple[int, int, str]]:
        """First and last line of every function and class, and its qualified name, outermost first."""
        return list(scopes(ast.parse(self.text), ""))

    def scope(self, line: int) -> str:
        """The innermost function or class around a line; empty for the module itself."""
        return next((name for first, last, name in reversed(self.functions) if first <= line <= last), "")


def scopes(node: ast.AST, prefix: str) -> Iterator[tuple[int, int, str]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            first = min([child.lineno, *(decorator.lineno for decorator in child.decorator_list)])
            yield first, child.end_lineno or first, prefix + child.name
            yield from scopes(child, f"{prefix}{child.name}.")
        else:
            yield from scopes(child, prefix)


@dataclass(frozen=True)
class Mutant:
    file: SourceFile
    replacement: Replacement

    @property
    def path(self) -> str:
        return self.file.path

    @property
    def line(self) -> int:
        return self.replacement.start[0]

    @property
    def lines(self) -> range:
        """A condition that gets a `not` may be several lines long."""
        return range(self.line, self.replacement.end[0] + 1)

    @cached_property
    def digest(self) -> str:
        """Of the whole file, the operator and the place: what was judged about one mutant is true of no other."""
        return digest_of(self.path, self.file.digest, self.replacement.operator, str(self.replacement.occurrence))[:16]

    @cached_property
    def text(self) -> str:
        return mutated(self.file.text, self.replacement)

    @property
    def scope(self) -> str:
        return self.file.scope(self.line)

    @property
    def was(self) -> str:
        """The line as it is, and (`becomes`) as it would be."""
        return self.file.text.split("\n")[self.line - 1].strip()

    @property
    def becomes(self) -> str:
        return self.text.split("\n")[self.line - 1].strip()

    @property
    def diff(self) -> str:
        before, after = (text.splitlines() for text in (self.file.text, self.text))
        return "\n".join(list(difflib.unified_diff(before, after, self.path, self.path, lineterm="", n=2)))


@dataclass(frozen=True)
class Place:
    """A token that operators replace. `key` is made of the text around it, so it survives edits elsewhere in the
    file."""

    key: str
    mutants: tuple[Mutant, ...]


def places(file: SourceFile, kinds: tuple[str, ...] = USUAL) -> list[Place]:
    at = defaultdict(list)
    for replacement in replacements(file.text, kinds):
        at[replacement.start, replacement.end].append(Mutant(file, replacement))
    found, repeated = [], Counter[str]()
    for _, mutants in sorted(at.items()):
        key = digest_of(file.path, mutants[0].scope, mutants[0].was)
        repeated[key] += 1  # several on a line, or the same line twice
        found.append(Place(digest_of(key, str(repeated[key])), tuple(mutants)))
    return found


def sample(places: Iterable[Place], size: int | None, seed: int) -> list[Mutant]:
    """One mutant each of `size` places, every place and then every replacement equally likely; without a size, all
    mutants.

    A place's lot is a digest of the seed and of its key: an edit changes only the lots of the lines that it touches,
    so that after a repair the same seed gives nearly the same sample.
    """
    drawn = sorted(places, key=lambda place: digest_of(str(seed), place.key))
    if size is None:
        return [mutant for place in drawn for mutant in place.mutants]
    return [
        place.mutants[int(digest_of(str(seed), "which", place.key), 16) % len(place.mutants)] for place in drawn[:size]
    ]


def source_files(root: Path, source: Path, wanted: Iterable[str] = ()) -> list[SourceFile]:
    """The files of these folders or files of the package (`core`, `core/fixed.py`); of the whole package without
    any."""
    found: list[Path] = []
    for name in list(wanted) or ["."]:
        place = source / name
        files = [place] if place.is_file() else sorted(place.rglob("*.py"))
        if not files:
            raise FileNotFoundError(
                f"{name!r} is neither a folder nor a file of {source.relative_to(root)} with Python in it"
            )
        found += files
    unique = dict.fromkeys(path.resolve() for path in found)
    return [
        SourceFile(path.relative_to(root.resolve()).as_posix(), path.read_text(encoding="utf-8")) for path in unique
    ]
