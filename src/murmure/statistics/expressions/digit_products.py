"""Exact sums of products of whole numbers: matrix products of digits, and Python's integers where digits are joined.

    v = sum_i d_i 2**(22 i),   |d_i| <= 2**22      so 2**9 rows of products d_i d_j stay within 2**53: floats hold them
    sum of v w = sum_ij 2**(22 (i + j)) (D D')_ij,  one matrix product for all pairs of all factors

NumPy's BLAS multiplies tiles; compiled kernels (digit_kernels.py), where they are installed and there are enough rows,
cut and multiply what is in the cache. Both add up the same whole numbers, so the sums are equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from murmure.core.cells.gridded_floats import GriddedFloats
from murmure.core.types import Array
from murmure.statistics.expressions.gridded_steps import Scratch, kernels_of_digits, steps_of

BITS = 22  # of a digit
LIMB = 62 // BITS  # digits of a number beyond int64 that are cut off at a time
FLUSH = 1 << 18  # rows whose products of digits int64 holds: 2**(22 + 22 + 18) = 2**62
TILE, SLICE = 32, 1 << 8  # lines and rows of one product: below what BLAS gives to threads that wait for one another
SIDE = 4  # lines of a tile of the kernels


class DigitProducts:
    """The sums of the products of all pairs of some factors, from blocks of rows: `put` each factor, then `add`."""

    compiled = False  # whether `put_floats` takes floats as they are

    def __init__(self, bounds: Sequence[int], rows: int) -> None:
        """bounds: the largest absolute value of each factor. rows: of a block, at most."""
        self.counts = [-(-max(1, bound.bit_length()) // BITS) for bound in bounds]
        self.first = [0, *accumulate(self.counts)]  # of each factor the line of its lowest digit
        self.lines = self.first[-1]
        self.partial, self.rows = np.zeros((self.lines, self.lines), np.int64), 0
        self.matrix = np.zeros((self.lines, self.lines), object)
        self._make_room(rows)

    def _make_room(self, rows: int) -> None:
        self.d, self.word = np.zeros((self.lines, -(-rows // SLICE) * SLICE)), np.empty(rows, np.int64)

    def put(self, factor: int, v: Array) -> None:
        """The numbers of a factor: its digits, the highest with the sign."""
        n = len(v)
        d, word = self.d[:, :n], self.word[:n]
        line, count = self.first[factor], self.counts[factor]
        while v.dtype == object and count > LIMB:
            self._cut((v & ((1 << BITS * LIMB) - 1)).astype(np.int64), d[line : line + LIMB], word, signed=False)
            v, line, count = v >> BITS * LIMB, line + LIMB, count - LIMB
        self._cut(v.astype(np.int64, copy=False), d[line : line + count], word, signed=True)

    def _cut(self, v: Array, d: NDArray[np.float64], word: NDArray[np.int64], signed: bool) -> None:
        for i in range(len(d)):
            if signed and i == len(d) - 1:
                d[i] = np.right_shift(v, BITS * i, out=word) if i else v
            else:
                np.right_shift(v, BITS * i, out=word)
                np.bitwise_and(word, (1 << BITS) - 1, out=word)
                d[i] = word

    def put_floats(self, factor: int, column: GriddedFloats, add: int) -> None:
        raise NotImplementedError

    def add(self, n: int) -> None:
        """Add up the products of the first n rows of what was put."""
        if not self.lines:
            return
        if self.rows + n > FLUSH:
            self._flush()
        self.rows += n
        self._multiply(n)

    def _multiply(self, n: int) -> None:
        end = -(-n // SLICE) * SLICE
        self.d[:, n:end] = 0.0
        self.partial += squared(self.d[:, :end])

    def _flush(self) -> None:
        self.matrix += self.partial
        self.partial[:] = 0
        self.rows = 0

    def joined(self, pairs: Iterable[tuple[int, int]]) -> dict[tuple[int, int], int]:
        """The sums of the products of these pairs of factors."""
        self._flush()
        out = {}
        for a, b in pairs:
            parts = (
                int(self.matrix[self.first[a] + i, self.first[b] + j]) << BITS * (i + j)
                for i in range(self.counts[a])
                for j in range(self.counts[b])
            )
            out[a, b] = sum(parts)
        return out


class CompiledDigitProducts(DigitProducts):
    """The same sums, from kernels. No factor is wide."""

    compiled = True

    def __init__(self, bounds: Sequence[int], rows: int, kernels: ModuleType) -> None:
        self.kernels = kernels
        super().__init__(bounds, rows)

    def _make_room(self, rows: int) -> None:
        side = -(-self.lines // SIDE) * SIDE
        self.room, self.sums = np.zeros((side, self.kernels.PIECE)), np.zeros((side, side), np.int64)
        self.values, self.digits = np.empty((len(self.counts), rows), np.int64), np.array(self.counts)
        self.scratch = Scratch.of(rows)

    def put(self, factor: int, v: Array) -> None:
        self.values[factor, : len(v)] = v

    def put_floats(self, factor: int, column: GriddedFloats, add: int) -> None:
        """The numbers `add` + steps, steps those of the column on the grid of its domain."""
        steps_of(column, add, self.kernels, self.values[factor], self.scratch)

    def _multiply(self, n: int) -> None:
        self.kernels.add_products(self.values[:, :n], self.digits, self.room, self.sums)

    def _flush(self) -> None:
        self.partial = (np.triu(self.sums) + np.triu(self.sums, 1).T)[: self.lines, : self.lines]
        self.sums[:] = 0
        super()._flush()


def digit_products(bounds: Sequence[int], rows: int, block: int) -> DigitProducts:
    """For so many rows in all, a block of them at a time."""
    wide = any(bound >= 1 << 62 for bound in bounds)
    kernels = None if wide or not bounds else kernels_of_digits(rows)
    block = min(block, rows)
    return DigitProducts(bounds, block) if kernels is None else CompiledDigitProducts(bounds, block, kernels)


def squared(d: NDArray[np.float64]) -> NDArray[np.int64]:
    """D D', tile by tile. Threads are the engine's: those of BLAS take a hundred times as long on a busy machine."""
    out = np.empty((len(d), len(d)), np.int64)
    parts = d.reshape(len(d), -1, SLICE).transpose(1, 0, 2)
    for a in range(0, len(d), TILE):
        for b in range(a, len(d), TILE):
            tile = (parts[:, a : a + TILE] @ parts[:, b : b + TILE].transpose(0, 2, 1)).astype(np.int64).sum(axis=0)
            out[a : a + TILE, b : b + TILE] = tile
            out[b : b + TILE, a : a + TILE] = tile.T
    return out
