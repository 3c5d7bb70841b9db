"""Folded reports and their tallies: what is added to them is added in one transaction, with the position of the log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from murmure.collector.intake.frames import Frame
from murmure.collector.intake.report_file import ReportFile, insert_sizes, insert_statement
from murmure.core.sqlite_files import transaction

BLOCK = 8000  # reports read at a time: from 8,192 on, tallies would load Numba
Place = tuple[int, int]  # survey and wave


class Tally(NamedTuple):
    """The sum of a wave's reports. version: the number of the last report in it."""

    n: int
    sum: np.ndarray
    version: int


class ReportStore:
    """One connection that folds; readers open another, and stop nobody."""

    def __init__(self, folder: Path, log_exists: bool) -> None:
        self._file = ReportFile(folder)
        self._file.open(log_exists)
        self._connection = self._file.connect()
        self._sizes = insert_sizes(self._connection)
        self.reload()

    def reload(self) -> None:
        """What the file says: after a failed transaction it is the truth."""
        with self._file.errors():
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            ((folded,),) = self._run("SELECT value FROM meta WHERE key = 'folded'")
            ((self.count, hour),) = self._run(
                "SELECT coalesce(max(number), 0), (SELECT hour FROM reports ORDER BY number DESC LIMIT 1) FROM reports"
            )
            rows = self._run('SELECT survey, wave, n, "sum", version FROM tallies')
        self.folded, self.last_hour = int(folded), int(hour or 0)
        self.tallies = {(s, w): Tally(n, np.frombuffer(total, "<i8"), version) for s, w, n, total, version in rows}

    def fold(self, frames: list[Frame], tallies: Mapping[Place, Tally], position: int) -> None:
        """Add reports, replace the tallies that they change, and move the position: all of it or nothing."""
        with transaction(self._connection):
            for start, size in _pieces(len(frames), self._sizes):
                values = list(chain.from_iterable(frames[start : start + size]))
                self._connection.execute(insert_statement(size), values)
            self._connection.executemany(
                "INSERT OR REPLACE INTO tallies VALUES (?, ?, ?, ?, ?)",
                [(*place, t.n, t.sum.astype("<i8").tobytes(), t.version) for place, t in tallies.items()],
            )
            self._connection.execute("UPDATE meta SET value = ? WHERE key = 'folded'", (str(position),))
        self.folded = position
        self.count += len(frames)
        self.last_hour = frames[-1].hour if frames else self.last_hour
        self.tallies = self.tallies | dict(tallies)

    def reports(self, survey: int, wave: int | None, last: int | None = None) -> Iterator[list[bytes]]:
        """Reports up to number `last` (all that are there now), one wave after the other, in order of arrival.

        Each block is a short transaction of its own: one long one would keep SQLite from reusing its second file.
        """
        last = self.count if last is None else last
        with self._file.errors(), closing(self._file.connect()) as connection:
            waves = [w for s, w in sorted(self.tallies) if s == survey] if wave is None else [wave]
            for one in waves:
                number = 0
                while rows := connection.execute(
                    "SELECT number, report FROM reports WHERE survey = ? AND wave = ? AND number > ? AND number <= ? "
                    "ORDER BY number LIMIT ?",
                    (survey, one, number, last, BLOCK),
                ).fetchall():
                    number = rows[-1][0]
                    yield [report for _, report in rows]

    def snapshot(self) -> tuple[int, dict[Place, Tally], dict[Place, int]]:
        """How many reports there are, the tallies and the number of reports of each wave, all at the same moment."""
        with self._file.reading() as run:
            ((count,),) = run("SELECT coalesce(max(number), 0) FROM reports")
            rows = run('SELECT survey, wave, n, "sum", version FROM tallies')
            counts = run("SELECT survey, wave, count(*) FROM reports GROUP BY survey, wave")
        tallies = {(s, w): Tally(n, np.frombuffer(total, "<i8"), version) for s, w, n, total, version in rows}
        return count, tallies, {(s, w): n for s, w, n in counts}

    def tokens(self) -> Iterator[list[tuple[int, int, bytes, bytes]]]:
        """Survey, wave, token and report of all that is stored, in blocks."""
        with self._file.errors(), closing(self._file.connect()) as connection:
            cursor = connection.execute("SELECT survey, wave, token, report FROM reports ORDER BY number")
            while rows := cursor.fetchmany(BLOCK):
                yield rows

    def close(self) -> None:
        self._connection.close()

    def _run(self, sql: str) -> list[tuple]:
        return self._connection.execute(sql).fetchall()


def _pieces(count: int, sizes: list[int]) -> Iterator[tuple[int, int]]:
    """Where each piece starts and how long it is: the largest sizes first."""
    start = 0
    for size in sizes:
        while count - start >= size:
            yield start, size
            start += size
