"""Answers that a page can check: a formula is right if it has the right values, whatever it looks like."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

ROUNDING = 1e-9  # of a formula in floating point
Value = Fraction | int | float


@dataclass(frozen=True)
class AnswerField:
    """A number, or a formula in letters. points: values of the letters, and the value that is right there."""

    name: str
    label: str
    points: tuple[tuple[Mapping[str, Value], Value], ...]
    tolerance: float = ROUNDING  # relative to the larger of 1 and the answer

    def to_json(self) -> str:
        """What check.js compares with."""
        points = [
            {"at": {letter: float(value) for letter, value in at.items()}, "answer": float(answer)}
            for at, answer in self.points
        ]
        return json.dumps({"points": points, "tolerance": self.tolerance}, sort_keys=True)


def number_field(name: str, label: str, answer: Value, tolerance: float = ROUNDING) -> AnswerField:
    return AnswerField(name, label, (({}, answer),), tolerance)


def formula_field(name: str, label: str, law: Callable[..., Value], **letters: Sequence[Any]) -> AnswerField:
    """law(**letters) at every combination of these values."""
    places = [dict(zip(letters, values, strict=True)) for values in itertools.product(*letters.values())]
    return AnswerField(name, label, tuple((place, law(**place)) for place in places))
