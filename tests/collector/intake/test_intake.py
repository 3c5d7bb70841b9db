"""Reports are stored once, acknowledged when they are on the disk, and added to their tallies."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from tests.collector.intake.intakes import (
    BEFORE,
    HOUR,
    SPENT,
    STORED,
    Answer,
    arrival,
    open_intake,
    segments,
    send,
    stored,
    tally,
    write_log,
)

from murmure.collector.intake import folding, log_reader, report_log, report_store, writer
from murmure.collector.intake.arrival import Arrival, Outcome
from murmure.collector.intake.errors import FoldingStopped, IntakeBusy, IntakeClosed, IntakeFailed, TalliesDiffer
from murmure.collector.intake.intake import Intake
from murmure.core.errors import InvalidParameter
from murmure.laws import kernel_loader


def test_reports_come_back_as_they_arrived(tmp_path: Path) -> None:
    intake = open_intake(tmp_path)
    arrivals = [arrival(k, survey=1 + k % 2, wave=1 + k % 3) for k in range(300)]

    assert send(intake, *arrivals) == [STORED] * 300

    first = [a.report for a in arrivals if (a.survey, a.wave) == (1, 2)]
    assert stored(intake, 1, 2) == first
    assert sorted(stored(intake, 1)) == sorted(a.report for a in arrivals if a.survey == 1)
    n, total, version = intake.tally_of(1, 2)
    assert (n, total.tolist()) == (len(first), tally(1, first)[1].tolist())
    assert version == 1 + max(k for k, a in enumerate(arrivals) if (a.survey, a.wave) == (1, 2))
    assert intake.tally_of(1, 9) == intake.tally_of(9, 1) == (0, None, 0)
    intake.check()
    intake.close()


def test_only_who_waits_is_folded_for_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folds are a pause apart, so that one serves many commits; a flush hurries one of them, and none after it."""
    monkeypatch.setattr(folding, "PAUSE", 60.0)
    intake = open_intake(tmp_path)
    for k in range(1, 4):
        send(intake, arrival(k))
        intake.flush()
        assert intake.tally_of(1, 1)[0] == k
    send(intake, arrival(4))
    time.sleep(0.05)

    assert intake.tally_of(1, 1)[0] == 3
    intake.close()


def test_a_tally_cannot_be_changed_by_its_reader(tmp_path: Path) -> None:
    intake = open_intake(tmp_path)
    send(intake, arrival(1))
    intake.flush()

    with pytest.raises(ValueError, match="read-only"):
        intake.tally_of(1, 1)[1][0] = 7
    intake.close()


@pytest.mark.parametrize("size", [1, 60])
def test_a_token_counts_once(tmp_path: Path, size: int) -> None:
    """Within a submission, across submissions, across a restart; in small groups and in those of NumPy."""
    intake = open_intake(tmp_path)
    fresh = [arrival(1000 + k) for k in range(size)]

    outcomes = send(intake, arrival(1), *fresh, arrival(1), arrival(1, b"other"))

    assert outcomes == [STORED, *[STORED] * size, BEFORE, SPENT]
    for _ in range(2):
        assert send(intake, arrival(1, b"other"), *fresh, arrival(1)) == [SPENT, *[BEFORE] * size, BEFORE]
        assert len(stored(intake)) == size + 1
        intake.check()
        intake.close()
        intake = open_intake(tmp_path)
    intake.close()


def test_a_token_of_another_wave_is_not_taken_for_the_same_report(tmp_path: Path) -> None:
    """Tokens are distinct by wave; if a caller forgets that, the report is refused and not lost in silence."""
    intake = open_intake(tmp_path)
    first = arrival(1)
    send(intake, first)

    assert send(intake, Arrival(1, 2, first.token, first.report)) == [SPENT]
    intake.close()


def test_a_second_sending_is_not_acknowledged_before_the_first_is_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both in one group, and in two: no answer while fdatasync runs, and an error for both if the commit fails."""
    intake = open_intake(tmp_path)
    entered, go_on = threading.Event(), threading.Event()
    real = report_log._sync

    def slow(handle: int) -> None:
        entered.set()
        assert go_on.wait(30)
        real(handle)

    monkeypatch.setattr(report_log, "_sync", slow)
    answers = [Answer() for _ in range(3)]
    intake.submit([arrival(1), arrival(1)], answers[0])
    assert entered.wait(30)
    intake.submit([arrival(1)], answers[1])
    intake.submit([arrival(1, b"other")], answers[2])

    assert [answer.value for answer in answers] == [None] * 3
    go_on.set()
    assert [answer.get() for answer in answers] == [[STORED, BEFORE], [BEFORE], [SPENT]]
    intake.close()


def test_a_group_takes_all_that_came_during_the_last_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    intake = open_intake(tmp_path)
    syncs, entered, go_on = [], threading.Event(), threading.Event()
    monkeypatch.setattr(report_log, "_sync", lambda handle: (syncs.append(handle), entered.set(), go_on.wait(30)))
    answers = [Answer() for _ in range(50)]
    intake.submit([arrival(0)], answers[0])
    assert entered.wait(30)
    for k in range(1, 50):
        intake.submit([arrival(k)], answers[k])
    go_on.set()

    assert [answer.get() for answer in answers] == [[STORED]] * 50
    assert len(syncs) == 2
    intake.close()


def test_the_same_tokens_from_many_threads_exactly_one_wins(tmp_path: Path) -> None:
    """Eight threads send different reports for the same 400 tokens in different orders."""
    intake = open_intake(tmp_path)
    winners: list[tuple[int, int]] = []
    outcomes: list[Outcome] = []

    def sender(thread: int) -> None:
        generator = np.random.default_rng(thread)
        order = generator.permutation(400).tolist()
        while order:
            take, order = order[:7], order[7:]
            answer = send(intake, *(arrival(k, b"from %d" % thread) for k in take))
            outcomes.extend(answer)
            winners.extend((k, thread) for k, outcome in zip(take, answer, strict=True) if outcome == STORED)

    threads = [threading.Thread(target=sender, args=(thread,)) for thread in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(k for k, _ in winners) == list(range(400))
    assert Counter(outcomes) == {STORED: 400, SPENT: 7 * 400}
    assert Counter(stored(intake)) == Counter(b"from %d" % thread for _, thread in winners)
    intake.check()
    intake.close()


def test_a_clock_that_is_set_back_keeps_the_last_hour(tmp_path: Path) -> None:
    """In a process, and after a restart."""
    hours = iter([HOUR, HOUR - 30, HOUR + 2])
    intake = Intake(tmp_path, tally, clock=lambda: 3600.0 * next(hours))
    for k in range(3):
        send(intake, arrival(k))
    intake.close()
    intake = open_intake(tmp_path, hour=HOUR - 1000)
    send(intake, arrival(3))
    intake.close()

    assert hours_of(tmp_path) == [HOUR, HOUR, HOUR + 2, HOUR + 2]


@pytest.mark.parametrize("folds", [True, False])
def test_the_last_hour_is_known_from_the_log_too(tmp_path: Path, folds: bool) -> None:
    """A process was killed before it folded anything; the next one folds it at the start, or cannot."""

    def fails(survey: int, reports: list[bytes]) -> tuple[int, np.ndarray]:
        raise RuntimeError

    write_log(tmp_path, [[arrival(1)]])
    intake = Intake(tmp_path, tally if folds else fails, clock=lambda: 3600.0 * (HOUR - 5))
    send(intake, arrival(2))
    intake.close()
    open_intake(tmp_path).close()

    assert hours_of(tmp_path) == [HOUR, HOUR]


def hours_of(folder: Path) -> list[int]:
    with closing(sqlite3.connect(folder / "reports.db")) as connection:
        return [hour for (hour,) in connection.execute("SELECT hour FROM reports ORDER BY number")]


def test_too_many_waiting_reports_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By number and by bytes; a single submission is always taken, and room comes back."""
    monkeypatch.setattr(writer, "MAX_WAITING", 10)
    monkeypatch.setattr(writer, "MAX_WAITING_BYTES", 2000)
    entered, go_on = threading.Event(), threading.Event()
    intake = open_intake(tmp_path)
    monkeypatch.setattr(report_log, "_sync", lambda handle: (entered.set(), go_on.wait(30)))
    first, second = Answer(), Answer()
    intake.submit([arrival(k) for k in range(8)], first)
    assert entered.wait(30)

    with pytest.raises(IntakeBusy, match="8 reports are waiting") as raised:
        intake.submit([arrival(k) for k in range(8, 11)], second)
    assert raised.value.reason == "busy"
    with pytest.raises(IntakeBusy):
        intake.submit([arrival(8, bytes(2000))], second)
    go_on.set()
    assert first.get() == [STORED] * 8
    assert second.value is None
    assert send(intake, *(arrival(k) for k in range(8, 30))) == [STORED] * 22
    intake.close()


def test_a_closed_intake_takes_nothing(tmp_path: Path) -> None:
    intake = open_intake(tmp_path)
    answer = Answer()
    intake.submit([arrival(1)], answer)
    intake.close()
    intake.close()

    assert answer.value == [STORED]
    with pytest.raises(IntakeClosed):
        send(intake, arrival(2))
    assert intake.tally_of(1, 1)[0] == 1


@pytest.mark.parametrize(
    "bad",
    [
        Arrival(1, 1, bytes(15), b"1"),
        Arrival(1, 1, bytes(16), bytes((1 << 18) + 1)),
        Arrival(1 << 32, 1, bytes(16), b"1"),
        Arrival(1, 1 << 16, bytes(16), b"1"),
        Arrival(-1, 1, bytes(16), b"1"),
    ],
)
def test_what_does_not_fit_into_a_frame_is_refused(tmp_path: Path, bad: Arrival) -> None:
    intake = open_intake(tmp_path)
    with pytest.raises(InvalidParameter):
        send(intake, arrival(1), bad)

    assert send(intake, arrival(1)) == [STORED]
    intake.close()


def test_the_largest_report_and_numbers_are_stored(tmp_path: Path) -> None:
    intake = open_intake(tmp_path)
    largest = Arrival((1 << 32) - 1, (1 << 16) - 1, bytes(16), b"9" * (1 << 18))
    assert send(intake, largest, Arrival(1, 1, b"\xff" * 16, b"")) == [STORED, STORED]

    assert stored(intake, largest.survey) == [largest.report]
    assert stored(intake, 1) == [b""]
    intake.close()


def test_an_empty_submission_is_answered_after_those_before_it(tmp_path: Path) -> None:
    """The collector waits with one until all that it submitted has an outcome."""
    intake = open_intake(tmp_path)
    first = Answer()
    intake.submit([arrival(k) for k in range(50)], first)

    assert send(intake) == []
    assert first.value == [STORED] * 50
    intake.close()


def test_an_error_of_a_callback_stops_nobody(tmp_path: Path) -> None:
    intake = open_intake(tmp_path)
    intake.submit([arrival(1)], lambda _: 1 / 0)  # type: ignore[arg-type,return-value]

    assert send(intake, arrival(2)) == [STORED]
    assert len(stored(intake)) == 2
    intake.close()


def test_segments_that_are_folded_are_deleted(tmp_path: Path) -> None:
    intake = open_intake(tmp_path, segment_bytes=2000)
    for k in range(0, 400, 10):
        send(intake, *(arrival(j) for j in range(k, k + 10)))
    most = len(segments(tmp_path))
    intake.flush()
    intake.close()

    assert len(segments(tmp_path)) == 1 < most
    intake = open_intake(tmp_path, segment_bytes=2000)
    assert segments(tmp_path) == []
    assert send(intake, *(arrival(j) for j in range(400))) == [BEFORE] * 400
    assert stored(intake) == [arrival(j).report for j in range(400)]
    intake.check()
    intake.close()


def test_blocks_are_read_while_reports_are_folded(tmp_path: Path) -> None:
    """A reader in the middle of an export stops no writer, and gets what was there when it began."""
    intake = open_intake(tmp_path)
    send(intake, *(arrival(k) for k in range(15_000)))
    intake.flush()
    blocks = intake.reports(1)
    first = next(blocks)

    send(intake, *(arrival(k) for k in range(15_000, 20_000)))
    intake.flush()

    assert intake.tally_of(1, 1)[0] == 20_000
    assert (len(first), [len(block) for block in blocks]) == (8_000, [7_000])
    intake.close()


def test_blocks_are_too_small_to_load_numba() -> None:
    """It would take a hundred megabytes of a service that does not need it."""
    assert max(log_reader.READ_FRAMES, report_store.BLOCK) < kernel_loader.SMALL


def test_more_reports_than_a_block_are_folded_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    real = folding.Folding.tally
    monkeypatch.setattr(folding.Folding, "tally", lambda self, s, r: (sizes.append(len(r)), real(self, s, r))[1])
    intake = open_intake(tmp_path)
    send(intake, *(arrival(k) for k in range(2 * log_reader.READ_FRAMES + 1)))

    assert len(stored(intake)) == intake.tally_of(1, 1)[0] == sum(sizes) == 2 * log_reader.READ_FRAMES + 1
    assert max(sizes) <= log_reader.READ_FRAMES
    intake.check()
    intake.close()


def test_a_tally_that_fails_stops_folding_and_loses_nothing(tmp_path: Path) -> None:
    """Reports are still taken, the error is told, and a restart with a good tally folds each report once."""

    def fragile(survey: int, reports: list[bytes]) -> tuple[int, np.ndarray]:
        if any(b"bad" in report for report in reports):
            raise RuntimeError("no such law")
        return tally(survey, reports)

    intake = Intake(tmp_path, fragile)
    send(intake, arrival(1))
    intake.flush()
    send(intake, arrival(2, b"bad"))
    with pytest.raises(FoldingStopped, match="no such law"):
        intake.flush()
    assert isinstance(intake.folding_error, RuntimeError)
    assert send(intake, arrival(3), arrival(1), arrival(2, b"bad")) == [STORED, BEFORE, BEFORE]
    assert intake.tally_of(1, 1)[0] == 1
    intake.check()
    intake.close()

    again = Intake(tmp_path, fragile)  # nothing can be folded at the start either
    assert isinstance(again.folding_error, RuntimeError)
    assert send(again, arrival(2), arrival(3), arrival(4)) == [SPENT, BEFORE, STORED]
    again.close()
    good = open_intake(tmp_path)
    assert stored(good) == [arrival(1).report, b"bad", arrival(3).report, arrival(4).report]
    assert good.folding_error is None
    good.check()
    good.close()


@pytest.mark.parametrize("bad", [np.array([1.0]), np.array([[1]]), np.array([1, 2, 3])])
def test_a_tally_of_another_form_stops_folding(tmp_path: Path, bad: np.ndarray) -> None:
    totals = iter([np.array([1, 1]), bad])
    intake = Intake(tmp_path, lambda survey, reports: (1, next(totals)))
    send(intake, arrival(1))
    intake.flush()
    send(intake, arrival(2))

    with pytest.raises(FoldingStopped):
        intake.flush()
    assert intake.tally_of(1, 1)[0] == 1
    intake.close()


def test_a_database_that_is_full_for_a_while_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folding, "RETRY", 0.05)
    intake = open_intake(tmp_path)
    real, failures = intake._store.fold, iter([sqlite3.OperationalError("database or disk is full")] * 2)

    def full(*arguments: object) -> None:
        for error in failures:
            raise error
        real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(intake._store, "fold", full)
    send(intake, arrival(1))
    with pytest.raises(FoldingStopped, match="full"):
        intake.flush()
    while intake.folding_error is not None:
        threading.Event().wait(0.01)

    assert stored(intake) == [arrival(1).report]
    intake.check()
    intake.close()


class Fragile:
    """A connection whose n-th statement fails, and then everything works."""

    def __init__(self, connection: sqlite3.Connection, fails_at: int) -> None:
        self._connection, self._left = connection, fails_at

    def __getattr__(self, name: str) -> object:
        return getattr(self._connection, name)

    def execute(self, *arguments: object) -> object:
        return self._run("execute", *arguments)

    def executemany(self, *arguments: object) -> object:
        return self._run("executemany", *arguments)

    def _run(self, name: str, *arguments: object) -> object:
        self._left -= 1
        if self._left == 0:
            raise sqlite3.OperationalError("disk I/O error")
        return getattr(self._connection, name)(*arguments)


@pytest.mark.parametrize("fails_at", range(1, 10))
def test_a_fold_that_fails_at_any_statement_folds_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails_at: int
) -> None:
    """BEGIN, three inserts, tallies, position, COMMIT; with 8 and 9 nothing fails."""
    monkeypatch.setattr(folding, "RETRY", 0.01)
    intake = open_intake(tmp_path)
    send(intake, arrival(1000))
    intake.flush()
    fragile = Fragile(intake._store._connection, fails_at)
    monkeypatch.setattr(intake._store, "_connection", fragile)
    send(intake, *(arrival(k) for k in range(18)))
    while intake.tally_of(1, 1)[0] < 19 or intake.folding_error is not None:  # the error is forgotten after the tallies
        threading.Event().wait(0.005)

    assert stored(intake) == [arrival(k).report for k in (1000, *range(18))]
    assert (fragile._left < 0) == (fails_at <= 7)  # the statements of a fold without failure
    intake.check()
    intake.close()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE tallies SET n = n + 1",
        "UPDATE tallies SET sum = zeroblob(32)",
        "DELETE FROM tallies",
        "DELETE FROM reports WHERE number = 2",
        "UPDATE reports SET report = x'78' WHERE number = 3",
        "INSERT INTO reports SELECT 9, survey, wave, hour, token, report FROM reports WHERE number = 1",
    ],
)
def test_check_finds_what_was_changed(tmp_path: Path, change: str) -> None:
    """Mutants of the database, each of which makes a tally differ from its reports."""
    intake = open_intake(tmp_path)
    send(intake, *(arrival(k) for k in range(5)))
    intake.flush()
    intake.check()
    with sqlite3.connect(tmp_path / "reports.db") as connection:
        connection.execute(change)
    connection.close()

    with pytest.raises(TalliesDiffer) as raised:
        intake.check()
    assert isinstance(raised.value, IntakeFailed)
    intake.close()
