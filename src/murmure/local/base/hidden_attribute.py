"""One attribute of a hidden draw: real with chance s, fake otherwise.

    P[cell v supported | x] = s (p if v = x else q) + (1-s) fake_v  =  D1_v if v = x, D0_v otherwise.

(D as in Arcolezi et al., CIKM 2021.)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.counts import check_counts
from murmure.core.domain import Domain
from murmure.core.estimates.estimate import CellEstimator, Estimate, share_variance
from murmure.core.types import Affine, Array, Ints
from murmure.laws.hidden_draw import FakeCode, FakeValue, HiddenPart


@dataclass(frozen=True)
class HiddenOracle:
    """A frequency oracle of one attribute among fakes: tally and estimate. The law is that of the whole record."""

    real: Any  # GRR, SUE or OUE
    law: HiddenPart = field(repr=False)
    chance: Fraction

    @property
    def domain(self) -> Domain:
        return self.real.domain  # type: ignore[no-any-return]

    def tally(self, reports: Array) -> Ints:
        return self.real.tally(reports)  # type: ignore[no-any-return]

    @cached_property
    def fake_chances(self) -> tuple[Fraction, ...]:
        """The chance that a fake supports each cell; one entry where all cells are alike."""
        s, k = self.real.supports, self.domain.size
        if isinstance(self.law, FakeCode):
            return tuple(self.law.fake.prob(v) for v in range(k))
        if isinstance(self.law, FakeValue):
            return tuple(s.q + (s.p - s.q) * self.law.fake.prob(v) for v in range(k))
        return (s.q,)

    def affine(self) -> Affine:
        s = self.real.supports
        offset = tuple(self.chance * s.q + (1 - self.chance) * fake for fake in self.fake_chances)
        return Affine("cells", offset, (self.chance * (s.p - s.q),))

    @cached_property
    def _cells(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """D1 and D0 of every cell."""
        affine = self.affine()
        low = np.array([float(o) for o in affine.offset]) * np.ones(self.domain.size)
        return low + float(affine.slope[0]), low

    def cross(self, f: NDArray[np.float64]) -> NDArray[np.float64]:
        """Covariance of the cells of one report, off the diagonal.

        E[Y_u Y_v] - D(u|x) D(v|x), averaged over people: a code supports one cell only; bits of nobody and all bits
        but that of the true value are independent; the bits of a fake value move together.
        """
        _, low = self._cells
        s, slope = float(self.chance), float(self.affine().slope[0])
        pair = np.add.outer(f, f)
        product = np.outer(low, low) + slope * (np.outer(f, low) + np.outer(low, f))
        if isinstance(self.law, FakeCode):
            return -product
        p, q = float(self.real.supports.p), float(self.real.supports.q)
        both = s * (q * q + pair * q * (p - q))
        if isinstance(self.law, FakeValue):
            prior = self.law.fake.shares()
            both = both + (1 - s) * (q * q + np.add.outer(prior, prior) * q * (p - q))
        else:
            both = both + (1 - s) * q * q
        return both - product

    def spread(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """The variance of sum w_v Y_v, Y_v = 1 where a report supports v, for every value that a person may hold.

        `cross` at the share 1 of each value, added up over all pairs u != v with w_u w_v.
        """
        high, low = self._cells
        s, slope = float(self.chance), float(self.affine().slope[0])
        whole, squares, lows = w.sum(), (w * w).sum(), (w * low).sum()
        out = (w * w * low * (1 - low)).sum() + w * w * (high * (1 - high) - low * (1 - low))
        out = out - (lows**2 - (w * w * low * low).sum()) - 2 * slope * w * (lows - w * low)
        if isinstance(self.law, FakeCode):
            return np.asarray(out)
        p, q = float(self.real.supports.p), float(self.real.supports.q)
        out = out + q * q * (whole**2 - squares) + 2 * s * q * (p - q) * w * (whole - w)
        if isinstance(self.law, FakeValue):
            out = out + 2 * (1 - s) * q * (p - q) * (self.law.fake.shares() * w * (whole - w)).sum()
        return np.asarray(out)

    def estimate(self, total: Ints, n: int) -> Estimate:
        high, low = self._cells
        each = 1 if isinstance(self.law, FakeCode) else None  # a code, real or fake, supports one cell
        counts = check_counts(type(self.real).__name__, total, n, self.domain.size, each)
        estimator = CellEstimator(counts, n, high, low, self.cross, each == 1, self.spread)
        return Estimate(self.domain.labels(), estimator.raw, n, "share", estimator)

    def variance(self, f: Any, n: int) -> NDArray[np.float64]:
        """Exact variance of every share for a fixed population of n people with shares f."""
        high, low = self._cells
        if np.ndim(f) == 0:  # the same share for any cell: their mean
            return np.asarray(share_variance(f, high, low).mean() / n)
        return share_variance(f, high, low) / n
