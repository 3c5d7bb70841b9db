"""Shares near 0 and 1 do not look like 0 and 1; long names of columns break into lines."""

from __future__ import annotations

import pytest

from murmure.show.cells import written
from murmure.show.document import Document, Number, Table
from murmure.show.language import Language
from murmure.show.phrase import Phrase
from murmure.show.text import MAX_LINE, text


@pytest.mark.parametrize(
    ("share", "digits", "expected"),
    [
        (0.0, 2, "0.00%"),
        (1.0, 2, "100.00%"),
        (0.5, 2, "50.00%"),
        (0.0001, 2, "0.01%"),
        (2.2e-5, 2, "0.0022%"),
        (1 - 3.4e-5, 2, "99.9966%"),
        (1e-12, 2, "< 0.0001%"),
        (1 - 1e-12, 2, "> 99.9999%"),
        (0.003, 0, "0.30%"),
        (0.997, 0, "99.70%"),
        (-0.03, 2, "-3.00%"),
        (1.2, 2, "120.00%"),
    ],
)
def test_shares(share: float, digits: int, expected: str) -> None:
    assert written(Number(share, "share", digits), Language("en")) == expected


def test_french_shares() -> None:
    assert written(Number(1e-12, "share", 2), Language("fr")).replace("\u202f", " ") == "< 0,0001 %"


def test_long_names_of_columns_break() -> None:
    head = ("attacker", "share of people who are found among the k best matches", "without the reports of anybody")
    wide = Table("", (*head, "more"), (("a", 1, 2, 3), ("bb", 5, 6, 7)), best=1)
    lines = text(Document("", (wide,))).split("\n")
    rule = next(i for i, line in enumerate(lines) if set(line) == {"-"})

    assert rule > 1 and max(map(len, lines)) <= MAX_LINE
    assert " ".join(line[8:29].strip() for line in lines[:rule]).split() == head[1].split()
    assert lines[rule + 1].split() == ["a", "1", "2", "3"] and lines[rule + 2].endswith("<- best")


def test_short_names_of_columns_stay_in_one_line() -> None:
    narrow = Table("", ("a", "b"), ((Phrase("x" * 50), 1),))

    assert text(Document("", (narrow,))).split("\n")[1].startswith("---")
    assert "x" * 50 in text(Document("", (narrow,)))
