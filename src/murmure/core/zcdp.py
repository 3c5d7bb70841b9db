"""From zero-concentrated differential privacy to (epsilon, delta) and back, rounded outward.

A release that is rho-zCDP is (epsilon, delta)-DP for every alpha > 1 with

    delta = exp((alpha - 1)(alpha rho - epsilon)) / (alpha - 1) * (1 - 1/alpha)**alpha

(Canonne, Kamath, Steinke, NeurIPS 2020, Corollary 13). Solved for epsilon, and for rho, with the same alpha:

    epsilon = alpha rho + c,      rho = (epsilon - c) / alpha,
    c = (ln(1/delta) - ln(alpha)) / (alpha - 1) + ln(1 - 1/alpha).

Every alpha gives a true statement. So alpha is sought in floats, where a bad one costs a little and breaks nothing; the
statement for the alpha found is computed to 80 digits and rounded: epsilon up, rho down.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable

from murmure.core.errors import InvalidParameter, shorten
from murmure.core.fixed import exactly, float_down, float_up

SPARE = decimal.Decimal("1e-60")  # far above the error of 80 digits, relative to the largest term


def checked_delta(delta: object) -> float:
    """A delta between 0 and 1, both excluded."""
    if isinstance(delta, bool) or not isinstance(delta, int | float) or not 0 < delta < 1:
        raise InvalidParameter(
            "delta must lie between 0 and 1, got {got}.",
            hint="choose it well below 1 / (number of people)",
            got=shorten(delta),
        )
    return float(delta)


def _minimise(objective: Callable[[float], float]) -> float:
    """The alpha with the least objective, by golden section in ln(alpha - 1): each objective has one valley."""
    low, high, ratio = -30.0, 30.0, (math.sqrt(5) - 1) / 2
    a, b = high - ratio * (high - low), low + ratio * (high - low)
    fa, fb = objective(1 + math.exp(a)), objective(1 + math.exp(b))
    for _ in range(120):
        if fa <= fb:
            high, b, fb = b, a, fa
            a = high - ratio * (high - low)
            fa = objective(1 + math.exp(a))
        else:
            low, a, fa = a, b, fb
            b = low + ratio * (high - low)
            fb = objective(1 + math.exp(b))
    return 1 + math.exp(low if fa <= fb else high)


def _c(alpha: float, log_inverse_delta: float) -> float:
    return (log_inverse_delta - math.log(alpha)) / (alpha - 1) + math.log1p(-1 / alpha)


def _c_exact(alpha: decimal.Decimal, delta: decimal.Decimal) -> tuple[decimal.Decimal, decimal.Decimal]:
    """c, and how large its terms are."""
    first, second = (-delta.ln() - alpha.ln()) / (alpha - 1), (1 - 1 / alpha).ln()
    return first + second, abs(first) + abs(second) + (abs(delta.ln()) + alpha.ln()) / (alpha - 1)


@exactly
def epsilon_from_rho(rho: float, delta: float) -> float:
    """The epsilon that rho-zCDP guarantees at delta, rounded up."""
    delta = checked_delta(delta)
    if rho == 0:
        return 0.0
    if not rho > 0 or math.isinf(rho):
        return math.inf
    alpha = decimal.Decimal(_minimise(lambda a: a * rho + _c(a, -math.log(delta))))
    c, size = _c_exact(alpha, decimal.Decimal(delta))
    return max(0.0, float_up(alpha * decimal.Decimal(rho) + c + SPARE * (alpha * decimal.Decimal(rho) + size)))


@exactly
def rho_from_epsilon(epsilon: float, delta: float) -> float:
    """The largest rho found for which rho-zCDP guarantees (epsilon, delta), rounded down."""
    delta = checked_delta(delta)
    if not (epsilon > 0 and math.isfinite(epsilon)):
        raise InvalidParameter("epsilon must be a positive finite number, got {got}.", got=shorten(epsilon))
    alpha = decimal.Decimal(_minimise(lambda a: -(epsilon - _c(a, -math.log(delta))) / a))
    c, size = _c_exact(alpha, decimal.Decimal(delta))
    exact = (decimal.Decimal(epsilon) - c) / alpha
    return float_down(exact - SPARE * (decimal.Decimal(epsilon) + size))
