"""Whole numbers in a ring that is larger than any sum of them, so that no sum is ever rounded or wrapped.

One party's entry v, |v| <= bound, is v modulo 2**(64 limbs), in words of 64 bits from the lowest up; words are added
with carry, and parties * bound < 2**(64 limbs - 1) strictly, so "everyone" and "no one" are never the same element.

Adding words separately, without carry, would be simpler, but it would reveal more than the sum: how often the low words
of single parties overflowed. That would undo noise in shares, since a carry depends on one party's share alone.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from murmure.core.errors import InvalidParameter, shorten
from murmure.core.fixed import Words64
from murmure.secure.errors import ImpossibleTotal, NoHeadroom, OutOfBound

WORD_BITS = 64
MAX_LIMBS = 64
_WORD = (1 << WORD_BITS) - 1


@dataclass(frozen=True)
class Ring:
    """The integers modulo 2**(bits limbs), in uint64: `limbs` words an element, the lowest first.

    The proof by enumeration runs the protocol's code with few bits.
    """

    bits: int = WORD_BITS
    limbs: int = 1

    def __post_init__(self) -> None:
        if not _is_whole(self.bits) or not 1 <= self.bits <= WORD_BITS:
            raise InvalidParameter("Ring.bits must be a whole number from 1 to 64, got {got}.", got=shorten(self.bits))
        if not _is_whole(self.limbs) or not 1 <= self.limbs <= MAX_LIMBS:
            raise InvalidParameter(
                "Ring.limbs must be a whole number from 1 to {max_limbs}, got {got}.",
                max_limbs=MAX_LIMBS,
                got=shorten(self.limbs),
            )

    def add(self, out: Words64, words: Words64) -> None:
        """out <- out + words, in place."""
        self._combine(np.add, out, words)

    def subtract(self, out: Words64, words: Words64) -> None:
        """out <- out - words, in place."""
        self._combine(np.subtract, out, words)

    def _combine(self, apply: np.ufunc, out: Words64, words: Words64) -> None:
        if self.limbs == 1:
            apply(out, words, out=out)
            self._reduce(out)
            return
        outs, given = out.reshape(-1, self.limbs), words.reshape(-1, self.limbs)
        carry = np.zeros(len(outs), np.uint64)
        for k in range(self.limbs):
            word = outs[:, k].copy()
            combined = apply(word, given[:, k])
            self._reduce(combined)
            overflows = combined < word if apply is np.add else combined > word
            carried = apply(combined, carry)
            self._reduce(carried)
            overflows |= carried < combined if apply is np.add else carried > combined
            outs[:, k] = carried
            carry = overflows.astype(np.uint64)

    def _reduce(self, out: Words64) -> None:
        if self.bits < WORD_BITS:  # uint64 may have wrapped: 2**bits divides 2**64, so that does no harm
            np.bitwise_and(out, np.uint64((1 << self.bits) - 1), out=out)


@dataclass(frozen=True)
class RingEncoder:
    """The public agreement on how `entries` sums become words.

    bound: the largest absolute value of one party's entry. parties: the most that are ever added up. limbs: words per
    entry; None takes as few as fit.
    """

    entries: int
    bound: int
    parties: int
    limbs: int | None = None

    def __post_init__(self) -> None:
        for name, minimum in (("entries", 1), ("bound", 0), ("parties", 1)):
            self._check_whole(name, minimum)
        if self.limbs is None:
            object.__setattr__(self, "limbs", self._fewest_limbs())
        self._check_whole("limbs", 1)
        self._check_headroom()

    def _check_whole(self, name: str, minimum: int) -> None:
        value = getattr(self, name)
        if not _is_whole(value) or value < minimum:
            raise InvalidParameter(
                "Encoder.{name} must be a whole number, at least {minimum}, got {got}.",
                hint=None if name != "bound" else "round bounds up to whole numbers of the smallest unit",
                name=name,
                minimum=minimum,
                got=shorten(value),
            )
        object.__setattr__(self, name, int(value))

    def _fewest_limbs(self) -> int:
        return next((limbs for limbs in range(1, MAX_LIMBS) if self._fits(limbs)), MAX_LIMBS)

    def _fits(self, limbs: int) -> bool:
        return self.parties * self.bound < 1 << (WORD_BITS * limbs - 1)

    def _check_headroom(self) -> None:
        if self._fits(self._limbs):
            return
        needed, available = (self.parties * self.bound).bit_length() + 1, WORD_BITS * self._limbs
        raise NoHeadroom(
            "Encoder: {parties:_} parties with entries up to {bound} in {limbs} word(s) each: "
            "the sum needs {needed} bits with its sign, {available} are available.",
            hint="use more limbs (limbs=None takes as many as needed), tighter bounds (of the columns or of the rows "
            "per party, or a coarser step), or fewer parties",
            parties=self.parties,
            bound=shorten(self.bound),
            limbs=self.limbs,
            needed=needed,
            available=available,
        )

    @property
    def _limbs(self) -> int:
        assert self.limbs is not None  # __post_init__ replaces None
        return self.limbs

    @property
    def ring(self) -> Ring:
        return Ring(limbs=self._limbs)

    @property
    def words(self) -> int:
        """The length of what a party sends."""
        return self.entries * self._limbs

    def encode(self, values: Sequence[int] | np.ndarray[Any, Any], *, wrap: bool = False) -> Words64:
        """The words of one party's sums; a sum beyond its bound is an error, never clipped.

        wrap=True is for sums with noise: whether there is an error must not depend on how large the noise came out, so
        a value beyond the bound wraps around the ring.
        """
        integers = self._integers(values)
        if not wrap:
            self._check_bound(integers)
        out = np.empty((self.entries, self._limbs), np.uint64)
        for k in range(self._limbs):
            word = _shifted(integers, WORD_BITS * k)
            # "& _WORD" on Python's integers is two's complement as well
            out[:, k] = word & _WORD if word.dtype == object else word.view(np.uint64)
        return out.reshape(-1)

    def decode(self, total: Words64, survivors: int) -> list[int]:
        """The sums over this number of parties, exactly."""
        if not _is_whole(survivors) or not 1 <= survivors <= self.parties:
            raise InvalidParameter(
                "Encoder.decode: survivors must be from 1 to {parties:_} (the parties), got {got}.",
                parties=self.parties,
                got=shorten(survivors),
            )
        if not isinstance(total, np.ndarray) or total.dtype != np.uint64 or total.shape != (self.words,):
            raise InvalidParameter("Encoder.decode takes {words:_} words (uint64).", words=self.words)
        digits = total.reshape(self.entries, self._limbs)
        sums: Any = np.ascontiguousarray(digits[:, -1]).view(np.int64)  # the sign is in the highest word
        if self._limbs > 1:
            sums = sums.astype(object)
            for k in range(self._limbs - 2, -1, -1):
                sums = (sums << WORD_BITS) + digits[:, k].astype(object)
        decoded: list[int] = sums.tolist()
        if max(max(decoded), -min(decoded)) > survivors * self.bound:
            raise ImpossibleTotal(
                "the total is larger than {survivors} parties within a bound of {bound} can add up to.",
                hint="a party broke its bound or sent a wrong share; nothing in this total can be trusted",
                survivors=survivors,
                bound=shorten(self.bound),
            )
        return decoded

    def digest_fields(self) -> tuple[int, ...]:
        """What every party must agree on, for the digest of a session."""
        return (self.entries, self.bound, self.parties, self._limbs, WORD_BITS)

    def _integers(self, values: Sequence[int] | np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """int64 where the values fit in it, Python's integers where they do not."""
        array = values if isinstance(values, np.ndarray) else None
        if array is None or array.dtype.kind != "i":
            try:
                whole = [operator.index(value) for value in (values if array is None else array.ravel())]
            except TypeError:
                raise InvalidParameter(
                    "Encoder.encode takes whole numbers: sums are added up exactly, or not at all.",
                    hint="count in the smallest unit (cents, steps of the grid), not in floating point",
                ) from None
            array = np.empty(len(whole), object)
            array[:] = whole
            if whole and min(whole) >= -(1 << 63) and max(whole) < 1 << 63:
                array = array.astype(np.int64)
        elif array.dtype != np.int64:
            array = array.astype(np.int64)
        if array.shape != (self.entries,):
            raise InvalidParameter(
                "Encoder.encode takes {entries:_} entries, got {got:_}.", entries=self.entries, got=array.size
            )
        return array

    def _check_bound(self, integers: np.ndarray[Any, Any]) -> None:
        # in Python's integers, since int64 has no abs(-2**63)
        if int(integers.max()) <= self.bound and -int(integers.min()) <= self.bound:
            return
        entry = next(i for i, value in enumerate(integers.tolist()) if abs(value) > self.bound)
        raise OutOfBound(
            "entry {entry} of this party's own sums exceeds the agreed bound of {bound}; nothing was sent.",
            hint="check the rows (too many, or a value in another unit), or agree on a wider bound",
            entry=entry,
            bound=shorten(self.bound),
        )


def _is_whole(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _shifted(integers: np.ndarray[Any, Any], bits: int) -> np.ndarray[Any, Any]:
    """floor(integers / 2**bits); C leaves a shift by 64 or more undefined, and 63 already leaves only the sign."""
    if bits == 0:
        return integers
    return integers >> (bits if integers.dtype == object else min(bits, 63))
