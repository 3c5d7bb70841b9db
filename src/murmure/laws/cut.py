"""One of k codes, independent of the true value: random words are cut into k runs, code v gets `counts[v]` of them.

P[v] = counts[v] / 2**64. An even cut gives every code the same run; the last one is shorter by less than k words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.errors import InvalidParameter
from murmure.core.fixed import WORD, Words64, smallest_uint
from murmure.core.types import Floats


@dataclass(frozen=True)
class Cut:
    size: int
    counts: tuple[int, ...] | None = None  # None: even

    def __post_init__(self) -> None:
        if not 1 <= self.size <= 1 << 32:
            raise InvalidParameter("a choice needs between 1 and 2**32 codes, got {got}.", got=self.size)
        if self.counts is not None and (
            len(self.counts) != self.size or sum(self.counts) != WORD or min(self.counts) < 1
        ):
            raise InvalidParameter("the runs of a choice must be positive and sum to 2**64.")

    @classmethod
    def of(cls, shares: Sequence[float | Fraction]) -> Cut:
        """Shares on words, each rounded down (to one word at least); the rest goes to the largest."""
        # Equal shares need no table of runs: a division finds the code.
        exact = [Fraction(s) for s in shares]
        if min(exact) == max(exact):
            return cls(len(exact))
        whole = sum(exact)
        counts = [max(1, int(s * WORD / whole)) for s in exact]
        counts[counts.index(max(counts))] += WORD - sum(counts)
        return cls(len(counts), tuple(counts))

    @property
    def step(self) -> int:
        """The run of every code but the last, in an even cut."""
        return -(-WORD // self.size)

    def count(self, v: int) -> int:
        if self.counts is not None:
            return self.counts[v]
        return self.step if v < self.size - 1 else WORD - (self.size - 1) * self.step

    def prob(self, v: int) -> Fraction:
        return Fraction(self.count(v), WORD)

    def shares(self) -> Floats:
        """Every probability, as floats."""
        if self.counts is not None:
            return np.array([c / WORD for c in self.counts])
        out = np.full(self.size, self.step / WORD)
        out[-1] = self.count(self.size - 1) / WORD
        return out

    @property
    def rarest(self) -> int:
        """The code with the shortest run."""
        return self.size - 1 if self.counts is None else self.counts.index(min(self.counts))

    @property
    def commonest(self) -> int:
        return 0 if self.counts is None else self.counts.index(max(self.counts))

    @cached_property
    def ends(self) -> Words64:
        """Where the runs of an uneven cut end; a word falls to the first code whose end lies above it."""
        total, ends = 0, []
        for count in (self.counts or ())[:-1]:
            total += count
            ends.append(total)
        return np.array(ends, np.uint64)

    @property
    def dtype(self) -> np.dtype:
        return smallest_uint(self.size - 1)

    def pick(self, words: Words64) -> NDArray[Any]:
        """The reference."""
        if self.size == 1:
            return np.zeros(len(words), self.dtype)
        if self.counts is None:
            return (words // np.uint64(self.step)).astype(self.dtype)
        return np.searchsorted(self.ends, words, side="right").astype(self.dtype)

    def integers(self) -> dict[str, Any]:
        return {"size": self.size, "counts": None if self.counts is None else [str(c) for c in self.counts]}
