"""A budget over the blocks of a sum: exact fractions, so that the parts add up to exactly the whole."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from murmure.core.blocks import Block
from murmure.core.errors import InvalidParameter, shorten
from murmure.core.types import Relation


def check_binding(owner: object, blocks: Sequence[Block], relation: Relation, rows: int) -> tuple[Block, ...]:
    """Check what noise is bound to."""
    name = type(owner).__name__
    if not blocks:
        raise InvalidParameter("{name} was bound to no block: there is nothing to protect.", name=name)
    check_person(owner, relation, rows)
    return tuple(blocks)


def check_person(owner: object, relation: Relation, rows: int) -> None:
    name = type(owner).__name__
    if relation not in ("add/remove", "replace"):
        raise InvalidParameter(
            '{name}: the relation must be "add/remove" or "replace", got {got}.', name=name, got=shorten(relation)
        )
    if isinstance(rows, bool) or not isinstance(rows, int) or rows < 1:
        raise InvalidParameter(
            "{name}: the number of rows per person must be a positive whole number, got {got}.",
            name=name,
            got=shorten(rows),
        )


def split_by_weight(budget: float, blocks: Sequence[Block]) -> list[Fraction]:
    """The budget in proportion to the blocks' weights; floats are taken at their exact values."""
    # A sum of rounded floats could exceed the budget.
    return list(_split(budget, tuple(block.weight for block in blocks)))


@lru_cache(maxsize=256)
def _split(budget: float, weights: tuple[float, ...]) -> tuple[Fraction, ...]:
    exact = [Fraction(weight) for weight in weights]
    whole = sum(exact)
    return tuple(Fraction(budget) * weight / whole for weight in exact)


def moved_entries(block: Block, relation: Relation, rows: int) -> int:
    """How many entries of the block one person can move: each that moves adds at least 1 in L1 and in squares."""
    return min(block.width, block.sensitivity("l1", relation, rows), block.sensitivity("l2", relation, rows))
