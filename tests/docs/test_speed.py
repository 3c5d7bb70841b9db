"""The page about speed says of every row of the bench what bounds it, and names no row that is gone."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "bench"))

import goals  # noqa: E402

PAGE = (ROOT / "docs" / "explanation-speed.md").read_text(encoding="utf-8")
TABLE = PAGE.partition("## What bounds each row")[2].partition("\n## ")[0]
LISTS = (
    goals.COLUMN,
    goals.RECORDS,
    goals.NOISE,
    goals.FITS,
    goals.SECURE,
    goals.WIRE,
    goals.REGRESSED,
    goals.COX,
    [goals.BETWEEN],
    goals.STREAMED,
    goals.SPARK,
    goals.BUDGETS,
)


def rows() -> list[list[str]]:
    lines = [line for line in TABLE.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines[2:]]


def test_every_row_of_the_bench_is_explained_once() -> None:
    """A wire study has a semicolon in its label: labels are taken off the longest first."""
    labels = sorted({row.label for listed in LISTS for row in listed}, key=len, reverse=True)
    cells = [cell for cell, *_ in rows()]
    missing, twice = [], []
    for label in labels:
        found = [i for i, cell in enumerate(cells) if label in cell]
        if not found:
            missing.append(label)
            continue
        if sum(cells[i].count(label) for i in found) > 1:
            twice.append(label)
        cells[found[0]] = cells[found[0]].replace(label, "", 1)

    assert (missing, twice) == ([], [])
    assert [cell for cell in cells if cell.strip("; ")] == [], "rows that the bench does not have"


def test_every_explanation_has_a_floor_and_a_distance() -> None:
    assert rows()
    assert all(len(row) == 3 and all(row) for row in rows())
