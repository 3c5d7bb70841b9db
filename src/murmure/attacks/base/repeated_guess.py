"""How often the best guess from t independent reports about one value is right, all values being equally likely.

    success(t) = 1/k sum over (y_1, ..., y_t) of max over x of P[y_1 | x] ... P[y_t | x]

Exactly, where it can be computed from the law:
    generalised randomised response   the guess is the value reported most often, ties at random
    independent bits                  the guess is the bit set most often, ties at random
    few reports                       every multiset of t of them
"""

from __future__ import annotations

import itertools
import math
from functools import singledispatch
from typing import Any

import numpy as np

from murmure.attacks.base.counts_law import binomial_chance, poisson_chance
from murmure.core.types import Floats
from murmure.laws.bits import BitsChannel, ChainedBits
from murmure.laws.window import WindowChannel

MAX_MULTISETS = 50_000
MAX_TIMES = 200  # of generalised randomised response, whose polynomials grow with it


@singledispatch
def exact_success(channel: Any, times: int) -> float | None:
    """From any law whose reports can be listed; None where there are too many multisets of them."""
    outcomes = channel.outcomes()
    if outcomes is None:
        return None
    listed = list(itertools.islice(outcomes, MAX_MULTISETS + 1))
    if math.comb(len(listed) + times - 1, times) > MAX_MULTISETS:
        return None
    k = channel.inputs
    with np.errstate(divide="ignore"):
        logs = np.log([[float(channel.prob(x, y)) for y in listed] for x in range(k)])
    chosen = np.array(list(itertools.combinations_with_replacement(range(len(listed)), times)))
    counts = np.zeros((len(chosen), len(listed)), np.int64)
    np.add.at(counts, (np.arange(len(chosen))[:, None], chosen), 1)
    orders = np.array([math.lgamma(times + 1) - sum(math.lgamma(c + 1) for c in row if c > 1) for row in counts])
    likelihood = np.where(counts[:, None, :] > 0, counts[:, None, :] * logs, 0.0).sum(axis=2)
    return float(np.exp(orders + likelihood.max(axis=1)).sum() / k)


@exact_success.register
def _(channel: WindowChannel, times: int) -> float | None:
    k = channel.inputs
    plain = (channel.length, channel.step, channel.shift, channel.outputs) == (1, 1, 0, k)
    if not plain or channel.inside < channel.outside or times > MAX_TIMES:
        return exact_success.dispatch(object)(channel, times)  # type: ignore[no-any-return]
    p, q = float(channel.prob(0, 0)), float(channel.prob(0, 1))
    # A sequence in which some value comes c times and none more often has likelihood p^c q^(t-c) at best; under k
    # equally likely values such sequences have the share most_often[c].
    c = np.arange(1, times + 1)
    return float(np.exp(c * math.log(p / q) + times * math.log(k * q)) @ most_often(times, k)[1:] / k)


@exact_success.register(BitsChannel)
@exact_success.register(ChainedBits)
def _(channel: Any, times: int) -> float | None:
    c, p, q = np.arange(times + 1), float(channel.p), float(channel.q)
    if p <= q:
        return exact_success.dispatch(object)(channel, times)  # type: ignore[no-any-return]
    return largest(binomial_chance(c, times, p), binomial_chance(c, times, q), channel.inputs)


def memoised_success(channel: ChainedBits, times: int) -> float:
    """From t reports of a client that keeps its first bits: their counts depend on the kept bit alone."""
    from murmure.core.fixed import WORD

    c = np.arange(times + 1)
    one, zero = (binomial_chance(c, times, yes / WORD) for yes in (channel.yes_one, channel.yes_zero))
    p, q = float(channel.permanent.p), float(channel.permanent.q)
    return largest(p * one + (1 - p) * zero, q * one + (1 - q) * zero, channel.inputs)


def largest(true: Floats, other: Floats, k: int) -> float:
    """The chance that a count with the law `true` is the largest of k; the others have the law `other`; ties at random.

    sum over c of true(c) E[1 / (1 + others that are equal)] and none larger: with F(c) = P[other <= c],
    sum over c of true(c) (F(c)^k - F(c-1)^k) / (k other(c)), as a geometric sum in F(c-1) / F(c).
    """
    below = np.concatenate([[0.0], np.cumsum(other)[:-1]])
    upto = below + other
    with np.errstate(divide="ignore", invalid="ignore"):
        log_ratio = np.where(below > 0, np.log1p(-other / upto), -math.inf)
        terms = np.where(log_ratio > -1e-15, float(k), np.expm1(k * log_ratio) / np.expm1(log_ratio))
    return float((true * np.where(upto > 0, upto ** (k - 1) * terms, 0.0)).sum() / k)


def most_often(times: int, k: int) -> Floats:
    """P[the commonest value comes c times] in `times` draws from k equally likely values, for c = 0 .. times.

    Counts are Poisson variables given their sum: the chance is a coefficient of M^k - L^k, where M and L are the
    polynomials of counts up to c and below c. Its factor D = sum of L^i M^(k-1-i) is built by doubling, without
    differences, since small chances are multiplied by large likelihoods.
    """
    count = np.arange(times + 1)
    weight = poisson_chance(count, times / k)

    def product(a: Floats, b: Floats) -> Floats:
        return np.convolve(a, b)[: times + 1]

    out = np.zeros(times + 1)
    for c in range(1, times + 1):
        lower, upper = weight[:c], weight[: c + 1]
        d, low, up = np.ones(1), lower, upper  # D, L^a and M^a for a = 1
        for bit in bin(k)[3:]:
            d, low, up = product(d, _added(low, up)), product(low, low), product(up, up)
            if bit == "1":
                d = _added(product(d, lower), up)
                low, up = product(low, lower), product(up, upper)
        if times - c < len(d):
            out[c] = weight[c] * d[times - c]
    return np.asarray(out / poisson_chance(times, times))


def _added(a: Floats, b: Floats) -> Floats:
    out = np.zeros(max(len(a), len(b)))
    out[: len(a)] += a
    out[: len(b)] += b
    return out
