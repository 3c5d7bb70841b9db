"""A question about each of several groups, which public keys name.

g(x) = the inner g(x), in the place of the row's key; zero in all other places.

A row is in one group, so every block of the inner question, repeated for each key, is moved no more than before: groups
cost nothing (parallel composition). Keys are public and all of them are answered, empty groups too. Under replacement a
row may change its group: it leaves one and enters another, twice the inner bound whatever the inner question.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.blocks import Block, NoisySum
from murmure.core.catalogue_entries import StatisticEntry
from murmure.core.domain import Categories, Domain, Integers
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.estimates.column_estimates import Estimates
from murmure.core.estimates.estimate import Estimate
from murmure.core.estimates.noisy_estimators import stacked, with_cached_laws
from murmure.core.schema import Schema
from murmure.core.types import Array, FromCounts, Ints, Nested
from murmure.laws.tallies import histogram
from murmure.statistics.base.statistic import (
    MAX_JOINT_CELLS,
    ProtectableStatistic,
    check_protectable,
    codes_for,
    joint_codes,
    lacking_rows,
    merged_schema,
    names_in,
    present,
    take_rows,
)
from murmure.statistics.count import Count
from murmure.statistics.histogram import Histogram
from murmure.statistics.mean import Mean


@dataclass(frozen=True)
class GroupBy(ProtectableStatistic[Estimate | Estimates], Nested):
    """The answer for every key: `GroupBy(Mean(schema["income"]), by=schema["region"])`.

    by: the domain of a column, or a Schema of several, whose combinations are then the keys.

    >>> import murmure as mu
    >>> schema = mu.Schema({"age": mu.Integers(0, 120), "region": mu.Categories(["north", "south", "west"])})
    >>> people = {"age": [30, 40, 56] * 300, "region": ["north", "south", "north"] * 300}
    >>> plan = mu.Plan(mu.GroupBy(mu.Mean(schema["age"]), by=schema["region"]), curator=mu.DiscreteLaplace(epsilon=1.0))
    >>> print(mu.run(plan, people, rng=mu.Random.seeded(7)).estimate)
               value       low      high
    north    42.7091   42.1126   43.2948
    south    39.8010   38.5470   41.0052
    west   too noisy    0.0000  120.0000
    <BLANKLINE>
    about 892 people; 95% intervals by Fieller, and the whole public range (too few people to divide by)
      in 1 of 3, for these people (fixed population)
    Rows left out (their number is missing or not in the schema): north about 3 (0 to 13), south about
      -4 (0 to 6), west about 0 (0 to 10) (a noisy number can fall outside what is possible, and its
      interval keeps to what is possible)
    """

    statistic: Any
    by: Domain | Schema

    entry = StatisticEntry(
        order=120,
        title="Figures by group",
        sentence="Figures for every group",
    )

    def in_words(self) -> Phrase:
        """The question in the words of a ledger."""
        return Phrase("{question} by {keys}", question=self.statistic.in_words(), keys=names_in(self.by))

    def __post_init__(self) -> None:
        check_protectable("GroupBy", self.statistic)
        if not isinstance(self.by, Domain | Schema):
            raise InvalidParameter(
                "GroupBy.by must be a domain or a Schema, got {got}.",
                hint='keys are public: GroupBy(Count(schema["age"]), by=schema["region"])',
                got=shorten(self.by),
            )
        _ = self.domain  # columns without a name, or twice with different values, are refused now
        if self.width > MAX_JOINT_CELLS:
            raise InvalidParameter(
                "GroupBy has {groups:,} groups of {width:,} sums, more than {max_joint_cells:,} in all.",
                hint="group by a column with fewer values",
                groups=self.groups,
                width=self.statistic.width,
                max_joint_cells=MAX_JOINT_CELLS,
            )

    @cached_property
    def domain(self) -> Schema:
        return merged_schema("GroupBy", self.statistic.domain, self.by)

    @cached_property
    def _keys(self) -> tuple[Domain, ...]:
        return tuple(self.by[name] for name in self.by.private) if isinstance(self.by, Schema) else (self.by,)

    @property
    def groups(self) -> int:
        return math.prod(key.size for key in self._keys)

    def labels(self) -> list[str]:
        out = [""]
        for key in self._keys:
            out = [f"{head}, {label}" if head else label for head in out for label in key.labels()]
        return out

    @property
    def width(self) -> int:
        return self.groups * int(self.statistic.width)

    handles_nobody = True

    @property
    def largest(self) -> int:
        return int(self.statistic.largest)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        return tuple(
            replace(
                block,
                width=self.groups * block.width,
                replace_l1=2 * block.l1,
                replace_l2=max(2 * block.l2, block.replace_l2 or 4 * block.l2),
            )
            for block in self.statistic.blocks
        )

    def _parts(self, x: tuple[Array, ...]) -> tuple[Array, Any]:
        """The number of every row's group, and the codes of the inner question."""
        codes = codes_for(x, self.domain, self.by)
        key = (
            joint_codes(codes, tuple(k.size for k in self._keys)) if isinstance(self.by, Schema) else np.asarray(codes)
        )
        inner = codes_for(x, self.domain, self.statistic.domain)
        lacking = None if self.statistic.handles_nobody else lacking_rows(self.statistic.domain, inner)
        return (key, inner) if lacking is None else (np.where(lacking, self.groups, key), present(inner, lacking))

    def _laid_out(self, groups: Ints) -> Ints:
        """(..., groups, inner width) -> blocks one after the other, each with all its groups."""
        out, at = [], 0
        for block in self.statistic.blocks:
            part = groups[..., at : at + block.width]
            out.append(part.reshape(*part.shape[:-2], -1))
            at += block.width
        return np.concatenate(out, axis=-1)

    def lift(self, x: tuple[Array, ...]) -> Ints:
        key, inner = self._parts(x)
        in_group = (key[:, None] == np.arange(self.groups)).astype(np.int64)
        return self._laid_out(in_group[:, :, None] * self.statistic.lift(inner)[:, None, :])

    def tally(self, x: tuple[Array, ...]) -> Ints:
        key, inner = self._parts(x)
        size = 0 if isinstance(inner, tuple) else self.statistic.domain.size + 1  # the last value is nobody
        if size and isinstance(self.statistic, FromCounts) and (self.groups + 1) * size <= MAX_JOINT_CELLS:
            place = key.astype(np.int32) * np.int32(size) + inner.astype(np.int32)
            counts = histogram(place, (self.groups + 1) * size).reshape(self.groups + 1, size)
            return self._laid_out(self.statistic.from_counts(counts[:-1]))
        # Sorting once makes every group a slice: no pass over all rows for each key.
        order = np.argsort(key, kind="stable")
        ends = np.searchsorted(key[order], np.arange(self.groups + 1))
        out = np.zeros((self.groups, self.statistic.width), np.int64)
        for group in range(self.groups):  # over public keys, not over people
            out[group] = self.statistic.tally(take_rows(inner, order[ends[group] : ends[group + 1]]))
        return self._laid_out(out)

    def _each(self, noisy: NoisySum) -> Iterator[NoisySum]:
        noisy = with_cached_laws(noisy)  # once for all groups, which share the laws
        parts = [part.reshape(self.groups, -1) for _, part, _ in noisy]
        for group in range(self.groups):
            yield NoisySum(self.statistic.blocks, np.concatenate([part[group] for part in parts]), noisy.laws)

    def interpret(self, noisy: NoisySum) -> Estimate | Estimates:
        return self._together([self.statistic.interpret(group_sum) for group_sum in self._each(noisy)])

    def _together(self, answers: list[Any]) -> Estimate | Estimates:
        """One figure a group: one table. Several: a table for every group."""
        n = sum(answer.n for answer in answers)
        if all(isinstance(answer, Estimate) and len(answer.mean) == 1 for answer in answers):
            return stacked(self.labels(), answers, n)
        tables: dict[str, Estimate] = {}
        for label, answer in zip(self.labels(), answers, strict=True):
            inner = {"": answer} if isinstance(answer, Estimate) else answer
            tables |= {f"{label}: {name}" if name else label: estimate for name, estimate in inner.items()}
        return Estimates(tables, n, noisy=any(answer.noisy for answer in answers))

    def reference(self, x: tuple[Array, ...]) -> NDArray[np.float64]:
        key, inner = self._parts(x)
        return np.concatenate(
            [self.statistic.reference(take_rows(inner, key == group)) for group in range(self.groups)]
        )


_REGION, _AGE = Categories(["north", "south", "west"], "region"), Integers(0, 99, "age")

EXAMPLES = (
    GroupBy(Mean(_AGE), _REGION),
    GroupBy(Mean(_AGE, left_out=True), _REGION),
    GroupBy(Histogram(Categories(["no", "yes"], "smoker")), _REGION),
    GroupBy(Count(_AGE), Schema({"region": _REGION, "smoker": Categories(["no", "yes"])})),
)
