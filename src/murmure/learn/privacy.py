"""How a learner treats people: in the clear, with noise at the curator, or randomised at the person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from murmure.catalogue import load
from murmure.core.blocks import Cost
from murmure.core.errors import InvalidParameter, shorten
from murmure.core.fixed import float_up, positive_epsilon, split_budget
from murmure.core.types import Relation, Statistic
from murmure.plan import Plan


@dataclass(frozen=True)
class Clear:
    """No privacy: exact sums."""

    def noises(self, weights: Sequence[float]) -> list[None]:
        return [None for _ in weights]

    def plan(self, statistic: Statistic, noise: None = None) -> Plan:
        return Plan(statistic)


@dataclass(frozen=True)
class Central:
    """Noise at the curator: whoever reads the model learns at most epsilon (and delta) about one person.

    relation: "add/remove" hides whether somebody is in the data; "replace" hides what they hold. unit, rows_per_person:
    as in `Plan`; of a person with more rows, only so many are read.
    """

    epsilon: float
    delta: float = 0.0
    relation: Relation = "add/remove"
    unit: str = "row"
    rows_per_person: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive_epsilon("Central", self.epsilon))
        if isinstance(self.delta, bool) or not isinstance(self.delta, int | float) or not 0 <= self.delta < 1:
            raise InvalidParameter(
                f"Central.delta must be at least 0 and below 1, got {shorten(self.delta)}.",
                hint="0 is pure epsilon; 1e-6 is usual for a thousand people, and should stay far below 1 / people",
            )

    @property
    def pure(self) -> bool:
        return self.delta == 0

    @property
    def rho(self) -> float:
        """What there is to spend of zero-concentrated privacy, for delta > 0."""
        from murmure.core.concentrated import rho_of

        return rho_of(self.epsilon, self.delta)

    @property
    def cost(self) -> Cost:
        """All of it, in the ledger's currencies."""
        if self.pure:
            return Cost(self.epsilon, float_up(Fraction(self.epsilon) ** 2 / 2))
        return Cost(float("inf"), self.rho)

    def noises(self, weights: Sequence[float]) -> list[Any]:
        """Noise for each of several plans; together they cost at most what was asked for."""
        if self.pure:
            return [load("DiscreteLaplace")(epsilon=e) for e in split_budget(self.epsilon, weights)]
        return [load("DiscreteGaussian")(rho=r) for r in split_budget(self.rho, weights)]

    def plan(self, statistic: Statistic, noise: Any = None) -> Plan:
        """The question, with this noise; or with all of the budget."""
        noise = self.noises([1.0])[0] if noise is None else noise
        return Plan(
            statistic,
            curator=noise,
            relation=self.relation,
            unit=self.unit,
            rows_per_person=self.rows_per_person,
        )


@dataclass(frozen=True)
class Local:
    """Every row is randomised before anybody learns from it.

    mechanism: how, as a name for all columns or a mapping from columns to names; None: the learner's own choice.
    debias: learn from unbiased sums that the mechanism's law gives, instead of from the randomised rows as they are.
    """

    epsilon: float
    mechanism: Any = None
    debias: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive_epsilon("Local", self.epsilon))


Privacy = Clear | Central | Local


def check_privacy(owner: object, privacy: Any) -> Privacy:
    if not isinstance(privacy, Clear | Central | Local):
        raise InvalidParameter(
            f"{type(owner).__name__}.privacy must be Clear(), Central(epsilon) or Local(epsilon), got "
            f"{shorten(privacy)}.",
            hint="privacy=mu.Central(epsilon=1.0)",
        )
    return privacy
