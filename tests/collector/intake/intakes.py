"""Arrivals, a tally and an intake for tests."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from murmure.collector.intake.arrival import Arrival, Outcome
from murmure.collector.intake.intake import Intake

STORED, BEFORE, SPENT = Outcome.STORED, Outcome.BEFORE, Outcome.SPENT
HOUR = 495_000  # since 1970


def tally(survey: int, reports: list[bytes]) -> tuple[int, np.ndarray]:
    """How many, their lengths, and a sum that tells any two sets of reports apart (but for 1 in 2^60)."""
    marks = [int.from_bytes(hashlib.sha256(report).digest()[:4], "little") for report in reports]
    return len(reports), np.array([len(reports), sum(map(len, reports)), sum(marks), survey * len(reports)], np.int64)


def arrival(number: int, report: bytes | None = None, survey: int = 1, wave: int = 1) -> Arrival:
    """A token and a report made from a number."""
    token = hashlib.sha256(f"{survey} {wave} {number}".encode()).digest()[:16]
    return Arrival(survey, wave, token, b'{"answer":%d}' % number if report is None else report)


def open_intake(folder: Path, hour: float = HOUR, **options: int) -> Intake:
    return Intake(folder, tally, clock=lambda: hour * 3600 + 1234.5, **options)


class Answer:
    """What `done` got; `get` waits for it."""

    def __init__(self) -> None:
        self.value: list[Outcome] | Exception | None = None
        self._event = threading.Event()

    def __call__(self, value: list[Outcome] | Exception) -> None:
        self.value = value
        self._event.set()

    def get(self) -> list[Outcome]:
        assert self._event.wait(60), "no answer within a minute"
        if isinstance(self.value, Exception):
            raise self.value
        assert self.value is not None
        return self.value


def send(intake: Intake, *arrivals: Arrival) -> list[Outcome]:
    answer = Answer()
    intake.submit(arrivals, answer)
    return answer.get()


def stored(intake: Intake, survey: int = 1, wave: int | None = None) -> list[bytes]:
    """All reports, after folding."""
    intake.flush()
    return [report for block in intake.reports(survey, wave) for report in block]


def segments(folder: Path) -> list[Path]:
    return sorted(folder.glob("reports-*.log"))


def write_log(folder: Path, commits: Sequence[Sequence[Arrival]]) -> Path:
    """A folder with these commits in the log and nothing of them in the database, as a killed process leaves it."""
    from murmure.collector.intake.frames import encode_commit
    from murmure.collector.intake.report_log import ReportLog

    open_intake(folder).close()
    for path in segments(folder):
        path.unlink()
    log = ReportLog(folder, 0)
    for commit in commits:
        log.commit(b"".join(encode_commit(commit, HOUR, log.prepare())))
    log.prepare()
    log.close()
    (path,) = segments(folder)
    return path
