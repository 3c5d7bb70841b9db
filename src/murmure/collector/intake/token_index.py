"""Which tokens have sent a report, and a digest of it: what is needed to answer a second sending.

About 50 bytes a report (34 right before the table grows, 69 right after). Growing never stops the writer for long: each
insertion gets some memory of the next table from the system, and later takes some places of the old table over.

Digests are Python's own hash of bytes, with a key of this process; they are never written anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from murmure.collector.intake.token_table import TokenTable

MIN_BITS = 12
MAX_LOAD, NEXT_LOAD = 0.7, 0.65  # the table grows; the next one is made
MASK = 0xFFFFFFFFFFFFFFFC
STEP = 8192  # places of another table that an insertion works on, at least


def report_digest(survey: int, wave: int, report: bytes) -> int:
    """62 bits, even and never 0. A collision would take a token's second report for its first: still stored once."""
    return (hash((survey, wave, report)) & MASK) | 2


def report_digests(rows: Iterable[tuple[int, int, bytes]]) -> np.ndarray:
    """Of many: survey, wave and report of each."""
    return np.array([hash(row) for row in rows], np.int64).view(np.uint64) & np.uint64(MASK) | np.uint64(2)


class TokenLookup(NamedTuple):
    """What is known about many tokens."""

    digests: np.ndarray  # 0: unknown
    high: np.ndarray
    low: np.ndarray
    places: np.ndarray  # where an unknown one goes


class TokenIndex:
    """For one thread. Tokens are only ever added."""

    def __init__(self, expected: int = 0) -> None:
        bits = MIN_BITS
        while expected > MAX_LOAD * (1 << bits):
            bits += 1
        self._bits, self._count = bits, 0
        self._table = TokenTable(bits)
        self._old: TokenTable | None = None
        self._moved = 0  # places of the old table that were taken over
        self._next: TokenTable | None = None
        self._touched = 0  # places of the next table that have memory

    def __len__(self) -> int:
        return self._count

    def find_one(self, token: bytes) -> int:
        """The digest of this token's report, or 0."""
        high, low = int.from_bytes(token[:8], "little"), int.from_bytes(token[8:], "little")
        return self._table.find_one(high, low) or (self._old.find_one(high, low) if self._old is not None else 0)

    def knows(self, token: bytes) -> bool:
        """From any thread, for somebody who asks: a token that is being written this moment may be missed."""
        high, low = int.from_bytes(token[:8], "little"), int.from_bytes(token[8:], "little")
        old, table = self._old, self._table  # in this order: what leaves the old one is in the other by then
        return bool(table.find_one(high, low)) or (old is not None and bool(old.find_one(high, low)))

    def find(self, tokens: bytes) -> TokenLookup:
        """Many tokens, joined. What it finds holds until the next insertion or `reserve`."""
        halves = np.frombuffer(tokens, "<u8").reshape(-1, 2)
        high, low = halves[:, 0].copy(), halves[:, 1].copy()
        found, places = self._table.find(high, low)
        if self._old is not None:
            missing = np.flatnonzero(found == 0)
            found[missing] = self._old.find(high[missing], low[missing])[0]
        return TokenLookup(found, high, low, places)

    def reserve(self, count: int) -> None:
        """Room for so many more tokens: after this, inserting them cannot run out of memory."""
        while self._count + count > MAX_LOAD * self._table.capacity:
            self._take_over(self._old.capacity if self._old is not None else 0)
            self._old, self._moved = self._table, 0
            self._bits += 1
            self._table, self._next = self._next or TokenTable(self._bits), None

    def insert_one(self, token: bytes, digest: int) -> None:
        """A new token, after `reserve`."""
        high, low = int.from_bytes(token[:8], "little"), int.from_bytes(token[8:], "little")
        self._table.insert_one(high, low, digest)
        self._count += 1

    def insert(self, lookup: TokenLookup, rows: np.ndarray, digests: np.ndarray) -> None:
        """Of the tokens that were looked up after `reserve`, these rows: distinct and new."""
        self._table.insert(lookup.high[rows], lookup.low[rows], digests, lookup.places[rows])
        self._count += len(digests)

    def settle(self, count: int) -> None:
        """After so many insertions: a part of the work that growing takes."""
        if self._old is not None:
            self._take_over(max(STEP, 4 * count))
        elif self._count > NEXT_LOAD * self._table.capacity:
            if self._next is None:
                self._next, self._touched = TokenTable(self._bits + 1), 0
            stop = self._touched + max(STEP, 48 * count)
            self._next.touch(self._touched, stop)
            self._touched = stop

    def _take_over(self, places: int) -> None:
        if self._old is None:
            return
        stop = min(self._moved + places, self._old.capacity)
        high, low, digests = self._old.columns(self._moved, stop)
        self._table.insert(high, low, digests, self._table.find(high, low)[1])
        self._moved = stop
        if stop == self._old.capacity:
            self._old = None
