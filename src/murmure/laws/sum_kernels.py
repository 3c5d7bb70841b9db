"""The compiled kernels of learners' sums: each adds up what the statistic that calls it adds up. Imports Numba.

They read the codes of a few hundred rows at a time, one line of `codes` for each column, and work on whole numbers, or
on floats that hold whole numbers below 2**53: every order of adding gives the same sum. That is why `exact_sums` may
let the compiler reorder and fuse what is added, and nothing else.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from murmure.laws.kernel_loader import cached_kernel

TILE = 512  # rows at a time: what is made of them stays in the cache


def compile_kernel(function):
    return cached_kernel(njit(nogil=True, cache=True, error_model="numpy")(function))


def exact_sums(function):
    """For sums and products of whole numbers below 2**53 only: there is nothing to round, whatever the order."""
    fast = {"reassoc", "contract", "nsz"}
    return cached_kernel(njit(nogil=True, cache=True, error_model="numpy", fastmath=fast)(function))


@compile_kernel
def class_sums(classes, codes, counts, sums, squares):
    """Of every class: rows, and sums of codes and of their squares. Codes are below 2**15.

    Both sums of TILE rows share one word: the codes' lies below bit 24, and that of squares, below 2**39, above it.
    """
    width, rows = codes.shape
    words = np.zeros((len(counts), width), np.int64)
    for a in range(0, rows, TILE):
        for i in range(a, min(a + TILE, rows)):
            c = classes[i]
            counts[c] += 1
            for j in range(width):
                code = np.int64(codes[j, i])
                words[c, j] += code + ((code * code) << 24)
        for c in range(len(counts)):
            for j in range(width):
                sums[c, j] += words[c, j] & 0xFFFFFF
                squares[c, j] += words[c, j] >> 24
                words[c, j] = 0


# -- products of grid vectors (statistics/base/design_sums.py) --------------------------------------------------------


@compile_kernel
def fill_grid(codes, a, rows, steps, times, tops, first, z):
    """Axis.fill of numbers: lines `first` and up of z. times: 0 where values are rounded to the grid."""
    for j in range(len(codes)):
        line, last, by, top = z[first + j], steps[j], times[j], tops[j]
        if by > 0:
            for i in range(rows):
                line[i] = (2.0 * codes[j, a + i] - last) * by
        else:
            for i in range(rows):
                line[i] = np.rint((2.0 * codes[j, a + i] - last) * top / last)


@exact_sums
def lengths(z, width, rows, squared, out):
    """|v|_1, or |v|_2**2, of the first `width` lines."""
    for i in range(rows):
        out[i] = 0.0
    for j in range(width):
        line = z[j]
        if squared:
            for i in range(rows):
                out[i] += line[i] * line[i]
        else:
            for i in range(rows):
                out[i] += abs(line[i])


@compile_kernel
def weigh(z, rows, size, limit):
    """GridDesign.weigh, by the lengths of these rows."""
    for i in range(rows):
        size[i] = limit / max(size[i], limit)
    for j in range(len(z)):
        line = z[j]
        for i in range(rows):
            line[i] = np.trunc(line[i] * size[i])


@exact_sums
def add_products(z, rows, out):
    """z z', its upper half; three products at a time share what is read."""
    width = len(z)
    for j in range(width):
        line, k = z[j], j
        while k + 2 < width:
            z0, z1, z2 = z[k], z[k + 1], z[k + 2]
            s0, s1, s2 = 0.0, 0.0, 0.0
            for i in range(rows):
                s0 += line[i] * z0[i]
                s1 += line[i] * z1[i]
                s2 += line[i] * z2[i]
            out[j, k] += np.int64(s0)
            out[j, k + 1] += np.int64(s1)
            out[j, k + 2] += np.int64(s2)
            k += 3
        while k < width:
            s0, z0 = 0.0, z[k]
            for i in range(rows):
                s0 += line[i] * z0[i]
            out[j, k] += np.int64(s0)
            k += 1


@compile_kernel
def products(codes, steps, times, tops, g, ones, weighed, limit, squared, out):
    """Sums of the products of grid vectors (1, x, y); the last line of codes is y. limit: 0 where no row is cut."""
    z = np.empty((len(out), TILE))
    size = np.empty(TILE)
    for a in range(0, codes.shape[1], TILE):
        rows = min(TILE, codes.shape[1] - a)
        for j in range(ones):  # the tile before may have weighed them
            z[j] = g
        fill_grid(codes, a, rows, steps, times, tops, ones, z)
        if limit > 0:
            lengths(z, weighed, rows, squared, size)
            if squared:
                for i in range(rows):
                    size[i] = np.sqrt(size[i])
            if size[:rows].max() > limit:
                weigh(z, rows, size, limit)
        add_products(z, rows, out)


# -- clusters (statistics/learning/clusters.py, cluster_moves.py) ------------------------------------------------------


@exact_sums
def nearest_of(t, slope, at, rows, far, best, out):
    """The number of the nearest centre of every row of a tile, and its distance less |x|**2. Four columns at a time."""
    width = len(t)
    for c in range(len(at)):
        for i in range(rows):
            far[i] = at[c]
        whole = width // 4 * 4
        for j in range(0, whole, 4):
            by0, by1, by2, by3 = slope[c, j], slope[c, j + 1], slope[c, j + 2], slope[c, j + 3]
            t0, t1, t2, t3 = t[j], t[j + 1], t[j + 2], t[j + 3]
            for i in range(rows):
                far[i] += by0 * t0[i] + by1 * t1[i] + by2 * t2[i] + by3 * t3[i]
        for j in range(whole, width):
            by, line = slope[c, j], t[j]
            for i in range(rows):
                far[i] += by * line[i]
        if c == 0:
            for i in range(rows):
                best[i] = far[i]
                out[i] = 0
        else:
            for i in range(rows):  # a tie stays with the lower number
                closer = far[i] < best[i]
                best[i] = far[i] if closer else best[i]
                out[i] = c if closer else out[i]


@exact_sums
def add_squares(t, scales, rows, out):
    """|x|**2 of every row, added to `out`."""
    for j in range(len(t)):
        by, line = scales[j] * scales[j], t[j]
        for i in range(rows):
            out[i] += by * line[i] * line[i]


@compile_kernel
def clipped(t, i, scales, centre, reach, absolute, r):
    """ClusterMoves._shortened of one row's offset from its centre; whether anything was cut."""
    size = 0.0
    for j in range(len(t)):
        r[j] = scales[j] * t[j, i] - centre[j]
        size += abs(r[j]) if absolute else r[j] * r[j]
    size = size if absolute else np.sqrt(size)
    if size <= reach:
        return False
    by = reach / size
    for j in range(len(t)):
        r[j] = np.trunc(r[j] * by)
    return True


@compile_kernel
def clusters(codes, tops, slope, at, scales, centres, reach, absolute, counts, whole, sums, cut):
    """Of every cluster: rows, rows within `reach` and sums of their codes, and sums of the cut offsets of the others.

    reach: 0 where nothing is cut. |r|_1**2 <= width |r|_2**2, so most rows need no look at |r|_1. Codes are below
    2**15: the sums of TILE of them lie below 2**24, and two share a word.
    """
    width, rows = codes.shape
    pairs = (width + 1) // 2
    t, words = np.empty((width, TILE)), np.zeros((pairs, TILE), np.int64)
    far, best, cluster = np.empty(TILE), np.empty(TILE), np.empty(TILE, np.int64)
    added, r = np.zeros((len(at), pairs), np.int64), np.empty(width)
    near = reach * reach / width if absolute else reach * reach
    for a in range(0, rows, TILE):
        tile = min(TILE, rows - a)
        for j in range(width):
            line, top = t[j], tops[j]
            for i in range(tile):
                line[i] = 2.0 * codes[j, a + i] - top
        for p in range(pairs):
            line, low = words[p], 2 * p
            if low + 1 < width:
                for i in range(tile):
                    line[i] = np.int64(codes[low, a + i]) + (np.int64(codes[low + 1, a + i]) << 32)
            else:
                for i in range(tile):
                    line[i] = np.int64(codes[low, a + i])
        nearest_of(t, slope, at, tile, far, best, cluster)
        if reach > 0:
            add_squares(t, scales, tile, best)
        for i in range(tile):
            c = cluster[i]
            counts[c] += 1
            if reach > 0 and best[i] > near and clipped(t, i, scales, centres[c], reach, absolute, r):
                for j in range(width):
                    cut[c, j] += np.int64(r[j])
            else:
                whole[c] += 1
                for p in range(pairs):
                    added[c, p] += words[p, i]
        for c in range(len(at)):
            for p in range(pairs):
                sums[c, 2 * p] += added[c, p] & 0xFFFFFFFF
                if 2 * p + 1 < width:
                    sums[c, 2 * p + 1] += added[c, p] >> 32
                added[c, p] = 0
