"""Probabilities as integers over 2**64, and logarithms that are rounded outward.

An exponential is taken once, to 80 digits, when a mechanism is built. The result is an integer, and nothing is rounded
after that: sampler, certificate and estimator read that integer.
"""

from __future__ import annotations

import decimal
import functools
import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from murmure.core.errors import InvalidParameter, Phrase, shorten

WORD = 1 << 64
"""The denominator of probabilities: the number of values that one random word can take."""

Words64 = NDArray[np.uint64]

# 80 significant digits: 2**64 has 20, so a ceiling or a floor is right unless a transcendental
# number agrees with an integer to 60 further places.
EXACT = decimal.Context(prec=80, rounding=decimal.ROUND_HALF_EVEN, Emax=10**9, Emin=-(10**9))

MIN_EPSILON, MAX_EPSILON = 1e-9, 1e6

P = ParamSpec("P")
T = TypeVar("T")


def exactly(function: Callable[P, T]) -> Callable[P, T]:
    """Run it with 80 digits, in any decimal context of the caller."""

    @functools.wraps(function)
    def inner(*args: P.args, **kwargs: P.kwargs) -> T:
        with decimal.localcontext(EXACT):
            return function(*args, **kwargs)

    return inner


def positive_epsilon(owner: str, epsilon: object, name: str = "epsilon") -> float:
    """The check of a budget: a positive finite number of ordinary size."""
    wanted = Phrase("{owner}.{name} must be a positive finite number", owner=owner, name=name)
    if isinstance(epsilon, bool | str | bytes) or epsilon is None:
        raise InvalidParameter(
            "{wanted}, got {got}.", hint="epsilon=1.0 is a usual start", wanted=wanted, got=shorten(epsilon)
        )
    try:
        value = float(epsilon)  # type: ignore[arg-type]
    except OverflowError:  # a whole number or a fraction too large for a float
        raise InvalidParameter(
            "{wanted} between {min_epsilon:g} and {max_epsilon:g}, got a number too large for a float.",
            hint="below that nothing can be estimated, above it nothing is protected",
            wanted=wanted,
            min_epsilon=MIN_EPSILON,
            max_epsilon=MAX_EPSILON,
        ) from None
    except (TypeError, ValueError):
        raise InvalidParameter(
            "{wanted}, got {got}.", hint="epsilon=1.0 is a usual start", wanted=wanted, got=shorten(epsilon)
        ) from None
    if not math.isfinite(value) or value <= 0:
        raise InvalidParameter("{wanted}, got {got!r}.", hint="epsilon=1.0 is a usual start", wanted=wanted, got=value)
    if not MIN_EPSILON <= value <= MAX_EPSILON:
        raise InvalidParameter(
            "{wanted} between {min_epsilon:g} and {max_epsilon:g}, got {got!r}.",
            hint="below that nothing can be estimated, above it nothing is protected",
            wanted=wanted,
            min_epsilon=MIN_EPSILON,
            max_epsilon=MAX_EPSILON,
            got=value,
        )
    return value


@exactly
def exp(x: float | decimal.Decimal) -> decimal.Decimal:
    """e**x to 80 digits; a float is taken at its exact binary value."""
    return decimal.Decimal(x).exp()


def exp_float(x: float) -> float:
    """e**x, rounded from 80 digits: the same float on every machine, which the C library's is not."""
    return float(exp(x))


@exactly
def ceil_share(part: decimal.Decimal | int, whole: decimal.Decimal | int, over: int = WORD) -> int:
    """The least integer c with c / over >= part / whole, never below 1."""
    exact = decimal.Decimal(part) * over / decimal.Decimal(whole)
    return max(1, int(exact.to_integral_value(rounding=decimal.ROUND_CEILING)))


@exactly
def floor_share(part: decimal.Decimal | int, whole: decimal.Decimal | int, over: int = WORD) -> int:
    """The largest integer c with c / over <= part / whole, between 1 and over - 1."""
    exact = decimal.Decimal(part) * over / decimal.Decimal(whole)
    return min(max(1, int(exact.to_integral_value(rounding=decimal.ROUND_FLOOR))), over - 1)


@exactly
def at_most(num: int, den: int, bound: decimal.Decimal) -> bool:
    """Is num / den <= bound?"""
    return decimal.Decimal(num) <= bound * den


@exactly
def log_up(ratio: Fraction) -> float:
    """The least float that is not below ln(ratio)."""
    if ratio == 1:
        return 0.0
    exact = (decimal.Decimal(ratio.numerator) / decimal.Decimal(ratio.denominator)).ln()
    # outward over the errors of division (5e-80 of the ratio) and of ln (5e-80 of itself)
    return float_up(exact + (1 + abs(exact)) * decimal.Decimal("1e-78"))


@exactly
def times_up(loss: float, count: int) -> float:
    """count * loss, rounded up."""
    return float_up(decimal.Decimal(loss) * count)


def share_of(epsilon: float, weight: float, whole: float | Fraction) -> float:
    """epsilon * weight / whole, rounded down: the parts never add up to more than the whole."""
    exact = Fraction(epsilon) * Fraction(weight) / Fraction(whole)
    return float_down(exact)


def split_budget(epsilon: float, weights: Sequence[float]) -> list[float]:
    """Budgets in proportion to the weights, whose sum is at most epsilon (the floats taken at their exact values)."""
    whole = sum(map(Fraction, weights), Fraction(0))
    return [share_of(epsilon, w, whole) for w in weights]


def is_finite_number(value: Any) -> bool:
    """Whether it is a number of Python that a float can hold: not infinite, not NaN, neither true nor false."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number too large for a float
        return False


def sum_up(charges: Iterable[float]) -> float:
    """The sum, never rounded down."""
    # A Fraction of inf raises, and a charge of inf makes the sum infinite.
    values = list(charges)
    if not all(map(math.isfinite, values)):
        return math.inf
    return float_up(sum(map(Fraction, values), Fraction(0)))


def float_up(exact: decimal.Decimal | Fraction) -> float:
    """The least float that is not below; inf where the number is too large for a float."""
    try:
        out = float(exact)
    except OverflowError:
        return math.inf
    return out if type(exact)(out) >= exact else math.nextafter(out, math.inf)


def float_down(exact: decimal.Decimal | Fraction) -> float:
    """The largest float that is not above."""
    out = float(exact)
    return out if type(exact)(out) <= exact else math.nextafter(out, -math.inf)


def mulhi(a: Words64, b: Words64 | np.uint64) -> Words64:
    """The high 64 bits of the 128-bit product a * b, element by element."""
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    a1, a0 = a >> half, a & low
    b1, b0 = b >> half, b & low
    middle = a1 * b0 + ((a0 * b0) >> half)  # below 2**64: (2**32-1)**2 + 2**32 - 1
    other = a0 * b1 + (middle & low)
    return a1 * b1 + (middle >> half) + (other >> half)


def mulhi_small(a: Words64, b: int | Words64) -> Words64:
    """The high 64 bits of a * b for multipliers below 2**32."""
    half, low, m = np.uint64(32), np.uint64(0xFFFFFFFF), np.asarray(b, np.uint64)
    return ((a >> half) * m + (((a & low) * m) >> half)) >> half


def smallest_uint(largest: int) -> np.dtype:
    """The narrowest unsigned type that holds 0..largest, for reports."""
    return np.dtype(np.min_scalar_type(largest))
