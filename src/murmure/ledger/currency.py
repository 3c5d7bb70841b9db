"""What an account counts in: which two data sets must look alike, and whether a row or a person is protected.

    relation   add/remove: one more or one less; replace: one exchanged for another
    unit       "row", or the column that tells people apart

A cost in one currency is a cost in another only where a theorem says so, by steps from neighbour to neighbour (group
privacy: k steps cost k epsilon, and k**2 rho):

    add/remove -> replace   exchanging one is removing it and adding another: 2 steps
    people -> rows          one more row of a person is that person removed, and added with it: 2 steps, of add/remove

Nothing leads back. Under replace the number of rows, or of people, is public: it protects nobody's presence, and no row
that passes from one person to another. And a person may have any number of rows. Such charges are refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from murmure.core.blocks import Cost
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.fixed import float_up
from murmure.core.types import Relation

RELATIONS = ("add/remove", "replace")
ROW = "row"


@dataclass(frozen=True)
class Currency:
    """What must look alike: costs add up only where both agree."""

    relation: Relation
    unit: str = ROW

    def __post_init__(self) -> None:
        if self.relation not in RELATIONS:
            raise InvalidParameter("a relation is add/remove or replace, got {got}.", got=shorten(self.relation))

    @property
    def words(self) -> Phrase:
        if self.unit == ROW:
            return Phrase("rows ({relation})", relation=self.relation)
        return Phrase("people by column {unit!r} ({relation})", unit=self.unit, relation=self.relation)

    def __str__(self) -> str:
        return str(self.words)

    def steps_to(self, other: Currency) -> int | None:
        """How many of our neighbours lie between two of the other's, at most; None if no number is known."""
        if (self.relation, other.relation) == ("replace", "add/remove"):
            return None
        if self.unit != other.unit and (other.unit != ROW or self.relation == "replace"):
            return None
        return (1 if self.relation == other.relation else 2) * (1 if self.unit == other.unit else 2)


def times(cost: Cost, steps: int) -> Cost:
    """What a cost comes to over several steps from neighbour to neighbour."""
    if steps == 1:
        return cost
    return Cost(_scaled(cost.epsilon, steps), _scaled(cost.rho, steps**2))


def _scaled(value: float, factor: int) -> float:
    return value if value == float("inf") else float_up(factor * Fraction(value))
