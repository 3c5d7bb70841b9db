"""Cells of which a row fills exactly one: how far one row moves them, and their shares."""

from __future__ import annotations

from typing import Any

import numpy as np

from murmure.core.blocks import Block, NoisySum
from murmure.core.estimates.estimate import CellEstimator, Estimate
from murmure.core.estimates.noisy_estimators import TOO_NOISY, ShareEstimator, with_cached_laws
from murmure.core.types import Floats
from murmure.statistics.base.statistic import people_count


def one_hot_block(width: int, weight: float = 1.0) -> Block:
    """Replacing a row empties one cell and fills another: that is 2 in L1, and 2 in squared L2."""
    return Block("cells", width, 1, 1, weight, 2, 2)


def share_estimate(labels: list[str], noisy: NoisySum) -> Estimate:
    """The shares of protected cells."""
    noisy = with_cached_laws(noisy)
    law = noisy.law("cells")
    estimator = ShareEstimator(noisy["cells"], law)
    enough = estimator.divides(0.95)
    shares = estimator.shares if enough else np.full(len(labels), np.nan)
    reason = None if enough else TOO_NOISY
    return Estimate(labels, shares, people_count(estimator.total), "share", estimator, reason, noisy=law is not None)


def exact_share_estimate(labels: Any, counts: Any, n: int, one_each: bool = False) -> Estimate:
    """The shares of exact counts. one_each: every one of the n rows is known to fill a cell."""
    width = len(counts)
    estimator = CellEstimator(counts, n, np.ones(width), np.zeros(width), _no_covariance, one_each=one_each)
    return Estimate(labels, estimator.raw, n, "share", estimator)


def _no_covariance(f: Floats) -> Floats:
    """An exact sum has no noise for cells to share."""
    return np.zeros((len(f), len(f)))
