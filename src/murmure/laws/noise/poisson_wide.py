"""Poisson numbers of a large whole mean M, nothing rounded: rejection that is decided by bounds.

Z is discrete Laplace noise of scale t near sqrt(M) (exact coins), and M + Z is kept with probability e**-g(Z),

    g(z) = c - |z| / t + L(z),      L(z) = ln P[M] - ln P[M+z] = ln((M+z)! / M!) - z ln M,

where c bounds |z| / t - L(z), which is concave on either side of 0, at the whole numbers around its summits. About
three of four are kept. The coin e**-g is e**(-g/s) s times, s a whole number above g; and e**(-g/s) is the alternating
coin of laws/noise/coins.py: coins g/s, g/(2s), g/(3s), ... until one says no; yes if that is an odd one. So all that
must be known of g is whether it lies above or below a random number.

By Stirling's series (R(n) between 1/(12 n) - 1/(360 n**3) and 1/(12 n)) and ln(n / M) = 2 artanh(s),
s = z / (2M + z), which is the sum of 2 s**j / j over odd j, with n = M + z:

    L(z) = z s (1 + (s + s**2) / 3 + (s**3 + s**4) / 5 + ...) + (s + s**3 / 3 + ...) + R(n) - R(M).          (1)

Floats take (1) for |z| <= M/8, with sums, products and quotients only, which IEEE 754 rounds by 2**-53 each, and no
logarithm of a library. |s| <= 1/15, so the terms after s**13 are below 2**-54 of z s and of s; 1/(360 n**3) is below
2**-49. Fewer than 40 roundings of terms that are at most |z| / t + |z s| + c + 1: ERROR times that bounds all. A
random number that lies nearer to g/(sk) than this (one in 2**40) is continued, and compared with g by decimals of as
many digits as it takes.
"""

from __future__ import annotations

import decimal
import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from murmure.core.types import Floats, Ints, Mask
from murmure.laws.noise.coins import Stream, first_accepted
from murmure.laws.noise.laplace import DiscreteLaplaceLaw
from murmure.laws.noise.log_factorial import log_factorial

ERROR = 2.0**-46
MIN_MEAN = 1 << 14  # R(n) and |s| above are bounded for means from here on
DIGITS = 60


@dataclass(frozen=True)
class WidePoisson:
    M: int

    def __post_init__(self) -> None:
        assert self.M >= MIN_MEAN

    @cached_property
    def t(self) -> int:
        return math.isqrt(self.M) + 1

    def bounds(self, z: int, digits: int = DIGITS) -> tuple[decimal.Decimal, decimal.Decimal]:
        """L(z) from below and from above."""
        n = self.M + z
        (a, b), (c, d) = log_factorial(n, digits + 2), log_factorial(self.M, digits + 2)
        with decimal.localcontext() as context:
            context.prec = digits + 2 * len(str(self.M)) + 20
            shift = z * decimal.Decimal(self.M).ln()
            unit = decimal.Decimal(10) ** -(digits + 2)
            return a - d - shift - unit, b - c - shift + unit

    @cached_property
    def c(self) -> float:
        """At least the largest |z| / t - L(z), and 2**-30 more: a float that is exact.

        To the right |z| / t - L grows by 1/t - ln(1 + z/M), to the left by 1/t + ln(1 - (|z| - 1)/M): each falls, so
        the summit is next to where it is 0.
        """
        with decimal.localcontext() as context:
            context.prec = DIGITS
            step = (decimal.Decimal(1) / self.t).exp()
            right, left = int(self.M * (step - 1)), int(self.M * (1 - 1 / step))
            near = [z + d for z in (right, -left) for d in range(-2, 3)]
            most = max(abs(z) / decimal.Decimal(self.t) - self.bounds(z)[0] for z in near)
            return (int(most * (1 << 30)) + 2) / float(1 << 30)

    def g(self, z: Ints) -> tuple[Floats, Floats]:
        """g, and how far it may be off; |z| <= M/8."""
        x = z.astype(np.float64)
        s = x / (2 * self.M + z).astype(np.float64)
        square, series = s * s, np.zeros(len(z))
        for j in (13, 11, 9, 7, 5, 3):
            series = series * square + 1.0 / j  # 1/3 + s**2/5 + s**4/7 + ...
        even, odd, main = square * series, s * series, x * s
        stirling = 1.0 / (12.0 * (x + float(self.M))) - 1.0 / (12.0 * self.M)
        away = np.abs(x) / self.t
        value = (self.c - away) + main * (1.0 + (odd + even)) + (s * (1.0 + even) + stirling)
        return value, ERROR * (1.0 + self.c + away + np.abs(main))

    def batch(self, n: int, stream: Stream) -> Ints:
        laplace = DiscreteLaplaceLaw(1, self.t)

        def attempt(m: int) -> Ints:
            z = laplace.batch(m, stream)
            z = z[z >= -self.M]
            return z[self.kept(z, stream)] + self.M

        return first_accepted(n, 0.7, attempt)

    def kept(self, z: Ints, stream: Stream) -> Mask:
        """Bernoulli(e**-g(z)) for each of them."""
        out = np.zeros(len(z), np.bool_)
        near = np.abs(z) <= self.M // 8
        value, error = self.g(np.where(near, z, 0))
        pieces = np.floor(value).astype(np.int64) + 2  # above g, whatever the error
        alive = np.flatnonzero(near)
        coin, left = np.ones(len(z), np.int64), pieces.copy()
        while len(alive):
            words = stream.take(len(alive))
            u = words.astype(np.float64) * 2.0**-64
            parts = (pieces[alive] * coin[alive]).astype(np.float64)
            gap = value[alive] / parts - u
            margin = error[alive] / parts + 2.0**-50
            yes = gap > 0
            for i in np.flatnonzero(np.abs(gap) <= margin):
                yes[i] = self.settle(int(z[alive[i]]), int(parts[i]), int(words[i]), stream)
            odd = coin[alive] % 2 == 1
            coin[alive] = np.where(yes, coin[alive] + 1, 1)
            left[alive[~yes & odd]] -= 1
            done = ~yes & (~odd | (left[alive] == 0))
            out[alive[~yes & odd & (left[alive] == 0)]] = True
            alive = alive[~done]
        for i in np.flatnonzero(~near):
            out[i] = self._kept_far(int(z[i]), stream)
        return out

    def settle(self, z: int, parts: int, word: int, stream: Stream) -> bool:
        """Is U < g(z) / parts, where U begins with `word`? With more words and more digits until they decide."""
        for words in itertools.count(1):
            low, high = self._exact(z, 20 * words + 20)
            if Fraction(word + 1, 1 << (64 * words)) <= low / parts:
                return True
            if Fraction(word, 1 << (64 * words)) >= high / parts:
                return False
            word = (word << 64) | int(stream.take(1)[0])
        raise AssertionError

    def _exact(self, z: int, digits: int) -> tuple[Fraction, Fraction]:
        """g from below and from above."""
        low, high = self.bounds(z, digits)
        rest = Fraction(self.c) - Fraction(abs(z), self.t)
        return rest + Fraction(low), rest + Fraction(high)

    def _kept_far(self, z: int, stream: Stream) -> bool:
        """The same coins, one by one, for the few numbers far from the mean."""
        pieces = math.floor(self._exact(z, DIGITS)[1]) + 1
        for _ in range(pieces):
            k = 1
            while self.settle(z, pieces * k, int(stream.take(1)[0]), stream):
                k += 1
            if k % 2 == 0:
                return False
        return True
