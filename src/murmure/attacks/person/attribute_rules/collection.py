"""One collection under attack: everybody's record, and which attribute of each is real."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from murmure.core.random import Random
from murmure.core.types import Array, Ints
from murmure.laws.records import Columns, Records


@dataclass(frozen=True)
class Collection:
    """known: the people whose real attribute the attacker was told; guessed: those that success is counted over."""

    mechanism: Any
    records: Records
    tag: Array  # the attribute that is real
    known: Ints
    guessed: Ints

    @classmethod
    def draw(cls, mechanism: Any, x: Columns, known: int, rng: Random) -> Collection:
        """People in the order of the table report; `known` of them, drawn at random, are known."""
        n = len(x[0])
        tag, records = mechanism.channel.sample_with_tag(x, rng)
        if not known:
            return cls(mechanism, records, tag, np.empty(0, np.int64), np.arange(n))
        order = np.argsort(rng.words(n), kind="stable")
        return cls(mechanism, records, tag, np.sort(order[:known]), np.sort(order[known:]))

    def of(self, people: Ints) -> tuple[Records, Array]:
        """The records of some people, and which attribute of each is real."""
        if len(people) == self.records.n:
            return self.records, self.tag
        return Records(len(people), tuple(part[people] for part in self.records.parts)), self.tag[people]
