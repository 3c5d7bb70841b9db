"""The small tables in which a learner shows what it has learned, and how their cells are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class SummaryTable:
    """A small table: the first cell of a row names it."""

    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


def format_number(value: float) -> str:
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.6g}"


def format_people(value: float) -> str:
    return f"{value:.0f}" if abs(value) < 1e15 else f"{value:.4g}"
