"""ln n! to any number of digits, with bounds: Stirling's series, whose partial sums lie on alternate sides of it."""

from __future__ import annotations

import decimal
import itertools
import math
from fractions import Fraction
from functools import lru_cache


@lru_cache(maxsize=512)
def _bernoulli(j: int) -> Fraction:
    """B(2j)."""
    n = 2 * j
    row = [Fraction(0)] * (n + 1)
    for m in range(n + 1):  # Akiyama and Tanigawa
        row[m] = Fraction(1, m + 1)
        for i in range(m, 0, -1):
            row[i - 1] = i * (row[i - 1] - row[i])
    return row[0]


def log_factorial(n: int, digits: int) -> tuple[decimal.Decimal, decimal.Decimal]:
    """ln n! from below and from above, at most 10**-digits apart.

    Stirling's series lies on alternate sides of the truth; its terms fall while j < pi n, far below 10**-digits.
    """
    with decimal.localcontext() as context:
        context.prec = digits + len(str(n)) + 15
        unit = decimal.Decimal(10) ** -digits
        if n < 4 * digits + 64:
            middle = decimal.Decimal(math.factorial(n)).ln()
            return middle - unit / 4, middle + unit / 4
        whole = decimal.Decimal(n)
        out = (whole + decimal.Decimal(1) / 2) * whole.ln() - whole + _log_two_pi(context.prec) / 2
        for j in itertools.count(1):
            b = _bernoulli(j)
            term = decimal.Decimal(b.numerator) / (b.denominator * 2 * j * (2 * j - 1) * whole ** (2 * j - 1))
            if abs(term) < unit / 8:
                return out - unit / 4, out + unit / 4
            out += term
    raise AssertionError


@lru_cache(maxsize=64)
def _log_two_pi(precision: int) -> decimal.Decimal:
    """ln(2 pi), pi by Machin: 16 arctan(1/5) - 4 arctan(1/239)."""
    with decimal.localcontext() as context:
        context.prec = precision + 10
        one = 10 ** (precision + 8)

        def arctan(inverse: int) -> int:
            power, out = one // inverse, 0
            for j in itertools.count():
                if not power:
                    return out
                out += (power if j % 2 == 0 else -power) // (2 * j + 1)
                power //= inverse**2
            raise AssertionError

        pi = decimal.Decimal(16 * arctan(5) - 4 * arctan(239)) / one
        return (2 * pi).ln()
