"""Compiled: floats to their steps of a decimal grid, and exact sums of products of digits. Imports Numba.

The steps are those of core/cells/parsed_decimals.py, line by line. Products of digits are whole numbers up to 2**53,
and so are their sums over PIECE rows: floats hold all of them, in whatever order a processor adds them up, and whether
or not it rounds a product before it adds. So the compiler may choose both (fastmath), and the sums stay exact.
"""
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np
from numba import njit

from murmure.core.cells.meaning import CLOSE
from murmure.core.cells.parsed_decimals import DECADES, HALF_DIGITS, MAX_EXACT_TEN, SPLIT
from murmure.laws.kernels import compile_kernel
from murmure.statistics.expressions.digit_products import BITS, SIDE

PIECE = 1 << (53 - 2 * BITS)  # rows at a time: 2**BITS * 2**BITS * PIECE = 2**53
MASK = (1 << BITS) - 1


# -- floats to steps ---------------------------------------------------------------------------------------------------


@compile_kernel
def steps(x, ten, first, last, overshoots, add, out, near, again):
    """out: the nearest step of every float, plus `add`; near, again: room.

    first, last: the bounds, beyond which rounding may lead where `overshoots`. Nothing is read to 15 digits.
    """
    for i in range(len(x)):
        c = np.int64(np.rint(x[i] * ten))
        if overshoots:
            c = min(max(c, first), last)
        out[i] = c + add
    return 0


@compile_kernel
def steps_to_15_digits(x, ten, first, last, overshoots, add, out, near, again):
    """The same; next to the middle of two steps x is read to 15 digits first.

    Returns how many rows, the first of `again`, must be read as text.
    """
    n = len(x)
    for i in range(n):
        y = x[i] * ten
        step = np.rint(y)
        near[i] = abs(y - step) >= 0.5 - CLOSE * abs(y)
        out[i] = np.int64(step) + add
    count = 0
    for i in range(n):
        again[count] = i
        count += near[i]
    left = 0
    c = SPLIT * ten
    ten_high = c - (c - ten)
    ten_low = ten - ten_high
    for k in range(count):
        i = again[k]
        y = x[i] * ten
        c = SPLIT * x[i]
        high = c - (c - x[i])
        low = x[i] - high
        lost = ((high * ten_high - y) + high * ten_low + low * ten_high) + low * ten_low
        below = np.floor(y)
        far = (y - below - 0.5) + lost
        decade = 0
        while decade < len(DECADES) and DECADES[decade] <= abs(y):
            decade += 1
        digit = HALF_DIGITS[decade]
        if abs(abs(far) - digit) > 1e-3 * digit and ten <= MAX_EXACT_TEN:
            step = np.rint(below + 0.5) if abs(far) < digit else below + (1.0 if far > 0 else 0.0)
            out[i] = np.int64(step) + add
        else:
            again[left] = i
            left += 1
    return left


# -- products of digits ------------------------------------------------------------------------------------------------


@njit(nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def _add_tile(d, i, j, rows, sums):
    """The products of four lines from i on with four from j on: sixteen sums, which stay in registers."""
    a0, a1, a2, a3 = d[i], d[i + 1], d[i + 2], d[i + 3]
    b0, b1, b2, b3 = d[j], d[j + 1], d[j + 2], d[j + 3]
    s00 = s01 = s02 = s03 = s10 = s11 = s12 = s13 = 0.0
    s20 = s21 = s22 = s23 = s30 = s31 = s32 = s33 = 0.0
    for r in range(rows):
        x0, x1, x2, x3 = a0[r], a1[r], a2[r], a3[r]
        y0, y1, y2, y3 = b0[r], b1[r], b2[r], b3[r]
        s00 += x0 * y0
        s01 += x0 * y1
        s02 += x0 * y2
        s03 += x0 * y3
        s10 += x1 * y0
        s11 += x1 * y1
        s12 += x1 * y2
        s13 += x1 * y3
        s20 += x2 * y0
        s21 += x2 * y1
        s22 += x2 * y2
        s23 += x2 * y3
        s30 += x3 * y0
        s31 += x3 * y1
        s32 += x3 * y2
        s33 += x3 * y3
    tile = ((s00, s01, s02, s03), (s10, s11, s12, s13), (s20, s21, s22, s23), (s30, s31, s32, s33))
    for p in range(SIDE):
        for q in range(SIDE):
            sums[i + p, j + q] += np.int64(tile[p][q])


@compile_kernel
def add_products(values, digits, d, sums):
    """Adds to `sums` the products of all pairs of digits of these whole numbers: above the diagonal, and beside it.

    values: a line for each factor; digits: how many each has, the highest with its sign. d: room, a line for each digit
    and lines of zeros up to a whole number of tiles.
    """
    rows = values.shape[1]
    for start in range(0, rows, PIECE):
        n, line = min(PIECE, rows - start), 0
        for f in range(len(digits)):
            v = values[f, start : start + n]
            for k in range(digits[f]):
                out, shift = d[line], BITS * k
                if k < digits[f] - 1:
                    for r in range(n):
                        out[r] = np.float64((v[r] >> shift) & MASK)
                else:
                    for r in range(n):
                        out[r] = np.float64(v[r] >> shift)
                line += 1
        for i in range(0, len(d), SIDE):
            for j in range(i, len(d), SIDE):
                _add_tile(d, i, j, n, sums)
