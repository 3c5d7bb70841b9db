"""Which tests run which line: each file of tests is run once under coverage, and the answer is kept.

A file's part of the map is good for the sources and the text that it was made of. After a change of the sources, all
parts are made anew; `--old-map` takes those of the last sources instead, and moves their lines along with the text.
After a new test, only the part of its file is made.
"""

from __future__ import annotations

import difflib
import gzip
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.mutants.checkout import Checkout, tree_digest
from tests.mutants.mutants import digest_of
from tests.mutants.processes import Job, Outcome, Processes

CONFIG = """
[run]
source_dirs =
    {source}
data_file = COVERAGE_FILE
parallel = true
sigterm = true
context = ${{MURMURE_MUTANTS_TEST-}}
disable_warnings =
    no-data-collected
    module-not-imported
    module-not-measured
    module-not-python
    trace-changed
"""
EVERY = ""  # the context of lines that ran outside of tests: when modules were imported, in what tests share


@dataclass(frozen=True)
class Part:
    """One file's tests, of those with or without the mark `slow`: their durations, and for every file of sources its
    lines' tests."""

    file: str
    slow: bool
    sources: str  # digest
    durations: dict[str, float]
    unfit: dict[str, str]  # tests that fail or are skipped without any mutant, and why
    lines: dict[str, dict[int, list[str]]]

    def tests(self, path: str, lines: Iterable[int]) -> set[str]:
        """Those that run one of these lines; all of them for a line that ran outside of tests."""
        known = self.lines.get(path, {})
        found = {test for line in lines for test in known.get(line, ())}
        return set(self.durations) if EVERY in found else found & set(self.durations)

    def tests_of_file(self, path: str, bodies: set[int]) -> set[str]:
        """Those that run any line of its functions; all of them where something that they share does."""
        return self.tests(path, bodies) | {
            test for several in self.lines.get(path, {}).values() for test in several if test in self.durations
        }


class CoverageMap:
    def __init__(self, root: Path, source: str, folder: Path) -> None:
        self.root, self.source, self.folder = root, source, folder
        self.sources = tree_digest(root, source)
        self.parts: dict[tuple[str, bool], Part] = {}

    def path_of(self, file: str, slow: bool) -> Path:
        text = (self.root / file).read_text(encoding="utf-8")
        return self.folder / f"{digest_of(file, text, str(slow))[:16]}.json.gz"

    def missing(self, files: Iterable[str], slow: bool, old: bool = False) -> list[str]:
        """Reads what is there, and says which files of tests have no part yet. old: parts of other sources will do."""
        found = []
        for file in files:
            path = self.path_of(file, slow)
            part = read_part(path) if path.exists() else None
            if part is not None and part.sources != self.sources:
                part = self._moved(part) if old else None
            if part is None:
                found.append(file)
            else:
                self.parts[file, slow] = part
        return found

    def make(self, file: str, slow: bool, checkout: Checkout, processes: Processes) -> Part:
        config = CONFIG.format(source=checkout.root / self.source)
        job = Job([file], slow=slow, coverage=config, limit=lambda test: 1800.0)
        outcome = processes.run(checkout, job, checkout.kernel_cache)
        part = part_of(file, slow, self.sources, self.source, outcome)
        self._keep_sources(checkout)
        write_part(self.path_of(file, slow), part)
        self.parts[file, slow] = part
        return part

    def tests(self, choose: Callable[[Part], set[str]], slow: bool | None = None) -> dict[str, float]:
        """Tests and their seconds, of all parts or of those with or without the mark."""
        chosen = (part for part in self.parts.values() if slow is None or part.slow == slow)
        return {test: part.durations[test] for part in chosen for test in sorted(choose(part))}

    @cached_property
    def unfit(self) -> dict[str, str]:
        return {test: why for part in self.parts.values() for test, why in part.unfit.items()}

    def _keep_sources(self, checkout: Checkout) -> None:
        """The texts to which the lines belong, for `--old-map`."""
        path = self.folder / f"sources-{self.sources[:16]}.json.gz"
        if not path.exists():
            files = sorted((checkout.root / self.source).rglob("*.py"))
            texts = {file.relative_to(checkout.root).as_posix(): file.read_text(encoding="utf-8") for file in files}
            write(path, texts)

    def _moved(self, part: Part) -> Part | None:
        """The part with the lines of the present sources: a line that is new has the tests of the line before it."""
        path = self.folder / f"sources-{part.sources[:16]}.json.gz"
        if not path.exists():
            return None
        texts = self._texts.setdefault(part.sources, json.loads(gzip.decompress(path.read_bytes())))
        lines = {}
        for file, known in part.lines.items():
            if (self.root / file).exists():
                moves = self._moves.setdefault((part.sources, file), None) or line_moves(
                    texts.get(file, ""), (self.root / file).read_text(encoding="utf-8")
                )
                self._moves[part.sources, file] = moves
                lines[file] = {new: known[was] for new, was in moves.items() if was in known}
        return Part(part.file, part.slow, part.sources, part.durations, part.unfit, lines)

    @cached_property
    def _texts(self) -> dict[str, dict[str, str]]:
        return {}

    @cached_property
    def _moves(self) -> dict[tuple[str, str], dict[int, int] | None]:
        return {}


def line_moves(before: str, after: str) -> dict[int, int]:
    """For each line of the text after, the line of the text before that it was or that it follows."""
    matcher = difflib.SequenceMatcher(None, before.splitlines(), after.splitlines(), autojunk=False)
    moves = {}
    for _, i, i_end, j, j_end in matcher.get_opcodes():
        for new in range(j, j_end):
            moves[new + 1] = min(i + new - j, max(i, i_end - 1)) + 1
    return moves


def part_of(file: str, slow: bool, sources: str, source: str, outcome: Outcome) -> Part:
    if outcome.code not in (0, 1, 5):  # passed, failed, no tests
        raise RuntimeError(f"{file} could not be run under coverage (exit code {outcome.code}):\n{outcome.output}")
    unfit = {test: outcome.why.get(test, how) for test, how in outcome.outcomes.items() if how != "passed"}
    durations = {test: round(seconds, 4) for test, seconds in outcome.durations.items() if test not in unfit}
    lines = {
        path: {int(n): t for n, t in known.items()}
        for path, known in (outcome.lines or {}).items()
        if path.startswith(source)
    }
    return Part(file, slow, sources, durations, unfit, lines)


def write_part(path: Path, part: Part) -> None:
    """Tests by number, and equal sets of tests once: lines of a function have the same ones."""
    names = {test: number for number, test in enumerate([EVERY, *part.durations, *part.unfit])}
    sets: dict[tuple[int, ...], int] = {}
    lines = {
        path: {
            str(n): sets.setdefault(tuple(names[t] for t in tests if t in names), len(sets))
            for n, tests in known.items()
        }
        for path, known in part.lines.items()
    }
    content = {
        "file": part.file,
        "slow": part.slow,
        "sources": part.sources,
        "durations": part.durations,
        "unfit": part.unfit,
    }
    write(path, content | {"sets": list(sets), "lines": lines})


def read_part(path: Path) -> Part:
    content = json.loads(gzip.decompress(path.read_bytes()))
    names = [EVERY, *content["durations"], *content["unfit"]]
    sets = [[names[number] for number in several] for several in content.pop("sets")]
    lines = {path: {int(n): sets[s] for n, s in known.items()} for path, known in content.pop("lines").items()}
    return Part(**content, lines=lines)


def write(path: Path, content: Any) -> None:
    """Whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    new.write_bytes(gzip.compress(json.dumps(content).encode(), 6))
    new.replace(path)


def test_files(root: Path, wanted: Iterable[str]) -> list[str]:
    """The files of tests in these folders, or these files, from the root of the project."""
    found: list[Path] = []
    for name in wanted:
        files = [root / name] if (root / name).is_file() else sorted((root / name).rglob("test_*.py"))
        if not files:
            raise FileNotFoundError(f"{name!r} is neither a file of tests nor a folder with some")
        found += files
    return list(dict.fromkeys(path.relative_to(root).as_posix() for path in found))
