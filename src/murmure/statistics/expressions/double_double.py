"""Numbers as the sum of two floats, high + low: what is left of a difference of large numbers keeps its digits.

    a + b = s + t,    a b = p + q    exactly, all of them floats

Dekker, Numerische Mathematik 18, 1971 (products); Knuth, The Art of Computer Programming 2, section 4.2.2 (sums). Sums
of products carry what each step rounds away: Ogita, Rump and Oishi, SIAM J. Sci. Comput. 26(6), 2005, algorithm 5.3
(Dot2), as if it were calculated with 106 bits. Nothing but IEEE additions and products, so every machine agrees; and
errors are exact, so a step may be left out where it adds 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Low = NDArray[np.float64] | float | None  # None: nothing was rounded away

SPLIT = 134217729.0  # 2**27 + 1
EXACT = 1 << 53  # whole numbers up to here are floats
WORD = 1 << 62


def halves(x: Any) -> tuple[Any, Any]:
    """Two floats of 26 bits whose sum it is."""
    c = SPLIT * x
    high = c - (c - x)
    return high, x - high


def two_sum(a: Any, b: Any) -> tuple[Any, Any]:
    s = a + b
    there = s - a
    return s, (a - (s - there)) + (b - there)


def two_product(a: Any, b: Any) -> tuple[Any, Any]:
    p = a * b
    (a1, a2), (b1, b2) = halves(a), halves(b)
    return p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2


def pair_of(v: Fraction) -> tuple[float, float]:
    """The nearest float, and the nearest float to what is left."""
    high = float(v)
    return high, float(v - Fraction(high))


def lows_of(v: Any, unit: Fraction, high: Floats) -> Low:
    """unit * v - high, rounded once or twice: v are whole numbers, high is floats_of(v, unit)."""
    up, down = unit.numerator, unit.denominator
    if isinstance(v, int):
        return pair_of(v * unit)[1] or None
    if v.dtype == object or down >= EXACT:
        return _slowly(v, up, down, high)
    most = up * max(-int(v.min()), int(v.max())) if len(v) else 0
    if down == 1 and most <= EXACT:
        return None
    if most >= WORD:
        return _slowly(v, up, down, high)
    v = v if up == 1 else v * up
    x = v.astype(np.float64)
    p, q = two_product(high, float(down))
    left = (x - p) - q  # exactly: high is the nearest float to v / down
    if most > EXACT:
        left += (v - x.astype(np.int64)).astype(np.float64)
    return left / float(down) if down != 1 else left


def _slowly(v: Any, up: int, down: int, high: Floats) -> Floats:
    """With Python's integers."""
    out = np.zeros(len(v))
    for i, (w, near) in enumerate(zip(v.tolist(), high.tolist(), strict=True)):
        if np.isfinite(near):
            a, b = near.as_integer_ratio()
            out[i] = (w * up * b - a * down) / (down * b)
    return out


class DoubleDoubleSums:
    """sums of t_k z_k, with public pairs t: (figures, rows), and any number of columns z one after the other."""

    def __init__(self, figures: int, rows: int) -> None:
        self.high, self.low = np.zeros((figures, rows)), np.zeros((figures, rows))

    def add(self, first: int, t: Floats, t_low: Floats, z: Floats, z_low: Low) -> None:
        """t z to the figures from `first` on; t has an entry for each of them."""
        high, low = self.high[first:], self.low[first:]
        t, t_low = t[:, None], t_low[:, None]
        (t1, t2), (z1, z2) = halves(t), halves(z)
        p = t * z
        q = t1 * z1
        q -= p
        q += t2 * z1
        if z2.any():
            q += t1 * z2
            q += t2 * z2
        s = high + p
        there = s - high
        p -= there
        np.subtract(s, there, out=there)
        np.subtract(high, there, out=there)
        p += there
        high[...] = s
        q += p
        low += q
        np.multiply(t_low, z, out=q)
        low += q
        if z_low is not None:
            np.multiply(t, z_low, out=q)
            low += q

    def done(self) -> tuple[Floats, Floats]:
        """high + low, with low below the last bit of high."""
        s = self.high + self.low
        return s, self.low - (s - self.high)


def squares(v: Floats, low: Floats) -> tuple[Floats, Floats]:
    """Of pairs."""
    p, q = two_product(v, v)
    return p, q + 2 * v * low


def added(pairs: Sequence[tuple[Any, Any]]) -> tuple[Any, Any]:
    """The sum of some pairs."""
    high, low = pairs[0]
    for a, b in pairs[1:]:
        high, more = two_sum(high, a)
        low = low + (more + b)
    return high, low
