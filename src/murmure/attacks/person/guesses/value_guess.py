"""How often the best guess of one value is right: the sum over reports y of the largest f(x) P[y | x].

f are the shares that the attacker expects beforehand. However ties are broken, the sum is the same. `value_success`
dispatches on the law and reads its probabilities; figures are right to about 12 digits. None: the law has too many
reports to list, and no rule is known.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import singledispatch

import numpy as np

from murmure.attacks.person.guesses.hash_guess import every_hash, hash_success, uniform_hash_success
from murmure.core.fixed import WORD
from murmure.core.types import Floats, Ints
from murmure.laws.bits import BitsChannel, ChainedBits
from murmure.laws.hadamard import Hadamard
from murmure.laws.hashed import Hashed
from murmure.laws.law import Channel
from murmure.laws.mapped import Mapped
from murmure.laws.subset import Subset
from murmure.laws.table import TableChannel
from murmure.laws.tagged import Tagged
from murmure.laws.window import WindowChannel

BLOCK = 1 << 20  # probabilities that are looked at together
MAX_PAIRS = 1 << 28  # of a value and a report, that are looked at one by one
MAX_FRACTIONS = 1 << 18  # the same, in exact fractions


@singledispatch
def value_success(channel: Channel, f: Floats) -> float | None:
    """The chance that the best guess is right, for a person drawn from the shares f."""
    return enumerated_success(channel, f)


def enumerated_success(channel: Channel, f: Floats) -> float | None:
    """Every report and every value, in fractions: slow. The rules below are tested against it."""
    outcomes, total = channel.outcomes(), Fraction(0)
    if outcomes is None:
        return None
    shares = [Fraction(float(share)) for share in f]
    for count, y in enumerate(outcomes, 1):
        if count * channel.inputs > MAX_FRACTIONS:
            return None
        total += max(share * channel.prob(x, y) for x, share in enumerate(shares))
    return float(total)


def is_even(f: Floats) -> bool:
    return bool(f.max() - f.min() <= 1e-12 * f.max())


@value_success.register
def _(channel: WindowChannel, f: Floats) -> float | None:
    if (channel.length, channel.step, channel.shift) != (1, 1, 0) or channel.inputs != channel.outputs:
        return _every_report(channel, f, channel.outputs)
    # y itself, or the likeliest of the others: the likeliest of all, but where that is y the second
    truth, lie = (float(channel.prob(0, y)) for y in (0, 1))
    second, first = np.partition(f, -2)[-2:]
    other = np.where(np.arange(len(f)) == f.argmax(), second, first)
    return math.fsum(np.maximum(truth * f, lie * other))


@value_success.register
def _(channel: TableChannel, f: Floats) -> float:
    return math.fsum((f[:, None] * channel.weights.astype(np.float64)).max(axis=0)) / WORD


def _every_report(channel: Channel, f: Floats, outputs: int) -> float | None:
    k, y = channel.inputs, np.arange(outputs)
    if k * outputs > MAX_PAIRS:
        return None
    best, rows = np.zeros(outputs), max(1, BLOCK // outputs)
    for start in range(0, k, rows):
        x = np.arange(start, min(k, start + rows))
        chance = np.exp(channel.log_prob(np.repeat(x, outputs), np.tile(y, len(x)))).reshape(len(x), outputs)
        np.maximum(best, (f[x, None] * chance).max(axis=0), out=best)
    return math.fsum(best)


@value_success.register(BitsChannel)
@value_success.register(ChainedBits)
def _(channel: BitsChannel | ChainedBits, f: Floats) -> float:
    # f(x) P[y | x] = P[y | nobody] f(x) l(y_x) with l = p/q for a bit that is set and (1-p)/(1-q) for one that is not.
    # Under nobody's law bits are independent, so the largest of them is found by going down the sorted values.
    p, q = float(channel.p), float(channel.q)
    levels = [(p / q, q), ((1 - p) / (1 - q), 1 - q)]
    (high, chance), (low, _) = sorted(levels, reverse=True)
    best_low = low * float(f.max())  # reached even if no bit speaks for its value
    ranked = -np.sort(-high * f)
    ranked = ranked[ranked > best_low]
    none_before = (1 - chance) ** np.arange(len(ranked) + 1)
    return math.fsum(ranked * chance * none_before[:-1]) + best_low * float(none_before[-1])


@value_success.register
def _(channel: Subset, f: Floats) -> float:
    # Sets by their first member in the order of f: the best guess is that member, or the best value outside the set.
    k, w, p = channel.inputs, channel.size, channel.p
    if p * (k - w) < (1 - p) * w:  # a set that speaks against its members is one that speaks for the others
        w, p = k - w, 1 - p
    ranked = -np.sort(-f)
    i = np.arange(1, k - w + 1)
    shares = np.concatenate([[1.0], np.cumprod((k - i - w + 1) / (k - i))])  # C(k-i, w-1) / C(k-1, w-1)
    ratio = float((1 - p) * w / (p * (k - w)))  # of a set without the value to one with it
    return float(p) * math.fsum(shares * np.maximum(ranked[: len(shares)], ratio * ranked[0]))


@value_success.register
def _(channel: Hadamard, f: Floats) -> float:
    # A report speaks for the values of even parity: only the likeliest even and the likeliest odd one matter.
    order = np.argsort(-f, kind="stable")
    p, ranked = float(channel.p), np.append(f[order], 0.0)
    for_it, against_it = (ranked[_first_of_parity(channel, order, odd)] for odd in (0, 1))
    return 2 / channel.order * math.fsum(np.maximum(p * for_it, (1 - p) * against_it))


def _first_of_parity(channel: Hadamard, order: Ints, odd: int) -> Ints:
    """For every report the place of the first value in `order` that it calls even (or odd); the end where none is."""
    place = np.full(channel.order, len(order))
    left = np.arange(channel.order, dtype=np.uint64)
    for at, x in enumerate(order):  # each value that is no XOR of earlier ones settles half of the reports
        found = (np.bitwise_count(left & np.uint64(x + 1)) & 1) == odd
        if found.any():
            place[left[found].astype(np.int64)] = at
            left = left[~found]
        if not len(left):
            break
    return place


@value_success.register
def _(channel: Hashed, f: Floats) -> float | None:
    if is_even(f):
        even = uniform_hash_success(channel)
        if even is not None:
            return even
    seeds = every_hash(channel)
    return None if seeds is None else math.fsum(hash_success(channel, f, seeds)) / len(seeds)


@value_success.register
def _(channel: Tagged, f: Floats) -> float | None:
    # The report shows the coin, so the guess is that of the law that was used.
    first, second = value_success(channel.first, f), value_success(channel.second, f)
    if first is None or second is None:
        return None
    heads = float(channel.prob(0, 0) / channel.first.prob(0, 0))
    return heads * first + (1 - heads) * second


@value_success.register
def _(channel: Mapped, f: Floats) -> float | None:
    return None if channel.channel.outcomes() is None else enumerated_success(channel, f)
