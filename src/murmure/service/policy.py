"""A party's own minimums and veto. Whatever a coordinator agreed with others, these are checked here, at home."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from murmure.core.errors import InvalidParameter, shorten
from murmure.secure.errors import TooFewParties
from murmure.service.guard import FEWEST
from murmure.service.party_step import Asked, Guard
from murmure.service.refusals import ForbiddenColumn, NoiseRequired, NotOnRoster, TooFewRows
from murmure.study.counted import TELLING

if TYPE_CHECKING:
    from murmure.plan import Plan
    from murmure.secure.identity import Card
    from murmure.study import Study


@dataclass(frozen=True)
class Policy:
    """What this party asks of every study.

    guard: which earlier releases a cohort is held against: those of exact sums that read a column which is read again
    ("columns"), or those of the very same sum only ("question").
    """

    minimum_parties: int = 5
    minimum_rows: int = 1
    forbidden: tuple[str, ...] = ()
    require_noise: bool = False
    guard: Guard = "columns"

    def __post_init__(self) -> None:
        if self.minimum_parties < FEWEST:
            raise InvalidParameter(
                f"Policy.minimum_parties must be at least {FEWEST}, got {self.minimum_parties}.",
                hint="with two parties each can subtract its own sum and has the other's",
            )
        if self.minimum_rows < 1:
            raise InvalidParameter(f"Policy.minimum_rows must be at least 1, got {self.minimum_rows}.")
        if self.guard not in ("columns", "question"):
            raise InvalidParameter(f'Policy.guard must be "columns" or "question", got {shorten(self.guard)}.')

    def check(self, study: Study) -> None:
        """Refuse a study before a row is read."""
        forbidden = {name.casefold() for name in self.forbidden}
        for number, plan in enumerate(study.plans, 1):
            minimum = plan.parties.minimum
            if minimum < self.minimum_parties:
                raise TooFewParties(
                    f"question {number} of {study.name!r} may be answered by {minimum} parties; this party wants at "
                    f"least {self.minimum_parties}.",
                    hint=f"ask for a study with a larger minimum, or lower your own (never below {FEWEST})",
                )
            read = [name for name in columns_of(plan) if name.casefold() in forbidden]
            if read:
                raise ForbiddenColumn(
                    f"question {number} of {study.name!r} reads column {read[0]!r}, which this party does not give.",
                    hint="ask for a study without it",
                )
            if self.require_noise and not study.hides_rows[number - 1]:
                said = "exact sums" if plan.curator is None else "sums with noise too small to hide a row"
                raise NoiseRequired(
                    f"question {number} of {study.name!r} releases {said}; this party wants noise on all of them.",
                    hint=f"ask for a study with [noise], of epsilon = {TELLING} in all at most",
                )
        study.check_ratio()

    def check_rows(self, study: Study, rows: int) -> None:
        least = max(self.minimum_rows, study.least_rows or 1)
        if rows < least:
            raise TooFewRows(
                f"there are {rows} rows here, and {study.name!r} or this party wants at least {least} of each party.",
                hint="so few rows hide one another badly: take no part, or bring more",
            )


def place_of(study: Study, mine: Card) -> int:
    """Where this party stands on the roster: by its key, and by its name, so that nobody takes it for another."""
    if mine in study.roster:
        return study.roster.index(mine)
    same = next((card for card in study.roster if card.key == mine.key or card.name == mine.name), None)
    said = f"the roster of {study.name!r} does not name this party, {mine.name} ({mine.fingerprint})"
    if same is not None:
        said += f", but {same.name} ({same.fingerprint})"
    raise NotOnRoster(
        f"{said}.", hint="hand your card (murmure party card) to the coordinator, who signs a study with it"
    )


def columns_of(plan: Plan) -> tuple[str, ...]:
    """All that is read of a row."""
    unit = () if plan.unit == "row" else (plan.unit,)
    return (*(plan.step.columns or ()), *unit)


def asked_of(study: Study, round: int) -> Asked:
    """What the guard of cohorts compares."""
    from murmure.service.released import questions

    plan = study.plans[round - 1]
    return Asked(tuple(questions(plan)), columns_of(plan), not study.hides_rows[round - 1], study.sharing.colluders)
