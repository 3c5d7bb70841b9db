"""Exponentials, logarithms, gamma functions and normal tails from IEEE operations alone: the same bits everywhere.

    exp x = 2^k e^r,  |r| <= ln(2)/2         log x = k ln 2 + 2 atanh s,  s = f/(2 + f),  1 + f the mantissa
    log G(x), psi, psi': Stirling's series from 10 on, and below it ten steps of the recurrence
    P[Z > a] = phi(a) R(a),  R = Mills' ratio: (1 + a) R(a) is a polynomial of (a - 6)/(a + 6) for all a >= 0

NumPy and the C library compute these by other formulas on other processors, and their last bits differ. Here are only
+, -, *, /, comparisons and the bits of a float, all of which IEEE 754 defines. Each function is written once, for an
array and for one number: NumPy runs it as it stands, and Numba compiles the same lines (rows/glm_kernels.py), without
contracting a product and a sum into one rounding. tests/econometrics/algebra/test_elementary.py measures the errors.

Abramowitz and Stegun, Handbook of Mathematical Functions, 1964, 4.1.27, 4.2.1, 6.1.40, 6.3.5, 6.3.18, 6.4.6, 6.4.12,
26.2.12; the change of variable is that of Shepherd and Laframboise, Math. Comp. 36(153), 1981, p. 249.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from murmure.statistics.expressions.double_double import two_product

LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # the first has 33 bits: k times it is exact
PER_LN2 = 1.4426950408889634
MAGIC = 1.5 * 2.0**52  # added and taken away again, it leaves the nearest whole number
MAGIC_BITS = 0x4338000000000000
MANTISSA = 52
BIAS = 1023
ROOT_HALF_BITS = 0x3FE6A09E667F3BCD
MIN_POWER, NORMAL, TO_NORMAL = -746.0, 2.0**-1022, 2.0**54
MAX_POWER = 710.0
ROOT_TWO = 1.4142135623730951
HALF_LOG_2PI = 0.9189385332046728
PER_ROOT_2PI = 0.3989422804014327
SHIFTED = 10.0  # Stirling's series is used from here on
MIDDLE_OF_TAIL = 6.0


# -- what NumPy and Numba say differently; glm_kernels.py has the other words ------------------------------------------


def choose(condition: Any, yes: Any, no: Any) -> Any:
    """yes where the condition holds, no elsewhere; both are computed."""
    return np.where(condition, yes, no)


def bits_of(x: Any) -> Any:
    """The bits of a float as a whole number."""
    return np.asarray(x, np.float64).view(np.int64)


def float_of(bits: Any) -> Any:
    """The float with these bits."""
    return np.asarray(bits, np.int64).view(np.float64)


# -- exponentials and logarithms ---------------------------------------------------------------------------------------


def exp(x: Any) -> Any:
    x = choose(x > MAX_POWER, MAX_POWER, choose(x < MIN_POWER, MIN_POWER, x))
    k = (x * PER_LN2 + MAGIC) - MAGIC
    r = (x - k * LN2_HIGH) - k * LN2_LOW
    q = r * (1 / 6227020800) + 1 / 479001600
    q = q * r + 1 / 39916800
    q = q * r + 1 / 3628800
    q = q * r + 1 / 362880
    q = q * r + 1 / 40320
    q = q * r + 1 / 5040
    q = q * r + 1 / 720
    q = q * r + 1 / 120
    q = q * r + 1 / 24
    q = q * r + 1 / 6
    q = q * r + 0.5
    q = (q * r) * r + r + 1.0
    # 2^k in two halves: the result may be subnormal, or infinite.
    half = bits_of(k * 0.5 + MAGIC) - MAGIC_BITS
    rest = bits_of(k + MAGIC) - MAGIC_BITS - half
    return q * float_of((half + BIAS) << MANTISSA) * float_of((rest + BIAS) << MANTISSA)


def _twice_atanh_rest(g: Any) -> Any:
    """(2 atanh s - 2 s)/s with g = s^2 <= 0.0295."""
    t = g * (2 / 23) + 2 / 21
    t = t * g + 2 / 19
    t = t * g + 2 / 17
    t = t * g + 2 / 15
    t = t * g + 2 / 13
    t = t * g + 2 / 11
    t = t * g + 2 / 9
    t = t * g + 2 / 7
    t = t * g + 2 / 5
    t = t * g + 2 / 3
    return t * g


def log(x: Any) -> Any:
    """-inf of 0, NaN of what is below."""
    small = x < NORMAL
    bits = bits_of(choose(small, x * TO_NORMAL, x))
    k = (bits - ROOT_HALF_BITS) >> MANTISSA
    f = float_of(bits - (k << MANTISSA)) - 1.0
    k = float_of(k + MAGIC_BITS) - MAGIC
    k = choose(small, k - 54.0, k)
    s = f / (2.0 + f)
    found = k * LN2_HIGH - ((s * (f - _twice_atanh_rest(s * s)) - k * LN2_LOW) - f)
    found = choose(x < np.inf, found, x)  # infinity and NaN are their own logarithms
    return choose(x > 0.0, found, choose(x == 0.0, -np.inf, np.nan))


def log1p(x: Any) -> Any:
    """log(1 + x); -inf of -1, NaN of what is below."""
    u = 1.0 + x
    lost = choose(x > 1.0, 1.0 - (u - x), x - (u - 1.0))  # what 1 + x rounded away
    inside = (u > 0.0) & (u < np.inf)
    return log(u) + choose(inside, lost, 0.0) / choose(inside, u, 1.0)


def log1p_of_share(x: Any) -> Any:
    """log(1 + x) for 0 <= x <= 1."""
    above = x > ROOT_TWO - 1.0
    f = choose(above, 0.5 * (x - 1.0), x)
    k = choose(above, 1.0, 0.0)
    s = f / (2.0 + f)
    return k * LN2_HIGH - ((s * (f - _twice_atanh_rest(s * s)) - k * LN2_LOW) - f)


def x_log_x(x: Any) -> Any:
    """x log x, 0 at 0."""
    inside = x > 0.0
    return choose(inside, x * log(choose(inside, x, 1.0)), 0.0)


# -- gamma functions of positive numbers -------------------------------------------------------------------------------


def _stirling(v: Any) -> Any:
    """log G(x) - (x - 1/2) log x + x - log(2 pi)/2, v = 1/x, x >= 10."""
    g = v * v
    t = g * (-3617 / 122400) + 1 / 156
    t = t * g - 691 / 360360
    t = t * g + 1 / 1188
    t = t * g - 1 / 1680
    t = t * g + 1 / 1260
    t = t * g - 1 / 360
    return (t * g + 1 / 12) * v


def log_gamma(x: Any) -> Any:
    """log G(x), x > 0."""
    below = x < SHIFTED
    up = choose(below, x + 10.0, x)
    p = x * (x + 1.0) * (x + 2.0) * (x + 3.0) * (x + 4.0)
    p = p * (x + 5.0) * (x + 6.0) * (x + 7.0) * (x + 8.0) * (x + 9.0)
    p = choose(below, p, 1.0)
    return ((up - 0.5) * log(up) - up + (HALF_LOG_2PI + _stirling(1.0 / up))) - log(p)


def log_factorial(y: Any) -> Any:
    """log y!, exactly 0 for 0 and 1."""
    return choose((y == 0.0) | (y == 1.0), 0.0, log_gamma(y + 1.0))


def polygammas(x: Any) -> Any:
    """psi(x) = d log G/dx, and psi'(x), x > 0."""
    below = x < SHIFTED
    up = choose(below, x + 10.0, x)
    # p = x (x + 1) ... (x + 9) and its derivatives: sum_j 1/(x + j) = p'/p, sum_j 1/(x + j)^2 = (p'/p)^2 - p''/p
    p, p1, p2 = x, 1.0, 0.0
    for j in range(1, 10):
        t = x + j
        p2 = p2 * t + 2.0 * p1
        p1 = p1 * t + p
        p = p * t
    v, over = 1.0 / up, 1.0 / p
    ones = p1 * over
    squares = choose(below, ones * ones - p2 * over, 0.0)
    ones = choose(below, ones, 0.0)
    g = v * v
    t = g * (43867 / 14364) - 3617 / 8160
    t = t * g + 1 / 12
    t = t * g - 691 / 32760
    t = t * g + 1 / 132
    t = t * g - 1 / 240
    t = t * g + 1 / 252
    t = t * g - 1 / 120
    t = t * g + 1 / 12
    psi = log(up) - (t * g + 0.5 * v) - ones
    t = g * (43867 / 798) - 3617 / 510
    t = t * g + 7 / 6
    t = t * g - 691 / 2730
    t = t * g + 5 / 66
    t = t * g - 1 / 30
    t = t * g + 1 / 42
    t = t * g - 1 / 30
    t = t * g + 1 / 6
    return psi, (t * g * v + 0.5 * g + v) + squares


# -- the normal law ----------------------------------------------------------------------------------------------------


def normal_density(a: Any) -> Any:
    """phi(a)."""
    square, rounded_away = two_product(a, a)
    return exp(-0.5 * square) * (1.0 - 0.5 * rounded_away) * PER_ROOT_2PI


def mills_ratio(a: Any) -> Any:
    """R(a) = P[Z > a]/phi(a), a >= 0."""
    t = (a - MIDDLE_OF_TAIL) / (a + MIDDLE_OF_TAIL)
    q = t * (-2.406361286504724e-10) - 8.55811253068431e-10
    q = q * t + 3.657700709503892e-09
    q = q * t + 9.670958290541283e-09
    q = q * t - 3.691824118586619e-08
    q = q * t - 5.258992447390868e-08
    q = q * t + 3.279497176591732e-07
    q = q * t - 4.859408978457993e-11
    q = q * t - 2.502267554635996e-06
    q = q * t + 4.471446252021687e-06
    q = q * t + 1.10585102421585e-05
    q = q * t - 6.605847516975463e-05
    q = q * t + 9.473835380456208e-05
    q = q * t + 0.0002995163051601742
    q = q * t - 0.002178246724712062
    q = q * t + 0.007358597086320905
    q = q * t - 0.01769634295790725
    q = q * t + 0.03320496424424095
    q = q * t - 0.04954721570397941
    q = q * t + 0.056630916732818365
    q = q * t - 0.04046078374028147
    q = q * t - 0.010962454957611351
    q = q * t + 0.09979244246152494
    q = q * t - 0.21312697721638993
    q = q * t + 1.1366436262780721
    return q / (1.0 + a)
