"""How often each class has each value of every attribute: the tables of naive Bayes, from randomised records.

g(x) = the indicators of (class, x_j) for every attribute j,   finish: counts.

Each attribute is read together with the class, each through its own channel, which gives unbiased counts.
Everybody reports once, whatever the number of attributes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.catalogue_entries import SumEntry
from murmure.core.domain import Categories
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.estimates.column_estimates import Estimates
from murmure.core.schema import Schema
from murmure.core.types import Array, Ints
from murmure.statistics.base.statistic import BaseStatistic
from murmure.statistics.pair import Pair


@dataclass(frozen=True)
class ClassPairs(BaseStatistic):
    """The joint shares of `target` and every other private column."""

    domain: Schema
    target: str

    entry = SumEntry(order=20)

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Schema):
            raise InvalidParameter("ClassPairs.domain must be a Schema, got {got}.", got=shorten(self.domain))
        if not self.attributes:
            raise InvalidParameter(
                "ClassPairs: the schema has no attribute besides the target {target!r}.", target=self.target
            )
        _ = self.pairs  # refuses a target that is not a column, and too many combinations

    largest = 1

    @property
    def attributes(self) -> tuple[str, ...]:
        return tuple(name for name in self.domain.private if name != self.target)

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        return tuple(Pair(self.domain, self.target, name) for name in self.attributes)

    @property
    def width(self) -> int:
        return sum(pair.width for pair in self.pairs)

    def lift(self, x: tuple[Array, ...]) -> Ints:
        return np.concatenate([pair.lift(x) for pair in self.pairs], axis=1)

    def tally(self, x: tuple[Array, ...]) -> Ints:
        return np.concatenate([pair.tally(x) for pair in self.pairs])

    def interpret_exact(self, total: Ints, n: int) -> Estimates:
        return self._named([pair.interpret_exact for pair in self.pairs], [pair.width for pair in self.pairs], total, n)

    def _named(self, readers: list[Any], widths: list[int], total: Ints, n: int) -> Estimates:
        pieces = np.split(np.asarray(total), np.cumsum(widths)[:-1])
        found = [read(piece, n) for read, piece in zip(readers, pieces, strict=True)]
        return Estimates(dict(zip(self.attributes, found, strict=True)), n)

    def why_unanswerable(self, affine: Any) -> str | None:
        return None if isinstance(affine, dict) else Phrase("it randomises one attribute, not a record")

    def tallier(self, person: Any) -> Any:
        """What adds up and reads the reports of all pairs."""
        return PairsTallier(self, tuple(pair.tallier(person) for pair in self.pairs))

    def reference(self, x: tuple[Array, ...]) -> NDArray[np.float64]:
        return np.concatenate([pair.reference(x) for pair in self.pairs])


@dataclass(frozen=True)
class PairsTallier:
    """Several pairs of columns of the same reports."""

    ask: ClassPairs
    oracles: tuple[Any, ...]

    def tally(self, records: Any) -> Ints:
        return np.concatenate([oracle.tally(records) for oracle in self.oracles])

    def estimate(self, total: Ints, n: int) -> Estimates:
        return self.ask._named([o.estimate for o in self.oracles], [o.width for o in self.oracles], total, n)


_SMALL = Schema({"sick": Categories(["no", "yes"]), "region": Categories(3), "smoker": Categories([False, True])})

EXAMPLES = (ClassPairs(_SMALL, "sick"), ClassPairs(_SMALL, "region"))
