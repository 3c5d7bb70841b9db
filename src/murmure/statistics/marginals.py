"""Every column of a record: the shares of its values, or its mean.

g(x) = the indicators (or sum and square, see mean.py) of every column, one after the other; one count for all means
that leave nobody out, and for any other mean a count of its own.

Protected: a block of cells a column, or a sum and a square; numbers that are never missing count everybody, so their
means share one count. Every column gets as much as another. The shared count serves J means, so it gets J^(1/3) of its
weight for one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.blocks import Block, NoisySum
from murmure.core.catalogue_entries import StatisticEntry
from murmure.core.cells.parsed_columns import one_column
from murmure.core.cells.parsed_columns import parse_numbers as numbers_in
from murmure.core.domain import Categories, Dates, Integers, Interval, check_few_values
from murmure.core.errors import InvalidParameter, Phrase, PlanRefused, shorten
from murmure.core.estimates.column_estimates import Estimates, by_mean, numeric_values
from murmure.core.estimates.noisy_estimators import with_cached_laws
from murmure.core.schema import Schema
from murmure.core.types import Array, CountsLeftOut, Ints, NumberDomain, Protectable
from murmure.statistics.base.left_out_rows import counts_left_out, left_out_field
from murmure.statistics.base.statistic import BaseStatistic
from murmure.statistics.histogram import Histogram
from murmure.statistics.mean import Mean

GRID = 1000  # weights are whole numbers of thousandths: sums stay integers


@dataclass(frozen=True)
class Marginals(BaseStatistic[Estimates], Protectable[Estimates], CountsLeftOut):
    """Shares of every category and of whole numbers with few values; the mean of every other number.

    >>> import murmure as mu
    >>> schema = mu.Schema({"smoker": mu.Categories(["no", "yes"]), "age": mu.Integers(0, 120)})
    >>> people = {"smoker": ["no", "yes", "no"], "age": [30, 40, 56]}
    >>> print(mu.run(mu.Plan(mu.Marginals(schema)), people).estimate)  # in the clear
    smoker
            share       low      high
    no     0.6667    0.6667    0.6667
    yes    0.3333    0.3333    0.3333
    <BLANKLINE>
    mean
            value       low      high
    age        42        42        42
    <BLANKLINE>
    3 people; known exactly, for these people (fixed population)
    """

    domain: Schema
    weights: str | None = None  # a public column: how much each person counts
    left_out: bool = left_out_field()  # also count the rows without a number; a curator's plan sets it

    entry = StatisticEntry(
        order=100,
        bare_sentence="The share of every answer, and the mean of every number, column by column.",
        study="how many rows hold each value, column by column, of {columns}",
        title="{column}",
        sentence="The share of every answer, and the mean of every number, column by column",
    )

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Schema):
            raise InvalidParameter(
                "Marginals.domain must be a Schema, got {got}.",
                hint='Marginals(Schema({{"smoker": Categories(["no", "yes"])}})); one column is a Histogram or a Mean',
                got=shorten(self.domain),
            )
        if not self.domain.private:
            raise InvalidParameter("Marginals.domain has public columns only: there is nothing to estimate.")
        for name in self.domain.private:
            check_few_values("Marginals.domain", self.domain[name])
        if self.weights is not None:
            domain = self.domain[self.weights] if self.weights in self.domain.open else None
            if not isinstance(domain, Integers | Interval) or domain.low < 0:
                raise InvalidParameter(
                    "Marginals.weights must be a public column of numbers that are not negative, got "
                    "{weights}; public here: {open}.",
                    hint="declare it in the schema: Column(Interval(0, 10), public=True)",
                    weights=shorten(self.weights),
                    open=list(self.domain.open),
                )

    @cached_property
    def parts(self) -> tuple[Histogram | Mean, ...]:
        """The question about every private column."""
        domains = [self.domain[name] for name in self.domain.private]
        return tuple(Mean(d, self.left_out) if by_mean(d) else Histogram(d) for d in domains)  # type: ignore[arg-type]

    handles_nobody = True

    @cached_property
    def _sharing(self) -> tuple[bool, ...]:
        """Of every column, whether it is a mean of everybody, which shares one count with the others."""
        return tuple(isinstance(part, Mean) and not counts_left_out(part) for part in self.parts)

    @property
    def width(self) -> int:
        return sum(part.width for part in self.parts) - sum(self._sharing) + any(self._sharing)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """Of every column those of its own question, and the count that means share last."""
        if self.weights is not None:
            raise PlanRefused("Plan refused: weights are for tables that people randomised.")
        out, count = [], None
        for name, part, shared in zip(self.domain.private, self.parts, self._sharing, strict=True):
            for block in part.blocks:
                if shared and block.name == "count":
                    count = replace(block, weight=block.weight * sum(self._sharing) ** (1 / 3))
                    continue
                weight = sum(Mean.budget_shares) if block.name == "cells" else block.weight
                out.append(replace(block, name=f"{name}: {block.name}", weight=weight))
        return (*out, count) if count is not None else tuple(out)

    @property
    def largest(self) -> int:
        return max(part.largest for part in self.parts)

    @property
    def max_entry(self) -> int:
        """What one person adds to a weighted sum, at most: the square of the largest weight."""
        if self.weights is None:
            return 1
        domain = self.domain[self.weights]
        assert isinstance(domain, NumberDomain)
        return int(np.ceil(domain.high * GRID)) ** 2

    def weigh(self, batch: Any) -> Ints | None:
        """Public weights in thousandths, one per person."""
        if self.weights is None:
            return None
        values = one_column(self.domain.carry({name: batch[name] for name in self.domain.open})[self.weights])
        values = numbers_in(self.domain[self.weights], values).array  # of rows that are left out, anything
        return np.asarray(np.rint(np.asarray(values, float) * GRID), np.int64)

    def tallier(self, person: Any) -> Any:
        """What adds up and reads reports: the mechanism itself, or its weighted view."""
        return person if self.weights is None else person.weighted()

    def lift(self, x: tuple[Array, ...]) -> Ints:
        lifted = [part.lift(xi) for part, xi in zip(self.parts, x, strict=True)]
        return self._laid_out(lifted)

    def tally(self, x: tuple[Array, ...]) -> Ints:
        return self._laid_out([part.tally(xi) for part, xi in zip(self.parts, x, strict=True)])

    def _laid_out(self, pieces: list[Ints]) -> Ints:
        """The first entry of a mean of everybody is their count: it is written once, last."""
        both = list(zip(self._sharing, pieces, strict=True))
        kept = [piece[..., 1:] if shared else piece for shared, piece in both]
        counts = [piece[..., :1] for shared, piece in both if shared]
        return np.concatenate([*kept, *counts[:1]], axis=-1)

    def _pieces(self, total: Ints) -> Iterator[Ints]:
        at = 0
        for part, shared in zip(self.parts, self._sharing, strict=True):
            if shared:
                yield np.concatenate([total[-1:], total[at : at + 2]])
                at += 2
            else:
                yield total[at : at + part.width]
                at += part.width

    def interpret_exact(self, total: Ints, n: int) -> Estimates:
        columns = zip(self.domain.private, self.parts, self._pieces(total), strict=True)
        return Estimates(
            {name: part.interpret_exact(piece, n) for name, part, piece in columns}, n, numeric_values(self.domain)
        )

    def interpret(self, noisy: NoisySum) -> Estimates:
        laws = {block.name: law for block, _, law in with_cached_laws(noisy)}
        out = {}
        columns = zip(self.domain.private, self.parts, self._sharing, self._pieces(noisy.sum), strict=True)
        for name, part, shared, piece in columns:
            part_laws = tuple(
                laws["count" if shared and b.name == "count" else f"{name}: {b.name}"] for b in part.blocks
            )
            out[name] = part.interpret(NoisySum(part.blocks, piece, part_laws))
        # the least noisy of the noisy numbers of people: that of the means, or of the column with the fewest cells
        least_noisy = min(out.values(), key=lambda e: (e.unit != "value", len(e.mean)))
        n = least_noisy.n + (0 if least_noisy.left_out is None else least_noisy.left_out.n)
        return Estimates(out, n, numeric_values(self.domain), noisy=any(e.noisy for e in out.values()))

    def why_unanswerable(self, affine: Any) -> str | None:
        """Any map of a record can be read: columns without an unbiased figure say so themselves."""
        return None if isinstance(affine, dict) else Phrase("it randomises one attribute, not a record")

    def reference(self, x: tuple[Array, ...]) -> NDArray[np.float64]:
        return np.concatenate([part.reference(xi) for part, xi in zip(self.parts, x, strict=True)])


EXAMPLES = (
    Marginals(Schema({"smoker": Categories(["no", "yes"]), "age": Integers(0, 99), "income": Interval(0.0, 1.0)})),
    Marginals(Schema({"region": Categories(7), "children": Integers(0, 9)})),
    Marginals(
        Schema({"age": Integers(0, 99), "income": Interval(0.0, 1.0), "bmi": Integers(0, 90, absent=20)}), left_out=True
    ),
    Marginals(Schema({"admitted": Dates("2024-02-27", "2024-03-02"), "born": Dates("1999", "2002", "year")})),
)
