"""A choice that is bound to what it protects: one of several candidates, drawn by their scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from murmure.core.blocks import Cost
from murmure.core.random import Random
from murmure.core.types import Ints, Relation


class ChoiceLaw(Protocol):
    """From integer scores to one candidate."""

    def log_prob(self, scores: Ints) -> Any: ...
    def integers(self) -> dict[str, Any]: ...
    def draw_choice(self, scores: Ints, rng: Random) -> int: ...  # called by the gate, and by nobody else


@dataclass(frozen=True)
class BoundChoice:
    """The law of a choice, and what it costs."""

    noise: Any  # what was asked for: PermuteAndFlip(epsilon=1.0)
    candidates: int
    sensitivity: int  # how far one person moves any score
    relation: Relation
    rows: int
    law: ChoiceLaw
    cost: Cost
    epsilon: float
    delta: float
    method: str

    def integers(self) -> dict[str, Any]:
        """What travels in the JSON of a plan."""
        return {"candidates": self.candidates, "moves": str(self.sensitivity), **self.law.integers()}


class Choice(Protocol):
    """The curator slot of a question whose answer is one of several candidates."""

    def bind_scores(
        self, candidates: int, sensitivity: int, relation: Relation = "add/remove", rows: int = 1
    ) -> BoundChoice: ...
