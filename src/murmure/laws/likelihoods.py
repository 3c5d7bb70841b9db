"""How much a hidden draw reveals: the largest ratio of sums of likelihoods, exactly.

    P[y|x] / P[y|x'] = sum_j s_j l_j(y_j, x_j) / sum_j s_j l_j(y_j, x'_j),     l = real / fake likelihood.

The pairs (l(y, x), l(y, x')) that an attribute can show fall into a few classes. When the whole record may differ, the
largest ratio is found by Dinkelbach's rule (1967): for a trial ratio r every attribute picks separately the class with
the largest a - r b. When one attribute may differ, the others show what hides it least.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch
from typing import Any

import numpy as np

from murmure.laws.bits import first_bits
from murmure.laws.hidden_draw import FakeCode, FakeValue, FakeZeros, Hidden

Witness = tuple[Any, Any, Any]


@dataclass(frozen=True)
class Likelihoods:
    """What one attribute of a hidden draw can show: (l(y, x), l(y, x')) with its x, x', y; and the least l there is."""

    pairs: tuple[tuple[Fraction, Fraction, Witness], ...]
    least: tuple[Fraction, Witness]


@singledispatch
def likelihoods(part: Any) -> Likelihoods:
    raise NotImplementedError(type(part).__name__)


@likelihoods.register
def _(part: FakeCode) -> Likelihoods:
    # y = x against x' != y: (p, q) over the fake's chance of y; only the rarest and the commonest fake matter, since
    # s (p - r q) / F is monotone in 1 / F
    p, q, k = part.real.prob(0, 0), part.real.prob(0, 1), part.fake.size
    pairs = []
    for y in {part.fake.rarest, part.fake.commonest}:
        fake = part.fake.prob(y)
        pairs.append((p / fake, q / fake, (y, (y + 1) % k, y)))
    y = part.fake.commonest
    other = (y + 1) % k
    return Likelihoods(tuple(pairs), (q / part.fake.prob(y), (other, other, y)))


@likelihoods.register
def _(part: FakeZeros) -> Likelihoods:
    # all bits but that of the true value have the same law, real or fake
    p, q, k = part.real.p, part.real.q, part.real.inputs
    on, off = p / q, (1 - p) / (1 - q)
    y = first_bits(1, k)  # bit 0 is set, the others are not
    return Likelihoods(((on, off, (0, 1, y)),), (off, (1, 1, y)))


@likelihoods.register
def _(part: FakeValue) -> Likelihoods:
    # l(y, x) = (on or off) / (off + (on - off) * prior mass of the bits set): least mass {x}, largest all but x'
    p, q, k = part.real.p, part.real.q, part.real.inputs
    on, off = p / q, (1 - p) / (1 - q)
    rare = part.fake.rarest
    mass = part.fake.prob(rare)
    other = (rare + 1) % k
    few, many = off + (on - off) * mass, off + (on - off) * (1 - mass)
    bit = np.uint64(1 << (rare & 63))
    alone, all_but = first_bits(0, k), first_bits(k, k)
    alone[rare >> 6] |= bit
    all_but[rare >> 6] &= ~bit
    pairs = (
        (on / few, off / few, (rare, other, alone)),
        (on / many, off / many, (other, rare, all_but)),
    )
    return Likelihoods(pairs, (off / many, (rare, rare, all_but)))


def record_ratio(channel: Hidden) -> tuple[Fraction, Witness]:
    """The largest ratio between any two records, and where it is attained."""
    parts, s = _likelihoods_and_chances(channel)
    ratio = Fraction(1)
    while True:
        chosen = [max(part.pairs, key=lambda pair: pair[0] - ratio * pair[1]) for part in parts]
        above = sum((sj * a for sj, (a, _, _) in zip(s, chosen, strict=True)), Fraction(0))
        below = sum((sj * b for sj, (_, b, _) in zip(s, chosen, strict=True)), Fraction(0))
        if above / below <= ratio:
            return ratio, _zip_witness([witness for _, _, witness in chosen])
        ratio = above / below


def attribute_ratio(channel: Hidden) -> tuple[Fraction, Witness]:
    """The largest ratio between two records that differ in one attribute, and where it is attained."""
    parts, s = _likelihoods_and_chances(channel)
    best, where = Fraction(0), (0, parts[0].pairs[0][2])
    everything = sum((sj * part.least[0] for sj, part in zip(s, parts, strict=True)), Fraction(0))
    for j, part in enumerate(parts):
        rest = everything - s[j] * part.least[0]
        for a, b, witness in part.pairs:
            ratio = (s[j] * a + rest) / (s[j] * b + rest)
            if ratio > best:
                best, where = ratio, (j, witness)
    return best, _zip_witness([where[1] if i == where[0] else part.least[1] for i, part in enumerate(parts)])


def _likelihoods_and_chances(channel: Hidden) -> tuple[list[Likelihoods], list[Fraction]]:
    return [likelihoods(part) for part in channel.parts], [channel.chances.prob(j) for j in range(len(channel.parts))]


def _zip_witness(rows: Sequence[Witness]) -> Witness:
    x, other, y = zip(*rows, strict=True)
    return tuple(x), tuple(other), tuple(y)
