"""A document that is read piece by piece is the document that json.loads reads, wherever it is cut."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from murmure.run.tables import json_scanner
from murmure.run.tables.json_scanner import BrokenJson, JsonScanner

LISTS = [
    [],
    [0, 12, -3, 456789],
    [1.5, 1e300, -2e-7, 10],
    ["", "ab", 'say "no"', "\\", "é\u2028"],
    [[0, None, "0f"], [], [[1]], {"a": [1, 2]}],
    [True, False, None],
]


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 1 << 16])
@pytest.mark.parametrize("values", LISTS, ids=str)
@pytest.mark.parametrize("indent", [None, 1])
def test_the_entries_of_a_list(values: Any, chunk: int, indent: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_scanner, "CHUNK", chunk)
    scanner = JsonScanner(io.StringIO(json.dumps(values, indent=indent) + "\n "))

    assert list(scanner.items()) == values
    scanner.finish()


@pytest.mark.parametrize("text", ["[1,2", "[1 2]", "[1,]", "[,1]", "[1,2]]", '["a', "1", "", "[1]x", "[nul]", "[01]"])
def test_what_is_broken_is_refused(text: str) -> None:
    with pytest.raises(BrokenJson):
        scanner = JsonScanner(io.StringIO(text))
        list(scanner.items())
        scanner.finish()


def test_a_value_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a file of nothing but digits would be read into memory as one value."""
    monkeypatch.setattr(json_scanner, "CHUNK", 64)
    monkeypatch.setattr(json_scanner, "MAX_LETTERS", 1000)
    file = io.StringIO('["' + "a" * 100_000)

    with pytest.raises(BrokenJson):
        list(JsonScanner(file).items())

    assert file.tell() < 5000
