"""The compiled kernels. Each computes what the reference beside its law computes; imports Numba."""

from __future__ import annotations

import numpy as np
from numba import njit

from murmure.laws.kernel_loader import cached_kernel

ONE, SIX, LOW6 = np.uint64(1), np.uint64(6), np.uint64(63)
HALF, LOW32 = np.uint64(32), np.uint64(0xFFFFFFFF)


def compile_kernel(function):
    return cached_kernel(njit(nogil=True, cache=True, error_model="numpy")(function))


@compile_kernel
def divide(a, by, inverse):
    """a // by, four times faster: the float quotient, off by one at most (it is below 2**32), is repaired."""
    quotient = np.uint64(np.float64(a) * inverse)
    rest = a - quotient * by
    if np.int64(rest) < 0:
        return quotient - ONE
    return quotient + ONE if rest >= by else quotient


@compile_kernel
def window(x, block, out, outputs, length, step, shift, body, inside, outside, rest):
    last = outputs - length
    cut = rest * (inside + ONE)
    per_more = 1.0 / np.float64(inside + ONE)
    per_inside, per_outside = 1.0 / np.float64(inside), 1.0 / np.float64(outside)
    for i in range(len(x)):
        u = block[i, 0]
        at = np.uint64(x[i]) * step
        start = at - shift if at >= shift else np.uint64(0)
        start = last if start > last else start
        other = divide(u - body, outside, per_outside)  # wraps where u < body, and is not used there
        other += length if other >= start else np.uint64(0)
        within = np.uint64(0)
        if length > ONE:
            if u < cut:
                within = divide(u, inside + ONE, per_more)
            else:
                within = divide(u - cut, inside, per_inside) + rest
        out[i] = start + within if u < body else other


@compile_kernel
def threshold_planes(q):
    """The first 16 bits of a threshold, each as a word: all ones, or zero."""
    bits = np.empty(16, np.uint64)
    for plane in range(16):
        bits[plane] = np.uint64(0) - ((q >> np.uint64(63 - plane)) & ONE)
    return bits


@compile_kernel
def coin_pair(block, i, at, j, next_at, step, bits):
    """Two words of 64 coins each after the main planes: which are yes, and which are open. (A place without a sign is
    not looked at to see whether it is negative.)"""
    yes, next_yes = np.uint64(0), np.uint64(0)
    undecided, next_undecided = ~np.uint64(0), ~np.uint64(0)
    for plane in range(16):  # one dependent operation a plane: the rest is computed ahead
        bit = bits[plane]
        drawn, next_drawn = block[i, at], block[j, next_at]
        yes |= undecided & (bit & ~drawn)
        next_yes |= next_undecided & (bit & ~next_drawn)
        undecided &= ~(bit ^ drawn)
        next_undecided &= ~(bit ^ next_drawn)
        at += step
        next_at += step
    return yes, undecided, next_yes, next_undecided


@compile_kernel
def planes(block, out, left, open_words, q):
    """Coins of probability q, 64 a word, from the main planes at the start of each row of the block. Words still open
    are listed in left and open_words; returns how many."""
    width = out.shape[1]
    step = np.uint64(width)
    count = 0
    bits = threshold_planes(q)
    i, w = 0, 0
    while i < len(block):
        j, v = (i, w + 1) if w + 1 < width else (i + 1, 0)
        alone = j == len(block)  # the last word, where their number is odd
        if alone:
            j, v = i, w
        yes, undecided, next_yes, next_undecided = coin_pair(block, i, np.uint64(w), j, np.uint64(v), step, bits)
        out[i, w] = yes
        if undecided:
            if count < len(open_words):
                left[count, 0] = i
                left[count, 1] = w
                open_words[count] = undecided
            count += 1
        out[j, v] = next_yes
        if next_undecided and not alone:
            if count < len(open_words):
                left[count, 0] = j
                left[count, 1] = v
                open_words[count] = next_undecided
            count += 1
        i, w = (j, v + 1) if v + 1 < width else (j + 1, 0)
    return count


@compile_kernel
def unary(x, block, out, true_bit, left, open_words, p, q):
    """The same, and the bit of each person's value, which is a coin of probability p."""
    count = planes(block, out, left, open_words, q)
    last = block.shape[1] - 1
    for i in range(len(block)):
        code = np.uint64(x[i])
        word = code >> SIX
        at = code & LOW6
        yes = np.uint64(block[i, last] < p)
        true_bit[i] = yes == ONE
        out[i, word] = (out[i, word] & ~(ONE << at)) | (yes << at)
    return count


@compile_kernel
def cut_of(u, step, per_step, ends):
    """Which run of a cut the word falls into: by division where runs are even, by bisection otherwise."""
    if len(ends) == 0:
        return divide(u, step, per_step)
    low, high = 0, len(ends)
    while low < high:
        middle = (low + high) >> 1
        if ends[middle] <= u:
            low = middle + 1
        else:
            high = middle
    return np.uint64(low)


@compile_kernel
def pick(block, step, ends, out):
    per_step = 1.0 / np.float64(step)
    for i in range(len(out)):
        out[i] = cut_of(block[i, 0], step, per_step, ends)


@compile_kernel
def hidden_code(x, block, tag, column, step, ends, body, outside, out):
    per_step, per_outside = 1.0 / np.float64(step), 1.0 / np.float64(outside)
    for i in range(len(out)):
        u = block[i, 0]
        fake = cut_of(u, step, per_step, ends)
        code = np.uint64(x[i])
        other = divide(u - body, outside, per_outside)  # wraps where u < body, and is not used there
        other += np.uint64(other >= code)
        real = code if u < body else other
        out[i] = real if tag[i] == column else fake


@compile_kernel
def set_bit_where(tag, column, x, coin, out):
    """Bit x of the rows whose real attribute this is."""
    for i in range(len(out)):
        code = np.uint64(x[i])
        at = code >> SIX
        bit = code & LOW6
        real = np.uint64(tag[i] == column)
        out[i, at] = (out[i, at] & ~(real << bit)) | ((real & np.uint64(coin[i])) << bit)


@compile_kernel
def hidden_value(x, block, tag, column, step, ends, p, value, coin):
    per_step = 1.0 / np.float64(step)
    for i in range(len(coin)):
        coin[i] = block[i, 0] < p
        fake = cut_of(block[i, 1], step, per_step, ends)
        value[i] = np.uint64(x[i]) if tag[i] == column else fake


@compile_kernel
def set_bit(packed, x, yes):
    """Bit x of every row."""
    for i in range(len(packed)):
        code = np.uint64(x[i])
        at = code >> SIX
        bit = code & LOW6
        packed[i, at] = (packed[i, at] & ~(ONE << bit)) | (np.uint64(yes[i]) << bit)


@compile_kernel
def split(number, ends, order):
    """The places of each number, in order: counted, then placed."""
    for i in range(len(number)):
        ends[number[i] + 1] += 1
    for c in range(1, len(ends)):
        ends[c] += ends[c - 1]
    at = ends[:-1].copy()
    for i in range(len(number)):
        order[at[number[i]]] = i
        at[number[i]] += 1


@compile_kernel
def subset(x, block, out, k, w, keep):
    for i in range(len(x)):
        code = np.uint64(x[i])
        kept = np.uint64(block[i, 0] < keep)
        out[i, code >> SIX] |= kept << (code & LOW6)
        for draw in range(w):
            j = np.uint64(k - 1 - w + draw)
            u = block[i, 1 + draw]
            m = j + ONE
            t = ((u >> HALF) * m + (((u & LOW32) * m) >> HALF)) >> HALF
            t += np.uint64(t >= code)
            taken = (out[i, t >> SIX] >> (t & LOW6)) & ONE
            t = j + np.uint64(j >= code) if taken else t
            take = ONE ^ (kept & np.uint64(draw == 0))  # where x was kept the first draw is made and not used
            out[i, t >> SIX] |= take << (t & LOW6)


@compile_kernel
def hadamard(x, block, out, log_order, keep):
    mask = (ONE << log_order) - ONE
    for i in range(len(x)):
        u = block[i, 0]
        row = np.uint64(x[i]) + ONE
        y = u & mask
        odd = row & y
        odd ^= odd >> HALF
        odd ^= odd >> np.uint64(16)
        odd ^= odd >> np.uint64(8)
        odd ^= odd >> np.uint64(4)
        odd ^= odd >> np.uint64(2)
        odd ^= odd >> ONE
        unlikely = ONE if (u >> log_order) >= keep else np.uint64(0)
        wrong = (odd & ONE) ^ unlikely
        out[i] = y ^ ((row & (~row + ONE)) * wrong)


@compile_kernel
def hashed(x, block, seeds, out, mask, g, seed_bits, body, outside):
    last = block.shape[1] - 1
    count = out.shape[1] - 1
    per_outside = 1.0 / np.float64(outside)
    for i in range(len(x)):
        v = (np.uint64(x[i]) << ONE) | ONE  # bit 0 is for b
        h = np.uint16(0)
        for j in range(count):  # no branch: bits are unpredictable
            a = seeds[i, j] & mask
            out[i, j] = a
            h ^= a & np.uint16(-((v >> np.uint64(j)) & ONE))
        start = (np.uint64(h) * g) >> seed_bits
        u = block[i, last]
        other = divide(u - body, outside, per_outside)  # wraps where u < body, and is not used there
        if other >= start:
            other += ONE
        out[i, count] = start if u < body else other


@compile_kernel
def supports(reports, low, size, out):
    values = len(out)
    h = np.empty(values, np.uint16)
    part = np.zeros(values, np.uint16)
    for i in range(len(reports)):
        h[0] = reports[i, 0]
        done = 1
        j = 1
        while done < values:
            a = reports[i, j]
            for v in range(done):
                h[done + v] = h[v] ^ a
            done *= 2
            j += 1
        lo = low[i]
        n = size[i]
        for v in range(values):
            part[v] += np.uint16(np.uint16(h[v] - lo) < n)
        if i % 65535 == 65534:
            for v in range(values):
                out[v] += part[v]
                part[v] = 0
    for v in range(values):
        out[v] += part[v]


@compile_kernel
def walsh_hadamard(out):
    h = 1
    while h < len(out):
        for start in range(0, len(out), 2 * h):
            for i in range(start, start + h):
                a = out[i]
                b = out[i + h]
                out[i] = a + b
                out[i + h] = a - b
        h *= 2


@compile_kernel
def walsh_signs(reports, g, signs):
    """What every report adds to the histogram over Walsh functions (Hashed._signs)."""
    bits = reports.shape[1] - 2
    where = np.zeros(g, np.int64)
    odd = np.zeros(g, np.int64)
    for i in range(len(reports)):
        rest = reports[i, bits + 1] ^ reports[i, 0]
        plane = 0
        while (1 << plane) < g:
            first = 1 << plane
            at = 0
            for j in range(bits):
                at |= ((reports[i, 1 + j] >> plane) & 1) << j
            sign = (rest >> plane) & 1
            for s in range(first):
                where[first + s] = where[s] ^ at
                odd[first + s] = odd[s] ^ sign
                signs[where[first + s]] += 1 - 2 * odd[first + s]
            plane += 1


@compile_kernel
def full_adder(a, b, c):
    half = a ^ b
    return half ^ c, (a & b) | (half & c)


@compile_kernel
def column_planes(rows, planes):
    """planes[w, j]: bit j of the 64 counters of word w. Eight rows at a time through full adders."""
    whole = len(rows) // 8 * 8
    for w in range(rows.shape[1]):
        ones, twos, fours = planes[w, 0], planes[w, 1], planes[w, 2]
        for i in range(0, whole, 8):
            ones, a = full_adder(ones, rows[i, w], rows[i + 1, w])
            ones, b = full_adder(ones, rows[i + 2, w], rows[i + 3, w])
            twos, c = full_adder(twos, a, b)
            ones, a = full_adder(ones, rows[i + 4, w], rows[i + 5, w])
            ones, b = full_adder(ones, rows[i + 6, w], rows[i + 7, w])
            twos, d = full_adder(twos, a, b)
            fours, carry = full_adder(fours, c, d)
            j = 3
            while carry:
                planes[w, j], carry = planes[w, j] ^ carry, planes[w, j] & carry
                j += 1
        planes[w, 0], planes[w, 1], planes[w, 2] = ones, twos, fours
        for i in range(whole, len(rows)):
            carry = rows[i, w]
            j = 0
            while carry:
                planes[w, j], carry = planes[w, j] ^ carry, planes[w, j] & carry
                j += 1


@compile_kernel
def histogram(codes, counts):
    """Four histograms, so that equal neighbours do not wait for each other's counter."""
    whole = len(codes) // 4 * 4
    for i in range(0, whole, 4):
        counts[0, codes[i]] += 1
        counts[1, codes[i + 1]] += 1
        counts[2, codes[i + 2]] += 1
        counts[3, codes[i + 3]] += 1
    for i in range(whole, len(codes)):
        counts[0, codes[i]] += 1


@compile_kernel
def mulhi(a, b):
    """The high 64 bits of a * b."""
    a1, a0 = a >> HALF, a & LOW32
    b1, b0 = b >> HALF, b & LOW32
    middle = a1 * b0 + ((a0 * b0) >> HALF)
    other = a0 * b1 + (middle & LOW32)
    return a1 * b1 + (middle >> HALF) + (other >> HALF)


@compile_kernel
def coins(words, num, den, alive, loser, out, kept, ties):
    """noise/coins.py, _survivors: yes is kept, no is out; returns the numbers of those kept and of ties."""
    count, tied = 0, 0
    single = len(num) == 1
    a = num[0]
    for j in range(len(words)):
        i = alive[j]
        if not single:
            a = num[i]
        high = mulhi(words[j], den)
        yes = high < a
        if high + ONE == a:
            low = words[j] * den
            rest = ~low + ONE
            if rest < den and low != 0:
                ties[tied, 0] = np.uint64(i)
                ties[tied, 1] = rest
                tied += 1
                continue
        out[i] = loser  # overwritten later where the coin says yes: every coin ends with a no
        kept[count] = i
        count += 1 if yes else 0
    return count, tied


@compile_kernel
def uniforms(words, bound, refused, alive, value, again):
    count = 0
    for j in range(len(words)):
        i = alive[j]
        even = words[j] & ~ONE
        value[i] = np.int64((mulhi(even, bound) << ONE) | (words[j] & ONE))
        again[count] = i
        count += 1 if even * bound < refused else 0
    return count


@compile_kernel
def pick_where(values, which, out):
    count = 0
    for j in range(len(values)):
        out[count] = values[j]
        count += 1 if which[j] else 0
    return count


@compile_kernel
def digits(block, ends, guide, first, shift, first_guide, radix, folded, offset, out, left, left_offset):
    """noise/digits.py, Digits._fill: the signed numbers, and which must be drawn again with which offset."""
    levels = len(shift)
    last = first[1] - 1  # the escape of the top table
    count = 0
    single = len(offset) == 1
    start = offset[0]
    period = np.int64(last)
    for _ in range(1, levels):
        period *= radix
    for j in range(len(block)):
        word = block[j, 0]
        u = word >> ONE
        at = np.int64(guide[u >> shift[0]])
        while ends[at] <= u:
            at += 1
        escaped = at == last
        m = np.int64(at)
        for level in range(1, levels):
            u = block[j, level] >> ONE
            at = first[level] + np.int64(guide[first_guide[level] + np.int64(u >> shift[level])])
            while ends[at] <= u:
                at += 1
            m = m * radix + (at - first[level])
        if not single:
            start = offset[j]
        m += start
        minus = np.int64(word & ONE)
        out[j] = (m ^ -minus) + minus
        left[count] = j
        left_offset[count] = start + period if escaped else start
        count += 1 if escaped or (not folded and minus == 1 and m == 0) else 0
    return count


# -- tables written out (table.py) -------------------------------------------------------------------------------


@compile_kernel
def table_draw(x, block, entries, log_columns, out):
    shift = np.uint64(64) - log_columns
    mask = (ONE << log_columns) - ONE
    for i in range(len(out)):
        u = block[i, 0]
        column = u >> shift
        entry = entries[(np.uint64(x[i]) << log_columns) + column]
        out[i] = column if (u << log_columns) < (entry & ~mask) else entry & mask


# -- numbers as codes (number_codes.py) --------------------------------------------------------------------------

TILE = 256  # rows of a table that are turned into columns at a time: they stay in the cache
TO_WHOLE = 1.5 * 2.0**52  # added and taken off again, it rounds as rint does


@compile_kernel
def interval_codes(x, low, times, cells, close, least, most, out):
    """Interval.cells_of; returns whether a number is next to the edge of a cell, not within least..most, or NaN."""
    last = cells - 1.0
    odd = 0
    for i in range(len(x)):
        number = x[i]
        cell = (number - low) * times
        cell = min(max(cell, 0.0), cells)
        off = abs(cell - ((cell + TO_WHOLE) - TO_WHOLE))
        odd |= int((off <= close) & (cell > close) & (cell < cells - close))
        odd |= int(not ((number >= least) & (number <= most)))
        out[i] = np.int32(min(cell, last))
    return odd


@compile_kernel
def matrix_codes(x, low, times, cells, close, out, odd):
    """interval_codes of every column of a table that lies in rows; odd: the columns in which a number was special."""
    columns = np.empty((x.shape[1], TILE))
    for a in range(0, len(x), TILE):
        tile = x[a : a + TILE]
        rows = len(tile)
        for i in range(rows):
            for j in range(x.shape[1]):
                columns[j, i] = tile[i, j]
        for j in range(x.shape[1]):
            codes = out[j, a : a + rows]
            odd[j] |= interval_codes(columns[j, :rows], low[j], times[j], cells[j], close[j], -np.inf, np.inf, codes)
