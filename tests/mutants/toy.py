"""A small project with its tests, for the tests of script/mutate."""

from __future__ import annotations

from pathlib import Path

INIT = '"""A toy."""\n'
SUMS = '''"""Sums."""

from __future__ import annotations


def total(a: int, b: int | None) -> int:
    return a + (b or 0)


def larger(a: int, b: int) -> int:
    """Nobody asks what it does with equal numbers: they are the same number."""
    if a > b:
        return a
    return b


def never_called(a: int) -> int:
    return a * 2


def count_down(n: int) -> int:
    turns = 0
    while n > 0:
        n -= 1
        turns += 1
    return turns


def started(a: int) -> int:
    return a - 1


KEPT: dict[int, int] = {}


def kept(a: int) -> int:
    if a not in KEPT:
        KEPT[a] = a // 2
    return KEPT[a]
'''
TESTS = """import subprocess
import sys

import pytest

from toy import sums


def test_total():
    assert sums.total(2, 3) == 5 and sums.total(2, None) == 2


def test_larger():
    assert sums.larger(1, 2) == sums.larger(2, 1) == 2


def test_count_down():
    assert sums.count_down(2) == 2


def test_started():
    code = "from toy import sums; print(sums.started(3))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, env={}).stdout == b"2\\n"


def test_that_fails_anyway():
    assert sums.total(0, 0) == 1


def test_kept_is_a_number():
    assert isinstance(sums.kept(8), float | int)


def test_kept():
    assert sums.kept(8) == 4


@pytest.mark.slow
def test_slowly():
    assert sums.larger(0, 1) == 1
"""
PYPROJECT = """[tool.pytest.ini_options]
markers = ["slow: asked last"]
addopts = ["-m", "not slow"]
"""


def make_toy(root: Path, tests: str = TESTS, **files: str) -> Path:
    """The project; files: more files of the package, and their texts."""
    for path, text in {
        "pyproject.toml": PYPROJECT,
        "src/toy/__init__.py": INIT,
        "src/toy/sums.py": SUMS,
        "tests/test_sums.py": tests,
        **{f"src/toy/{name}.py": text for name, text in files.items()},
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root
