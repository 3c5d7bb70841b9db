"""A question about the rows that match a public condition.

g(x) = the inner g(x) where the row matches, zero where it does not.

Rows that do not match are added up too, as zeros: how many match is private, and is never looked at.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.blocks import Block, NoisySum
from murmure.core.catalogue_entries import StatisticEntry
from murmure.core.domain import Categories, Dates, Domain, Integers, Interval, with_outside
from murmure.core.errors import InvalidParameter, OutsideDomain, Phrase, shorten
from murmure.core.schema import Schema
from murmure.core.types import Answer, Array, FromCounts, Ints, Nested, Protectable
from murmure.laws.tallies import histogram
from murmure.statistics.base.statistic import (
    DENSE,
    ProtectableStatistic,
    check_protectable,
    codes_for,
    lacking_rows,
    merged_schema,
    names_in,
    present,
    take_rows,
)
from murmure.statistics.count import Count
from murmure.statistics.mean import Mean

MAX_CONDITION_VALUES = 1 << 24  # of a column in a condition: which of them match is kept in a table


@dataclass(frozen=True)
class Where(ProtectableStatistic[Answer], Nested):
    """The answer for some rows: `Where(Count(schema["age"]), schema["region"], is_in=("north", "west"))`.

    column: the domain of a column, or a Schema of one, which also says what replaces a missing answer.
    is_in: values of the column. between: a number or date from one bound to another, both included (an Interval's by
    its grid).

    >>> import murmure as mu
    >>> schema = mu.Schema({"age": mu.Integers(0, 120), "region": mu.Categories(["north", "south", "west"])})
    >>> people = {"age": [30, 40, 56] * 300, "region": ["north", "south", "north"] * 300}
    >>> question = mu.Where(mu.Count(schema["age"]), schema["region"], is_in=("north", "west"))
    >>> plan = mu.Plan(question, curator=mu.DiscreteLaplace(epsilon=1.0))
    >>> print(mu.run(plan, people, rng=mu.Random.seeded(7)).estimate)
              count       low      high
    count       598       595       601
    <BLANKLINE>
    about 598 people; 95% intervals by exact inversion of the noise (every figure under which such noise
      is not rare), for these people (fixed population)
    """

    statistic: Protectable[Answer]
    column: Domain | Schema
    is_in: tuple[Any, ...] | list[Any] | None = None
    between: tuple[Any, Any] | list[Any] | None = None

    entry = StatisticEntry(
        order=130,
        title="Figures of some rows",
        sentence="Figures of the rows that match a public condition",
    )

    def in_words(self) -> Phrase:
        """The question in the words of a ledger."""
        fields: dict[str, Any] = {"question": self.statistic.in_words(), "column": names_in(self.column)}
        if self.is_in is not None:
            value = shorten(self.is_in[0] if len(self.is_in) == 1 else list(self.is_in))
            return Phrase("{question} where {column} is {value}", value=value, **fields)
        low, high = self.between or ("", "")
        return Phrase("{question} where {column} lies between {low} and {high}", low=low, high=high, **fields)

    def __post_init__(self) -> None:
        check_protectable("Where", self.statistic)
        single_column = isinstance(self.column, Schema) and len(self.column.private) == 1
        if not isinstance(self.column, Domain) and not single_column:
            raise InvalidParameter(
                "Where.column must be the domain of a column, or a Schema of one, got {got}.",
                hint='Where(Count(schema["age"]), schema["region"], is_in=("north",))',
                got=shorten(self.column),
            )
        if (self.is_in is None) == (self.between is None):
            raise InvalidParameter(
                "Where needs one condition: is_in or between.", hint='is_in=("north", "west"), or between=(18, 65)'
            )
        for name in ("is_in", "between"):
            if isinstance(getattr(self, name), list):
                object.__setattr__(self, name, tuple(getattr(self, name)))
        if isinstance(self._values_domain, Dates):
            self._write_dates(self._values_domain)
        # Both are computed now, so that a bad condition is refused before any row is read.
        _ = self.domain, self._matching

    def _write_dates(self, domain: Dates) -> None:
        """Dates as their labels, however they were given: a condition has one JSON."""
        for name in ("is_in", "between"):
            given = getattr(self, name)
            if isinstance(given, tuple):
                object.__setattr__(self, name, tuple(domain.any_date(f"Where.{name}", one) for one in given))

    @property
    def _values_domain(self) -> Domain:
        """What the column may hold."""
        return self.column[self.column.private[0]] if isinstance(self.column, Schema) else self.column

    @cached_property
    def _matching(self) -> NDArray[np.bool_]:
        """Which codes match; nobody (the last) does not."""
        domain = self._values_domain
        if domain.size > MAX_CONDITION_VALUES:
            raise InvalidParameter(
                "Where.column has {size} values, more than {max_condition_values}.",
                hint="use an Interval with fewer cells, or Decimals with fewer places",
                size=domain.size,
                max_condition_values=MAX_CONDITION_VALUES,
            )
        out = np.zeros(domain.size + 1, bool)
        if self.is_in is not None:
            if not isinstance(self.is_in, tuple) or not self.is_in or isinstance(domain, Interval):
                raise InvalidParameter(
                    "Where.is_in must be a tuple of values of {domain}, got {got}.",
                    hint="numbers between two bounds: between=(low, high)",
                    domain=domain.describe(),
                    got=shorten(self.is_in),
                )
            try:
                out[with_outside(domain, "refuse").encode(list(self.is_in))] = True
            except OutsideDomain as outside:
                raise InvalidParameter("Where.is_in: {outside}", outside=outside) from None
            return out
        ends = self.between
        if not domain.ordered or not isinstance(ends, tuple) or len(ends) != 2:
            raise InvalidParameter(
                "Where.between must be two numbers or dates, for a column of these, got {ends} for {domain}.",
                hint="labels are listed: is_in=(...)",
                ends=shorten(ends),
                domain=domain.describe(),
            )
        if isinstance(domain, Dates):
            low, high = map(domain.distance, ends)
            out[max(low, 0) : max(min(high, domain.size - 1) + 1, 0)] = True
        else:
            values = domain.numbers()
            assert values is not None
            out[:-1] = (values >= ends[0]) & (values <= ends[1])
        if not out.any():
            raise InvalidParameter(
                "Where.between = {ends} holds no value of {domain}.",
                hint="the lower bound comes first",
                ends=ends,
                domain=domain.describe(),
            )
        return out

    @cached_property
    def domain(self) -> Schema:
        return merged_schema("Where", self.statistic.domain, self.column)

    @property
    def width(self) -> int:
        return int(self.statistic.width)

    handles_nobody = True

    @property
    def largest(self) -> int:
        return int(self.statistic.largest)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """Those of the inner question; but a row that matches may be exchanged for one that does not."""
        return tuple(
            replace(
                block,
                replace_l1=max(block.l1, block.replace_l1 or 2 * block.l1),
                replace_l2=max(block.l2, block.replace_l2 or 4 * block.l2),
            )
            for block in self.statistic.blocks
        )

    def _parts(self, x: tuple[Array, ...]) -> tuple[NDArray[np.bool_], Any]:
        condition_codes = codes_for(x, self.domain, self.column)
        codes = condition_codes[0] if isinstance(condition_codes, tuple) else condition_codes
        matches, inner = np.asarray(self._matching.take(codes)), codes_for(x, self.domain, self.statistic.domain)
        lacking = None if self.statistic.handles_nobody else lacking_rows(self.statistic.domain, inner)
        return (matches, inner) if lacking is None else (matches & ~lacking, present(inner, lacking))

    def lift(self, x: tuple[Array, ...]) -> Ints:
        matches, inner = self._parts(x)
        return np.asarray(self.statistic.lift(inner) * matches[:, None])

    def tally(self, x: tuple[Array, ...]) -> Ints:
        matches, inner = self._parts(x)
        domain = self.statistic.domain
        size = 0 if isinstance(domain, Schema) else domain.size
        if 0 < size <= DENSE and isinstance(self.statistic, FromCounts):
            place = inner + np.int32(size + 1) * ~matches  # rows that do not match are counted beyond
            return np.asarray(self.statistic.from_counts(histogram(place, 2 * (size + 1))[: size + 1]))
        return np.asarray(self.statistic.tally(take_rows(inner, matches)))

    def interpret(self, noisy: NoisySum) -> Answer:
        return self.statistic.interpret(NoisySum(self.statistic.blocks, noisy.sum, noisy.laws))

    def reference(self, x: tuple[Array, ...]) -> NDArray[np.float64]:
        matches, inner = self._parts(x)
        ask: Any = self.statistic  # those that are checked have a reference
        return np.asarray(ask.reference(take_rows(inner, matches)))


_REGION, _AGE = Categories(["north", "south", "west"], "region"), Integers(0, 99, "age")

EXAMPLES = (
    Where(Mean(_AGE), _REGION, is_in=("north", "west")),
    Where(Count(_AGE), _AGE, between=(18, 65)),
    Where(Mean(_AGE, left_out=True), _REGION, is_in=("north",)),
    Where(Count(_AGE), Dates("2024-01-01", "2024-12-31", "week", "admitted"), between=("2024-03-01", "2024-05-31")),
)
