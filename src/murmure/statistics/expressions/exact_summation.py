"""Exact sums of many terms over many rows, a block at a time: products by their digits, others one by one.

A row whose label is not listed is nobody: whatever reads that column adds zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.cells.gridded_floats import GriddedFloats
from murmure.core.schema import Schema
from murmure.core.types import Array
from murmure.statistics.expressions.digit_products import digit_products
from murmure.statistics.expressions.parser import labelled
from murmure.statistics.expressions.terms import Terms

ROWS = 1 << 13  # at a time: they stay in the cache
DENSE = 64  # a full matrix product is worth it while at least one in 64 of its pairs is wanted


@dataclass(frozen=True, eq=False)
class ExactSummation:
    """The sums of some terms. `wanted`: their numbers, one for each figure.

    given: of every figure two terms whose product it is; without, products are found where the terms are some.
    """

    terms: Terms
    wanted: tuple[int, ...]
    wide: bool  # whether totals are Python's integers
    given: tuple[tuple[int, int] | None, ...] | None = None

    @cached_property
    def pairs(self) -> Sequence[tuple[int, int] | None]:
        """Of every figure the two terms whose product it is; None: the term itself is added up."""
        if self.given is not None:
            return self.given
        out: list[tuple[int, int] | None] = []
        for number in self.wanted:
            term = self.terms[number]
            of = term.of * 2 if term.kind == "power" and term.detail == 2 else term.of
            product = term.kind == "times" or (term.kind == "power" and term.detail == 2)
            fits = product and not any(self.terms[a].wide or self.terms[a].is_constant for a in of)
            out.append((of[0], of[1]) if fits else None)
        factors = {a for pair in out if pair is not None for a in pair}
        if len(factors) ** 2 > DENSE * max(1, sum(pair is not None for pair in out)):
            return [None] * len(out)
        return out

    @cached_property
    def factors(self) -> list[int]:
        return sorted({a for pair in self.pairs if pair is not None for a in pair})

    @cached_property
    def alone(self) -> list[int]:
        return sorted({a for a, pair in zip(self.wanted, self.pairs, strict=True) if pair is None})

    def total(self, codes: Sequence[Array]) -> NDArray[Any]:
        """The sums of the whole numbers v of every figure, over these rows."""
        single = dict.fromkeys(self.alone, 0)
        place = {a: i for i, a in enumerate(self.factors)}
        products = digit_products([self.terms[a].max_abs for a in self.factors], len(codes[0]), ROWS)
        floats = {a: name for a in self.factors if (name := self._floats(a, codes)) if products.compiled}
        order = self.terms.dependencies([*(a for a in self.factors if a not in floats), *self.alone])
        for n, block in blocks_of(self.terms.schema, codes):
            values, nobody = self.terms.values(order, block), _nobody(self.terms.schema, block)
            for a in self.alone:
                single[a] += _sum(self._present(a, values[a], nobody, n))
            for a, i in place.items():
                if a in floats:
                    products.put_floats(i, block[floats[a]], self._shift(a))
                else:
                    products.put(i, self._present(a, values[a], nobody, n))
            products.add(n)
        pairs = {pair for pair in self.pairs if pair is not None}
        found = products.joined((place[a], place[b]) for a, b in pairs)
        figures = [
            single[a] if pair is None else found[place[pair[0]], place[pair[1]]]
            for a, pair in zip(self.wanted, self.pairs, strict=True)
        ]
        return np.array(figures, object if self.wide else np.int64)

    def _floats(self, a: int, codes: Sequence[Array]) -> str | None:
        """The column that a factor is, if its floats are put on their grid a block at a time; else None."""
        term = self.terms[a]
        if term.kind != "column" or term.detail[2] != 1:
            return None
        name: str = term.detail[0]
        return name if isinstance(codes[self.terms.schema.private.index(name)], GriddedFloats) else None

    def _shift(self, a: int) -> int:
        """What a factor is more than the steps of its column."""
        name, first, _ = self.terms[a].detail
        return first - self.terms.schema[name].first  # type: ignore[no-any-return]

    def rows(self, codes: Sequence[Array]) -> NDArray[Any]:
        """What every row adds to every figure."""
        order, parts = self.terms.dependencies(self.wanted), []
        for n, block in blocks_of(self.terms.schema, codes):
            values, nobody = self.terms.values(order, block), _nobody(self.terms.schema, block)
            parts.append(np.stack([self._present(a, values[a], nobody, n) for a in self.wanted], axis=1))
        empty = np.empty((0, len(self.wanted)), np.int64)
        return np.concatenate([empty, *parts]).astype(object if self.wide else np.int64)

    def _present(self, a: int, v: Any, nobody: Mapping[str, Array], n: int) -> Any:
        """The numbers of a term, zero where a label that it reads is nobody's."""
        if isinstance(v, int):
            return np.full(n, v, object if abs(v) >= 1 << 62 else np.int64)
        for name in self.terms[a].columns & nobody.keys():
            v = np.where(nobody[name], 0, v)
        return v


def blocks_of(schema: Schema, codes: Sequence[Array]) -> Iterator[tuple[int, dict[str, Any]]]:
    """A few rows at a time: how many, and the codes of every column."""
    names, rows = schema.private, len(codes[0])
    for a in range(0, rows, ROWS):
        block = {name: _part(column[a : a + ROWS]) for name, column in zip(names, codes, strict=True)}
        yield min(ROWS, rows - a), block


def _part(column: Any) -> Any:
    return column if isinstance(column, GriddedFloats) else np.asarray(column)


def _nobody(schema: Schema, block: Mapping[str, Array]) -> dict[str, Array]:
    """Of the columns in which some row holds a label that is not listed, which rows do."""
    where = {name: block[name] == schema[name].size for name in labelled(schema, block)}
    return {name: rows for name, rows in where.items() if rows.any()}


def _sum(v: Any) -> int:
    if v.dtype == object:
        return sum(v.tolist())
    # 2**13 numbers below 2**62 do not fit into one word: their halves do
    return (int((v >> 32).sum()) << 32) + int((v & 0xFFFFFFFF).sum())
