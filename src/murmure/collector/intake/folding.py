"""Folding: acknowledged reports go from the log into the database, and into the tallies.

Reports, tallies and the position of the log change in one transaction, so a process that is killed at any moment leaves
each report folded exactly once. The log keeps what is not folded: a tally that fails stops folding, and loses nothing.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections import defaultdict
from collections.abc import Callable

import numpy as np

from murmure.collector.intake.errors import FoldingStopped, IntakeFailed
from murmure.collector.intake.frames import Frame
from murmure.collector.intake.log_reader import LogReader
from murmure.collector.intake.report_store import Place, ReportStore, Tally
from murmure.core.errors import shorten

PAUSE = 0.25  # seconds from one fold to the next, at least
RETRY = 1.0  # seconds after an error of the disk or the database
TallyFunction = Callable[[int, list[bytes]], tuple[int, np.ndarray]]


class Folding:
    """A thread that follows the log. error: why it does not follow at the moment, or stopped for good (`stopped`)."""

    def __init__(self, store: ReportStore, reader: LogReader, tally: TallyFunction) -> None:
        self._store, self._reader, self._tally = store, reader, tally
        self._tally_lock = threading.Lock()  # the function need not be made for two threads
        self.error: Exception | None = None
        self.stopped = False
        self._news = threading.Condition()
        self._end = store.folded  # all of the log before this position is on the disk
        self._hurry = 0  # callers that wait in `flush`
        self._closing = False
        self._idle = False  # the thread waits for news; else waking it at each commit would only cost time
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, name="murmure-intake-folding", daemon=True)
        self._thread.start()

    def advance(self, end: int) -> None:
        """The log is on the disk up to here."""
        with self._news:
            self._end = end
            if self._idle:
                self._news.notify_all()

    def flush(self) -> None:
        """Return when all that is on the disk now is folded."""
        with self._news:
            end = self._end
            self._hurry += 1
            self._news.notify_all()
            try:
                while self._store.folded < end:
                    if self.error is not None or self._closing:
                        raise self.stopped_error()
                    self._news.wait()
            finally:
                self._hurry -= 1

    def close(self) -> None:
        """After folding what is on the disk, unless there is an error."""
        with self._news:
            self._closing = True
            self._news.notify_all()
        if self._thread is not None:
            self._thread.join()

    def stopped_error(self) -> FoldingStopped:
        return FoldingStopped(
            "acknowledged reports are safe in the log, but could not be added to the tallies: {why}.",
            hint="look for the cause in the collector's messages; after a restart they are added",
            why=str(self.error) if isinstance(self.error, IntakeFailed) else shorten(self.error, 300),
        )

    def _fold_all(self) -> None:
        """A part of bounded size at a time."""
        while self._store.folded < self._end:
            frames, position = self._reader.read(self._store.folded, self._end)
            self._store.fold(frames, self._new_tallies(frames), position)
            with self._news:
                self._news.notify_all()
        self._reader.drop_before(self._store.folded)

    def tally(self, survey: int, reports: list[bytes]) -> tuple[int, np.ndarray]:
        """The caller's tally, as int64 in one dimension."""
        with self._tally_lock:
            n, total = self._tally(survey, reports)
        total = np.asarray(total)
        if total.dtype != np.int64 or total.ndim != 1:
            raise TypeError(f"a tally must be int64 in one dimension, got {total.dtype} in {total.ndim}")
        return int(n), total

    def _new_tallies(self, frames: list[Frame]) -> dict[Place, Tally]:
        parts: defaultdict[Place, list[bytes]] = defaultdict(list)
        versions: dict[Place, int] = {}
        for number, frame in enumerate(frames, self._store.count + 1):
            place = frame.survey, frame.wave
            parts[place].append(frame.report)
            versions[place] = number
        tallies = {}
        for place, reports in parts.items():
            n, total = self.tally(place[0], reports)
            if (tally := self._store.tallies.get(place)) is not None:
                if tally.sum.shape != total.shape:
                    raise ValueError(f"a tally of {len(total)} numbers cannot be added to one of {len(tally.sum)}")
                n, total = n + tally.n, total + tally.sum
            total = total.copy() if total.flags.writeable else total
            total.flags.writeable = False  # readers get this array itself
            tallies[place] = Tally(n, total, versions[place])
        return tallies

    def _run(self) -> None:
        while self._wait():
            self.catch_up()

    def catch_up(self) -> None:
        """Fold up to the end, or set `error`."""
        error: Exception | None = None
        try:
            self._fold_all()
        except Exception as raised:
            error = raised
        if isinstance(error, sqlite3.Error | OSError):  # a full disk, for instance: it may pass
            try:
                self._store.reload()
            except Exception as raised:
                error = raised
        with self._news:
            self.error = error
            self.stopped = error is not None and not isinstance(error, sqlite3.Error | OSError)
            self._news.notify_all()

    def _wait(self) -> bool:
        """Until there is something to fold and the pause is over; False to end the thread."""
        with self._news:
            earliest = time.monotonic() + (PAUSE if self.error is None else RETRY)
            while True:
                behind = self._store.folded < self._end and not self.stopped
                if self._closing and (not behind or self.error is not None):
                    return False
                left = earliest - time.monotonic()
                if behind and (left <= 0 or self._closing or (self._hurry and self.error is None)):
                    return True
                self._idle = not behind
                self._news.wait(left if behind else None)
                self._idle = False
