"""From fractions to floats, rounded once; and to shorter fractions, with the same result on every machine."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# ln 2 as the sum of two floats: e LN2 keeps its digits for large e.
LN2 = (0.6931471805599453, 2.3190468138462996e-17)


def to_float(v: Any) -> float:
    """The nearest float; infinite beyond the range of floats."""
    try:
        return float(v)
    except OverflowError:
        return math.inf if v > 0 else -math.inf


def to_floats(A: Any) -> Floats:
    """A vector or a matrix of floats, every entry rounded once."""
    if len(A) and isinstance(A[0], Sequence):
        return np.array([[to_float(v) for v in row] for row in A], np.float64)
    return np.array([to_float(v) for v in A], np.float64)


def root(v: Any) -> float:
    """The correctly rounded square root of a fraction that is not negative."""
    v = Fraction(v)
    if v < 0:
        raise ValueError("no square root of a negative number")
    if not v:
        return 0.0
    # r = floor(sqrt(v) 2^s) has at least 64 bits. A last bit of 1 (sticky) marks that digits were cut off, so that
    # rounding to a float is correct.
    s = max(0, 64 - (v.numerator.bit_length() - v.denominator.bit_length()) // 2)
    whole, left = divmod(v.numerator << 2 * s, v.denominator)
    r = math.isqrt(whole)
    cut = bool(left) or r * r != whole
    return to_float(Fraction(2 * r + cut, 1 << (s + 1)))


def log_float(v: Any) -> float:
    """The natural logarithm of a positive fraction as a float, for any size, and accurate near one."""
    v = Fraction(v)
    if v <= 0:
        raise ValueError("no logarithm of a number that is not positive")
    e = v.numerator.bit_length() - v.denominator.bit_length()
    m = v / 2**e if e >= 0 else v * 2**-e  # 1/2 < m < 2
    if m > Fraction(3, 2):
        m, e = m / 2, e + 1
    elif m < Fraction(3, 4):
        m, e = m * 2, e - 1
    return math.fsum((math.log1p(float(m - 1)), e * LN2[0], e * LN2[1]))


def rounded(v: Any, bits: int = 64) -> Fraction:
    """v to this number of significant bits, ties to even."""
    v = v if isinstance(v, Fraction) else Fraction(v)
    if not v:
        return v
    # v 2^-e = up / down has `bits` bits, or one more. Whole numbers, since fractions look for common divisors.
    e = abs(v.numerator).bit_length() - v.denominator.bit_length() - bits
    up, down = v.numerator << max(-e, 0), v.denominator << max(e, 0)
    if abs(up) >= down << bits:
        e, down = e + 1, down << 1
    whole, rest = divmod(up, down)
    whole += 2 * rest + (whole & 1) > down  # ties to even
    return Fraction(whole << e) if e >= 0 else Fraction(whole, 1 << -e)


DIGITS_40 = Context(prec=40, rounding=ROUND_HALF_EVEN, Emin=-999999, Emax=999999, traps=[])


def exp_fraction(v: Fraction) -> Fraction:
    """e^v to 40 digits, the same on every machine."""
    return Fraction(DIGITS_40.exp(_decimal(v)))


def log_fraction(v: Fraction) -> Fraction:
    """The natural logarithm of a positive fraction to 40 digits, the same on every machine."""
    if v <= 0:
        raise ValueError("no logarithm of a number that is not positive")
    return Fraction(DIGITS_40.ln(_decimal(v)))


def _decimal(v: Fraction) -> Decimal:
    return DIGITS_40.divide(Decimal(v.numerator), Decimal(v.denominator))
