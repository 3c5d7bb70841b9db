"""A law written out: one row of integer weights per input, each row summing to 2**64 exactly.

Sampling by the alias method (Walker 1977; Vose 1991) in integers: the top bits of the word choose a
column, the rest is compared with the column's threshold. One word, two look-ups, the same cost for
every law, and the weights are exact to the last unit.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from murmure.core.errors import InvalidParameter
from murmure.core.fixed import WORD, Words64, mulhi, smallest_uint
from murmure.core.random import RandomWords
from murmure.core.types import Array, Floats
from murmure.laws.kernel_loader import kernels_for_pieces, native, threads


@dataclass(frozen=True, eq=False)
class TableChannel:
    weights: Words64 = field(repr=False)  # (inputs, outputs)
    rule: dict[str, Any] = field(repr=False)  # how a client rebuilds the weights from few integers

    words, deep, slack, report_ndim = 1, 0, 0.0, 0

    def __post_init__(self) -> None:
        w = self.weights
        # each row wraps to 0 exactly when it sums to a multiple of 2**64; the float sum says which one
        sums_to_one = bool((w.sum(axis=1, dtype=np.uint64) == 0).all()) and bool(
            (np.abs(w.sum(axis=1, dtype=np.float64) / WORD - 1) < 0.5).all()
        )
        if w.ndim != 2 or w.shape[1] < 2 or not sums_to_one or not (w > 0).all():
            raise InvalidParameter("every row of a Table must be positive and sum to 2**64.")

    @property
    def inputs(self) -> int:
        return len(self.weights)

    @property
    def outputs(self) -> int:
        return self.weights.shape[1]

    @cached_property
    def _alias(self) -> tuple[Words64, Array, int]:
        return alias_tables(self.weights)

    @cached_property
    def _entries(self) -> tuple[Words64, int]:
        """A threshold and an alias in one word, so that a draw reads one place of a large table.

        A threshold of a whole share does not fit: it is 0 there, and the alias the column itself.
        """
        threshold, alias, log_columns = alias_tables(self.weights)
        whole = threshold == np.uint64(1 << (64 - log_columns))
        columns = np.arange(1 << log_columns, dtype=np.uint64)
        entries = np.where(whole, columns, (threshold << np.uint64(log_columns)) | alias)
        return entries.reshape(-1), log_columns

    def draw(self, x: Array, words: RandomWords) -> Array:
        entries, log_columns = self._entries
        out = np.empty(len(x), smallest_uint(self.outputs - 1))
        log, shift, mask = np.uint64(log_columns), np.uint64(64 - log_columns), np.uint64((1 << log_columns) - 1)
        kernels, x = kernels_for_pieces(len(x)), native(x)

        def fill(a: int, b: int, block: Words64) -> None:
            u = block[:, 0]
            column = u >> shift
            entry = entries[(x[a:b].astype(np.uint64) << log) + column]
            out[a:b] = np.where((u << log) < (entry & ~mask), column, entry & mask)

        def fast(a: int, b: int, block: Words64) -> None:
            kernels.table_draw(x[a:b], block, entries, log, out[a:b])  # type: ignore[union-attr]

        words.each(*((fill, 1) if kernels is None else (fast, threads())))
        return out

    def prob(self, x: int, y: int) -> Fraction:
        return Fraction(int(self.weights[x, y]), WORD)

    def log_prob(self, x: Array, y: Array) -> Floats:
        picked = self.weights[np.asarray(x).astype(np.int64), np.asarray(y).astype(np.int64)]
        return np.log(picked.astype(np.float64)) - 64 * math.log(2)

    def outcomes(self) -> range:
        return range(self.outputs)

    def report_bits(self) -> float:
        return math.log2(self.outputs)

    def integers(self) -> dict[str, Any]:
        return {"law": "table", **self.rule}


def table_from_rows(weights: list[list[int]]) -> TableChannel:
    """A small law given row by row."""
    return TableChannel(np.array(weights, np.uint64), {"rows": [[str(w) for w in row] for row in weights]})


def ramp(inputs: int, first: int, step: int) -> TableChannel:
    """Two reports; report 1 has weight first + step x, a straight line in the input."""
    ones = [first + step * x for x in range(inputs)]
    weights = np.array([[WORD - one, one] for one in ones], np.uint64)
    return TableChannel(weights, {"first": str(first), "step": str(step)})


def shift_family(g: list[int]) -> TableChannel:
    """P[y | x] proportional to g[|y - x|], normalised for each x; g are integers below 2**64, the largest above 2**62.

    r[x] is a 64-bit reciprocal of row x's sum, and the weight is the high word of g[|y-x|] * r[x] (times 2**shift); the
    few units that flooring loses go to y = x.
    """
    K = len(g)
    ends = list(itertools.accumulate(g))
    r = [(WORD * (WORD - 1)) // (ends[x] + ends[K - 1 - x] - g[0]) for x in range(K)]  # sum of g * r < 2**128
    shift = max(0, max(r).bit_length() - 64)
    rs = [v >> shift for v in r]
    return TableChannel(
        shift_weights(g, rs, shift), {"g": [str(v) for v in g], "r": [str(v) for v in rs], "shift": shift}
    )


def shift_weights(g: list[int], r: list[int], shift: int) -> Words64:
    """The rows of `shift_family`, from the integers that a plan carries."""
    K, rs = len(g), np.array(r, np.uint64)
    distance = np.abs(np.arange(K)[:, None] - np.arange(K)[None, :])
    weights = mulhi(np.array(g, np.uint64)[distance], np.broadcast_to(rs[:, None], (K, K))) << np.uint64(shift)
    weights = np.maximum(weights, np.uint64(1))  # no report is impossible: at a huge epsilon the law saturates
    diagonal = np.arange(K)
    weights[diagonal, diagonal] -= weights.sum(axis=1, dtype=np.uint64)  # wraps: adds 2**64 - sum
    return weights


def alias_tables(weights: Words64) -> tuple[Words64, Array, int]:
    """Thresholds and aliases of every row at once; columns are padded to a power of two.

    A row's heavy columns (more than an even share) fill up its light ones, each in order (Huebschle-Schneider
    and Sanders, ESA 2019, "sweeping"); every step settles one column of every row.
    """
    inputs, outputs = weights.shape
    log_columns = max(1, (outputs - 1).bit_length())
    columns = 1 << log_columns
    share = np.uint64(1 << (64 - log_columns))
    w = np.zeros((inputs, columns), np.uint64)
    w[:, :outputs] = weights
    threshold = np.full((inputs, columns), share, np.uint64)
    alias = np.tile(np.arange(columns, dtype=smallest_uint(columns - 1)), (inputs, 1))

    heavy_flag = w > share
    order = np.argsort(heavy_flag, axis=1, kind="stable")  # light columns first, then heavy ones
    lights = columns - heavy_flag.sum(axis=1)
    row = np.arange(inputs)
    light = np.zeros(inputs, np.int64)
    heavy = lights.copy()
    active = heavy < columns
    row, light, heavy = row[active], light[active], heavy[active]
    left = w[row, order[row, heavy]]
    while len(row):
        current = order[row, heavy]
        give = (left > share) & (light < lights[row])
        # a heavy column tops a light one up ...
        r, c = row[give], order[row[give], light[give]]
        threshold[r, c] = w[r, c]
        alias[r, c] = current[give]
        left[give] -= share - w[r, c]
        light[give] += 1
        # ... or, now light itself, is topped up by the next heavy one
        done = ~give
        more = done & (heavy + 1 < columns)
        r, c = row[done], current[done]
        threshold[r, c] = np.minimum(left[done], share)
        nxt = order[row[more], heavy[more] + 1]
        alias[row[more], current[more]] = nxt
        left[more] = w[row[more], nxt] - (share - left[more])
        heavy[done] += 1
        keep = heavy < columns
        row, light, heavy, left = row[keep], light[keep], heavy[keep], left[keep]
    return threshold, alias, log_columns
