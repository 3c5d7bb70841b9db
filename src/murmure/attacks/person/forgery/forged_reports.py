"""Reports that nobody's answer made: what forgers send to raise the shares of their targets.

    maximal gain    every report supports as many targets as a report can (Cao, Jia, Gong, USENIX Security 2021: MGA)
    stealthy        the same, but each report looks like an honest one: as many ones as honest reports have, or a hash
                    drawn at random among those that send all targets to one bin
    random reports  any report, each as likely as any other (there: random perturbed-value attack)
    random items    an honest report about a random target (there: random item attack)

`supports` is the chance that such a report supports each target, from which the expected gain follows.
Of a number the target is its mean, and the maximal report is the one with the largest readout.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, singledispatch
from typing import Any

import numpy as np

from murmure.attacks.base.counts_law import binomial_chance
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.random import Random
from murmure.core.types import Array, Floats, Ints
from murmure.laws.bits import pack
from murmure.local.base.randomisers import FrequencyOracle, NumericOracle
from murmure.local.grr import GRR
from murmure.local.hadamard import HadamardResponse
from murmure.local.hashing import LocalHashing
from murmure.local.subset import SubsetSelection
from murmure.local.unary import PackedOracle
from murmure.local.warner import YesNo

MAXIMAL, STEALTHY = "maximal gain", "stealthy"
RANDOM_REPORTS, RANDOM_ITEMS = "random reports", "random items"
ATTACK_NAMES = {
    MAXIMAL: Phrase("maximal gain"),
    STEALTHY: Phrase("maximal gain, stealthy"),
    RANDOM_REPORTS: Phrase("random reports"),
    RANDOM_ITEMS: Phrase("random items"),
}


def generator(rng: Random) -> np.random.Generator:
    """The forgers' randomness: it need not be exact, only repeatable."""
    return np.random.default_rng(rng.words(4))


@dataclass(frozen=True)
class Forger:
    """Who forges reports of one kind of mechanism for these targets (codes)."""

    mechanism: Any
    targets: Ints

    @property
    def k(self) -> int:
        return int(self.mechanism.domain.size)

    @property
    def attacks(self) -> tuple[str, ...]:
        """Those that differ for this mechanism."""
        return (MAXIMAL, RANDOM_REPORTS, RANDOM_ITEMS)

    def reports(self, attack: str, count: int, rng: Random) -> Array:
        if attack == RANDOM_ITEMS:
            items = self.targets[generator(rng.child(0)).integers(len(self.targets), size=count)]
            return self.mechanism.law(items).sample(rng.child(1))  # type: ignore[no-any-return]
        make = {MAXIMAL: self.maximal, STEALTHY: self.stealthy, RANDOM_REPORTS: self.anything}[attack]
        return make(count, generator(rng))

    def worth(self, attack: str) -> float:
        """What one such report adds to the sum of the targets' shares, on average; an honest holder adds 1."""
        affine, r = self.mechanism.affine(), len(self.targets)
        if attack == RANDOM_ITEMS:
            return 1.0
        q = np.array([float(o) for o in affine.offset]) * np.ones(self.k)
        slope = np.array([float(s) for s in affine.slope]) * np.ones(self.k)
        chance = {MAXIMAL: self.most, STEALTHY: self.most_stealthy, RANDOM_REPORTS: self.by_chance}[attack]
        return float(((chance() - q[self.targets]) / slope[self.targets]).sum()) if r else 0.0

    # -- of each mechanism: reports, and how likely they are to support one target

    def maximal(self, count: int, g: np.random.Generator) -> Array:
        raise NotImplementedError

    def stealthy(self, count: int, g: np.random.Generator) -> Array:
        raise NotImplementedError

    def anything(self, count: int, g: np.random.Generator) -> Array:
        raise NotImplementedError

    def most(self) -> float:
        raise NotImplementedError

    def most_stealthy(self) -> float:
        raise NotImplementedError

    def by_chance(self) -> float:
        raise NotImplementedError


@singledispatch
def forger_of(mechanism: Any, targets: Ints) -> Forger:
    """Who can forge reports of this mechanism."""
    raise InvalidParameter(
        "poisoning cannot forge reports of {kind}.",
        hint="GRR, SUE, OUE, RAPPOR, OLH, BLH, SubsetSelection, HadamardResponse, Warner and the mechanisms of a mean",
        kind=shorten(type(mechanism).__name__),
    )


class CodeForger(Forger):
    """One value a report."""

    def maximal(self, count: int, g: np.random.Generator) -> Array:
        return self.targets[g.integers(len(self.targets), size=count)]

    def anything(self, count: int, g: np.random.Generator) -> Array:
        return g.integers(self.k, size=count)

    def most(self) -> float:
        return 1 / len(self.targets)

    def by_chance(self) -> float:
        return 1 / self.k


@forger_of.register(GRR)
@forger_of.register(YesNo)
def _(mechanism: Any, targets: Ints) -> Forger:
    return CodeForger(mechanism, targets)


def first_of(k: int, targets: Ints, sizes: Ints, g: np.random.Generator) -> Array:
    """Rows of bits with `sizes` ones: targets first, in random order, then others in random order."""
    order = g.random((len(sizes), k))
    order[:, targets] -= 1.0
    rank = np.argsort(np.argsort(order, axis=1), axis=1)
    return pack(rank < sizes[:, None])


class BitsForger(Forger):
    """One bit for every value."""

    @property
    def attacks(self) -> tuple[str, ...]:
        return (MAXIMAL, STEALTHY, RANDOM_REPORTS, RANDOM_ITEMS)

    @cached_property
    def ones(self) -> Floats:
        """How likely an honest report is to have 0, 1, ... ones; the same whatever the person holds."""
        return ones_law(self.mechanism)

    def maximal(self, count: int, g: np.random.Generator) -> Array:
        bits = np.zeros((count, self.k), np.uint8)
        bits[:, self.targets] = 1
        return pack(bits)

    def stealthy(self, count: int, g: np.random.Generator) -> Array:
        return first_of(self.k, self.targets, g.choice(self.k + 1, size=count, p=self.ones), g)

    def anything(self, count: int, g: np.random.Generator) -> Array:
        return pack(g.integers(2, size=(count, self.k)))

    def most(self) -> float:
        return 1.0

    def most_stealthy(self) -> float:
        r = len(self.targets)
        return float(self.ones @ np.minimum(np.arange(self.k + 1), r)) / r

    def by_chance(self) -> float:
        return 0.5


@forger_of.register(PackedOracle)
def _(mechanism: PackedOracle, targets: Ints) -> Forger:
    return BitsForger(mechanism, targets)


def ones_law(mechanism: Any) -> Floats:
    """Ones in an honest report of independent bits: one with chance p, the others with chance q."""
    k, p, q = mechanism.domain.size, float(mechanism.supports.p), float(mechanism.supports.q)
    others = binomial_chance(np.arange(k), k - 1, q)
    law = (1 - p) * np.append(others, 0.0) + p * np.append(0.0, others)
    return np.asarray(law / law.sum())


class SetForger(Forger):
    """A set of w values."""

    @property
    def w(self) -> int:
        return int(self.mechanism.size)

    def maximal(self, count: int, g: np.random.Generator) -> Array:
        return first_of(self.k, self.targets, np.full(count, self.w), g)

    def anything(self, count: int, g: np.random.Generator) -> Array:
        return first_of(self.k, self.targets[:0], np.full(count, self.w), g)

    def most(self) -> float:
        return min(self.w, len(self.targets)) / len(self.targets)

    def by_chance(self) -> float:
        return self.w / self.k


@forger_of.register(SubsetSelection)
def _(mechanism: SubsetSelection, targets: Ints) -> Forger:
    return SetForger(mechanism, targets)


class HalfForger(Forger):
    """An index, which lies in the likely half of about every second value; index 0 lies in all of them."""

    @cached_property
    def best(self) -> Ints:
        """The reports that support the most targets: 0, and as a rule many others."""
        y = np.arange(self.mechanism.channel.order)
        rows = (self.targets + 1)[:, None]
        hits = (np.bitwise_count(rows & y[None, :]) % 2 == 0).sum(axis=0)
        return np.flatnonzero(hits == hits.max())

    def maximal(self, count: int, g: np.random.Generator) -> Array:
        return self.best[g.integers(len(self.best), size=count)]

    def anything(self, count: int, g: np.random.Generator) -> Array:
        return g.integers(self.mechanism.channel.order, size=count)

    def most(self) -> float:
        return 1.0  # index 0 is among the best

    def by_chance(self) -> float:
        return 0.5


@forger_of.register(HadamardResponse)
def _(mechanism: HadamardResponse, targets: Ints) -> Forger:
    return HalfForger(mechanism, targets)


class HashForger(Forger):
    """A hash and a bin. The forger picks the hash: one that sends all targets to one bin supports all of them."""

    @property
    def attacks(self) -> tuple[str, ...]:
        return (MAXIMAL, STEALTHY, RANDOM_REPORTS, RANDOM_ITEMS)

    def _seeds(self, count: int, g: np.random.Generator) -> Array:
        c = self.mechanism.channel
        return g.integers(1 << c.seed_bits, size=(count, c.value_bits + 1), dtype=np.uint16)

    def _with_bin(self, seeds: Array) -> Array:
        """The bin to which each hash sends the first target."""
        c = self.mechanism.channel
        first = np.full(len(seeds), self.targets[0])
        return np.column_stack([seeds, c.bin_of(c.hash(seeds, first)).astype(np.uint16)])

    def maximal(self, count: int, g: np.random.Generator) -> Array:
        seeds = self._seeds(count, g)
        seeds[:, 1:] = 0  # every value goes to the bin of b
        return self._with_bin(seeds)

    def stealthy(self, count: int, g: np.random.Generator) -> Array:
        """Uniform among the hashes that send the targets to one place: h(t) = h(t_1) for all t is linear in a."""
        seeds = self._seeds(count, g)
        for pivot, others in differences(self.targets):
            seeds[:, 1 + pivot] = np.bitwise_xor.reduce(seeds[:, [1 + i for i in others]], axis=1) if others else 0
        return self._with_bin(seeds)

    def anything(self, count: int, g: np.random.Generator) -> Array:
        bins = g.integers(self.mechanism.g, size=count, dtype=np.uint16)
        return np.column_stack([self._seeds(count, g), bins])

    def most(self) -> float:
        return 1.0

    def most_stealthy(self) -> float:
        return 1.0

    def by_chance(self) -> float:
        return 1 / self.mechanism.g


@forger_of.register(LocalHashing)
def _(mechanism: LocalHashing, targets: Ints) -> Forger:
    return HashForger(mechanism, targets)


def differences(targets: Ints) -> list[tuple[int, list[int]]]:
    """A reduced basis over GF(2) of the differences of targets: of each vector, one bit of its own and the others."""
    basis: dict[int, int] = {}
    for target in targets[1:]:
        d = int(target) ^ int(targets[0])
        for pivot, vector in basis.items():
            if d >> pivot & 1:
                d ^= vector
        if not d:
            continue
        pivot = d.bit_length() - 1
        basis = {p: v ^ d if v >> pivot & 1 else v for p, v in basis.items()}
        basis[pivot] = d
    return [(p, [i for i in range(v.bit_length()) if v >> i & 1 and i != p]) for p, v in basis.items()]


class NumberForger(Forger):
    """A report of a number, whose readout may lie far outside the range."""

    @cached_property
    def readout(self) -> Floats:
        return np.asarray(self.mechanism.readouts()[0] / (self.k - 1))

    def maximal(self, count: int, g: np.random.Generator) -> Array:
        return np.full(count, int(np.argmax(self.readout)))

    def anything(self, count: int, g: np.random.Generator) -> Array:
        return g.integers(len(self.readout), size=count)

    def worth(self, attack: str) -> float:
        """In widths of the range; an honest person with the largest value adds 1."""
        return {MAXIMAL: float(self.readout.max()), RANDOM_REPORTS: float(self.readout.mean()), RANDOM_ITEMS: 1.0}[
            attack
        ]


@forger_of.register(NumericOracle)
def _(mechanism: NumericOracle, targets: Ints) -> Forger:
    return NumberForger(mechanism, targets)


def is_share(mechanism: Any) -> bool:
    return isinstance(mechanism, FrequencyOracle | YesNo)
