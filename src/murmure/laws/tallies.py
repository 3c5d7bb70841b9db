"""Adding reports up: histograms of codes and column sums of packed bits, without unpacking them."""

from __future__ import annotations

import numpy as np

from murmure.core.fixed import Words64
from murmure.core.types import Array, Ints
from murmure.laws.bits import unpack
from murmure.laws.kernel_loader import kernels_for, native

BLOCK = 1 << 16  # rows that are added at a time: their words stay in the cache
FEW = 1 << 12  # words that are sooner unpacked than added


def histogram(codes: Array, size: int) -> Ints:
    """How often each of 0 .. size-1 occurs."""
    kernels, codes = kernels_for(len(codes)), native(codes)
    # Four histograms of more cells would not fit the cache.
    if kernels is not None and size <= 1 << 16:
        counts = np.zeros((4, size), np.int64)
        kernels.histogram(codes, counts)
        return np.asarray(counts.sum(axis=0))
    out = np.zeros(size, np.int64)
    bytes_hold_all = codes.dtype == np.uint8 and size <= 256  # so a table of pairs has 65,536 entries at most
    whole = len(codes) // 2 * 2 if bytes_hold_all and len(codes) >= BLOCK else 0
    for a in range(0, whole, 4 * BLOCK):  # two codes of a byte each are one of two bytes: half as many steps
        pairs = np.ascontiguousarray(codes[a : min(a + 4 * BLOCK, whole)]).view(np.uint16)
        table = np.bincount(pairs, minlength=size << 8).reshape(size, 256)
        out += table.sum(axis=0)[:size] + table.sum(axis=1)
    for a in range(whole, len(codes), BLOCK):
        out += np.bincount(codes[a : a + BLOCK], minlength=size)
    return out


def column_sums(packed: Words64, bits: int) -> Ints:
    """How often each bit is set."""
    out = np.zeros(bits, np.int64)
    kernels, packed = kernels_for(len(packed)), native(packed)
    if kernels is not None:
        planes = np.zeros((packed.shape[1], 48), np.uint64)  # counters of 48 bits: more than any number of people
        kernels.column_planes(packed, planes)
        for j in range(len(packed).bit_length()):
            out += unpack(planes[:, j][None], bits)[0].astype(np.int64) << j
        return out
    if packed.size <= FEW:
        return unpack(packed, bits).sum(axis=0, dtype=np.int64)
    for a in range(0, len(packed), BLOCK):
        out += _carry_save(packed[a : a + BLOCK], bits)
    return out


def _carry_save(rows: Words64, bits: int) -> Ints:
    """Three rows of weight w become one of weight w and one of weight 2w (a full adder), to the end.

    Five word operations a row in all, whatever the number of bits set (Harley and Seal; Warren,
    Hacker's Delight, 2nd ed., section 5-1).
    """
    out = np.zeros(bits, np.int64)
    weight = 1
    while len(rows):
        carries = []
        while len(rows) >= 3:
            third = len(rows) // 3
            a, b, c, left = np.split(rows, [third, 2 * third, 3 * third])
            half = a ^ b
            carries.append((a & b) | (half & c))
            half ^= c
            rows = np.concatenate([half, left]) if len(left) else half
        out += weight * unpack(rows, bits).sum(axis=0, dtype=np.int64)
        rows = np.concatenate(carries) if carries else rows[:0]
        weight *= 2
    return out


def walsh_hadamard(vector: Ints, people: int = 0) -> Ints:
    """The transform sum_y (-1)**popcount(v & y) vector[y] for every v; the length is a power of two."""
    out = vector.astype(np.int64)
    kernels = kernels_for(people)
    if kernels is not None:
        kernels.walsh_hadamard(out)
        return out
    h = 1
    while h < len(out):
        pairs = out.reshape(-1, 2, h)
        difference = pairs[:, 0] - pairs[:, 1]
        pairs[:, 0] += pairs[:, 1]
        pairs[:, 1] = difference
        h *= 2
    return out
