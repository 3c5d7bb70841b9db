"""Post-processing: separate functions, because what they return is biased and carries no error bar.

They never cost privacy (a function of a release tells no more than the release) and usually lower the squared
error; but intervals belong to the raw estimate.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.estimates.estimate import Estimate, on_simplex
from murmure.laws.law import Channel

MAX_ENTRIES = 1 << 26  # of a channel's matrix


def _without_error_bars(estimate: Estimate, shares: NDArray[np.float64], how: str) -> Estimate:
    return replace(
        estimate, mean=shares, estimator=None, reason=Phrase("{how} is biased; the raw estimate has bars", how=how)
    )


def _shares_of(what: str, estimate: Any) -> NDArray[np.float64]:
    if not isinstance(estimate, Estimate) or estimate.unit != "share":
        raise InvalidParameter("{what} takes an estimate of shares, got {got}.", what=what, got=shorten(estimate))
    return estimate.mean


def clip_renormalise(estimate: Estimate) -> Estimate:
    """Negative shares become zero, the rest is scaled to sum to one.

    >>> import murmure as mu
    >>> domain = mu.Categories(8)
    >>> plan = mu.Plan(mu.Histogram(domain), person=mu.GRR(domain, epsilon=1.0))
    >>> raw = mu.run(plan, [0] * 150 + [1] * 50, rng=mu.Random.seeded(7)).estimate
    >>> print([round(float(f), 3) for f in raw.mean])
    [0.691, 0.182, 0.125, -0.13, 0.097, 0.097, -0.13, 0.068]
    >>> print([round(float(f), 3) for f in mu.clip_renormalise(raw).mean])
    [0.549, 0.144, 0.099, 0.0, 0.077, 0.077, 0.0, 0.054]
    """
    clipped = np.maximum(_shares_of("clip_renormalise", estimate), 0.0)
    total = clipped.sum()
    shares = clipped / total if total > 0 else np.full(len(clipped), 1 / len(clipped))
    return _without_error_bars(estimate, shares, Phrase("clipping and renormalising"))


def project_simplex(estimate: Estimate) -> Estimate:
    """The nearest shares (Euclidean) that are not negative and sum to one (Duchi et al., ICML 2008).

    >>> import murmure as mu
    >>> domain = mu.Categories(8)
    >>> plan = mu.Plan(mu.Histogram(domain), person=mu.GRR(domain, epsilon=1.0))
    >>> raw = mu.run(plan, [0] * 150 + [1] * 50, rng=mu.Random.seeded(7)).estimate
    >>> near = mu.project_simplex(raw)
    >>> print([round(float(f), 3) for f in near.mean])
    [0.647, 0.138, 0.082, 0.0, 0.054, 0.054, 0.0, 0.025]
    >>> try:
    ...     near.interval()
    ... except mu.MurmureError as error:
    ...     print(error)
    this estimate carries no error bar: projecting on the simplex is biased; the raw estimate has bars.
      Hint: take the interval of the raw, unbiased estimate instead
    """
    return _without_error_bars(
        estimate, on_simplex(_shares_of("project_simplex", estimate)), "projecting on the simplex"
    )


def channel_matrix(channel: Channel) -> NDArray[np.float64]:
    """P[y | x] as a dense matrix (inputs, outputs), for laws with few reports."""
    outcomes = channel.outcomes()
    if not isinstance(outcomes, range) or channel.inputs * len(outcomes) > MAX_ENTRIES:
        raise InvalidParameter(
            "{kind} has too many reports for a matrix, or reports that are not numbers.",
            hint="use project_simplex on the raw estimate instead",
            kind=type(channel).__name__,
        )
    y = np.asarray(outcomes)
    return np.exp(np.stack([channel.log_prob(np.full(len(y), x), y) for x in range(channel.inputs)]))


def em(
    mechanism: Any, total: Any, *, smooth: bool = False, iterations: int = 10_000, tolerance: float = 1e-6
) -> Estimate:
    """The most likely shares given how often each report came (expectation maximisation).

    Works where a tally counts reports one by one: GRR, Warner and all numeric mechanisms. `smooth` averages
    neighbouring cells after each step, for ordered values (EMS: Li et al., SIGMOD 2020).
    Stops when the log-likelihood of all reports grows by less than `tolerance`.

    >>> import murmure as mu
    >>> domain = mu.Integers(0, 7)
    >>> wave = mu.SquareWave(domain, epsilon=2.0)
    >>> reports = wave.report([1, 2, 2, 3, 3, 3, 6] * 1000, mu.Random.seeded(7))
    >>> print(mu.em(wave, wave.tally(reports), smooth=True))
          share
    0    0.0880
    1    0.1538
    2    0.2282
    3    0.2186
    4    0.1340
    5    0.0727
    6    0.0556
    7    0.0490
    <BLANKLINE>
    7,000 people; no error bar: expectation maximisation is biased; the raw estimate has bars
    """
    counts = np.asarray(total, float)
    P = channel_matrix(mechanism.channel)
    if counts.shape != (P.shape[1],) or (counts < 0).any() or counts.sum() < 1:
        raise InvalidParameter(
            "em needs one count per report, {shape} of them, got shape {counts_shape}.",
            hint="pass mechanism.tally(reports)",
            shape=P.shape[1],
            counts_shape=counts.shape,
        )
    n = counts.sum()
    f = np.full(P.shape[0], 1 / P.shape[0])
    last = -np.inf
    for _ in range(iterations):
        expected = f @ P
        f = f * (P @ (counts / np.maximum(expected, 1e-300))) / n
        if smooth:
            padded = np.concatenate([f[:1], f, f[-1:]])
            f = (padded[:-2] + 2 * padded[1:-1] + padded[2:]) / 4
            f /= f.sum()
        likelihood = float(counts @ np.log(np.maximum(expected, 1e-300)))
        if likelihood - last < tolerance and likelihood >= last:
            break
        last = likelihood
    raw = Estimate(mechanism.domain.labels(), f, int(n))
    return _without_error_bars(raw, f, "expectation maximisation")
