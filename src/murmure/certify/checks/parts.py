"""What the generic checks share: how often they may fail by chance, how they complain, a test of fit."""

from __future__ import annotations

from typing import Any

import numpy as np

from murmure.core.errors import MurmureError

FAILURE = 1e-6
PEOPLE = 20_000


class CheckFailed(MurmureError, AssertionError):
    """A generic check found something wrong; the message says which and where."""


def require(ok: bool, mechanism: object, what: str) -> None:
    if not ok:
        raise CheckFailed(f"{mechanism!r}: {what}")


def chi_squared(seen: Any, expected: Any) -> float:
    """The chance of a fit as bad as this; rare reports are pooled until ten are expected."""
    from scipy.special import chdtrc

    pool, weight, pools = 0, 0.0, np.empty(len(expected), np.int64)
    for j in np.argsort(expected, kind="stable"):
        pools[j], weight = pool, weight + expected[j]
        if weight >= 10:
            pool, weight = pool + 1, 0.0
    pools[pools == pool] = max(0, pool - 1)  # what is left joins the last full pool
    if pool < 2:
        return 1.0
    seen_in, expected_in = np.bincount(pools, seen), np.bincount(pools, expected)
    return float(chdtrc(pool - 1, ((seen_in - expected_in) ** 2 / expected_in).sum()))


def report_key(y: Any) -> Any:
    return tuple(np.asarray(y).tolist()) if np.ndim(y) else (y.item() if hasattr(y, "item") else y)
