"""A choice that is bound to what it protects: one of several candidates, drawn by their scores."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Protocol

from murmure.central.base.budget_split import check_person
from murmure.core.blocks import Cost
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.fixed import float_up, positive_epsilon
from murmure.core.random import Random
from murmure.core.types import Chooser, Ints, Relation
from murmure.laws.noise.laplace import at_rate


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


@dataclass(frozen=True)
class Choice(Chooser):
    """The curator slot of a question whose answer is one of several candidates, with a pure epsilon.

    monotone: one person moves all scores the same way, as adding a row does to counts.
    """

    epsilon: float
    monotone: bool = False

    title: ClassVar[str] = ""  # of the mechanism, for the method of a certificate

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive_epsilon(type(self).__name__, self.epsilon))

    def law_at(self, rate: Fraction) -> ChoiceLaw:
        """The law of the choice, its scores multiplied by this rate."""
        raise NotImplementedError

    def rho_of(self, epsilon: Fraction) -> Fraction:
        """What a choice of this epsilon costs in concentrated privacy."""
        raise NotImplementedError

    def bind_scores(
        self, candidates: int, sensitivity: int, relation: Relation = "add/remove", rows: int = 1
    ) -> BoundChoice:
        name = type(self).__name__
        check_person(self, relation, rows)
        for what, value in (("candidates", candidates), ("sensitivity", sensitivity)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise InvalidParameter(
                    "{name}: {what} must be a positive whole number, got {got}.",
                    name=name,
                    what=what,
                    got=shorten(value),
                )
        if self.monotone and relation != "add/remove":
            raise InvalidParameter(
                "{name}(monotone=True) is valid only under add/remove, got {got!r}: replacing a row can move scores "
                "both ways.",
                hint="monotone=False",
                name=name,
                got=relation,
            )
        # One score can rise while another falls, unless all move the same way: the difference moves by twice as much.
        moves = (1 if self.monotone else 2) * sensitivity * rows
        rate = at_rate(Fraction(self.epsilon) / moves).rate  # one that can be drawn exactly, rounded down
        spent = rate * moves
        cost = Cost(float_up(spent), float_up(self.rho_of(spent)))
        law, moved = self.law_at(rate), sensitivity * rows
        method = Phrase("{mechanism}: closed form", mechanism=self.title)
        return BoundChoice(self, candidates, moved, relation, rows, law, cost, cost.epsilon, 0.0, method)
