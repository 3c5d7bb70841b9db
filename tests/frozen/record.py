"""Studies that the tests make, written down while those tests run: one of each shape, as JSON.

`python -m tests.frozen.make --studies` adds them. They are not listed anywhere, and are run from their JSON alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

import murmure as mu

TESTS = ("tests/parties/study",)
LONGEST = 1600  # characters of a study


def studies_of_tests() -> list[dict[str, Any]]:
    """The shortest study of each shape, a shape being all keys and the names of all types."""
    texts: set[str] = set()
    made = mu.Study.__init__

    def noted(self: Any, *args: Any, **named: Any) -> None:
        made(self, *args, **named)
        text = self.to_json()
        texts.add(text.decode() if isinstance(text, bytes) else text)

    mu.Study.__init__ = noted  # type: ignore[method-assign]
    try:
        pytest.main(["-q", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning", *TESTS])
    finally:
        mu.Study.__init__ = made  # type: ignore[method-assign]
    shapes: dict[frozenset[str], str] = {}
    for text in sorted(texts, key=lambda text: (len(text), text)):
        if len(text) <= LONGEST and _loads(text):
            shapes.setdefault(frozenset(_paths(json.loads(text))), text)
    return [{"about": "of-tests", "text": text} for text in shapes.values()]


def _loads(text: str) -> bool:
    """Whether it is a study without the classes that a test made up."""
    try:
        mu.Study.from_json(text)
    except mu.MurmureError:
        return False
    return True


def _paths(value: Any, place: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for key, part in value.items():
            yield f"{place}/{key}={part if key == 'type' else ''}"
            yield from _paths(part, f"{place}/{key}")
    elif isinstance(value, list):
        for part in value:
            yield from _paths(part, place)
