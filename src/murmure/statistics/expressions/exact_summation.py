"""Exact sums of many terms over many rows: a matrix product of digits, and Python's integers where digits are added up.

    v = sum_i d_i 2**(20 i),   |d_i| <= 2**20     so 2**13 rows of products d_i d_j stay within 2**53: floats hold them
    sum of v w = sum_ij 2**(20 (i + j)) (D D')_ij,  one matrix product for all pairs of all terms

A row whose label is not listed is nobody: whatever reads that column adds zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.schema import Schema
from murmure.core.types import Array
from murmure.statistics.expressions.parser import labelled
from murmure.statistics.expressions.terms import Terms

BITS = 20  # of a digit
ROWS = 1 << 13  # at a time: they stay in the cache, and 2**20 * 2**20 * 2**13 = 2**53
FLUSH = 1 << 9  # times that numbers up to 2**53 are added in int64
DENSE = 64  # of the pairs among m factors, so many times fewer may be wanted before each is multiplied alone
TILE, SLICE = 32, 1 << 8  # lines and rows of one product: below what BLAS gives to threads that wait for one another
LIMB = 3  # digits of a number beyond int64 that are cut off at a time


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
        """Of every figure the two terms whose product it is; None: it is added up as it stands."""
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

    @cached_property
    def order(self) -> list[int]:
        return self.terms.dependencies([*self.factors, *self.alone])

    @cached_property
    def digits(self) -> list[tuple[int, int]]:
        """(term, i): which digit of which factor stands in each line of the matrix."""
        return [(a, i) for a in self.factors for i in range(-(-max(1, self.terms[a].max_abs.bit_length()) // BITS))]

    @cached_property
    def _lines_of(self) -> dict[int, list[int]]:
        """Of every factor, its lines."""
        at: dict[int, list[int]] = {}
        for line, (a, _) in enumerate(self.digits):
            at.setdefault(a, []).append(line)
        return at

    def total(self, codes: Sequence[Array]) -> NDArray[Any]:
        """The sums of the whole numbers v of every figure, over these rows."""
        single = dict.fromkeys(self.alone, 0)
        lines = len(self.digits)
        matrix = np.zeros((lines, lines), object)
        partial = np.zeros((lines, lines), np.int64)
        rows = min(ROWS, len(codes[0]))
        d, word = np.zeros((lines, -(-rows // SLICE) * SLICE)), np.empty(rows, np.int64)
        for k, (n, block) in enumerate(blocks_of(self.terms.schema, codes)):
            values, nobody = self.terms.values(self.order, block), _nobody(self.terms.schema, block)
            for a in self.alone:
                single[a] += _sum(self._present(a, values[a], nobody, n))
            if lines:
                for a in self.factors:
                    self._write(a, self._present(a, values[a], nobody, n), d[:, :n], word[:n])
                d[:, n:] = 0.0
                partial += _squared(d).astype(np.int64)
                if k % FLUSH == FLUSH - 1:
                    matrix += partial
                    partial[:] = 0
        if lines:
            matrix += partial
        products = self._joined(matrix)
        figures = [
            single[a] if pair is None else products[pair] for a, pair in zip(self.wanted, self.pairs, strict=True)
        ]
        return np.array(figures, object if self.wide else np.int64)

    def _write(self, a: int, v: Any, d: NDArray[np.float64], word: NDArray[np.int64]) -> None:
        """The digits of a factor, into its lines; `word` is room to work in. The highest digit keeps the sign."""
        lines = self._lines_of[a]
        while v.dtype == object and len(lines) > LIMB:
            self._cut((v & ((1 << BITS * LIMB) - 1)).astype(np.int64), lines[:LIMB], d, word, signed=False)
            v, lines = v >> BITS * LIMB, lines[LIMB:]
        self._cut(v.astype(np.int64, copy=False), lines, d, word, signed=True)

    def _cut(
        self, v: Array, lines: Sequence[int], d: NDArray[np.float64], word: NDArray[np.int64], signed: bool
    ) -> None:
        for i, line in enumerate(lines):
            if signed and i == len(lines) - 1:
                d[line] = np.right_shift(v, BITS * i, out=word) if i else v
            else:
                np.right_shift(v, BITS * i, out=word)
                np.bitwise_and(word, (1 << BITS) - 1, out=word)
                d[line] = word

    def _joined(self, matrix: NDArray[Any]) -> dict[tuple[int, int], int]:
        at, out = self._lines_of, {}
        for pair in {pair for pair in self.pairs if pair is not None}:
            a, b = pair
            parts = (int(matrix[p, q]) << BITS * (i + j) for i, p in enumerate(at[a]) for j, q in enumerate(at[b]))
            out[pair] = sum(parts)
        return out

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


def _squared(d: NDArray[np.float64]) -> NDArray[np.float64]:
    """D D', tile by tile. Threads are the engine's: those of BLAS take a hundred times as long on a busy machine."""
    out = np.empty((len(d), len(d)))
    parts = d.reshape(len(d), -1, SLICE).transpose(1, 0, 2)
    for a in range(0, len(d), TILE):
        for b in range(a, len(d), TILE):
            tile = (parts[:, a : a + TILE] @ parts[:, b : b + TILE].transpose(0, 2, 1)).sum(axis=0)
            out[a : a + TILE, b : b + TILE] = tile
            out[b : b + TILE, a : a + TILE] = tile.T
    return out


def blocks_of(schema: Schema, codes: Sequence[Array]) -> Iterator[tuple[int, dict[str, Array]]]:
    """A few rows at a time: how many, and the codes of every column."""
    names, rows = schema.private, len(codes[0])
    for a in range(0, rows, ROWS):
        block = {name: np.asarray(column[a : a + ROWS]) for name, column in zip(names, codes, strict=True)}
        yield min(ROWS, rows - a), block


def _nobody(schema: Schema, block: Mapping[str, Array]) -> dict[str, Array]:
    """Of the columns in which some row holds a label that is not listed, which rows do."""
    where = {name: block[name] == schema[name].size for name in labelled(schema, block)}
    return {name: rows for name, rows in where.items() if rows.any()}


def _sum(v: Any) -> int:
    if v.dtype == object:
        return sum(v.tolist())
    # 2**13 numbers below 2**62 do not fit into one word: their halves do
    return (int((v >> 32).sum()) << 32) + int((v & 0xFFFFFFFF).sum())
