"""Shares without what forgers are supposed to have added. A guess about the forgers, so biased, and without intervals.

    fhat = (1 - b) f + b z,   b = m / n,   so   f = (fhat - b z) / (1 - b),   then the nearest shares that sum to one.

z is what forged reports add on average. With declared targets it is that of the maximal gain on them. Without, it is
spread evenly over the values whose share is above zero, since what forged reports add in all is known (Sun et al.,
LDPRecover, ICDE 2024).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from murmure.certify.leverage import most_supported
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.estimates.estimate import CellEstimator, Estimate, on_simplex
from murmure.core.estimates.forged_reports import as_unforged, check_forged
from murmure.core.types import Floats, Ints
from murmure.local.base.randomisers import FrequencyOracle


def recover_shares(estimate: Estimate, mechanism: Any, forged: int, targets: Sequence[Any] | None = None) -> Estimate:
    """Shares after taking away what `forged` reports are supposed to have added; biased, so without intervals.

    targets: the values that the forgers are supposed to raise; None: not known.

    >>> import murmure as mu
    >>> from murmure.attacks import recover_shares
    >>> domain = mu.Categories(["a", "b", "c", "d"])
    >>> oue = mu.OUE(domain, epsilon=2.0)
    >>> reports = oue.report(["a"] * 6000 + ["b"] * 4000, mu.Random.seeded(7))
    >>> reports[:500] = 8  # these report "d", and nothing else
    >>> estimate = oue.estimate(oue.tally(reports), 10_000)
    >>> recovered = recover_shares(estimate, oue, forged=500, targets=["d"])
    >>> print(f"{estimate.mean[3]:.2f} {recovered.mean[3]:.2f} {recovered.reason}")
    0.12 0.00 what forgers added was guessed and taken away, so it is biased
    """
    m = check_forged(forged)
    cells: Any = as_unforged(estimate.estimator)
    if not isinstance(cells, CellEstimator) or estimate.unit != "share":
        raise InvalidParameter(
            "recover_shares takes the shares of one question that people randomised, got {got}.",
            hint="release.estimate of a Histogram, or one column of Marginals",
            got=shorten(type(estimate).__name__),
        )
    if not m < estimate.n:
        raise InvalidParameter(
            "recover_shares: {forged:,} of {people:,} reports cannot all be forged.", forged=m, people=estimate.n
        )
    b = m / estimate.n
    z = _worth(cells, mechanism, _codes(mechanism, targets))
    f = on_simplex((np.asarray(estimate.mean) - b * z) / (1 - b))
    why = Phrase("what forgers added was guessed and taken away, so it is biased")
    return Estimate(estimate.labels, f, estimate.n, "share", None, why, estimate.target)


def _codes(mechanism: Any, targets: Sequence[Any] | None) -> Ints | None:
    if targets is None:
        return None
    codes = np.unique(mechanism.domain.encode(list(targets)))
    if not len(codes):
        raise InvalidParameter("recover_shares.targets is empty.", hint="leave it out where targets are not known")
    return codes.astype(np.int64)


def _worth(cells: CellEstimator, mechanism: Any, targets: Ints | None) -> Floats:
    """What one forged report adds to each share, on average."""
    k, slope = len(cells.tally), cells.p - cells.q
    if targets is None:
        # One value a report, so that a report adds (1 - sum of q) / (p - q) in all: to the values above zero, alike.
        fixed = _supported(mechanism)
        whole = (float(fixed or 1) - float(cells.q.sum())) / float(slope.mean())
        above = cells.raw > 0
        return np.where(above, whole / max(1, int(above.sum())), 0.0)
    w = np.zeros(k)
    w[targets] = 1.0
    together, _ = most_supported(mechanism, w)
    others = k - len(targets)
    fixed = _supported(mechanism)  # a report of so many values has others beside the targets
    supports = np.full(k, (float(fixed) - together) / others if fixed is not None and others else 0.0)
    supports[targets] = together / len(targets)
    return np.asarray((supports - cells.q) / slope)


def _supported(mechanism: Any) -> Fraction | None:
    """How many values each report supports; None: that is random."""
    return mechanism.supported if isinstance(mechanism, FrequencyOracle) else None
