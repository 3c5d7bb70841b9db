"""The progress of a study: who answered, who is awaited, who left and when, and how it ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from murmure.show.phrase import Phrase, Plural, Several

State = Literal["gathering", "running", "done", "failed"]


@dataclass(frozen=True)
class Departure:
    """When a party left, and how.

    how: declined; vanished: nothing came in time; unusable: what it sent cannot be used, which its signature proves, or
    which another party reports who could not open what it sealed.
    """

    how: str
    round: int
    stage: str


DEPARTURES = ("declined", "vanished", "unusable")


def count_absent(departures: Mapping[int, Departure], cohort: Collection[int]) -> dict[str, int]:
    """How many parties left in which way, of those who are not in the sum."""
    counted = Counter(departure.how for place, departure in departures.items() if place not in cohort)
    return {how: counted[how] for how in DEPARTURES if counted[how]}


def absent_in_words(absent: Mapping[str, int]) -> Phrase | None:
    """1 declined and 2 vanished."""
    return Phrase("{counts}", counts=Several([_departed(how, n) for how, n in absent.items()])) if absent else None


def _departed(how: str, n: int) -> Phrase:
    if how == "declined":
        return Plural("{n} has declined", "{n} have declined", n=n)
    if how == "vanished":
        return Plural("{n} has stopped answering", "{n} have stopped answering", n=n)
    return Plural("{n} was left out for unusable messages", "{n} were left out for unusable messages", n=n)


@dataclass(frozen=True)
class Ending:
    """kind: the name of the refusal; empty where the study reached its result."""

    kind: str
    words: str


@dataclass(frozen=True)
class StudyProgress:
    """How far a study is. Parties are places in the roster."""

    round: int = 1
    stage: str = "keys"
    answered: tuple[int, ...] = ()
    awaited: tuple[int, ...] = ()
    departures: Mapping[int, Departure] = field(default_factory=dict)
    ended: Ending | None = None
    cohort: tuple[int, ...] | None = None  # of the first round, and so of all
    results: int = 0
    closed: tuple[tuple[int, str, int, int], ...] = ()  # round, stage, how many answered, of how many

    @property
    def state(self) -> State:
        if self.ended is not None:
            return "failed" if self.ended.kind else "done"
        return "gathering" if self.round == 1 and self.stage == "keys" else "running"

    def party_state(self, place: int) -> str:
        """answered, awaited, declined, vanished, unusable, or done; left out: not in the cohort of the first round."""
        if place in self.departures and (self.state != "done" or place not in (self.cohort or ())):
            return self.departures[place].how
        if self.state == "done":
            return "done"
        return "answered" if place in self.answered else "awaited" if place in self.awaited else "left out"

    @property
    def absent(self) -> dict[str, int]:
        """Who is not in the sum: how many declined, vanished, or sent what cannot be used."""
        return count_absent(self.departures, self.cohort or ())

    def to_dict(self) -> dict[str, Any]:
        return {
            "state": self.state,
            "round": self.round,
            "stage": self.stage,
            "answered": list(self.answered),
            "awaited": list(self.awaited),
            "left": {
                str(place): list(vars(departure).values()) for place, departure in sorted(self.departures.items())
            },
            "ended": None if self.ended is None else [self.ended.kind, self.ended.words],
            "cohort": None if self.cohort is None else list(self.cohort),
            "results": self.results,
            "closed": [list(stage_counts) for stage_counts in self.closed],
        }

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> StudyProgress:
        return cls(
            round=fields["round"],
            stage=fields["stage"],
            answered=tuple(fields["answered"]),
            awaited=tuple(fields["awaited"]),
            departures={int(place): Departure(*values) for place, values in fields["left"].items()},
            ended=None if fields["ended"] is None else Ending(*fields["ended"]),
            cohort=None if fields["cohort"] is None else tuple(fields["cohort"]),
            results=fields["results"],
            closed=tuple((round, stage, answered, expected) for round, stage, answered, expected in fields["closed"]),
        )
