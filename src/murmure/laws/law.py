"""A law is a channel at given inputs: one row per person."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from murmure.core.random import Random, RandomWords
from murmure.core.types import Array, Floats


class Channel(Protocol):
    """The integers of a law, for every input. Sampler, certificate and estimator read them."""

    @property
    def inputs(self) -> int:
        """Inputs are the codes 0 .. inputs-1."""
        ...

    @property
    def words(self) -> int:
        """Main words that each report uses."""
        ...

    @property
    def deep(self) -> int:
        """Deep words that each report uses."""
        ...

    @property
    def report_ndim(self) -> int:
        """0: a report is one number; 1: it is a row of them."""
        ...

    @property
    def slack(self) -> float:
        """A bound on |ln(true probability) - ln(stated probability)|; 0 where the integers are the law."""
        ...

    def draw(self, x: Array, words: RandomWords) -> Array:
        """One report per input; these words are its only randomness."""
        ...

    def prob(self, x: int, y: Any) -> Fraction:
        """P[y | x], exactly. One value at a time: for checks and enumeration."""
        ...

    def log_prob(self, x: Array, y: Array) -> Floats:
        """ln P[y | x], row by row."""
        ...

    def outcomes(self) -> Iterable[Any] | None:
        """Every possible report, or None when there are too many to list."""
        ...

    def report_bits(self) -> float:
        """The size of one report as it would travel."""
        ...

    def integers(self) -> dict[str, Any]:
        """The integers as strings, so that no client ever computes an exponential."""
        ...


@dataclass(frozen=True)
class Law:
    """What people holding `x` may report, and how likely it is."""

    channel: Channel
    x: Array

    def sample(self, rng: Random) -> Array:
        """One report per person; each uses a fixed range of the generator's words."""
        words = rng.reserve(len(self.x), self.channel.words, self.channel.deep)
        return self.channel.draw(self.x, words)

    def log_prob(self, y: Any) -> Floats:
        """ln P[y | x] for one report per person, or for one report that is compared with every person."""
        y = np.asarray(y)
        if y.ndim == self.channel.report_ndim:  # one report
            y = np.broadcast_to(y, (len(self.x), *y.shape))
        return self.channel.log_prob(np.broadcast_to(self.x, len(y)), y)

    def outcomes(self) -> Iterable[Any] | None:
        return self.channel.outcomes()
