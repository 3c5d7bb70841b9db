"""What a campaign found: a table by package, and the survivors, each with its diff and the tests that ran it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import PurePosixPath
from typing import Any

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text
from tests.mutants.campaign import FOUND, Result
from tests.mutants.equivalents import Equivalent
from tests.mutants.mutants import Mutant

VERDICTS = ("found", "timeout", "survived", "uncovered", "equivalent", "unknown")
HEADS = (
    "package",
    "mutants",
    "found",
    "timed out",
    "survived",
    "not covered",
    "equivalent",
    "not judged",
    "found of all",
)
SHOWN = 5  # covering tests of a survivor


@dataclass(frozen=True)
class Line:
    mutant: Mutant
    result: Result | None
    equivalent: Equivalent | None
    covering: dict[str, float]

    @property
    def verdict(self) -> str:
        return "equivalent" if self.equivalent else self.result.verdict if self.result else "unknown"


@dataclass(frozen=True)
class Report:
    lines: Sequence[Line]
    seed: int
    suite: dict[str, Any]

    @property
    def by_package(self) -> dict[str, Counter[str]]:
        found: dict[str, Counter[str]] = defaultdict(Counter)
        for line in self.lines:
            found[package_of(line.mutant.path)][line.verdict] += 1
        return dict(sorted(found.items()))

    @property
    def rate(self) -> float | None:
        return rate(sum(self.by_package.values(), Counter()))

    def document(self) -> dict[str, Any]:
        return {
            "seed": self.seed,
            "suite": self.suite,
            "rate": self.rate,
            "packages": {
                name: {v: counts[v] for v in VERDICTS} | {"rate": rate(counts)}
                for name, counts in self.by_package.items()
            },
            "mutants": [
                {name: getattr(line.mutant, name) for name in ("digest", "path", "line", "scope", "was", "becomes")}
                | (asdict(line.result) if line.result else {})
                | {"verdict": line.verdict}
                | ({"reason": line.equivalent.reason} if line.equivalent else {})
                | (
                    {"diff": line.mutant.diff, "covering": list(line.covering)}
                    if line.verdict in ("survived", "uncovered")
                    else {}
                )
                for line in self.lines
            ],
        }

    def show(self, console: Console) -> None:
        for line in self.lines:
            if line.verdict in ("survived", "uncovered"):
                console.print(survivor(line), soft_wrap=True)
        table = Table(*HEADS)
        counts = self.by_package
        if len(counts) > 1:
            counts["all"] = sum(counts.values(), Counter())
        for name, count in counts.items():
            share = rate(count)
            cells = [count.total(), *(count[verdict] for verdict in VERDICTS), "" if share is None else f"{share:.1%}"]
            table.add_row(name, *map(str, cells))
        console.print(table)


def survivor(line: Line) -> Group:
    assert line.result is not None
    listed = list(line.covering)[:SHOWN]
    more = len(line.covering) - len(listed)
    tests = "\n".join(f"  {test}" for test in listed) + (f"\n  and {more:,} more" if more else "")
    title = f"{line.verdict}: {line.mutant.path}:{line.mutant.line} {line.mutant.scope} ({line.mutant.digest})"
    run = (
        f"run by {len(line.covering):,} tests; tried on {line.result.tests:,}:\n{tests}" if listed else "run by no test"
    )
    diff = [Text(text, style={"-": "red", "+": "green"}.get(text[0], "")) for text in line.mutant.diff.splitlines()[2:]]
    return Group(Text(title, style="bold"), *diff, Text(run + "\n"))


def rate(counts: Counter[str]) -> float | None:
    """The share of mutants that were found, of those that were judged and that are no equivalents."""
    judged = sum(counts[verdict] for verdict in (*FOUND, "survived", "uncovered"))
    return sum(counts[verdict] for verdict in FOUND) / judged if judged else None


def package_of(path: str) -> str:
    """The folder directly in the package: src/NAME/core/cells/x.py is of core."""
    parts = PurePosixPath(path).parts[2:]
    return parts[0] if len(parts) > 1 else "."
