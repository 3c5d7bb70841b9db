"""Stored reports in an order that says nothing about when they came: a uniform permutation by secure words.

Each report goes to one of 64 heaps by a uniform word, and each heap is put into a uniform order by sorting fresh 64-bit
words (Rao 1961, Sandelius 1962). A heap is in memory at a time, and the others are in unnamed temporary files. Reports
that fit into memory are one heap. Two of a million words are equal with probability 3e-8.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np

from murmure.collector.service.report_rows import ReportRows
from murmure.core.random import Random
from murmure.core.types import Array
from murmure.plan.reports import Reports

HEAP_BITS = 6
MAX_BYTES = 64 << 20  # of reports in memory
BLOCK = 1 << 16  # reports that are handed out at a time


def shuffled(blocks: Iterable[Reports], rng: Random, max_bytes: int = MAX_BYTES) -> Iterator[Reports]:
    """The same reports in a random order, in blocks; none where there are none."""
    layout: ReportRows | None = None
    pieces: list[Array] = []
    size = 0
    with ExitStack() as files:
        heaps: list[Any] = []
        for block in blocks:
            if not len(block):
                continue
            layout = layout or ReportRows(block)
            pieces.append(layout.pack(block))
            size += pieces[-1].nbytes
            if size > max_bytes and not heaps:
                heaps = [files.enter_context(tempfile.TemporaryFile()) for _ in range(1 << HEAP_BITS)]
            if heaps:
                for piece in pieces:
                    _deal(piece, heaps, rng)
                pieces = []
        if layout is None:
            return
        for heap in heaps:
            heap.seek(0)
            yield from _handed_out(layout, np.frombuffer(heap.read(), layout.dtype), rng)
        if pieces:
            yield from _handed_out(layout, np.concatenate(pieces), rng)


def _deal(rows: Array, heaps: list[Any], rng: Random) -> None:
    place = rng.words(len(rows)) >> np.uint64(64 - HEAP_BITS)
    for i in np.unique(place):
        heaps[int(i)].write(rows[place == i].tobytes())


def _handed_out(layout: ReportRows, rows: Array, rng: Random) -> Iterator[Reports]:
    order = np.argsort(rng.words(len(rows)))
    for start in range(0, len(rows), BLOCK):
        yield layout.unpack(rows[order[start : start + BLOCK]])
