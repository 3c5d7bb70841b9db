"""Where mutants are made, and where not."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest
from tests.mutants.operators import AUGMENTED, KINDS, mutated, replacements


def mutants(source: str, kinds: tuple[str, ...] = KINDS[:3]) -> list[str]:
    return [mutated(source, replacement) for replacement in replacements(source, kinds)]


NOT_CODE = [
    '"""a + b < c"""\n',
    "def f(a: int | None, *b: int | str, c: A[B + C] = 1, **d: int | str) -> int | None: ...\n",
    "def f(a, /, b, *, c): return g(*b, **c), [*b], {**c}\n",
    "x: int | str = 1\n",
    "from a import *\n",
    '__all__ = ["a"] + B\n',
    "EXAMPLES = (f(1 + 2),)\n",
    "if TYPE_CHECKING:\n    x = a + b\n",
    "y = isinstance(x, int | str)\n",
    "y = cast(int | str, x)\n",
    "Name: TypeAlias = int | str\n",
    "Name = int | None\n",
    "x = 'a + b'\n",
]


@pytest.mark.parametrize("source", NOT_CODE)
def test_what_does_not_run_is_left_alone(source: str) -> None:
    assert mutants(source) == []


CODE = [
    ("x = a + b\n", ["x = a - b\n"]),
    ("x = a < b\n", ["x = a <= b\n", "x = a >= b\n"]),
    ("x = a is not None\n", ["x = a is None\n"]),
    ("x = a and b\n", ["x = a or b\n"]),
    ("x = not a\n", ["x =  a\n"]),
    ("x = -a\n", ["x = a\n"]),
    ("x = a if b else c\n", ["x = a if not b else c\n"]),
    ("for x in y: continue\n", ["for x in y: break\n"]),
    ("x += 1\n", ["x -= 1\n"]),
    ("x = 'é' + b  # columns in characters\n", ["x = 'é' - b  # columns in characters\n"]),
    ("def f(a: int = 2 * b): ...\n", ["def f(a: int = 2 / b): ...\n", "def f(a: int = 2 + b): ...\n"]),
]


@pytest.mark.parametrize(("source", "expected"), CODE)
def test_each_operator_becomes_its_relatives(source: str, expected: list[str]) -> None:
    assert sorted(mutants(source)) == sorted(expected)


def test_constants_only_when_they_are_asked_for() -> None:
    source = "x = f(3, a=True)\n"

    assert mutants(source) == []
    assert [m.replace("( ", "(") for m in mutants(source, ("constant",))] == [
        "x = f(4, a=True)\n",
        "x = f(2, a=True)\n",
        "x = f(3, a=False)\n",
    ]


def every_operator() -> Iterator[tuple[str, str]]:
    for symbol in re.findall(r"\S+", "+ - * / // % ** >> << | & ^ == != < <= > >= is"):
        yield symbol, f"x = a {symbol} b\n"
    yield "is not", "x = a is not b\n"
    for symbol in AUGMENTED:
        yield symbol, f"x {symbol} b\n"


@pytest.mark.parametrize(("symbol", "source"), list(every_operator()))
def test_every_mutant_is_another_program(symbol: str, source: str) -> None:
    found = mutants(source)

    assert found
    assert len({ast.dump(ast.parse(text)) for text in [source, *found]}) == len(found) + 1
