"""One guess for each report: a random value among those under which the report is most likely.

That is the Bayes guess of somebody who takes all values for equally likely: of GRR the report itself, of unary bits one
of the bits that are set (any value if none is), of a hash one of the values that it sends to the reported bin, of a
subset one of its members.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from murmure.attacks.base.draws import uniforms
from murmure.core.random import Random
from murmure.core.types import Array, Ints, Mask
from murmure.laws.bits import BitsChannel, ChainedBits, unpack
from murmure.laws.subset import Subset
from murmure.laws.window import WindowChannel

BLOCK = 1 << 20  # entries (report, value) that are compared at a time


@singledispatch
def likeliest(channel: Any, reports: Array) -> Mask:
    """(n, inputs): the values under which each report is most likely. For any law: all of its likelihoods."""
    n, k = len(reports), channel.inputs
    out = np.empty((n, k), bool)
    rows = max(1, BLOCK // k)
    for a in range(0, n, rows):
        block = reports[a : a + rows]
        x = np.tile(np.arange(k), len(block))
        logs = channel.log_prob(x, np.repeat(block, k, axis=0)).reshape(len(block), k)
        out[a : a + rows] = logs >= logs.max(axis=1, keepdims=True) - 1e-12
    return out


@likeliest.register
def _(channel: WindowChannel, reports: Array) -> Mask:
    if not _tells_the_value(channel):
        return likeliest.dispatch(object)(channel, reports)
    return np.asarray(reports).astype(np.int64)[:, None] == np.arange(channel.inputs)


def _tells_the_value(channel: Any) -> bool:
    """Whether the report is itself the likeliest value: generalised randomised response."""
    return (
        isinstance(channel, WindowChannel)
        and (channel.length, channel.step, channel.shift, channel.outputs) == (1, 1, 0, channel.inputs)
        and channel.inside > channel.outside
    )


@likeliest.register(BitsChannel)
@likeliest.register(ChainedBits)
def _(channel: Any, reports: Array) -> Mask:
    if channel.p <= channel.q:
        return likeliest.dispatch(object)(channel, reports)
    bits = unpack(np.asarray(reports), channel.inputs).astype(bool)
    return bits | ~bits.any(axis=1, keepdims=True)


@likeliest.register
def _(channel: Subset, reports: Array) -> Mask:
    if channel.p * channel.inputs <= channel.size:  # the true value is no likelier to be in the set than any other
        return likeliest.dispatch(object)(channel, reports)
    return unpack(np.asarray(reports), channel.inputs).astype(bool)


def pick_one(mask: Mask, rng: Random) -> Ints:
    """A random true entry of each row."""
    count = mask.sum(axis=1)
    place = np.minimum((uniforms(rng, len(mask)) * count).astype(np.int64), count - 1)
    return np.argmax(np.cumsum(mask, axis=1, dtype=np.int32) > place[:, None], axis=1)


def guesses(channel: Any, reports: Array, rng: Random) -> Ints:
    """A value for each report.

    >>> import murmure as mu
    >>> from murmure.attacks.base.guesses import guesses
    >>> channel = mu.GRR(mu.Categories(4), epsilon=1.0).channel
    >>> print(guesses(channel, [3, 0, 2], mu.Random.seeded(7)))
    [3 0 2]
    """
    reports, rows = np.asarray(reports), max(1, BLOCK // channel.inputs)
    if _tells_the_value(channel):
        return reports.astype(np.int64)
    out = [pick_one(likeliest(channel, reports[a : a + rows]), rng) for a in range(0, len(reports), rows)]
    return np.concatenate(out) if out else np.empty(0, np.int64)
