"""How often an interval covers the true share: by enumeration of all counts, nothing drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from murmure.core.types import Floats


def binomial(n: int, chance: float) -> Floats:
    """The law of a count of n."""
    from scipy.special import gammaln, xlog1py, xlogy

    j = np.arange(n + 1)
    logs = gammaln(n + 1) - gammaln(j + 1) - gammaln(n - j + 1) + xlogy(j, chance) + xlog1py(n - j, -chance)
    return np.asarray(np.exp(logs))


def coverage(interval: Callable[..., Any], n: int, p: float, q: float, share: float, level: float = 0.95) -> float:
    """The probability that interval(o, n, p, q, level) covers the share of these n people.

    o, the number of reports that support a value, is Bin(f n, p) + Bin(n - f n, q).
    """
    ends = np.asarray(interval(np.arange(n + 1), n, p, q, level))
    count = round(share * n)
    law = np.convolve(binomial(count, p), binomial(n - count, q))
    covers = (ends[:, 0] <= count / n + 1e-12) & (count / n - 1e-12 <= ends[:, 1])
    return float(law[covers].sum())
