"""The generic check of statistics: tally adds what lift says, in any order, and the exact answer is the true one."""

from __future__ import annotations

from typing import Any

import numpy as np

from murmure.certify.checks.assertions import require
from murmure.core.errors import Phrase
from murmure.core.estimates.column_estimates import Estimates
from murmure.core.random import Random
from murmure.core.schema import Schema
from murmure.core.types import Total


def _some_codes(domain: Any, words: Any) -> Any:
    """Codes of people: one array, or one per private column."""
    if not isinstance(domain, Schema):
        return (words % domain.size).astype(np.int64)
    out = []
    for i, name in enumerate(domain.private):
        size, drawn = domain[name].size, words >> 3 * i
        if size >= 1 << 32:  # words of 32 bits would reach its first values only
            drawn = drawn.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        out.append((drawn % size).astype(np.int64))
    return tuple(out)


def _people(x: Any, which: slice) -> Any:
    return tuple(column[which] for column in x) if isinstance(x, tuple) else x[which]


def check_statistic(statistic: Any, seed: int = 1) -> None:
    """A statistic adds what it lifts, is order-free and mergeable, and its exact answer is the truth.

    >>> import murmure as mu
    >>> mu.check_statistic(mu.Histogram(mu.Categories(4)))  # silent when all is well
    """
    n = 1000
    x = _some_codes(statistic.domain, np.frombuffer(Random.seeded(seed).words(n).tobytes(), np.uint32)[:n])
    lifted = statistic.lift(x)
    wide = statistic.wide
    require(
        lifted.shape == (n, statistic.raw_width) and lifted.dtype == (object if wide else np.int64),
        statistic,
        Phrase("lift is not (n, width) {detail}", detail=Phrase("of whole numbers") if wide else Phrase("int64")),
    )
    whole = lifted.dtype != object or all(type(v) is int for v in lifted.flat)
    require(whole, statistic, Phrase("lift holds values that are not whole numbers"))
    total = statistic.tally(x)
    require(bool((total == lifted.sum(axis=0)).all()), statistic, Phrase("tally is not the sum of lift"))
    require(
        bool((statistic.tally(_people(x, slice(300))) + statistic.tally(_people(x, slice(300, n))) == total).all()),
        statistic,
        Phrase("tallies of two batches do not add up to the tally of both"),
    )
    require(
        bool((statistic.tally(_people(x, slice(None, None, -1))) == total).all()),
        statistic,
        Phrase("the result depends on the order of people"),
    )
    total = statistic.party_contribution(Total(n, total)).sum
    require(total.shape == (statistic.width,), statistic, Phrase("a party's own sums do not have shape (width,)"))
    answer = statistic.interpret_exact(total, n)
    estimates = list(answer.values()) if isinstance(answer, Estimates) else [answer]
    for estimate in estimates:
        require(len(estimate.labels) == len(estimate.mean), statistic, Phrase("labels and figures differ in number"))
        require(
            bool((np.abs(estimate.variance("fixed")) < 1e-12).all()),
            statistic,
            Phrase("an exact sum has a variance above 0"),
        )
    got, wanted = np.concatenate([estimate.mean for estimate in estimates]), statistic.reference(x)
    require(
        bool(np.allclose(got, wanted, rtol=1e-12)),
        statistic,
        Phrase("without noise it gives {got}, not {wanted}", got=got, wanted=wanted),
    )
