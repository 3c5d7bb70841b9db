"""A hash table of tokens in three columns of NumPy: open addressing, with the next free place after a token's home.

Tokens are outputs of a keyed hash, so some of their bits say where their home is, and nobody can choose tokens that
crowd one place. Batches are looked up a window of places at a time; single tokens in plain Python, which is quicker
below some dozens of them.

Memory is slow, so a token that is not in the table must be told from one column: a first half of 0 marks a free place.
The lowest bit of every first half is therefore stored as 1, and what it was is the lowest bit of the digest.
"""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

ONE = np.uint64(1)
WINDOW = 8  # places looked at in one step: a cache line of each column
Columns = tuple[np.ndarray, np.ndarray, np.ndarray]


class TokenTable:
    """2^bits places of 24 bytes: both halves of a token, and the digest of its report (even, never 0).

    The first places are repeated after the last one, so that a window never has to go round the end.
    """

    def __init__(self, bits: int) -> None:
        self.capacity = 1 << bits
        self._mask = self.capacity - 1
        # Zeros that were never written take no memory.
        self._high = np.zeros(self.capacity + WINDOW, np.uint64)
        self._low, self._digest = np.zeros(self.capacity, np.uint64), np.zeros(self.capacity, np.uint64)
        self._windows = sliding_window_view(self._high, WINDOW)
        # Single elements are read twice as fast through these.
        self._views = tuple(memoryview(column) for column in (self._high, self._low, self._digest))  # type: ignore[arg-type]

    def find_one(self, high: int, low: int) -> int:
        """The digest of this token's report, or 0."""
        highs, lows, digests = self._views
        mask, bit, high = self._mask, high & 1, high | 1
        place = high >> 1 & mask
        while stored := highs[place]:
            if stored == high and lows[place] == low and digests[place] & 1 == bit:
                return digests[place] ^ bit
            place = (place + 1) & mask
        return 0

    def insert_one(self, high: int, low: int, digest: int) -> None:
        """A token that is not in the table."""
        highs, lows, digests = self._views
        place = high >> 1 & self._mask
        while highs[place]:
            place = (place + 1) & self._mask
        highs[place], lows[place], digests[place] = high | 1, low, digest | high & 1
        if place < WINDOW:
            highs[place + self.capacity] = high | 1

    def find(self, high: np.ndarray, low: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The digests of the reports of these tokens, 0 for unknown ones, and the first free place for each unknown."""
        found = np.zeros(len(high), np.uint64)
        places = self._homes(high)
        left, starts, wanted = np.arange(len(high)), places.copy(), high | ONE
        while len(left):
            windows = self._windows[starts]
            rows, offsets = np.nonzero(windows == wanted[left, None])
            if len(rows):  # in the table, or half of it is the same
                rows, found_at = left[rows], (starts[rows] + offsets) & self._mask
                digests = self._digest[found_at]
                match = (self._low[found_at] == low[rows]) & (digests & ONE == high[rows] & ONE)
                found[rows[match]] = digests[match] & ~ONE
            free = windows == 0
            ends = free.any(axis=1)
            places[left[ends]] = (starts + free.argmax(axis=1))[ends] & self._mask
            more = ~ends & (found[left] == 0)
            left, starts = left[more], (starts[more] + WINDOW) & self._mask
        return found, places

    def insert(self, high: np.ndarray, low: np.ndarray, digest: np.ndarray, places: np.ndarray) -> None:
        """Distinct tokens that are not in the table, for which it has room, and the first free place of each."""
        left = np.arange(len(high))
        marks = left.astype(np.uint64) + np.uint64(1)
        while len(left):
            free = self._high[places] == 0
            # Of several tokens that want the same free place, the one whose mark stays takes it.
            self._high[places[free]] = marks[left[free]]
            takes = free & (self._high[places] == marks[left])
            rows, chosen = left[takes], places[takes]
            self._high[chosen], self._low[chosen] = high[rows] | ONE, low[rows]
            self._digest[chosen] = digest[rows] | (high[rows] & ONE)
            left, places = left[~takes], (places[~takes] + 1) & self._mask
        self._high[self.capacity :] = self._high[:WINDOW]

    def touch(self, start: int, stop: int) -> None:
        """Get the memory of these places, which are free, from the system: it comes in pages of up to 2 MiB."""
        for column in (self._high, self._low, self._digest):
            column[start:stop] = 0

    def columns(self, start: int, stop: int) -> Columns:
        """The tokens in these places, without the free ones: both halves, and the digests."""
        taken = np.flatnonzero(self._high[start:stop]) + start
        bits = ~self._digest[taken] & ONE
        return self._high[taken] ^ bits, self._low[taken], self._digest[taken] & ~ONE

    def _homes(self, high: np.ndarray) -> np.ndarray:
        return (high >> ONE & np.uint64(self._mask)).astype(np.int64)
