"""Quantiles of a number or a date, as many as you like for the price of one.

g(x) = the indicator of x on every level of a tree over the grid: its leaf, the leaf's parent, and so on;
finish: the tree made consistent, then the distribution function inverted. A row without a number is in none of them;
where there may be such rows, the first level has one place more, which counts them (base/left_out_rows.py).

Protected: a block a level, to which a row adds 1. With h levels of branching b a prefix is made of about h b / 4 noisy
counts with h times the noise, so h^3 (b - 1) would be made small; least squares gains from levels, and h^2.7 (b - 1)
finds trees whose average variance is within a few per cent of the best (tested). The counts of a node and of its
children are averaged by their variances, up and down: the least-squares tree (Hay, Rastogi, Miklau, Suciu, VLDB 2010,
section 4; for uneven nodes Honaker 2015), which also gives the exact variance of every prefix.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.blocks import Block, NoisySum
from murmure.core.catalogue_entries import QueryForm, StatisticEntry
from murmure.core.domain import Dates, Integers, Interval
from murmure.core.errors import InvalidParameter, shorten
from murmure.core.estimates.estimate import Estimate
from murmure.core.estimates.noisy_estimators import TOO_NOISY, QuantileEstimator, variance_of, with_cached_laws
from murmure.core.types import Array, CountsLeftOut, FromCounts, Ints
from murmure.statistics.base.left_out_rows import counts_left_out, left_out_field, left_out_of
from murmure.statistics.base.moments import Number, check_number
from murmure.statistics.base.statistic import MAX_JOINT_CELLS, ProtectableStatistic, counts_with_nobody, people_count

Floats = NDArray[np.float64]


def branching(size: int) -> int:
    """How many children a node has: the least h^2.7 (b - 1) among trees of h levels, compared in whole numbers."""

    def children(h: int) -> int:
        b = max(2, round(size ** (1 / h)))
        return next(c for c in range(max(2, b - 1), b + 3) if c**h >= size)

    levels = range(1, max(2, size.bit_length() + 1))
    return min((h**27 * (children(h) - 1) ** 10, children(h)) for h in levels)[1]


@dataclass(frozen=True)
class Quantile(ProtectableStatistic[Estimate], CountsLeftOut, FromCounts):
    """Quantiles of Integers, of an Interval's grid or of Dates: `Quantile(domain, q=(0.25, 0.5, 0.75))`.

    Those of dates are dates; in `mean` they are numbers, counted from the first date of the domain, which is 0.

    >>> import murmure as mu
    >>> plan = mu.Plan(mu.Quantile(mu.Integers(0, 120), (0.25, 0.5, 0.75)), curator=mu.DiscreteLaplace(epsilon=1.0))
    >>> print(mu.run(plan, list(range(18, 90)) * 50, rng=mu.Random.seeded(7)).estimate)
                      value       low      high
    quantile 0.25        35        35        36
    median               54        53        54
    quantile 0.75        71        71        72
    <BLANKLINE>
    about 3,590 people; 95% intervals by inversion of the distribution function (every value with a
      number of people below it that the errors allow), for these people (fixed population)
    Rows left out (their number is missing or not in the schema): about 0 (0 to 6)
    """

    domain: Number | Dates
    q: float | tuple[float, ...] | list[float] = 0.5
    left_out: bool = left_out_field()  # also count the rows without a number; a curator's plan sets it

    entry = StatisticEntry(
        order=80,
        query=QueryForm("quantile", numbers=True, dates=True, levels="q"),
        study=(
            "the values of {columns} below which these parts of the rows lie: {q} (quantiles), read off {width} "
            "counts of rows"
        ),
        title="Quantiles of {column}",
        sentence="Quantiles of {column}",
    )

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Dates):
            check_number("Quantile", self.domain)
        if self.domain.size > MAX_JOINT_CELLS:
            raise InvalidParameter(
                "Quantile.domain has {size} values, more than {max_joint_cells}.",
                hint="use an Interval with fewer cells, or weeks for days: the grid need not be finer than the noise",
                size=self.domain.size,
                max_joint_cells=MAX_JOINT_CELLS,
            )
        q = tuple(self.q) if isinstance(self.q, list | tuple) else self.q
        for one in q if isinstance(q, tuple) else (q,):
            if isinstance(one, bool) or not isinstance(one, int | float) or not 0 < one < 1:
                raise InvalidParameter(
                    "Quantile.q must lie strictly between 0 and 1, got {got}.",
                    hint="0.5 is the median; the smallest and largest values cannot be protected",
                    got=shorten(one),
                )
        if q == ():
            raise InvalidParameter("Quantile.q is empty.", hint="q=0.5 is the median")
        object.__setattr__(self, "q", q)

    largest = 1
    handles_nobody = True

    @cached_property
    def probabilities(self) -> tuple[float, ...]:
        return tuple(self.q) if isinstance(self.q, tuple | list) else (self.q,)

    @cached_property
    def levels(self) -> tuple[int, ...]:
        """The number of nodes of every level, the leaves last; there is no root: the first level adds up to it."""
        b, sizes = branching(self.domain.size), [self.domain.size]
        while sizes[0] > b:
            sizes.insert(0, -(-sizes[0] // b))
        return tuple(sizes)

    @property
    def width(self) -> int:
        return sum(self.levels) + counts_left_out(self)

    @property
    def blocks(self) -> tuple[Block, ...]:
        more = [counts_left_out(self)] + [False] * len(self.levels)
        sizes = [size + one for size, one in zip(self.levels, more, strict=False)]
        return tuple(Block(f"level {i}", size, 1, 1, 1.0, 2, 2) for i, size in enumerate(sizes, 1))

    def lift(self, x: Array) -> Ints:
        x, b = np.asarray(x).astype(np.int64), branching(self.domain.size)
        here = x < self.domain.size
        out: list[Ints] = []
        for up, size in enumerate(reversed(self.levels)):
            out.insert(0, ((x[:, None] // b**up == np.arange(size)) & here[:, None]).astype(np.int64))
        if counts_left_out(self):
            out.insert(1, (~here).astype(np.int64)[:, None])
        return np.concatenate(out, axis=1)

    def tally(self, x: Array) -> Ints:
        return self.from_counts(counts_with_nobody(x, self.domain.size))

    def from_counts(self, counts: Ints) -> Ints:
        counts = np.asarray(counts)
        b, out = branching(self.domain.size), [counts[..., :-1]]
        for _ in self.levels[1:]:
            out.insert(0, np.add.reduceat(out[0], np.arange(0, out[0].shape[-1], b), axis=-1))
        if counts_left_out(self):
            out.insert(1, counts[..., -1:])
        return np.concatenate(out, axis=-1)

    def interpret(self, noisy: NoisySum) -> Estimate:
        noisy = with_cached_laws(noisy)
        parts = [part[:size].astype(float) for (_, part, _), size in zip(noisy, self.levels, strict=True)]
        tree = _Tree(parts, noisy.laws, branching(self.domain.size))
        q = np.array(self.probabilities)
        F, total = np.cumsum(tree.leaves), float(tree.leaves.sum())
        sd = np.sqrt(np.array([tree.variances(float(one)) for one in q]))
        estimator = QuantileEstimator(
            F - q[:, None] * total,
            sd,
            q,
            noisy.laws,
            total,
            math.sqrt(tree.total_variance),
            self._values,
            0.0 if isinstance(self.domain, Dates) else self.domain.scale()[2],
        )
        labels = [f"quantile {one:g}" if one != 0.5 else "median" for one in self.probabilities]
        noisy_levels, enough = any(law is not None for law in noisy.laws), estimator.divides(0.95)
        return Estimate(
            labels,
            estimator.values[estimator.chosen] if enough else np.full(len(labels), np.nan),
            people_count(total),
            "value",
            estimator,
            None if enough else TOO_NOISY,
            noisy=noisy_levels,
            left_out=left_out_of(noisy, "level 1") if counts_left_out(self) else None,
            names=self.domain.values if isinstance(self.domain, Dates) else None,
        )

    @cached_property
    def _values(self) -> Floats:
        if isinstance(self.domain, Dates):
            return np.arange(self.domain.size, dtype=np.float64)
        return self.domain.numbers()

    def reference(self, x: Array) -> NDArray[np.float64]:
        return np.quantile(self._values[x], self.probabilities, method="inverted_cdf")


class _Tree:
    """The least-squares tree: leaves that add up as their parents do, and how far their sums are off.

    Up: z of a node is its own count and the sum of its children's z, averaged by their variances. Down: what the
    children lack of their parent is shared out by their variances. (Generalised least squares for independent noise.)
    """

    def __init__(self, levels: list[Floats], laws: Any, b: int) -> None:
        self.b = b
        z, V = levels[-1], np.full(len(levels[-1]), variance_of(laws[-1]))
        nodes = [(z, V)]
        for counts, law in zip(levels[-2::-1], laws[-2::-1], strict=True):
            starts, s2 = np.arange(0, len(z), b), variance_of(law)
            below, spread = np.add.reduceat(z, starts), np.add.reduceat(V, starts)
            trust = s2 / (s2 + spread) if s2 else np.zeros(len(below))  # of the children, against the node's own count
            z, V = trust * below + (1 - trust) * counts, trust * spread
            nodes.insert(0, (z, V))
        self.nodes = nodes
        final = nodes[0][0]
        for z, V in nodes[1:]:
            parent = np.arange(len(z)) // b
            below, spread = np.bincount(parent, z), np.bincount(parent, V)
            share = V / np.where(spread > 0, spread, 1.0)[parent]
            final = z + share * (final - below)[parent]
        # Every level now adds up to the one above, so sums of leaves are sums of nodes.
        self.leaves = final

    @property
    def total_variance(self) -> float:
        return float(self.nodes[0][1].sum())

    def variances(self, q: float) -> Floats:
        """Of  F(x) - q T  for every leaf x, exactly.

        Given the estimate of a node, what its children add is independent of it: with weights A_i on the children's
        estimates c_i = z_i + V_i/V (P - sum z),
            sum A_i c_i = A P + R,   A = sum A_i V_i / V,   Var R = sum A_i^2 V_i - A^2 V.
        Left of x the weight is 1 - q, right of it -q, so only the path of x needs work.
        """
        left, right = 1 - q, -q
        A = np.full(len(self.leaves), left)
        R = np.zeros(len(self.leaves))
        at = np.arange(len(self.leaves))
        for _, V in self.nodes[:0:-1]:
            parent = np.arange(len(V)) // self.b
            spread = np.bincount(parent, V)
            first = np.minimum(parent * self.b, len(V) - 1)
            running = np.cumsum(V) - V
            V_left = (running - running[first])[at]
            V_node, whole = V[at], spread[parent][at]
            V_right = np.maximum(whole - V_left - V_node, 0.0)
            up = (left * V_left + A * V_node + right * V_right) / np.where(whole > 0, whole, 1.0)
            R += np.maximum(left**2 * V_left + A**2 * V_node + right**2 * V_right - up**2 * whole, 0.0)
            A, at = up, parent[at]
        V = self.nodes[0][1]
        V_left = (np.cumsum(V) - V)[at]
        V_right = np.maximum(V.sum() - V_left - V[at], 0.0)
        return np.asarray(left**2 * V_left + A**2 * V[at] + right**2 * V_right + R)


EXAMPLES = (
    Quantile(Integers(-5, 20)),
    Quantile(Interval(0.0, 3.0, cells=300), (0.1, 0.5, 0.9)),
    Quantile(Integers(0, 4), 0.25),
    Quantile(Integers(0, 4), 0.25, left_out=True),
    Quantile(Integers(-5, 20), left_out=True),
    Quantile(Dates("2023-11", "2025-02", unit="month"), (0.25, 0.5)),
)
