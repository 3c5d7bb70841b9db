"""Staircase noise on the integers: flat runs, a factor e**-eps from one stair of `step` integers to the next.

    P[z] = a e**(-eps k)          where |z| = k step + j, 0 <= j < r,
           a e**(-eps (k + 1))    where |z| = k step + j, r <= j < step.

Geng, Viswanath, "The optimal noise-adding mechanism in differential privacy", IEEE Trans. Inf. Theory 62(2), 2016,
and the integer-valued version there (section on discrete query functions). k comes from tables (digits.py), the
side of the stair from one integer q over 2**63, j is exactly uniform on its side; a fair sign, and "minus zero" is
drawn again. So

    P[z] = G(k) S(j) / (2 - G(0) S(0)),      S(j) = (q / 2**63) / r  or  (1 - q / 2**63) / (step - r).

What one draw loses. Let |z| and |z'| differ by at most `step`. Either both have the same k: the ratio is S(j) /
S(j'), at most top / bottom. Or k' = k + 1 and j' <= j: then S(j') >= S(j), because j' <= j can leave the lower side
for the upper one but not the other way, and the ratio is at most G(k) / G(k + 1) <= e**(rate + slack). The inverse
ratios are at most the greater of 1 and top / bottom. Hence a shift by d loses at most ceil(d / step) `unit`, unit =
max(ln(top / bottom), rate + slack).

Vectors. A shift of 1 can cost a whole unit already: unlike Laplace noise, nothing is saved when the shift is small.
If m entries move, by d_1 .. d_m >= 1 that add up to D at most, the loss is at most

    sum of ceil(d_i / step) <= m + (D - m) // step       units,

since ceil(d / step) = 1 + (d - 1) // step. It is 1 unit only where a single entry can move, and step >= D.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from murmure.core.errors import InvalidParameter
from murmure.core.fixed import log_up
from murmure.core.types import Floats, Ints
from murmure.laws.noise.coins import BatchedNoise, Stream, first_accepted, uniforms
from murmure.laws.noise.digits import HALF_WORD, Digits, calibrated, power

MAX_SCALE = Fraction(1 << 52)


def loss_units(moves: int, entries: int, step: int) -> int:
    """How many units a vector loses when `entries` of it may move by whole numbers that add up to `moves`."""
    moved = min(moves, entries)
    return moved + (moves - moved) // step


@dataclass(frozen=True)
class StaircaseLaw(BatchedNoise):
    step: int
    r: int
    upper: int  # q: the words, of 2**63, that fall to the upper side of a stair
    stairs: Digits

    def __post_init__(self) -> None:
        if not 1 <= self.r <= self.step or not 1 <= self.upper <= HALF_WORD:
            raise InvalidParameter("a stair of {step} cannot have an upper side of {r}.", step=self.step, r=self.r)
        if (self.upper == HALF_WORD) != (self.r == self.step) or self.upper * self.step < HALF_WORD * self.r:
            raise InvalidParameter("the upper side of a stair must not be less likely than the lower one.")
        if self.step / self.stairs.rate > MAX_SCALE:
            scale = float(self.step / self.stairs.rate)
            raise InvalidParameter(
                "staircase noise of scale {scale:.3g} was asked for; up to 2**52 can be drawn.",
                hint="a larger epsilon, fewer rows for each person, or a coarser grid of the statistic",
                scale=scale,
            )

    @classmethod
    def of(cls, epsilon: Fraction, step: int, r: int) -> StaircaseLaw:
        """The staircase whose unit is at most epsilon."""
        stairs = calibrated(epsilon, 1, 1)
        b = Fraction(power(stairs.rate) + 4, 1 << 200)  # e**-rate, rounded up
        upper = HALF_WORD if r == step else math.floor(HALF_WORD * (r / (r + b * (step - r))))
        return cls(step, r, upper, stairs)

    @classmethod
    def best(cls, epsilon: Fraction, step: int) -> StaircaseLaw:
        """r with the least variance, near gamma step for gamma = ((b (1+b)/2)**(1/3) - b) / (1-b), b = e**-epsilon."""
        b = math.exp(-min(float(epsilon), 32.0))
        gamma = (math.cbrt(b * (1 + b) / 2) - b) / (1 - b)
        near = math.floor(gamma * step)
        tried = sorted({min(max(1, r), step) for r in (near - 1, near, near + 1, near + 2, step)})
        return min((cls.of(epsilon, step, r) for r in tried), key=lambda law: law.variance)

    @cached_property
    def unit(self) -> Fraction:
        """The loss of any shift by `step` or less."""
        side = Fraction(0)
        if self.r < self.step:
            side = Fraction(log_up(Fraction(self.upper * (self.step - self.r), (HALF_WORD - self.upper) * self.r)))
        return max(side, self.stairs.rate + self.stairs.slack)

    def loss(self, moves: int, entries: int) -> Fraction:
        return loss_units(moves, entries, self.step) * self.unit

    # the law

    def _side(self, j: int) -> Fraction:
        if j < self.r:
            return Fraction(self.upper, HALF_WORD * self.r)
        return Fraction(HALF_WORD - self.upper, HALF_WORD * (self.step - self.r))

    def magnitude(self, m: int) -> Fraction:
        k, j = divmod(m, self.step)
        return self.stairs.magnitude(k) * self._side(j)

    def prob(self, z: int) -> Fraction:
        return self.magnitude(abs(z)) / (2 - self.magnitude(0))

    def log_prob(self, z: Any) -> Floats:
        k, j = np.divmod(np.abs(np.asarray(z, np.int64)), self.step)
        upper, lower = math.log(self._side(0)), math.log(self._side(self.step - 1))
        stairs = self.stairs.log_magnitude(k)
        return np.asarray(stairs + np.where(j < self.r, upper, lower) - math.log(2 - self.magnitude(0)))

    def beyond(self, m: int) -> Fraction:
        """P[|Z| > m], exactly: further stairs, and what is left of this one."""
        k, j = divmod(m, self.step)
        further = self.stairs.tail(k)
        here = Fraction(HALF_WORD - self.upper, HALF_WORD) - max(0, j + 1 - self.r) * self._side(self.step - 1)
        if self.r == self.step:
            here = Fraction(0)
        here += max(0, self.r - 1 - j) * self._side(0)
        return 2 * (further + self.stairs.magnitude(k) * here) / (2 - self.magnitude(0))

    quantile = Digits.quantile

    @cached_property
    def variance(self) -> float:
        """E[Z**2] = 2 E[M**2] / (2 - P[M = 0]), M = step k + j."""
        mean_k, square_k = self.stairs.moments
        u, r, s = self.upper / HALF_WORD, self.r, self.step
        mean_j = u * (r - 1) / 2 + (1 - u) * (r + s - 1) / 2
        top = (r - 1) * (2 * r - 1) / 6
        rest = ((s - 1) * s * (2 * s - 1) - (r - 1) * r * (2 * r - 1)) / 6 / (s - r) if r < s else 0.0
        square_j = u * top + (1 - u) * rest
        square = s**2 * square_k + 2 * s * mean_k * mean_j + square_j
        return 2 * square / (2 - float(self.magnitude(0)))

    def integers(self) -> dict[str, Any]:
        parts = {"step": str(self.step), "r": str(self.r), "upper": str(self.upper)}
        return {"law": "staircase", **parts, "stairs": self.stairs.integers()}

    # the sampler

    def batch(self, n: int, stream: Stream) -> Ints:
        return first_accepted(n, 1 - float(self.magnitude(0)) / 2, lambda m: self._attempt(m, stream))

    def _attempt(self, m: int, stream: Stream) -> Ints:
        k = self.stairs.magnitudes(m, stream)
        words = stream.take(m)
        minus = (words & np.uint64(1)).astype(np.int64)
        lower = (words >> np.uint64(1)) >= np.uint64(self.upper)
        j = np.empty(m, np.int64)
        up, down = np.flatnonzero(~lower), np.flatnonzero(lower)
        j[up] = uniforms(self.r, len(up), stream) >> 1
        if len(down):
            j[down] = self.r + (uniforms(self.step - self.r, len(down), stream) >> 1)
        z = k * self.step + j
        return stream.pick((z ^ -minus) + minus, (z > 0) | (minus == 0))
