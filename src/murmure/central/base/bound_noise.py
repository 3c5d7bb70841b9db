"""Noise that is bound to what it protects: laws for every block, and what the release costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from murmure.core.blocks import Block, Cost, NoiseLaw, Norm
from murmure.core.types import Relation


@dataclass(frozen=True)
class BoundNoise:
    """A law for every block, scaled to what one person can move, and the cost that follows from the laws' integers."""

    noise: Any  # what was asked for: DiscreteLaplace(epsilon=1.0)
    blocks: tuple[Block, ...]
    laws: tuple[NoiseLaw, ...]
    norm: Norm
    relation: Relation
    rows: int  # that one person has, at most
    cost: Cost
    epsilon: float  # certified, at delta
    delta: float
    method: str  # how it was obtained

    @property
    def width(self) -> int:
        return sum(block.width for block in self.blocks)

    def sensitivities(self) -> tuple[int, ...]:
        """How far one person moves each block: in L1, or squared in L2."""
        return tuple(block.sensitivity(self.norm, self.relation, self.rows) for block in self.blocks)

    def integers(self) -> list[dict[str, Any]]:
        """What travels in the JSON of a plan."""
        pairs = zip(self.blocks, self.laws, self.sensitivities(), strict=True)
        return [{"block": b.name, "moves": str(moves), **law.integers()} for b, law, moves in pairs]
