"""Curves, tables and CSV columns of shares that an attack guesses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from murmure.attacks.base.success import Success
from murmure.core.errors import Phrase
from murmure.show.document import Curve

GUESSED = Phrase("share of people whose real attribute is guessed")
LABEL = Phrase("epsilon as the papers state it")


def band(name: str, rows: Sequence[Success]) -> Curve:
    """A curve with the 95% interval of its mean, where repetitions give one."""
    x, y = (tuple(float(getattr(row, part)) for row in rows) for part in ("at", "value"))
    if any(row.low is None or row.high is None for row in rows):
        return Curve(name, x, y)
    low, high = (tuple(float(getattr(row, part)) for row in rows) for part in ("low", "high"))
    return Curve(name, x, y, low=low, high=high)


def flat(name: str, value: float, x: Sequence[float]) -> Curve:
    """What guessing gives."""
    return Curve(name, (float(x[0]), float(x[-1])), (value, value))


class Columns:
    """Rows of a CSV file, gathered one at a time."""

    def __init__(self, *names: str) -> None:
        self.data: dict[str, list[Any]] = {name: [] for name in names}

    def add(self, *values: Any) -> None:
        for column, value in zip(self.data.values(), values, strict=True):
            column.append(value)

    def add_success(self, row: Success, *values: Any) -> None:
        """The given values, then share, low, high and repetitions."""
        self.add(*values, row.value, row.low, row.high, row.repetitions)
