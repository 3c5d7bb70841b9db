"""log, exp and sqrt of exact numbers: floats of a row, put on a grid that public bounds fix.

    value of a row = unit * v,   unit a power of two,   v = rint(f(x) / unit) cut to its bounds

Bounds are calculated in decimals of 60 digits and rounded outwards, and v is cut to them: two machines agree on them,
and so on the plan. The floats of a row may differ in their last bit from one machine to another; each row is evaluated
by one holder only.

log, sqrt: unit = 2**-58 of the largest value. exp: finer, where its smallest value would keep fewer than 50 bits (44
where they all fit into one word).
"""

from __future__ import annotations

import math
from decimal import ROUND_HALF_EVEN, Context, Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.errors import InvalidParameter
from murmure.statistics.expressions.double_double import EXACT, two_product

FUNCTIONS: dict[str, Any] = {"log": np.log, "exp": np.exp, "sqrt": np.sqrt}
DIGITS = 60
BITS = 58  # of the largest value; three digits of exact_summation.py
KEPT, ENOUGH = 50, 44  # of the smallest value of exp; and where more would not fit into a word
WORD = 61
MAX_EXPONENT = 700  # exp of more is beyond floats


def floats_of(v: Any, unit: Fraction, most: int | None = None) -> NDArray[np.float64]:
    """unit * v, correctly rounded: v are whole numbers, int64 or Python's own. most: their public bound."""
    up, down = unit.numerator, unit.denominator
    if v.dtype == object or up >= EXACT or int(float(down)) != down:
        return np.array([int(w) * up / down for w in v], np.float64)
    fits = EXACT // up
    out: NDArray[np.float64] = (v if up == 1 else v * up).astype(np.float64)
    if down != 1:
        out /= float(down)  # one rounding: both are exact
    if len(v) and (most is None or most >= fits) and not (v.min() >= -fits and v.max() <= fits):
        large = np.nonzero((v > fits) | (v < -fits))[0]
        out[large] = _quotients(v[large], up, down)
    return out


def _quotients(v: NDArray[np.int64], up: int, down: int) -> NDArray[np.float64]:
    """v up / down, correctly rounded, of whole numbers that no float holds.

        v = x + rest,   x = q d + r (Dekker's product, exactly),   v / d = q + (r + rest) / d

    The last sum is rounded once, and what is added is exact to 2**-50 of itself; where that could matter, which is
    hardly ever, Python's integers decide. Dekker, Numerische Mathematik 18, 1971, section 5.
    """
    if up != 1 or down >= 1 << 100 or max(-int(v.min()), int(v.max())) >= 1 << 62:
        return np.array([w * up / down for w in v.tolist()], np.float64)
    x, d = v.astype(np.float64), float(down)
    rest = (v - x.astype(np.int64)).astype(np.float64)
    q = x / d
    product, rounded_away = two_product(q, d)
    left = (x - product) - rounded_away
    more = (left + rest) / d
    out: NDArray[np.float64] = q + more
    near = np.nonzero(q + more * (1 + 2.0**-49) != q + more * (1 - 2.0**-49))[0]
    if len(near):
        out[near] = [w / down for w in v[near].tolist()]
    return out


def grid_of_function(name: str, low: Fraction, high: Fraction) -> tuple[Fraction, int, int]:
    """The unit, and the bounds of v, of a function of what lies between low and high."""
    if name == "log" and low <= 0:
        raise InvalidParameter(
            "log of a number that, by its public bounds, can be {low:g}.",
            hint="give the column a lower bound above 0, or use log(max(x, 0.5)) or log(x + 1)",
            low=float(low),
        )
    if name == "sqrt" and low < 0:
        raise InvalidParameter(
            "sqrt of a number that, by its public bounds, can be {low:g}.",
            hint="give the column a lower bound of 0, or use sqrt(max(x, 0))",
            low=float(low),
        )
    if name == "exp" and max(abs(low), abs(high)) > MAX_EXPONENT:
        raise InvalidParameter(
            "exp of a number that, by its public bounds, can be {high:g}: at most {max_exponent} is allowed.",
            hint="divide it by a number, or give the column tighter bounds",
            high=float(high if high > -low else low),
            max_exponent=MAX_EXPONENT,
        )
    ends = [_exact_value(name, low), _exact_value(name, high)]
    most = max(abs(end) for end in ends)
    if not most:
        return Fraction(1), 0, 0
    size = _exponent(most) - BITS
    if name == "exp":  # as fine as its smallest value needs, within one word where that keeps enough of it
        needed, word = _exponent(ends[0]) - KEPT, _exponent(most) - WORD
        size = min(size, word if needed < word <= _exponent(ends[0]) - ENOUGH else needed)
    unit = Fraction(2) ** size
    if low == high:
        v = round(Fraction(ends[0]) / unit)
        return unit, v, v
    return unit, math.floor(Fraction(ends[0]) / unit), math.ceil(Fraction(ends[1]) / unit)


def _exact_value(name: str, x: Fraction) -> Decimal:
    with localcontext(Context(prec=DIGITS, rounding=ROUND_HALF_EVEN, Emax=999999, Emin=-999999)):
        value = Decimal(x.numerator) / Decimal(x.denominator)
        return {"log": value.ln, "exp": value.exp, "sqrt": value.sqrt}[name]()


def _exponent(value: Decimal) -> int:
    """The least e with |value| < 2**e."""
    up, down = abs(Fraction(value)).as_integer_ratio()
    e = up.bit_length() - down.bit_length()
    return e + (up >= down << e if e >= 0 else up << -e >= down)


def on_grid(name: str, v: Any, of: Fraction, unit: Fraction, low: int, high: int) -> Any:
    """The whole numbers of a function of v, whose unit is `of`."""
    if isinstance(v, int):
        v = np.array([v], object)
    size = unit.numerator.bit_length() - unit.denominator.bit_length()  # a power of two
    scaled = np.ldexp(FUNCTIONS[name](floats_of(v, of)), -size)  # exactly: a power of two
    if max(-low, high) < 1 << 62:
        return np.clip(np.rint(scaled).astype(np.int64), low, high)
    return np.array([min(max(round(w), low), high) for w in scaled.tolist()], object)
