"""The one thread that appends reports: each commit takes all that arrived during the last one.

    sort out tokens that were sent before  ->  one write, one fdatasync  ->  index  ->  `done` of each submission

A token enters the index only after its commit. Of two arrivals with the same token in one group, the first is written,
and both are answered after the same fdatasync.
"""

from __future__ import annotations

import math
import queue
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np

from murmure.collector.intake.arrival import Arrival, Outcome, check_arrivals
from murmure.collector.intake.errors import IntakeBusy, IntakeClosed
from murmure.collector.intake.frames import encode_commit
from murmure.collector.intake.report_log import ReportLog
from murmure.collector.intake.token_index import TokenIndex, TokenLookup, report_digest, report_digests

MAX_WAITING, MAX_WAITING_BYTES = 200_000, 64 << 20  # arrivals, and bytes of their reports
MAX_GROUP, MAX_GROUP_BYTES = 20_000, 16 << 20  # of one commit, or one submission if it has more
SMALL_GROUP = 40  # up to so many, single lookups are quicker than NumPy
SECONDS_OF_AN_HOUR = 3600
REFUSING_SECONDS = 60.0  # so long a commit that failed is news: clients come back within it, if anybody does

Done = Callable[[list[Outcome] | Exception], None]


class Submission(NamedTuple):
    """Arrivals that get their outcomes together."""

    arrivals: Sequence[Arrival]
    done: Done
    size: int  # bytes of all reports


class Writer:
    """Starts with the thread. `committed` is called after each commit that added something."""

    def __init__(
        self, log: ReportLog, index: TokenIndex, hour: int, clock: Callable[[], float], committed: Callable[[], None]
    ) -> None:
        self._log, self._index, self._hour = log, index, hour
        self._clock, self._committed = clock, committed
        self._queue: queue.SimpleQueue[Submission | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self.waiting = 0  # arrivals without an outcome
        self._waiting_bytes = 0
        self._closed = False
        self._failed_at = -math.inf
        self._thread = threading.Thread(target=self._run, name="murmure-intake-writer", daemon=True)
        self._thread.start()

    def submit(self, arrivals: Sequence[Arrival], done: Done) -> None:
        """From any thread. An IntakeFailed that is raised here is the whole answer: `done` is not called."""
        size = check_arrivals(arrivals)
        with self._lock:
            if self._closed:
                raise IntakeClosed(
                    "the collector is stopping: it takes no more reports.", hint="send the report again later"
                )
            if self._log.failure is not None:
                raise self._log.failure
            full = self.waiting + len(arrivals) > MAX_WAITING or self._waiting_bytes + size > MAX_WAITING_BYTES
            if full and self.waiting:
                raise IntakeBusy(
                    "{waiting:,} reports are waiting for the disk: no more are taken for the moment.",
                    hint="send the report again in a few seconds",
                    waiting=self.waiting,
                )
            self.waiting += len(arrivals)
            self._waiting_bytes += size
            self._queue.put(Submission(arrivals, done, size))

    @property
    def refusing(self) -> bool:
        """Whether the last commit failed, as on a full disk, a moment ago; the next one may succeed."""
        return time.monotonic() - self._failed_at < REFUSING_SECONDS

    def knows(self, token: bytes) -> bool:
        """Whether a report of this token was stored; from any thread."""
        return self._index.knows(token)

    def close(self) -> None:
        """After all that was submitted has its outcome."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (group := self._next_group()) is not None:
            try:
                outcomes: list[list[Outcome]] | Exception = self._store([submission.arrivals for submission in group])
            except Exception as error:
                outcomes = error
            with self._lock:
                self.waiting -= sum(len(submission.arrivals) for submission in group)
                self._waiting_bytes -= sum(submission.size for submission in group)
            for place, submission in enumerate(group):
                # An error of somebody's callback (a loop that was closed) must not stop everybody's writer.
                with suppress(Exception):
                    submission.done(outcomes if isinstance(outcomes, Exception) else outcomes[place])

    def _next_group(self) -> list[Submission] | None:
        first = self._queue.get()
        if first is None:
            return None
        group, count, size = [first], len(first.arrivals), first.size
        with suppress(queue.Empty):
            while count < MAX_GROUP and size < MAX_GROUP_BYTES:
                submission = self._queue.get_nowait()
                if submission is None:
                    self._queue.put(None)  # nothing follows it
                    break
                group.append(submission)
                count += len(submission.arrivals)
                size += submission.size
        return group

    def _store(self, submissions: list[Sequence[Arrival]]) -> list[list[Outcome]]:
        arrivals = [arrival for submission in submissions for arrival in submission]
        tokens = [arrival.token for arrival in arrivals]
        self._index.reserve(len(arrivals))
        lookup: TokenLookup | None = None
        if len(arrivals) <= SMALL_GROUP:
            known = [self._index.find_one(token) for token in tokens]
        else:
            lookup = self._index.find(b"".join(tokens))
            known = lookup.digests.tolist()
        if not any(known) and len(set(tokens)) == len(tokens):  # nearly always
            outcomes, fresh = [Outcome.STORED] * len(arrivals), arrivals
            rows: Sequence[int] = range(len(arrivals))
        else:
            outcomes, rows = _sort_out(arrivals, known)
            fresh = [arrivals[row] for row in rows]
        if fresh:
            hour = max(self._hour, int(self._clock() // SECONDS_OF_AN_HOUR))
            try:
                position = self._log.prepare()
                self._log.commit(b"".join(encode_commit(fresh, hour, position)))
            except Exception:
                self._failed_at = time.monotonic()
                raise
            self._hour, self._failed_at = hour, -math.inf
            self._remember(fresh, lookup, rows)
            self._committed()
        if len(submissions) == 1:
            return [outcomes]
        ends = list(accumulate(map(len, submissions)))
        return [outcomes[start:end] for start, end in pairwise([0, *ends])]

    def _remember(self, fresh: list[Arrival], lookup: TokenLookup | None, rows: Sequence[int]) -> None:
        try:
            if lookup is None:
                for arrival in fresh:
                    self._index.insert_one(arrival.token, _digest(arrival))
            else:
                digests = report_digests((a.survey, a.wave, a.report) for a in fresh)
                self._index.insert(lookup, np.array(rows), digests)
            self._index.settle(len(fresh))
        except Exception as error:  # no memory: a token would be missing, and could be stored twice
            raise self._log.distrust(error) from error


def _sort_out(arrivals: list[Arrival], known: list[int]) -> tuple[list[Outcome], list[int]]:
    """The outcome of each arrival if the commit succeeds, and which rows are written; known: digests, or 0."""
    fresh: dict[bytes, int] = {}
    outcomes = [Outcome.STORED] * len(arrivals)
    for row, (arrival, digest) in enumerate(zip(arrivals, known, strict=True)):
        if not digest:
            first = fresh.setdefault(arrival.token, row)
            if first == row:
                continue
            digest = _digest(arrivals[first])
        outcomes[row] = Outcome.BEFORE if _digest(arrival) == digest else Outcome.SPENT
    return outcomes, list(fresh.values())


def _digest(arrival: Arrival) -> int:
    return report_digest(arrival.survey, arrival.wave, arrival.report)
