"""How a study stands, for whoever looks: who answered, who is awaited, who left and when, and how it ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

State = Literal["gathering", "running", "done", "failed"]


@dataclass(frozen=True)
class Departure:
    """Somebody who is not awaited any more, and since when.

    how: declined; vanished: nothing came in time; unusable: what it sent cannot be used, by its own signature or since
    it and another party could not open what one of them sealed.
    """

    how: str
    round: int
    stage: str


DEPARTURE_WORDS = {  # one, and more than one; the same in French
    "declined": ("1 declined", "{} declined", "1 a refusé", "{} ont refusé"),
    "vanished": ("1 vanished", "{} vanished", "1 a disparu", "{} ont disparu"),
    "unusable": (
        "1 was left out for unusable messages",
        "{} were left out for unusable messages",
        "1 a été écarté pour messages inutilisables",
        "{} ont été écartés pour messages inutilisables",
    ),
}


def count_absent(left: Mapping[int, Departure], cohort: Collection[int]) -> dict[str, int]:
    """How many left in which way, of those who are not in the sum."""
    counted = Counter(one.how for place, one in left.items() if place not in cohort)
    return {how: counted[how] for how in DEPARTURE_WORDS if counted[how]}


def absent_in_words(absent: Mapping[str, int], french: bool = False) -> str:
    """1 declined and 2 vanished."""
    said = [DEPARTURE_WORDS[how][2 * french + (many > 1)].format(many) for how, many in absent.items()]
    both = " et " if french else " and "
    return both.join([", ".join(said[:-1]), said[-1]] if len(said) > 1 else said)


@dataclass(frozen=True)
class Ending:
    """kind: the name of the refusal; empty where the study reached its result."""

    kind: str
    words: str


@dataclass(frozen=True)
class Progress:
    """Parties are places in the roster."""

    round: int = 1
    stage: str = "keys"
    answered: tuple[int, ...] = ()
    awaited: tuple[int, ...] = ()
    left: Mapping[int, Departure] = field(default_factory=dict)
    ended: Ending | None = None
    cohort: tuple[int, ...] | None = None  # of the first round, and so of all
    results: int = 0
    closed: tuple[tuple[int, str, int, int], ...] = ()  # round, stage, how many answered, of how many

    @property
    def state(self) -> State:
        if self.ended is not None:
            return "failed" if self.ended.kind else "done"
        return "gathering" if self.round == 1 and self.stage == "keys" else "running"

    def of(self, place: int) -> str:
        """answered, awaited, declined, vanished, unusable, or done; left out: not in the cohort of the first round."""
        if place in self.left and (self.state != "done" or place not in (self.cohort or ())):
            return self.left[place].how
        if self.state == "done":
            return "done"
        return "answered" if place in self.answered else "awaited" if place in self.awaited else "left out"

    @property
    def absent(self) -> dict[str, int]:
        """Who is not in the sum: how many declined, vanished, or sent what cannot be used."""
        return count_absent(self.left, self.cohort or ())

    def to_dict(self) -> dict[str, Any]:
        return {
            "state": self.state,
            "round": self.round,
            "stage": self.stage,
            "answered": list(self.answered),
            "awaited": list(self.awaited),
            "left": {str(place): list(vars(left).values()) for place, left in sorted(self.left.items())},
            "ended": None if self.ended is None else [self.ended.kind, self.ended.words],
            "cohort": None if self.cohort is None else list(self.cohort),
            "results": self.results,
            "closed": [list(one) for one in self.closed],
        }

    @classmethod
    def from_dict(cls, held: Mapping[str, Any]) -> Progress:
        return cls(
            round=held["round"],
            stage=held["stage"],
            answered=tuple(held["answered"]),
            awaited=tuple(held["awaited"]),
            left={int(place): Departure(*left) for place, left in held["left"].items()},
            ended=None if held["ended"] is None else Ending(*held["ended"]),
            cohort=None if held["cohort"] is None else tuple(held["cohort"]),
            results=held["results"],
            closed=tuple((round, stage, came, of) for round, stage, came, of in held["closed"]),
        )
