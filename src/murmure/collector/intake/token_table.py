"""A hash table of tokens in three columns of NumPy: open addressing, with the next free place after a token's home.

Tokens are outputs of a keyed hash, so some of their bits say where their home is, and nobody can choose tokens that
crowd one place. A digest of 0 marks a free place. Batches are looked up a window of places at a time; single tokens in
plain Python, which is quicker below some dozens of them.
"""

from __future__ import annotations

import numpy as np

WINDOW = np.arange(8, dtype=np.int64)  # places looked at in one step: a cache line of each column
Columns = tuple[np.ndarray, np.ndarray, np.ndarray]


class TokenTable:
    """2^bits places of 24 bytes: both halves of a token, and the digest of its report (never 0)."""

    def __init__(self, bits: int) -> None:
        self.capacity = 1 << bits
        self._mask = self.capacity - 1
        # Zeros that were never written take no memory.
        self._high, self._low, self._digest = (np.zeros(self.capacity, np.uint64) for _ in range(3))
        # Single elements are read twice as fast through these.
        self._views = tuple(memoryview(column) for column in (self._high, self._low, self._digest))  # type: ignore[arg-type]

    def find_one(self, high: int, low: int) -> int:
        """The digest of this token's report, or 0."""
        highs, lows, digests = self._views
        mask = self._mask
        place = high & mask
        while digest := digests[place]:
            if highs[place] == high and lows[place] == low:
                return digest
            place = (place + 1) & mask
        return 0

    def insert_one(self, high: int, low: int, digest: int) -> None:
        """A token that is not in the table."""
        highs, lows, digests = self._views
        place = high & self._mask
        while digests[place]:
            place = (place + 1) & self._mask
        highs[place], lows[place], digests[place] = high, low, digest

    def find(self, high: np.ndarray, low: np.ndarray) -> np.ndarray:
        """The digests of the reports of these tokens, 0 for those that are not in the table."""
        found = np.zeros(len(high), np.uint64)
        left = np.arange(len(high))
        places = self._homes(high)[:, None] + WINDOW
        while len(left):
            places &= self._mask
            digests = self._digest[places]
            match = (self._high[places] == high[left, None]) & (digests != 0)
            if match.any():
                match &= self._low[places] == low[left, None]
            hit = match.any(axis=1)
            found[left[hit]] = digests[match]  # at most one match in each row, and rows in order
            more = ~(hit | (digests == 0).any(axis=1))
            left, places = left[more], places[more] + len(WINDOW)
        return found

    def insert(self, high: np.ndarray, low: np.ndarray, digest: np.ndarray) -> None:
        """Distinct tokens that are not in the table, for which it has room."""
        places = self._homes(high)
        left = np.arange(len(high))
        while len(left):
            free = self._digest[places] == 0
            # Of several tokens that want the same free place, the first takes it.
            chosen, first = np.unique(places[free], return_index=True)
            takers = np.flatnonzero(free)[first]
            rows = left[takers]
            self._high[chosen], self._low[chosen], self._digest[chosen] = high[rows], low[rows], digest[rows]
            more = np.ones(len(left), bool)
            more[takers] = False
            left, places = left[more], (places[more] + 1) & self._mask

    def columns(self, start: int, stop: int) -> Columns:
        """The tokens in these places, without the free ones."""
        taken = np.flatnonzero(self._digest[start:stop]) + start
        return self._high[taken], self._low[taken], self._digest[taken]

    def _homes(self, high: np.ndarray) -> np.ndarray:
        return (high & np.uint64(self._mask)).astype(np.int64)
