"""The compiled kernels of matching: what `Candidates.intersections` computes; imports Numba."""
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np

from murmure.laws.kernels import compile_kernel

ONE, TWO, FOUR, TOP = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(56)
PAIRS, NIBBLES = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
BYTES, SUM = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)


@compile_kernel
def bit_count(x):
    """The bits that are set. (Compilers know these lines and use one instruction.)"""
    x = x - ((x >> ONE) & PAIRS)
    x = (x & NIBBLES) + ((x >> TWO) & NIBBLES)
    x = (x + (x >> FOUR)) & BYTES
    return (x * SUM) >> TOP


@compile_kernel
def intersections(bits, first, column, sets, out):
    """out[m, t]: how many people agree with all entries of the set m of target t; entries are sets of values."""
    surveys, width = column.shape[1], bits.shape[1]
    both = np.empty((1 << surveys, width), np.uint64)
    entries = np.empty((surveys, width), np.uint64)
    both[0] = ~np.uint64(0)
    for t in range(len(column)):
        for s in range(surveys):
            entries[s] = np.uint64(0)
            j = column[t, s]
            if j < 0:
                continue
            for v in range(first[j + 1] - first[j]):
                if sets[t, s, v]:
                    row = bits[first[j] + v]
                    for w in range(width):
                        entries[s, w] |= row[w]
        for m in range(1, 1 << surveys):
            low = 0
            while not (m >> low) & 1:
                low += 1
            rest, entry, here = both[m & (m - 1)], entries[low], both[m]
            count = np.uint64(0)
            for w in range(width):
                word = rest[w] & entry[w]
                here[w] = word
                count += bit_count(word)
            out[m, t] = np.int64(count)


@compile_kernel
def value_intersections(bits, first, start, column, value, out):
    """The same where entries are values: bits[j] are the people sorted by column j, start where its values start.

    A set of entries is intersected in the order of its rarest value, where the people who hold it are a short run.
    """
    surveys, width = column.shape[1], bits.shape[2]
    both = np.empty((1 << surveys, width), np.uint64)
    row, size, slot = np.empty(surveys, np.int64), np.empty(surveys, np.int64), np.empty(surveys, np.int64)
    for t in range(len(column)):
        entries = 0
        for s in range(surveys):  # the entries, rarest first
            if column[t, s] < 0:
                continue
            at = first[column[t, s]] + value[t, s]
            count = start[at + 1] - start[at]
            place = entries
            while place > 0 and size[place - 1] > count:
                row[place], size[place], slot[place] = row[place - 1], size[place - 1], slot[place - 1]
                place -= 1
            row[place], size[place], slot[place] = at, count, s
            entries += 1
        for r in range(entries):
            if size[r] == 0:
                continue  # nobody holds it: out stays 0
            j = column[t, slot[r]]
            begin = start[row[r]] - start[first[j]]  # start counts all columns one after the other
            a, b = begin >> 6, (begin + size[r] - 1 >> 6) + 1
            for w in range(a, b):
                both[0, w] = bits[j, row[r], w]
            out[1 << slot[r], t] = size[r]
            for m in range(1, 1 << (entries - 1 - r)):
                low = 0
                while not (m >> low) & 1:
                    low += 1
                rest, entry, here = both[m & (m - 1)], bits[j, row[r + 1 + low]], both[m]
                total = np.uint64(0)
                for w in range(a, b):
                    word = rest[w] & entry[w]
                    here[w] = word
                    total += bit_count(word)
                pattern = 1 << slot[r]
                for i in range(entries - 1 - r):
                    if (m >> i) & 1:
                        pattern |= 1 << slot[r + 1 + i]
                out[pattern, t] = np.int64(total)
