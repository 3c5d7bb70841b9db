"""What is guessed: a value, a record or one column of it, from one report of a mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from murmure.attacks.person.guesses.drawn_guess import drawn_record_hits, drawn_value_hits
from murmure.attacks.person.guesses.hash_guess import mean_hash_success
from murmure.attacks.person.guesses.priors import shares_of, shares_of_columns
from murmure.attacks.person.guesses.record_guess import record_success
from murmure.attacks.person.guesses.value_guess import value_success
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.random import Random
from murmure.core.types import Certifiable, Floats
from murmure.local.base.record_mechanism import RecordMechanism
from murmure.local.rappor import ForEver

MAX_ANSWERS = 10**6  # whose shares are looked at one by one


@dataclass(frozen=True)
class GuessTarget:
    """One mechanism under attack, with what the attacker expects beforehand."""

    mechanism: Any
    channel: Any  # its law, or that of what a client keeps
    shares: tuple[Floats, ...]  # of the value, or of every column
    column: int | None = None  # of a record: the one that is guessed; None: all of them

    @classmethod
    def of(cls, mechanism: Any, prior: Any, attribute: str | None) -> GuessTarget:
        if isinstance(mechanism, RecordMechanism):
            shares = tuple(shares_of_columns(mechanism.columns, mechanism.domains, prior))
            return cls(mechanism, mechanism.channel, shares, _column(mechanism, attribute))
        # all reports of a client that keeps its first draw tell no more than what it keeps
        channel = mechanism.permanent if isinstance(mechanism, ForEver) else channel_of_one_value(mechanism)
        if channel is None:
            raise InvalidParameter(
                "a Bayes guess needs a mechanism that randomises one person's answer, got {got}.",
                hint="GRR(Categories(4), epsilon=1.0), for example",
                got=shorten(mechanism),
            )
        if attribute is not None:
            raise InvalidParameter(
                "{kind} randomises one answer: it has no column {attribute} to choose.",
                hint="leave attribute out",
                kind=type(mechanism).__name__,
                attribute=shorten(attribute),
            )
        if channel.inputs > MAX_ANSWERS:
            raise InvalidParameter(
                "a Bayes guess takes at most {most:,} answers, got {got:,}.",
                hint="GRR(Categories(1000), epsilon=1.0), for example",
                most=MAX_ANSWERS,
                got=channel.inputs,
            )
        return cls(mechanism, channel, (shares_of(mechanism.domain, prior, type(mechanism).__name__),))

    @property
    def is_record(self) -> bool:
        return isinstance(self.mechanism, RecordMechanism)

    @property
    def baseline(self) -> float:
        """What the best guess without a report reaches."""
        modes = [float(shares.max()) for shares in self.shares]
        return math.prod(modes) if self.column is None else modes[self.column]

    def success(self) -> float | None:
        """Computed from the law; None where it cannot be."""
        if self.is_record:
            return record_success(self.channel, self.shares, self.column)
        return value_success(self.channel, self.shares[0])

    def hash_mean(self, rng: Random) -> float:
        """Of a hashed report: what is computed for one hash, on average over random ones."""
        return mean_hash_success(self.channel, self.shares[0], rng)

    def drawn(self, people: int, rng: Random) -> float:
        """The share of people who are guessed right, by drawing them and their reports."""
        if self.is_record:
            return float(np.mean(drawn_record_hits(self.channel, self.shares, self.column, people, rng)))
        return float(np.mean(drawn_value_hits(self.channel, self.shares[0], people, rng)))

    @property
    def name(self) -> str:
        """GRR, or RSFD[GRR] where all columns are randomised alike."""
        kind = type(self.mechanism).__name__
        names = set(self.mechanism.names) if self.is_record else set()
        return f"{kind}[{names.pop()}]" if len(names) == 1 else kind

    @property
    def wanted(self) -> str:
        if not self.is_record:
            return Phrase("the person's answer")
        if self.column is None:
            return Phrase("the person's whole record")
        return Phrase("the person's answer in the column {column!r}", column=self.mechanism.columns[self.column])


def _column(mechanism: RecordMechanism, attribute: str | None) -> int | None:
    if attribute is None:
        return None
    if attribute not in mechanism.columns:
        raise InvalidParameter(
            "{kind} randomises no column {attribute}.",
            hint="columns: {column_names}",
            kind=type(mechanism).__name__,
            attribute=shorten(attribute),
            column_names=", ".join(mechanism.columns),
        )
    return mechanism.columns.index(attribute)


def channel_of_one_value(mechanism: Any) -> Any:
    """The law of a mechanism that randomises one value; None: it is none, or one of records."""
    if not isinstance(mechanism, Certifiable) or not isinstance(mechanism.channel.inputs, int):
        return None
    return mechanism.channel
