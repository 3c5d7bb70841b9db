"""The largest log-ratio of two rows of a channel: `max_loss` dispatches on the law.

Mechanisms contain no certificate code. Ratios are exact fractions of the law's integers; the logarithm, taken once at
the end, is rounded up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch
from typing import Any

import numpy as np

from murmure.core.errors import InvalidParameter, Phrase
from murmure.core.fixed import log_up
from murmure.laws.bits import BitsChannel, ChainedBits, first_bits
from murmure.laws.hadamard import Hadamard
from murmure.laws.hashed import Hashed
from murmure.laws.law import Channel
from murmure.laws.mapped import Mapped
from murmure.laws.subset import Subset
from murmure.laws.table import TableChannel
from murmure.laws.tagged import Tagged
from murmure.laws.window import WindowChannel


@dataclass(frozen=True)
class Loss:
    """ratio = P[y | x] / P[y | other] at the witness (x, other, y), the largest there is; None: infinite."""

    ratio: Fraction | None
    witness: tuple[Any, Any, Any]
    method: str
    slack: float = 0.0

    @property
    def epsilon(self) -> float:
        if self.ratio is None:
            return math.inf
        loss = log_up(self.ratio)
        return loss if self.slack == 0 else math.nextafter(loss + 2 * self.slack, math.inf)


@singledispatch
def max_loss(channel: Channel) -> Loss:
    """The largest loss between any two inputs. Unknown laws are enumerated, or refused."""
    return enumerate_loss(channel)


def enumerate_loss(channel: Channel) -> Loss:
    """Every report, every pair of inputs: slow. The rules below are tested against it."""
    outcomes = channel.outcomes()
    if outcomes is None:
        raise InvalidParameter("{kind} has too many reports to enumerate.", kind=type(channel).__name__)
    best: Loss | None = None
    for y in outcomes:
        probs = [channel.prob(x, y) for x in range(channel.inputs)]
        high, low = max(probs), min(probs)
        if high == 0:
            continue
        witness = (probs.index(high), probs.index(low), y)
        if low == 0:
            return Loss(None, witness, Phrase("enumerated"))
        if best is None or high / low > best.ratio:  # type: ignore[operator]
            best = Loss(high / low, witness, Phrase("enumerated"), channel.slack)
    if best is None:
        raise InvalidParameter("{kind} has no possible report.", kind=type(channel).__name__)
    return best


@max_loss.register
def _(channel: Mapped) -> Loss:
    if len(channel.outcomes()) == 1:  # a constant report tells nothing, whatever channel is below
        return Loss(Fraction(1), (0, 0, channel.outcomes()[0]), Phrase("closed form, one report"))
    return enumerate_loss(channel)


@max_loss.register
def _(channel: WindowChannel) -> Loss:
    # The first report of a window, against the same report outside another input's window. inside >= outside, so no
    # other pair of numerators is further apart.
    first, last = (int(s) for s in channel.start(np.array([0, channel.inputs - 1])))
    top = channel.inputs - 1
    ratio = Fraction(channel.peak, channel.outside) if first != last else Fraction(1)
    # The first `rest` reports of a window have one unit more: if there are any, the first report is the witness.
    witness = (0, top, first) if channel.rest else (top, 0, last + channel.length - 1)
    return Loss(ratio, witness, Phrase("closed form over classes of reports"))


@max_loss.register(BitsChannel)
@max_loss.register(ChainedBits)
def _(channel: BitsChannel | ChainedBits) -> Loss:
    # Two inputs differ in two bits; the worst report shows the likelier value of both.
    p, q = channel.p, channel.q
    ratio = p * (1 - q) / (q * (1 - p))
    x, other = (0, 1) if ratio >= 1 else (1, 0)
    report = first_bits(1, channel.inputs)
    return Loss(max(ratio, 1 / ratio), (x, other, report), Phrase("closed form, two bits differ"))


@max_loss.register
def _(channel: Subset) -> Loss:
    # a set with x and without the other: p / C(k-1, w-1) against (1-p) / C(k-1, w)
    k, w, p = channel.inputs, channel.size, channel.p
    ratio = p * (k - w) / ((1 - p) * w)
    members = first_bits(w, k)  # 0 .. w-1: holds 0, not k-1
    x, other = (0, k - 1) if ratio >= 1 else (k - 1, 0)
    method = Phrase("closed form over classes of sets, uneven choices counted")
    return Loss(max(ratio, 1 / ratio), (x, other, members), method, channel.slack)


@max_loss.register
def _(channel: Hadamard) -> Loss:
    # y = 1: row 1 (input 0) is odd there, row 2 (input 1) is even
    ratio = channel.p / (1 - channel.p)
    x, other = (1, 0) if ratio >= 1 else (0, 1)
    return Loss(max(ratio, 1 / ratio), (x, other, 1), Phrase("closed form over two halves"))


@max_loss.register
def _(channel: TableChannel) -> Loss:
    w = channel.weights
    high, low = w.max(axis=0), w.min(axis=0)
    rough = high.astype(np.float64) / low.astype(np.float64)
    # Floats choose the candidates, exact fractions the winner: fractions of a whole table would be slow.
    candidates = np.nonzero(rough >= rough.max() * (1 - 1e-12))[0]
    y = max(candidates, key=lambda j: Fraction(int(high[j]), int(low[j])))
    witness = (int(w[:, y].argmax()), int(w[:, y].argmin()), int(y))
    return Loss(Fraction(int(high[y]), int(low[y])), witness, Phrase("enumerated"))


@max_loss.register
def _(channel: Hashed) -> Loss:
    # The hash is public: the largest loss over hashes, attained by any hash that separates the two values.
    bins = max_loss(channel.bins)
    report = np.zeros(channel.value_bits + 2, np.uint16)
    report[1] = (1 << channel.seed_bits) - 1  # h(v) = 0 for even v, the last bin for odd v
    report[-1] = channel.g - 1
    return Loss(bins.ratio, (1, 0, report), Phrase("closed form, largest over hashes"))


@max_loss.register
def _(channel: Tagged) -> Loss:
    first, second = max_loss(channel.first), max_loss(channel.second)
    if (first.ratio or 0) >= (second.ratio or 0):
        return Loss(first.ratio, first.witness, Phrase("largest over the public coin"))
    x, other, y = second.witness
    return Loss(second.ratio, (x, other, y + channel.first.outputs), Phrase("largest over the public coin"))
