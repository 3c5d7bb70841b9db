"""Compiled: columns to z and eta, a family's figures of each row, and exact sums of their products. Imports Numba.

A value v is added as four whole numbers, sum_k part_k 2**PARTS[k] = rint(v 2**62), as fixed_point.py cuts it. Adding
1.5 * 2**52 u to a float leaves its nearest multiple of u in the lowest bits; they are added up as whole numbers, which
may be done in any order, so the compiler takes several rows at a time, and the sum is that of any other order.

The functions of a row are those of family_points.py and elementary.py, compiled from the same lines. Numba never
contracts a product and a sum into one rounding unless told to (fastmath), so each float is the one that NumPy gets.
"""

from __future__ import annotations

import hashlib
import inspect
import threading
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic, overload, register_jitable

from murmure.econometrics.algebra import elementary
from murmure.econometrics.rows import family_points
from murmure.laws.kernels import compile_kernel
from murmure.statistics.expressions import double_double
from murmure.statistics.expressions.fixed_point import MIDDLE, POINT

BLOCK = 1 << 11  # rows at a time: z and the figures of a row stay in the cache
PIECE = 1 << 8  # rows at a time in the sums, which read each line often
Y, ETA, AT_CAP, FIGURES = 0, 1, 2, 3  # lines of a block: the outcome, z'b, whether it was cut; then the family's
NARROW, WIDE = 2.0**10, 2.0**61  # up to here two parts hold a value, or four

WHOLE, FRACTION, REST = 1.5 * 2.0**52, 1.5 * 2.0 ** (52 - MIDDLE), 1.5 * 2.0 ** (52 - POINT)
WHOLE_BITS, FRACTION_BITS, REST_BITS = (int(np.float64(v).view(np.int64)) for v in (WHOLE, FRACTION, REST))
NARROW_BITS, WIDE_BITS, ONE_BITS = (int(np.float64(v).view(np.int64)) for v in (NARROW, WIDE, 1.0))
DOWN = 2.0**-MIDDLE
UP = 2.0**MIDDLE


# -- the words in which NumPy and Numba differ -------------------------------------------------------------------------


def _bits_of(context, x):
    def generate(_context, builder, _signature, args):
        return builder.bitcast(args[0], ir.IntType(64))

    return types.int64(types.float64), generate


def _float_of(context, bits):
    def generate(_context, builder, _signature, args):
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.int64), generate


def _ask_for(context, column, i):
    """The processor begins to read column[i] from memory, and goes on."""

    def generate(_context, builder, signature, args):
        entry = builder.gep(_context.make_array(signature.args[0])(_context, builder, args[0]).data, [args[1]])
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
        ask = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(ask, [builder.bitcast(entry, byte), word(0), word(3), word(1)])  # to read, into the first cache
        return _context.get_dummy_value()

    return types.void(column, i), generate


_bits: Any = intrinsic(_bits_of)
_float: Any = intrinsic(_float_of)
_prefetch: Any = intrinsic(_ask_for)
INLINE: Any = {"forceinline": True, "error_model": "numpy"}


@overload(elementary.bits_of, jit_options=INLINE)
def _bits_of_number(x):
    return lambda x: _bits(x)


@overload(elementary.float_of, jit_options=INLINE)
def _float_of_number(bits):
    return lambda bits: _float(bits)


@overload(elementary.choose, jit_options=INLINE)
def _choose_number(condition, yes, no):
    return lambda condition, yes, no: yes if condition else no


def _functions_in(module):
    return [f for f in vars(module).values() if inspect.isfunction(f) and f.__module__ == module.__name__]


OTHER_WORDS = (elementary.bits_of, elementary.float_of, elementary.choose)
for _function in (double_double.halves, double_double.two_product, *_functions_in(elementary)):
    if _function not in OTHER_WORDS:
        register_jitable(**INLINE)(_function)
for _function in _functions_in(family_points):
    register_jitable(**INLINE)(_function)

# Numba's files on disk know when this file changed, but not when those did whose functions it compiles.
SOURCES = hashlib.sha256(
    "".join(inspect.getsource(module) for module in (double_double, elementary, family_points)).encode()
).hexdigest()


# -- a block of rows ---------------------------------------------------------------------------------------------------


@compile_kernel
def load(columns, first, start, scales, at, cap, offset, z, block):
    """z and eta of the rows from `start` on; returns whether all z are within -1 and 1. columns: the outcome first."""
    rows = min(BLOCK, columns.shape[1] - start)
    over = np.int64(0)
    y, eta, capped = block[Y], block[ETA], block[AT_CAP]
    part = columns[:, start : start + rows]
    for i in range(rows):
        y[i] = part[0, i] * scales[0]
    for j in range(len(z)):
        line, column, scale, b = z[j], part[first + j], scales[1 + j], at[j]
        for i in range(rows):
            v = column[i] * scale
            line[i] = v
            over |= ONE_BITS - _bits(abs(v))
            eta[i] = v * b if j == 0 else eta[i] + v * b
    if offset:
        for i in range(rows):
            eta[i] += part[1, i]
    for i in range(rows):
        v = eta[i]
        cut = cap if v > cap else (-cap if v < -cap else v)
        eta[i] = cut
        capped[i] = 0.0 if cut == v else 1.0
    return over >= 0


_lock = threading.Lock()
_kernels: dict[Any, Any] = {}


def kernel_of(point):
    """The function of a family for all rows of a block; it fills the lines from FIGURES on."""
    with _lock:  # one thread makes it, and the others use the same
        if point not in _kernels:
            _kernels[point] = _family_kernel(point, SOURCES)
        return _kernels[point]


def _family_kernel(point, sources):
    def fill(lines, constants):
        for i in range(BLOCK):
            found = point(lines[Y * BLOCK + i], lines[ETA * BLOCK + i], constants)
            for k in range(len(found)):
                lines[(FIGURES + k) * BLOCK + i] = found[k]
        return len(sources)  # which makes them part of the key under which the code is kept on disk

    fill.__name__ = fill.__qualname__ = point.__name__
    return compile_kernel(fill)


# -- sums --------------------------------------------------------------------------------------------------------------


@njit(nogil=True, **INLINE)
def _add_narrow(v, parts, f):
    low, high = np.int64(0), np.int64(0)
    for i in range(PIECE):
        h = v[i] + FRACTION
        high += _bits(h)
        low += _bits((v[i] - (h - FRACTION)) + REST)
    parts[0, f] += low - PIECE * REST_BITS
    parts[1, f] += high - PIECE * FRACTION_BITS


@njit(nogil=True, **INLINE)
def _add_wide(v, parts, f):
    low, high, up, top = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    for i in range(PIECE):
        w = v[i] * DOWN + WHOLE
        top += _bits(w)
        rest = v[i] - (w - WHOLE) * UP
        w = rest + WHOLE
        up += _bits(w)
        rest -= w - WHOLE
        h = rest + FRACTION
        high += _bits(h)
        low += _bits((rest - (h - FRACTION)) + REST)
    parts[0, f] += low - PIECE * REST_BITS
    parts[1, f] += high - PIECE * FRACTION_BITS
    parts[2, f] += up - PIECE * WHOLE_BITS
    parts[3, f] += top - PIECE * WHOLE_BITS


@njit(nogil=True, **INLINE)
def _add_product_narrow(u, z, parts, f):
    low, high = np.int64(0), np.int64(0)
    for i in range(PIECE):
        v = u[i] * z[i]
        h = v + FRACTION
        high += _bits(h)
        low += _bits((v - (h - FRACTION)) + REST)
    parts[0, f] += low - PIECE * REST_BITS
    parts[1, f] += high - PIECE * FRACTION_BITS


@njit(nogil=True, **INLINE)
def _add(v, parts, f, narrow):
    if narrow:
        _add_narrow(v, parts, f)
    else:
        _add_wide(v, parts, f)


@njit(nogil=True, **INLINE)
def _add_product(u, z, parts, f, narrow, room):
    if narrow:
        _add_product_narrow(u, z, parts, f)
    else:
        for i in range(PIECE):
            room[i] = u[i] * z[i]
        _add_wide(room, parts, f)


@compile_kernel
def add(z, block, rows, score, first, weight, size, cross, second, tail, parts, room, columns, ahead):
    """Adds z u and w z z', then the lines of `tail`; False, and nothing added, where a value is too large.

    score, first, weight, cross, second: the lines u, dl/d theta, w and the two of the information; -1 where there is
    none. size: a line that no product with w exceeds.
    """
    p = len(z)
    narrow = np.empty(len(block), np.bool_)
    whole = (rows + PIECE - 1) // PIECE * PIECE  # rows of whole pieces: those beyond the last one add nothing
    for j in range(p):
        for i in range(rows, whole):
            z[j, i] = 0.0
    for line in range(AT_CAP, len(block)):
        used = line in (score, first, size, cross, second)
        for other in tail:
            used = used or line == other
        if used:
            over, over_wide = np.int64(0), np.int64(0)
            v = block[line]
            for i in range(rows):
                bits = _bits(abs(v[i]))
                over |= NARROW_BITS - bits
                over_wide |= WIDE_BITS - bits
            if over_wide < 0:
                return False
            narrow[line] = over >= 0
            for i in range(rows, whole):
                v[i] = 0.0
    for a in range(0, rows, PIECE):
        b = a + PIECE
        f = 0
        if score >= 0:
            u = block[score, a:b]
            for j in range(p):
                _add_product(u, z[j, a:b], parts, f, narrow[score], room)
                f += 1
        if first >= 0:
            _add(block[first, a:b], parts, f, narrow[first])
            f += 1
        if weight >= 0:
            w, wz = block[weight, a:b], room[PIECE : 2 * PIECE]
            for j in range(p):
                for line in range(j, len(columns), p):  # all columns, whether or not there is an offset
                    for i in range(ahead + a, min(ahead + b, columns.shape[1]), 8):
                        _prefetch(columns[line], i)
                line_j = z[j, a:b]
                for i in range(PIECE):
                    wz[i] = line_j[i] * w[i]
                for k in range(j, p):
                    _add_product(wz, z[k, a:b], parts, f, narrow[size], room)
                    f += 1
                if cross >= 0:
                    _add_product(block[cross, a:b], line_j, parts, f, narrow[cross], room)
                    f += 1
        if second >= 0:
            _add(block[second, a:b], parts, f, narrow[second])
            f += 1
        for line in tail:
            _add(block[line, a:b], parts, f, narrow[line])
            f += 1
    for f in range(parts.shape[1]):  # so that no part grows beyond its word
        carry = parts[1, f] >> MIDDLE
        parts[2, f] += carry
        parts[1, f] -= carry << MIDDLE
    return True
