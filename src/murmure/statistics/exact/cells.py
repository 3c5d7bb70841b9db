"""How many rows lie in each cell of some columns, jointly: tables, groups, distributions, bisection.

    g(row) = the indicator of its cell,   the last column runs fastest

A column is cut at public numbers c_1 < ... < c_m into the m + 1 cells  x <= c_1,  c_1 < x <= c_2,  ...,  x > c_m;
without cuts, each of its values is a cell. Where a row lies is decided on whole numbers: c < x = first + step i is
i > (c - first) / step, so nothing is rounded. A row with a label that is not listed lies in no cell.

Protected: one block. A row is in one cell, so it adds 1 in all, however many cells there are.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.blocks import Block, NoisySum
from murmure.core.catalogue_entries import SumEntry
from murmure.core.domain import Categories, Integers, Interval
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.schema import Schema
from murmure.core.types import Array, Ints
from murmure.show.phrase import Several
from murmure.statistics.base.one_hot_cells import one_hot_block
from murmure.statistics.base.statistic import MAX_JOINT_CELLS, ProtectableStatistic, counts_of, joint_codes, one_hot
from murmure.statistics.estimates.cell_counts import CellCounts
from murmure.statistics.expressions.factors import rounded_columns
from murmure.statistics.expressions.terms import grid_of, is_number

CUT_PATTERN = re.compile(r"[+-]?(?:\d{1,80}(?:\.\d{0,80})?|\.\d{1,80})(?:[eE][+-]?\d{1,2})?|[+-]?\d{1,80}/\d{1,80}")


@dataclass(frozen=True)
class Cells(ProtectableStatistic):
    """`Cells(schema, (None, ("18", "65")))`: the number of rows in each cell of two columns.

    domain: its private columns, in this order, are the axes. cuts: one for each; None: every value is a cell.
    """

    domain: Schema
    cuts: tuple[tuple[str, ...] | None, ...]

    largest = 1
    entry = SumEntry(order=120)

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Schema) or not self.domain.private:
            raise InvalidParameter(
                "Cells.domain must be a Schema with private columns, got {got}.", got=shorten(self.domain)
            )
        names = self.domain.private
        if not isinstance(self.cuts, tuple | list) or len(self.cuts) != len(names):
            raise InvalidParameter(
                "Cells.cuts must hold None or some numbers for each of {names}, got {cuts}.",
                hint="({number}{plural}) counts every value",
                names=shorten(list(names), 120),
                cuts=shorten(self.cuts),
                number=", ".join(["None"] * len(names)),
                plural="," * (len(names) == 1),
            )
        parsed = tuple(self._parse_cuts(name, cuts) for name, cuts in zip(names, self.cuts, strict=True))
        object.__setattr__(self, "cuts", parsed)
        if self.width > MAX_JOINT_CELLS:
            raise InvalidParameter(
                "Cells has {width} cells, more than {max_joint_cells}.",
                hint='group columns with many values: Cells(schema, (("18", "65"), ...))',
                width=self.width,
                max_joint_cells=MAX_JOINT_CELLS,
            )

    def _parse_cuts(self, name: str, cuts: Any) -> tuple[str, ...] | None:
        if cuts is None:
            return None
        if not is_number(self.domain, name):
            raise InvalidParameter(
                "Cells.cuts: the labels of column {name!r} have no order.", hint="None counts each of them", name=name
            )
        if not isinstance(cuts, tuple | list) or not cuts:
            raise InvalidParameter(
                "Cells.cuts of column {name!r} must be numbers or None, got {got}.",
                hint='("18", "65")',
                name=name,
                got=shorten(cuts),
            )
        texts = tuple(cut.strip() if isinstance(cut, str) else repr(cut) for cut in cuts)
        for text in texts:
            if CUT_PATTERN.fullmatch(text) is None or re.search("/0+$", text):
                raise InvalidParameter(
                    "Cells.cuts of column {name!r}: {text} is not a decimal.", name=name, text=shorten(text)
                )
        if any(Fraction(a) >= Fraction(b) for a, b in pairwise(texts)):
            raise InvalidParameter(
                "Cells.cuts of column {name!r} must increase, got {got}.", name=name, got=shorten(texts, 120)
            )
        return texts

    # -- cells --------------------------------------------------------------------------------------------------------

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """How many cells each column has."""
        columns = zip(self.domain.private, self.cuts, strict=True)
        return tuple(self.domain[name].size if cuts is None else len(cuts) + 1 for name, cuts in columns)

    @property
    def width(self) -> int:
        return math.prod(self.shape)

    @cached_property
    def axes(self) -> tuple[tuple[str, ...], ...]:
        """The labels of every column's cells."""
        columns = zip(self.domain.private, self.cuts, strict=True)
        return tuple(
            tuple(self.domain[name].labels()) if cuts is None else _interval_labels(cuts) for name, cuts in columns
        )

    @cached_property
    def _firsts(self) -> tuple[Ints | None, ...]:
        """Of every column that is cut, the first code of each cell but the lowest."""
        out: list[Ints | None] = []
        for name, cuts in zip(self.domain.private, self.cuts, strict=True):
            if cuts is None:
                out.append(None)
                continue
            domain: Any = self.domain[name]
            first, step = grid_of(domain)
            # Fractions, since a cut such as 0.1 must fall on the same side of a value on every machine.
            codes = [math.floor((Fraction(cut) - first) / step) + 1 for cut in cuts]
            out.append(np.array([min(max(code, 0), domain.size) for code in codes], np.int64))
        return tuple(out)

    def _codes(self, x: Sequence[Array]) -> Ints:
        columns = tuple(
            np.asarray(column) if firsts is None else np.searchsorted(firsts, column, side="right")
            for column, firsts in zip(x, self._firsts, strict=True)
        )
        return joint_codes(columns, self.shape)

    @property
    def blocks(self) -> tuple[Block, ...]:
        return (one_hot_block(self.width),)

    def in_words(self) -> str:
        """The question in the words of a ledger and a release."""
        names = self.domain.private
        if len(names) < 4:
            return Phrase(
                "Counts of rows in {width} cells of {columns}",
                width=self.width,
                columns=Several(
                    names,
                    Phrase(
                        " and ",
                    ),
                ),
            )
        return Phrase("Counts of rows in {width} cells of {n} columns", width=self.width, n=len(names))

    # -- rows ---------------------------------------------------------------------------------------------------------

    def lift(self, x: Sequence[Array]) -> Ints:
        return one_hot(self._codes(x), self.width)

    def tally(self, x: Sequence[Array]) -> Ints:
        return counts_of(self._codes(x), self.width)

    # -- what is read -------------------------------------------------------------------------------------------------

    def interpret(self, noisy: NoisySum) -> CellCounts:
        return self._estimate(noisy.sum, noisy.laws[0], None)

    def interpret_exact(self, total: Ints, n: int) -> CellCounts:
        return self._estimate(np.asarray(total, np.int64), None, n)

    def _estimate(self, total: Ints, law: Any, n: int | None) -> CellCounts:
        counts = np.asarray(total, np.int64 if law is None else np.float64).reshape(self.shape)
        return CellCounts(self.domain.private, self.axes, counts, n, law, rounded_columns(self.domain))

    def reference(self, x: Sequence[Array]) -> NDArray[np.float64]:
        codes = self._codes(x)
        return np.array([np.count_nonzero(codes == cell) for cell in range(self.width)], np.float64)


def _interval_labels(cuts: tuple[str, ...]) -> tuple[str, ...]:
    inner = [f"({a}, {b}]" for a, b in pairwise(cuts)]
    return (f"<= {cuts[0]}", *inner, f"> {cuts[-1]}")


_PEOPLE = Schema({"ward": Categories(["A", "B", "C"]), "age": Integers(0, 99), "dose": Interval(0.0, 2.0, cells=8)})

EXAMPLES = (
    Cells(_PEOPLE, (None, ("17", "64.5"), ("0.5", "1", "1.6"))),
    Cells(Schema({"children": Integers(0, 6)}), (None,)),
    Cells(Schema({"age": Integers(-50, 50), "smoker": Categories(["no", "yes"])}), (("-70", "-10", "0", "50"), None)),
)
