"""Profiles against people: who agrees with which of a profile's entries, and with what chance the target is found.

An entry is a column and the values that speak for a person. How well a candidate fits depends only on the *pattern*,
the set of entries that it agrees with. So it is enough to count the candidates with each pattern, and the counts after
the first s surveys are sums of those after all of them.

    N(T) = candidates that agree with all entries of T, bits that are left when the sets of candidates are intersected;
    those with exactly the pattern T, by inclusion and exclusion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from murmure.core.types import Array, Floats, Ints, Mask
from murmure.laws.bits import pack
from murmure.laws.kernel_loader import available

BLOCK = 256  # targets matched at a time
MAX_BYTES = 1 << 30  # of all people in the order of each column
WORK = 1 << 20  # targets times candidates from which the kernel is worth loading


@dataclass(frozen=True, eq=False)
class Profiles:
    """What reports say about each target: entry s comes from survey s."""

    column: Ints  # (targets, surveys); -1 where there is no entry
    value: Ints | None  # (targets, surveys): the one value that speaks for a candidate
    sets: Mask | None  # or (targets, surveys, values): all of them
    weight: Floats  # (targets, surveys): how much an entry speaks for candidates who agree

    def agrees(self, codes: Ints) -> Mask:
        """(targets, surveys): whether target i agrees with its profile, codes[i] being the truth."""
        there = self.column >= 0
        truth = np.take_along_axis(codes, np.where(there, self.column, 0), axis=1)
        if self.value is not None:
            return there & (self.value == truth)
        assert self.sets is not None
        return there & np.take_along_axis(self.sets, truth[..., None], axis=2)[..., 0]


@dataclass(frozen=True, eq=False)
class Candidates:
    """The people whom the attacker knows, by the codes of their columns."""

    codes: Ints  # (n, d)
    sizes: tuple[int, ...]  # of the domains of the columns

    @cached_property
    def first(self) -> Ints:
        """Where the values of each column start in `bits`."""
        return np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.int64)

    @cached_property
    def bits(self) -> Array:
        """Who holds each value of each column, 64 people a word."""
        return self._holders(self.codes)

    @cached_property
    def sorted_bits(self) -> Array:
        """The same with the people in the order of each column."""
        return np.stack([self._holders(self.codes[np.argsort(column, kind="stable")]) for column in self.codes.T])

    @cached_property
    def start(self) -> Ints:
        """How many people, column after column, hold earlier values."""
        counts = [np.bincount(column, minlength=size) for column, size in zip(self.codes.T, self.sizes, strict=True)]
        return np.concatenate([[0], np.cumsum(np.concatenate(counts))]).astype(np.int64)

    def _holders(self, codes: Ints) -> Array:
        holds = [column == np.arange(size)[:, None] for column, size in zip(codes.T, self.sizes, strict=True)]
        return pack(np.concatenate(holds).astype(np.uint8))

    def patterns(self, profiles: Profiles, compiled: bool | None = None) -> Ints:
        """(2**surveys, targets): how many candidates agree with exactly these entries."""
        targets, surveys = profiles.column.shape
        counts = np.zeros((1 << surveys, targets), np.int64)
        if compiled is None:
            room = profiles.value is None or len(self.sizes) * self.bits.nbytes <= MAX_BYTES
            compiled = available() and room and targets * len(self.codes) >= WORK
        if compiled:
            from murmure.attacks.person.survey_rules import match_kernels

            if profiles.value is None:
                match_kernels.intersections(self.bits, self.first, profiles.column, profiles.sets, counts)
            else:
                match_kernels.value_intersections(
                    self.sorted_bits, self.first, self.start, profiles.column, profiles.value, counts
                )
        else:
            self.intersections(profiles, counts)
        counts[0] = len(self.codes)
        pattern = np.arange(len(counts))
        for s in range(surveys):
            without = pattern[pattern >> s & 1 == 0]
            counts[without] -= counts[without | 1 << s]
        return counts

    def intersections(self, profiles: Profiles, out: Ints) -> None:
        """The reference: out[T] = N(T) for all sets T but the empty one."""
        targets, surveys = profiles.column.shape
        for a in range(0, targets, BLOCK):
            part = slice(a, min(a + BLOCK, targets))
            entries = [self._agreeing(profiles, part, s) for s in range(surveys)]
            both = [np.full_like(entries[0], ~np.uint64(0))]
            for t in range(1, 1 << surveys):
                both.append(both[t & (t - 1)] & entries[(t & -t).bit_length() - 1])
                out[t, part] = np.bitwise_count(both[t]).sum(axis=1, dtype=np.int64)

    def _agreeing(self, profiles: Profiles, part: slice, s: int) -> Array:
        """Who agrees with entry s, one row of bits for each target."""
        column = profiles.column[part, s]
        out = np.zeros((len(column), self.bits.shape[1]), np.uint64)
        for j in np.unique(column[column >= 0]):
            rows, bits = np.flatnonzero(column == j), self.bits[self.first[j] : self.first[j + 1]]
            if profiles.value is not None:
                out[rows] = bits[profiles.value[part, s][rows]]
                continue
            assert profiles.sets is not None
            sets = profiles.sets[part, s][rows, : len(bits)]
            agreeing = np.zeros((len(rows), out.shape[1]), np.uint64)
            for v in np.flatnonzero(sets.any(axis=0)):
                agreeing[sets[:, v]] |= bits[v]
            out[rows] = agreeing
        return out


def found(counts: Ints, profiles: Profiles, truth: Mask, top: Sequence[int]) -> Floats:
    """(surveys, top): the chance that a target is among the best k, over targets, after 1, 2, ... surveys."""
    surveys = profiles.column.shape[1]
    out = np.empty((surveys, len(top)))
    weight, agrees = np.ascontiguousarray(profiles.weight.T), truth.T
    for s in range(surveys, 0, -1):
        bits = (np.arange(1 << s)[:, None] >> np.arange(s) & 1).astype(float)
        score = bits @ weight[:s]
        mine = (weight[:s] * agrees[:s]).sum(axis=0)
        room = 1e-9 * np.maximum(1.0, np.abs(mine))  # the same numbers, added in another order
        better, equal = score > mine + room, np.abs(score - mine) <= room
        out[s - 1] = chances((counts * better).sum(axis=0), (counts * equal).sum(axis=0), top).mean(axis=0)
        counts = counts[: 1 << (s - 1)] + counts[1 << (s - 1) :]  # whatever the last survey says
    return out


def chances(better: Array, equal: Array, top: Sequence[int]) -> Floats:
    """(targets, top): `better` people rank before the target, `equal` people (with the target) in random order."""
    return np.clip((np.asarray(top) - better[:, None]) / equal[:, None], 0, 1)
