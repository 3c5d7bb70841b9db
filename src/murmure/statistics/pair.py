"""How often two values occur together.

g(x) = the indicator of the pair (x_a, x_b),   finish: shares of n.

Protected: one block, to which a row adds 1 whatever the number of cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.blocks import Block, NoisySum
from murmure.core.catalogue_entries import QueryForm, StatisticEntry
from murmure.core.domain import Categories, Domain, Integers
from murmure.core.errors import InvalidParameter, Phrase, PlanRefused, shorten
from murmure.core.estimates.estimate import Estimate
from murmure.core.schema import Schema
from murmure.core.types import Array, Ints, Protectable
from murmure.statistics.base.one_hot_cells import exact_share_estimate, one_hot_block, share_estimate
from murmure.statistics.base.statistic import MAX_JOINT_CELLS, BaseStatistic, counts_of, joint_codes, one_hot


@dataclass(frozen=True)
class Pair(BaseStatistic[Estimate], Protectable[Estimate]):
    """The joint shares of two columns of a record.

    >>> import murmure as mu
    >>> schema = mu.Schema({"smoker": mu.Categories(["no", "yes"]), "region": mu.Categories(["north", "south"])})
    >>> people = {"smoker": ["no", "yes", "no", "no"], "region": ["north", "north", "south", "north"]}
    >>> print(mu.run(mu.Plan(mu.Pair(schema, "smoker", "region")), people).estimate)  # in the clear
                   share       low      high
    no, north     0.5000    0.5000    0.5000
    no, south     0.2500    0.2500    0.2500
    yes, north    0.2500    0.2500    0.2500
    yes, south    0.0000    0.0000    0.0000
    <BLANKLINE>
    4 people; known exactly, for these people (fixed population)
    >>> try:
    ...     mu.Plan(mu.Pair(schema, "smoker", "region"), person=mu.SMP(schema, epsilon=1.0))
    ... except mu.MurmureError as error:
    ...     print(error)
    Plan refused: SMP cannot answer Pair: a person reports one attribute, so reports carry no information about pairs.
      Hint: SPL, or SMP with sample=2 or more, reports two real attributes of one person
    """

    domain: Schema
    first: str
    second: str

    entry = StatisticEntry(
        order=70,
        bare_sentence="The share of every pair of answers.",
        query=QueryForm("table", columns=2, counts=True),
        study="how many rows hold each of the {width} combinations of values of {first} and {second}",
        title="Table of {column}",
        sentence="The share of every pair of answers to {column}",
    )

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Schema):
            raise InvalidParameter("Pair.domain must be a Schema, got {got}.", got=shorten(self.domain))
        for name in (self.first, self.second):
            if name not in self.domain.private:
                raise InvalidParameter(
                    "Pair: {name!r} is not a private column; the schema has {private}.",
                    name=name,
                    private=shorten(list(self.domain.private), 120),
                )
        if self.first == self.second:
            raise InvalidParameter("Pair needs two different columns, got {first!r} twice.", first=self.first)
        if self.width > MAX_JOINT_CELLS:
            raise InvalidParameter(
                "Pair of {first!r} and {second!r} has {width:,} combinations, more than {max_joint_cells:,}.",
                hint="give the columns fewer values (fewer cells)",
                first=self.first,
                second=self.second,
                width=self.width,
                max_joint_cells=MAX_JOINT_CELLS,
            )

    largest = 1
    handles_nobody = True

    @property
    def asked_columns(self) -> tuple[str, ...]:
        return self.first, self.second

    @property
    def pair(self) -> tuple[Domain, Domain]:
        return self.domain[self.first], self.domain[self.second]

    @property
    def width(self) -> int:
        a, b = self.pair
        return a.size * b.size

    @property
    def places(self) -> tuple[int, int]:
        """The positions of the two columns among the private ones."""
        return self.domain.private.index(self.first), self.domain.private.index(self.second)

    @property
    def blocks(self) -> tuple[Block, ...]:
        return (one_hot_block(self.width),)

    def labels(self) -> list[str]:
        a, b = self.pair
        return [f"{u}, {v}" for u in a.labels() for v in b.labels()]

    def _codes(self, x: tuple[Array, ...]) -> Ints:
        (i, j), (a, b) = self.places, self.pair
        return joint_codes((x[i], x[j]), (a.size, b.size))

    def lift(self, x: tuple[Array, ...]) -> Ints:
        return one_hot(self._codes(x), self.width)

    def tally(self, x: tuple[Array, ...]) -> Ints:
        return counts_of(self._codes(x), self.width)

    def interpret(self, noisy: NoisySum) -> Estimate:
        return share_estimate(self.labels(), noisy)

    def interpret_exact(self, total: Ints, n: int) -> Estimate:
        return exact_share_estimate(self.labels(), total, n)

    def why_unanswerable(self, affine: Any) -> str | None:
        return None if isinstance(affine, dict) else Phrase("it randomises one attribute, not a record")

    def tallier(self, person: Any) -> Any:
        """What adds up and reads pairs of reports; a mechanism that shows no two real attributes has none."""
        why = person.why_no_pair(*self.places)
        if why is not None:
            raise PlanRefused(
                "Plan refused: {kind} cannot answer Pair: {why}.",
                hint="randomise that column with GRR, OUE or SubsetSelection (oracle=...), or give it fewer values"
                if "do not list" in why
                else "SPL, or SMP with sample=2 or more, reports two real attributes of one person",
                kind=type(person).__name__,
                why=why,
            )
        return person.pair(*self.places)

    def reference(self, x: tuple[Array, ...]) -> NDArray[np.float64]:
        codes = self._codes(x)
        return np.array([np.mean(codes == v) for v in range(self.width)])


EXAMPLES = (
    Pair(
        Schema({"smoker": Categories(["no", "yes"]), "region": Categories(3), "age": Integers(0, 9)}), "region", "age"
    ),
    Pair(Schema({"smoker": Categories(["no", "yes"]), "region": Categories(3)}), "region", "smoker"),
)
