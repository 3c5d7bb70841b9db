"""The intake: reports in, each acknowledged when it is on the disk, counted once, and added to its tally behind.

>>> import tempfile, numpy as np
>>> from pathlib import Path
>>> from murmure.collector.intake.arrival import Arrival
>>> def tally(survey: int, reports: list[bytes]) -> tuple[int, np.ndarray]:
...     return len(reports), np.array([reports.count(b"0"), reports.count(b"1")])
>>> with tempfile.TemporaryDirectory() as folder:
...     intake = Intake(Path(folder), tally)
...     intake.submit([Arrival(1, 1, bytes(16), b"1"), Arrival(1, 1, bytes(16), b"0")], print)
...     intake.close()
...     intake.tally_of(1, 1)
[<Outcome.STORED: 0>, <Outcome.SPENT: 2>]
(1, array([0, 1]), 1)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from murmure.collector.intake.arrival import Arrival
from murmure.collector.intake.errors import DiskRefused, FolderLocked, IntakeFailed, TalliesDiffer
from murmure.collector.intake.folding import Folding, TallyFunction
from murmure.collector.intake.log_reader import LogReader
from murmure.collector.intake.recovery import recover
from murmure.collector.intake.report_log import SEGMENT_BYTES, ReportLog
from murmure.collector.intake.report_store import ReportStore
from murmure.collector.intake.segments import list_segments
from murmure.collector.intake.token_index import TokenIndex, report_digests
from murmure.collector.intake.writer import Done, Writer
from murmure.core.files import locked
from murmure.core.sqlite_files import why

LOCK = "intake.lock"


class Intake:
    """One folder, one process.

    tally(survey number, reports) -> (n, int64 sum of one dimension); called by the folding thread, and by `check`.
    """

    def __init__(
        self,
        folder: Path,
        tally: TallyFunction,
        clock: Callable[[], float] = time.time,
        segment_bytes: int = SEGMENT_BYTES,
    ) -> None:
        with ExitStack() as opened:
            try:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                opened.enter_context(locked(folder / LOCK, patience=0))
            except TimeoutError:
                raise FolderLocked(
                    "another process takes reports in the folder {folder!r}.",
                    hint="stop the other collector, or give this one another folder",
                    folder=str(folder),
                ) from None
            except OSError as error:
                raise _unusable(folder, error) from None
            self._store = ReportStore(folder, log_exists=any(s.start for s in list_segments(folder)))
            opened.callback(self._store.close)
            reader = LogReader(folder)
            opened.callback(reader.close)
            try:
                end = recover(folder, self._store.folded)
            except OSError as error:
                raise _unusable(folder, error) from None
            self._folding = Folding(self._store, reader, tally)
            self._folding.advance(end)
            self._folding.catch_up()
            reader.drop_before(self._store.folded, finished=True)
            index, hour = self._rebuild_index(folder, end)
            log = ReportLog(folder, end, segment_bytes)
            opened.callback(log.close)
            self._log = log
            self._writer = Writer(log, index, hour, clock, lambda: self._folding.advance(log.durable))
            self._folding.start()
            self._opened = opened.pop_all()

    def submit(self, arrivals: Sequence[Arrival], done: Done) -> None:
        """Any thread. `done` gets the outcomes after fdatasync, or an IntakeFailed, in the writer's thread.

        If the intake is busy, closed or out of order, IntakeFailed is raised here, and `done` is not called.
        """
        self._writer.submit(arrivals, done)

    def knows(self, token: bytes) -> bool:
        """Whether a report of this token is stored. One that is being written this moment may be missed."""
        return self._writer.knows(token)

    @property
    def waiting(self) -> int:
        """Arrivals that have no outcome yet."""
        return self._writer.waiting

    @property
    def failure(self) -> IntakeFailed | None:
        """Why no report is taken until a restart."""
        return self._log.failure

    @property
    def refusing(self) -> bool:
        """Whether reports could not be stored just now, though the next ones may be."""
        return self._writer.refusing

    @property
    def folding_error(self) -> Exception | None:
        """Why acknowledged reports are not in the tallies, or None."""
        return self._folding.error

    def tally_of(self, survey: int, wave: int) -> tuple[int, np.ndarray | None, int]:
        """(n, sum, version) as folded so far; the version changes with the tally, and stays after a restart."""
        tally = self._store.tallies.get((survey, wave))
        return (0, None, 0) if tally is None else (tally.n, tally.sum, tally.version)

    def reports(self, survey: int, wave: int | None = None) -> Iterator[list[bytes]]:
        """Folded reports in blocks, one wave after the other, each in order of arrival. Nobody waits for the reader."""
        return self._store.reports(survey, wave)

    def flush(self) -> None:
        """Return when everything acknowledged so far is folded."""
        self._folding.flush()

    def check(self) -> None:
        """Refuse if a tally is not what the stored reports add up to."""
        count, tallies, counts = self._store.snapshot()
        for survey, wave in sorted(tallies.keys() | counts.keys()):
            n, total = 0, None
            for reports in self._store.reports(survey, wave, last=count):
                more, part = self._folding.tally(survey, reports)
                n, total = n + more, part if total is None else total + part
            tally = tallies.get((survey, wave))
            if tally is None or total is None or tally.n != n or not np.array_equal(tally.sum, total):
                raise TalliesDiffer(
                    "the tally of survey {survey}, wave {wave}, is not that of its {count:,} stored reports.",
                    hint="restore the folder from a copy; reports.db was changed, or the law of the survey",
                    survey=survey,
                    wave=wave,
                    count=counts.get((survey, wave), 0),
                )

    def close(self) -> None:
        """Take no more reports, finish those that were submitted, fold them, and unlock the folder."""
        self._writer.close()
        self._folding.close()
        self._opened.close()

    def _rebuild_index(self, folder: Path, end: int) -> tuple[TokenIndex, int]:
        """All tokens, and the last hour: from the database, and from the log where that could not be folded."""
        index, hour = TokenIndex(self._store.count), self._store.last_hour
        for block in self._store.tokens():
            _insert(index, block)
        position, reader = self._store.folded, LogReader(folder)
        try:
            while position < end:
                frames, position = reader.read(position, end)
                _insert(index, [(f.survey, f.wave, f.token, f.report) for f in frames])
                hour = frames[-1].hour if frames else hour
        finally:
            reader.close()
        return index, hour


def _insert(index: TokenIndex, rows: list[tuple[int, int, bytes, bytes]]) -> None:
    index.reserve(len(rows))
    digests = report_digests((survey, wave, report) for survey, wave, _, report in rows)
    index.insert(index.find(b"".join([token for _, _, token, _ in rows])), np.arange(len(rows)), digests)
    index.settle(len(rows))


def _unusable(folder: Path, error: OSError) -> DiskRefused:
    return DiskRefused(
        "the folder {folder!r} cannot be used: {why}.",
        hint="give a folder on a disk of this machine with free space, which this user may write to",
        folder=str(folder),
        why=why(error),
    )
