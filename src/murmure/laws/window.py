"""A window of likely reports that moves with the input; all other reports are equally unlikely.

    P[y | x] = inside / 2**64    for the `length` reports y = start(x), start(x)+1, ...,
               outside / 2**64   for the others,       start(x) = clamp(step x - shift, 0, outputs - length).

What division leaves over goes to the first reports of the window, one unit of 2**-64 each (`rest` of them), so a row
sums to 2**64 exactly. With length 1 this is generalised randomised response; sliding, it is the piecewise mechanism
and the square wave; stopped at the ends, the sliding window of bounded reports.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from murmure.core.errors import InvalidParameter
from murmure.core.fixed import WORD, Words64, at_most, ceil_share, exactly, exp, smallest_uint
from murmure.core.random import RandomWords
from murmure.core.types import Array, Floats, Ints
from murmure.laws.kernel_loader import kernels_for, native, threads


@dataclass(frozen=True)
class WindowChannel:
    inputs: int
    outputs: int
    length: int
    step: int
    shift: int
    outside: int  # the numerator of every unlikely report

    def __post_init__(self) -> None:
        if not (1 <= self.length < self.outputs and self.outside >= 1):
            raise InvalidParameter("{value!r} must leave room for both likely and unlikely reports.", value=self)
        if self.inside < self.outside:
            raise self.too_small(self.outputs)

    @staticmethod
    def too_small(outputs: int) -> InvalidParameter:
        return InvalidParameter(
            "epsilon is too small for {outputs} reports: rounded to 2**-64, the likely ones would be no likelier "
            "than the others.",
            hint="a larger epsilon, or fewer values",
            outputs=outputs,
        )

    @classmethod
    @exactly
    def calibrated(
        cls, epsilon: float, inputs: int, outputs: int, length: int = 1, step: int = 1, shift: int = 0
    ) -> WindowChannel:
        """The least `outside` for which no report is more than e**epsilon times likelier than another."""
        E = exp(epsilon)
        outside = ceil_share(1, length * E + (outputs - length))
        # The ratio of peak to outside is checked exactly: rounding must never exceed e**epsilon.
        while not at_most(cls._peak(outside, outputs, length), outside, E):
            outside += 1  # once or twice, for the unit that rounding adds
        law = cls(inputs, outputs, length, step, shift, outside)
        if law.inside == law.outside:  # a law, but nothing could be estimated from it
            raise cls.too_small(outputs)
        return law

    @staticmethod
    def _peak(outside: int, outputs: int, length: int) -> int:
        return -(-(WORD - (outputs - length) * outside) // length)

    @cached_property
    def body(self) -> int:
        """The numerator of the whole window: words below it give a likely report."""
        return WORD - (self.outputs - self.length) * self.outside

    @cached_property
    def inside(self) -> int:
        return self.body // self.length

    @property
    def rest(self) -> int:
        return self.body % self.length

    @property
    def peak(self) -> int:
        """The largest numerator there is."""
        return self.inside + (1 if self.rest else 0)

    @property
    def cut(self) -> int:
        """Words below it give one of the reports that have a unit more."""
        return self.rest * (self.inside + 1)

    words, deep, slack, report_ndim = 1, 0, 0.0, 0

    def start(self, x: Array) -> Ints:
        at = np.asarray(x).astype(np.int64) * self.step - self.shift
        return np.clip(at, 0, self.outputs - self.length)

    def draw(self, x: Array, words: RandomWords) -> Array:
        out = np.empty(len(x), smallest_uint(self.outputs - 1))
        kernels, x = kernels_for(len(x)), native(x)
        if kernels is not None:
            plain = (self.outputs, self.length, self.step, self.shift, self.body, self.inside, self.outside, self.rest)

            def fill(a: int, b: int, block: Words64) -> None:
                kernels.window(x[a:b], block, out[a:b], *map(np.uint64, plain))

            words.each(fill, threads())
        else:
            words.each(lambda a, b, block: self._fill(x[a:b], block[:, 0], out[a:b]))
        return out

    def _fill(self, x: Array, u: Words64, out: Array) -> None:
        """The reference."""
        body, outside = np.uint64(self.body), np.uint64(self.outside)
        likely = u < body
        plain = (self.step, self.shift, self.length) == (1, 0, 1)
        start = (x if plain else self.start(x)).astype(out.dtype, copy=False)
        # the unlikely reports in order, skipping the window; wraps where `likely`, and is not used there
        other = ((u - body) // outside).astype(out.dtype)
        np.add(other, (other >= start).astype(out.dtype) * out.dtype.type(self.length), out=out)
        if plain:
            # chosen without a branch: truth and lie are about equally likely, and mispredicted branches are expensive
            out ^= (out ^ start) & np.negative(likely.astype(out.dtype))
        else:
            inside, cut = np.uint64(self.inside), np.uint64(self.cut)
            within = np.where(u < cut, u // (inside + np.uint64(1)), (u - cut) // inside + np.uint64(self.rest))
            np.copyto(out, start + within.astype(out.dtype), where=likely)

    def prob(self, x: int, y: int) -> Fraction:
        within = int(y) - int(self.start(np.array([x]))[0])
        if not 0 <= within < self.length:
            return Fraction(self.outside, WORD)
        return Fraction(self.inside + (1 if within < self.rest else 0), WORD)

    def log_prob(self, x: Array, y: Array) -> Floats:
        within = np.asarray(y).astype(np.int64) - self.start(x)
        likely = np.where(within < self.rest, math.log((self.inside + 1) / WORD), math.log(self.inside / WORD))
        return np.where((within >= 0) & (within < self.length), likely, math.log(self.outside / WORD))

    def outcomes(self) -> range:
        return range(self.outputs)

    def report_bits(self) -> float:
        return math.log2(self.outputs)

    def integers(self) -> dict[str, Any]:
        return {
            "law": "window",
            "outputs": self.outputs,
            "length": self.length,
            "step": self.step,
            "shift": self.shift,
            "outside": str(self.outside),
        }
