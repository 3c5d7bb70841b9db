"""The generic check of intervals: they cover the true share often enough, by enumeration of the counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from murmure.certify.checks.assertions import require
from murmure.core.errors import Phrase


def check_coverage(
    interval: Callable[..., Any],
    n: int,
    p: float,
    q: float,
    shares: Sequence[float],
    level: float = 0.95,
    at_least: float = 0.93,
) -> None:
    """interval(o, n, p, q, level) -> rows (low, high) must cover every fixed share often enough (enumerated).

    >>> import murmure as mu
    >>> from murmure.core.estimates.intervals import exact_fixed
    >>> from murmure.lectures.mistakes import var_star_bar
    >>> mu.check_coverage(exact_fixed, n=200, p=0.75, q=0.25, shares=[0.0, 0.1, 0.5, 1.0], at_least=0.95)
    >>> try:
    ...     mu.check_coverage(var_star_bar, n=1000, p=0.5, q=0.01, shares=[0.0, 0.5])
    ... except AssertionError as error:
    ...     print(error)
    'var_star_bar': covers the share 0.5 in 0.431 of cases, wanted 0.93
    """
    from scipy.special import gammaln, xlogy

    def binomial(m: int, chance: float) -> Any:
        j = np.arange(m + 1)
        logs = gammaln(m + 1) - gammaln(j + 1) - gammaln(m - j + 1) + xlogy(j, chance) + xlogy(m - j, 1 - chance)
        return np.exp(logs)

    ends = np.asarray(interval(np.arange(n + 1), n, p, q, level))
    for share in shares:
        f = round(share * n)
        law = np.convolve(binomial(f, p), binomial(n - f, q))  # of the number of supports
        covered = float(law[(ends[:, 0] <= f / n + 1e-12) & (f / n - 1e-12 <= ends[:, 1])].sum())
        require(
            covered >= at_least,
            getattr(interval, "__name__", interval),
            Phrase(
                "covers the share {share:g} in {covered:.3f} of cases, wanted {at_least:g}",
                share=share,
                covered=covered,
                at_least=at_least,
            ),
        )
