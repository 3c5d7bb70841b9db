"""Which tests a mutant is tried on, and in which order.

First the fastest of those that run its line. If none of them fails, all others that run its line; and then the whole
suite, which means: all tests that run any line of the file, slow ones too. (What is computed once and kept runs its
lines in the first test only, and the others read the result.) A test that runs nothing of the file cannot notice the
mutant.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import groupby
from pathlib import Path

from tests.mutants.coverage_map import CoverageMap
from tests.mutants.mutants import Mutant, SourceFile

FIRST = 15.0  # seconds of the fastest tests
PER_FILE = 0.5  # seconds to collect one more file of tests
DECORATORS = {"compile_kernel", "njit"}


class Selection:
    def __init__(self, known: CoverageMap, files: Iterable[SourceFile]) -> None:
        """files: all of the package."""
        self.map = known
        self.files = {file.path: file for file in files}

    def covering(self, mutant: Mutant, slow: bool | None = None) -> dict[str, float]:
        """Tests that run the mutant's line, and their seconds."""
        places = list(self.lines_of(mutant))
        return self.map.tests(lambda part: set().union(*(part.tests(path, lines) for path, lines in places)), slow)

    def whole(self, mutant: Mutant) -> dict[str, float]:
        bodies = function_lines(self.files[mutant.path])
        return self.map.tests(lambda part: part.tests_of_file(mutant.path, bodies)) | self.covering(mutant)

    def stages(self, mutant: Mutant, covering_only: bool = False, most: float = math.inf) -> Iterator[list[str]]:
        """Lists of tests, to be run one after the other until one of them fails. most: seconds of those that run the
        line."""
        covering = self.covering(mutant)
        if most < math.inf:
            covering = fastest(covering, most)
        first = fastest({test: s for test, s in self.covering(mutant, slow=False).items() if test in covering})
        done = set(first)
        yield in_order(first)
        yield in_order(rest := {test: s for test, s in covering.items() if test not in done})
        if not covering_only:
            yield in_order({test: s for test, s in self.whole(mutant).items() if test not in done and test not in rest})

    def lines_of(self, mutant: Mutant) -> Iterator[tuple[str, range | list[int]]]:
        """The mutant's lines. No coverage tool sees the lines of a compiled kernel: those that call it stand for
        them."""
        kernels = self._kernels.get(mutant.path, {})
        kernel = next((name for name, lines in kernels.items() if mutant.line in lines), None)
        if kernel is None:
            yield mutant.path, mutant.lines
            return
        names = callers(kernel, self.files[mutant.path], set(kernels))
        word = re.compile(rf"\b({'|'.join(map(re.escape, sorted(names)))})\b")
        for file in self.files.values():
            inside = set().union(*self._kernels.get(file.path, {}).values())
            lines = [n for n, text in enumerate(file.text.split("\n"), 1) if word.search(text) and n not in inside]
            if lines and (file.path == mutant.path or Path(mutant.path).stem in file.text or "kernels" in file.text):
                yield file.path, lines

    @cached_property
    def _kernels(self) -> dict[str, dict[str, range]]:
        """The lines of the bodies of each file's compiled kernels."""
        found = {}
        for path, file in self.files.items():
            if any(name in file.text for name in DECORATORS):
                kernels = {node.name: body_of(node) for node in ast.parse(file.text).body if is_kernel(node)}
                if kernels:
                    found[path] = kernels
        return found


def is_kernel(node: ast.stmt) -> bool:
    decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
    return any(DECORATORS & {n.id for n in ast.walk(d) if isinstance(n, ast.Name)} for d in decorators)


def body_of(node: ast.stmt) -> range:
    return range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1)  # type: ignore[attr-defined]


def callers(kernel: str, file: SourceFile, kernels: set[str]) -> set[str]:
    """The kernel, and the kernels that call it, directly or not."""
    calls = {
        node.name: {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} & kernels
        for node in ast.parse(file.text).body
        if isinstance(node, ast.FunctionDef)
    }
    found = {kernel}
    while more := {name for name, called in calls.items() if called & found and name in kernels} - found:
        found |= more
    return found


def function_lines(file: SourceFile) -> set[int]:
    """Lines in bodies of functions: the others run when the module is imported."""
    functions = (n for n in ast.walk(ast.parse(file.text)) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))
    return {line for node in functions for line in body_of(node)}


def fastest(tests: dict[str, float], most: float = FIRST) -> dict[str, float]:
    """As many as take so many seconds together; one at least."""
    chosen: dict[str, float] = {}
    spent, files = 0.0, set()
    for test, seconds in sorted(tests.items(), key=lambda item: (item[1], item[0])):
        file = test.partition("::")[0]
        cost = seconds + (0 if file in files else PER_FILE)
        if chosen and spent + cost > most:
            continue
        chosen[test], spent = seconds, spent + cost
        files.add(file)
    return chosen


def in_order(tests: dict[str, float]) -> list[str]:
    """File by file, since the tests of a file share fixtures; the fastest file first."""
    file = lambda test: test.partition("::")[0]  # noqa: E731
    groups = [list(group) for _, group in groupby(sorted(tests, key=file), key=file)]
    return [test for group in sorted(groups, key=lambda group: sum(map(tests.__getitem__, group))) for test in group]
