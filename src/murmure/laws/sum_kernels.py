"""The compiled kernels of learners' sums: each adds up what the statistic that calls it adds up. Imports Numba.

They read the codes of a few hundred rows at a time, one line of `codes` for each column, and work on whole numbers, or
on floats that hold whole numbers below 2**53: every order of adding gives the same sum. That is why `exact_sums` may
let the compiler reorder and fuse what is added, and nothing else. Lines are cut before a loop reads them: an index like
a + i may be negative for all that the compiler knows, and then it takes one row at a time.
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


FEW = 8  # classes that are looked for one after the other, eight rows at a time; more of them cost less row by row


@exact_sums
def class_sums(classes, codes, counts, sums, squares):
    """Of every class: rows, and sums of codes and of their squares. Codes are below 2**15."""
    width, rows = codes.shape
    if len(counts) > FEW:
        _sums_by_row(classes, codes, counts, sums, squares)
        return
    line, here = np.empty(TILE), np.empty((len(counts), TILE))
    for a in range(0, rows, TILE):
        tile = min(TILE, rows - a)
        of = classes[a : a + tile]
        for c in range(len(counts)):
            mask, n = here[c], 0.0
            for i in range(tile):
                mask[i] = 1.0 if of[i] == c else 0.0
                n += mask[i]
            counts[c] += np.int64(n)
        for j in range(width):
            column = codes[j, a : a + tile]
            for i in range(tile):
                line[i] = column[i]
            for c in range(len(counts)):
                mask, once, twice = here[c], 0.0, 0.0
                for i in range(tile):
                    v = mask[i] * line[i]
                    once += v
                    twice += v * line[i]
                sums[c, j] += np.int64(once)
                squares[c, j] += np.int64(twice)


@njit(nogil=True, error_model="numpy")
def _sums_by_row(classes, codes, counts, sums, squares):
    """Both sums of TILE rows share one word: the codes' lies below bit 24, and that of squares, below 2**39, above."""
    width, rows = codes.shape
    words = np.zeros((len(counts), width), np.int64)
    for a in range(0, rows, TILE):
        tile = codes[:, a : a + TILE]
        of = classes[a : a + TILE]
        for i in range(len(of)):
            c = of[i]
            counts[c] += 1
            for j in range(width):
                code = np.int64(tile[j, i])
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
        line, last, by, top, column = z[first + j], steps[j], times[j], tops[j], codes[j, a : a + rows]
        if by > 0:
            for i in range(rows):
                line[i] = (2.0 * column[i] - last) * by
        else:
            for i in range(rows):
                line[i] = np.rint((2.0 * column[i] - last) * top / last)


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


GROUP = 8  # columns at a time: those of a row stay in registers, for two centres


@exact_sums
def _add_group(t, a, b, rows, f, g):
    """Eight columns' share of the distances from two centres."""
    a0, a1, a2, a3, a4, a5, a6, a7 = a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]
    b0, b1, b2, b3, b4, b5, b6, b7 = b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]
    t0, t1, t2, t3, t4, t5, t6, t7 = t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7]
    for i in range(rows):
        x0, x1, x2, x3, x4, x5, x6, x7 = t0[i], t1[i], t2[i], t3[i], t4[i], t5[i], t6[i], t7[i]
        f[i] += a0 * x0 + a1 * x1 + a2 * x2 + a3 * x3 + a4 * x4 + a5 * x5 + a6 * x6 + a7 * x7
        g[i] += b0 * x0 + b1 * x1 + b2 * x2 + b3 * x3 + b4 * x4 + b5 * x5 + b6 * x6 + b7 * x7


@exact_sums
def _take_nearer(t, a, b, rows, f, g, number, best, out):
    """Adds the last eight columns' share; where one of the two centres is nearer than `best`, it is that one."""
    a0, a1, a2, a3, a4, a5, a6, a7 = a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]
    b0, b1, b2, b3, b4, b5, b6, b7 = b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]
    t0, t1, t2, t3, t4, t5, t6, t7 = t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7]
    one, other = np.float64(number), np.float64(number + 1)
    for i in range(rows):
        x0, x1, x2, x3, x4, x5, x6, x7 = t0[i], t1[i], t2[i], t3[i], t4[i], t5[i], t6[i], t7[i]
        u = f[i] + a0 * x0 + a1 * x1 + a2 * x2 + a3 * x3 + a4 * x4 + a5 * x5 + a6 * x6 + a7 * x7
        v = g[i] + b0 * x0 + b1 * x1 + b2 * x2 + b3 * x3 + b4 * x4 + b5 * x5 + b6 * x6 + b7 * x7
        nearer = other if v < u else one  # a tie stays with the lower number
        u = min(u, v)
        v = best[i]
        out[i] = nearer if u < v else out[i]
        best[i] = min(u, v)


@exact_sums
def nearest_of(t, slope, at, rows, far, best, out):
    """The number of the nearest centre of every row of a tile, and its distance less |x|**2.

    Two centres at a time, and whole groups of columns: lines and centres that are missing are added by `clusters`.
    """
    f, g, last = far[0], far[1], len(t) - GROUP
    for i in range(rows):
        best[i] = np.inf
        out[i] = 0.0
    for c in range(0, len(at), 2):
        for i in range(rows):
            f[i] = at[c]
            g[i] = at[c + 1]
        for j in range(0, last, GROUP):
            _add_group(t[j : j + GROUP], slope[c, j : j + GROUP], slope[c + 1, j : j + GROUP], rows, f, g)
        _take_nearer(t[last:], slope[c, last:], slope[c + 1, last:], rows, f, g, c, best, out)


@exact_sums
def add_squares(t, scales, rows, out):
    """|x|**2 of every row, added to `out`."""
    for j in range(len(t)):
        by, line = scales[j] * scales[j], t[j]
        for i in range(rows):
            out[i] += by * line[i] * line[i]


@exact_sums
def offsets(t, rows, count, of, scales, centres, absolute, r, size):
    """r: how far these rows of the tile lie from their centres; size: |r|_1, or |r|_2**2."""
    for k in range(count):
        size[k] = 0.0
    for j in range(len(scales)):
        line, column, by, centre = r[j], t[j], scales[j], centres[:, j]
        for k in range(count):
            line[k] = by * column[rows[k]] - centre[of[k]]
        if absolute:
            for k in range(count):
                size[k] += abs(line[k])
        else:
            for k in range(count):
                size[k] += line[k] * line[k]


@njit(nogil=True, error_model="numpy")
def shorten(r, size, count, reach, absolute):
    """ClusterMoves._shortened of these offsets; those that need not be cut become 0, and so does their size."""
    if not absolute:
        for k in range(count):
            size[k] = np.sqrt(size[k])
    for k in range(count):
        size[k] = 0.0 if size[k] <= reach else reach / size[k]
    for j in range(len(r)):
        line = r[j]
        for k in range(count):
            line[k] = np.trunc(line[k] * size[k])


@exact_sums
def add_lines(r, of, count, cut):
    """Of every cluster the sums of the offsets."""
    for c in range(len(cut)):
        for j in range(len(r)):
            line, s = r[j], 0.0
            for k in range(count):
                s += line[k] if of[k] == c else 0.0
            cut[c, j] += np.int64(s)


@njit(nogil=True, error_model="numpy")
def add_words(cluster, words, rows, added, counts):
    """Of every cluster: rows, and sums of the words. Each cluster is looked for in turn, several rows at a time."""
    for c in range(len(counts)):
        n = np.int64(0)
        for i in range(rows):
            n += cluster[i] == c
        counts[c] += n
        for p in range(0, len(words), 4):  # there are whole groups of four
            w0, w1, w2, w3 = words[p], words[p + 1], words[p + 2], words[p + 3]
            s0, s1, s2, s3 = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
            for i in range(rows):
                here = cluster[i] == c
                s0 += w0[i] if here else 0
                s1 += w1[i] if here else 0
                s2 += w2[i] if here else 0
                s3 += w3[i] if here else 0
            added[c, p] += s0
            added[c, p + 1] += s1
            added[c, p + 2] += s2
            added[c, p + 3] += s3


@compile_kernel
def clusters(codes, tops, slope, at, scales, centres, reach, absolute, counts, whole, sums, cut):
    """Of every cluster: rows, rows within `reach` and sums of their codes, and sums of the cut offsets of the others.

    counts, whole, sums and cut are zeros when it begins.

    reach: 0 where nothing is cut. |r|_1**2 <= width |r|_2**2, so most rows need no look at |r|_1. Codes are below
    2**15: the sums of TILE of them lie below 2**24, and two share a word.
    """
    width, rows = codes.shape
    pairs = (width + 1) // 2
    groups = (width + GROUP - 1) // GROUP
    t, words = np.zeros((GROUP * groups, TILE)), np.zeros((GROUP // 2 * groups, TILE), np.int64)
    even = len(at) + len(at) % 2
    by, base = np.zeros((even, GROUP * groups)), np.empty(even)
    for c in range(even):
        base[c] = at[min(c, len(at) - 1)]
        by[c, :width] = slope[min(c, len(at) - 1)]
    far, best, cluster, size = np.empty((2, TILE)), np.empty(TILE), np.empty(TILE), np.empty(TILE)
    beyond, of = np.empty(TILE, np.int64), np.empty(TILE, np.int64)
    added, r = np.zeros((len(at), len(words)), np.int64), np.empty((width, TILE))
    near = reach * reach / width if absolute else reach * reach
    for a in range(0, rows, TILE):
        tile = min(TILE, rows - a)
        for j in range(width):
            line, top, column = t[j], tops[j], codes[j, a : a + tile]
            for i in range(tile):
                line[i] = 2.0 * column[i] - top
        for p in range(pairs):
            line, column = words[p], codes[2 * p, a : a + tile]
            for i in range(tile):
                line[i] = column[i]
            if 2 * p + 1 < width:
                column = codes[2 * p + 1, a : a + tile]
                for i in range(tile):
                    line[i] += np.int64(column[i]) << 32
        nearest_of(t, by, base, tile, far, best, cluster)
        if reach > 0:
            add_squares(t[:width], scales, tile, best)
            count = 0
            for i in range(tile):
                beyond[count] = i
                count += best[i] > near
            for k in range(count):
                of[k] = np.int64(cluster[beyond[k]])
            offsets(t, beyond, count, of, scales, centres, absolute, r, size)
            shorten(r, size, count, reach, absolute)
            add_lines(r, of, count, cut)
            for k in range(count):
                if size[k] > 0:
                    counts[of[k]] += 1
                    cluster[beyond[k]] = -1.0
        add_words(cluster, words, tile, added, whole)
        for c in range(len(at)):
            for p in range(pairs):
                sums[c, 2 * p] += added[c, p] & 0xFFFFFFFF
                if 2 * p + 1 < width:
                    sums[c, 2 * p + 1] += added[c, p] >> 32
                added[c, p] = 0
    for c in range(len(at)):
        counts[c] += whole[c]
