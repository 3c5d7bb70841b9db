"""Floats as whole numbers of 2**-62, cut into parts whose sums floats hold exactly."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

POINT = 62  # bits behind the point, and before it
UNIT = Fraction(1, 1 << POINT)
MIDDLE = 40  # bits that are added up at a time
PARTS = (0, POINT - MIDDLE, POINT, POINT + MIDDLE)  # where the parts of a number stand
FIRST, SECOND = 1.5 * 2.0 ** (52 - POINT), 1.5 * 2.0 ** (52 - MIDDLE)
ROWS = 1 << 13  # at a time, at most: 2**13 whole numbers below 2**40 add up within 2**53


def kept_within(v: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """v cut at -2**62 and 2**62, what is no number as 0; and the rows of which something was cut."""
    most = 2.0**POINT
    if not v.size or (v.min() > -most and v.max() < most):  # a NaN passes neither
        return v, np.zeros(len(v), bool)
    beyond = np.asarray((~(np.abs(v) < most)).any(axis=1))
    return np.where(np.isnan(v), 0.0, np.clip(v, -most, most)), beyond


def split_parts(v: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """v 2**62, to the nearest whole number, as sum_k part_k 2**PARTS[k]: whole numbers of the sign of v.

    Nothing is rounded but the first, to 2**22 at most; the others stay below 2**40. The last is left out where it is 0.
    """
    up = np.trunc(v)
    rest = v - up
    rest *= 2.0**MIDDLE
    middle = np.trunc(rest)
    rest -= middle
    rest *= 2.0 ** (POINT - MIDDLE)
    parts = [np.rint(rest, out=rest), middle, up]
    if v.size and not (up.min() > -(2.0**MIDDLE) and up.max() < 2.0**MIDDLE):
        top = np.trunc(up * 2.0**-MIDDLE)
        up -= top * 2.0**MIDDLE
        parts.append(top)
    return parts


def sums_of(v: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of every column of at most 2**13 rows the sums of the parts, exactly: whole_of(sums_of(v)) are the sums of v.

    Columns within -1 and 1, which the first ones are where factors are scaled, are cut by additions alone:
    x + 1.5 * 2**52 u is x to the nearest multiple of u.
    """
    lines, out = v.T, np.zeros((len(PARTS), v.shape[1]))
    if not len(v):
        return out
    small = (lines.min(axis=1) >= -1) & (lines.max(axis=1) <= 1)
    k = len(small) if small.all() else int(np.argmin(small))
    if k:
        part = lines[:k] + SECOND
        part -= SECOND
        out[1, :k] = part.sum(axis=1) * 2.0**MIDDLE
        np.subtract(lines[:k], part, out=part)
        part += FIRST
        part -= FIRST
        out[0, :k] = part.sum(axis=1) * 2.0**POINT
    if k < len(small):
        for line, part in zip(out, split_parts(lines[k:]), strict=False):
            line[k:] = part.sum(axis=1)
    return out


def join_parts(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return sum((part << bits for part, bits in zip(parts, PARTS, strict=False)), np.zeros_like(parts[0]))


def whole_numbers(v: NDArray[np.float64]) -> NDArray[Any]:
    """v 2**62 of every entry, to the nearest whole number, as Python's integers."""
    return join_parts([np.vectorize(int, otypes=[object])(part) for part in split_parts(v)])


def whole_of(sums: NDArray[np.float64]) -> NDArray[Any]:
    return join_parts([np.array([int(v) for v in line], object) for line in sums])
