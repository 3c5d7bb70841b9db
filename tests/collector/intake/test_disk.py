"""A disk that is full, or does not confirm: nothing is acknowledged that is not stored, and nothing is stored twice."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.collector.intake.intakes import BEFORE, STORED, arrival, open_intake, segments, send, stored

from murmure.collector.intake import report_log
from murmure.collector.intake.errors import DiskRefused, LogUntrusted
from murmure.collector.intake.intake import Intake

Write = Callable[[int, bytes], int]


def _full(real: Write) -> Write:
    def write(handle: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    return write


def _short_and_full(real: Write) -> Write:
    """Writes a part, as a disk with some bytes left."""
    calls = iter(range(1000))

    def write(handle: int, data: bytes) -> int:
        if next(calls) % 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(handle, data[: len(data) // 2 + 1])

    return write


def _nothing(real: Write) -> Write:
    """Writes a part, then says that it wrote nothing."""
    calls = iter(range(1000))

    return lambda handle, data: 0 if next(calls) % 2 else real(handle, data[:20])


@pytest.mark.parametrize("kind", [_full, _short_and_full, _nothing])
@pytest.mark.parametrize("size", [3, 100])
def test_a_full_disk_cuts_back_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: Callable[[Write], Write], size: int
) -> None:
    intake = open_intake(tmp_path)
    send(intake, arrival(0))
    (path,) = segments(tmp_path)
    before = path.read_bytes()
    group = [arrival(k) for k in range(1, size)]
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", kind(os.write))
        for _ in range(2):
            with pytest.raises(DiskRefused, match="could not be written") as raised:
                send(intake, *group)
            assert (raised.value.reason, path.read_bytes()) == ("disk", before)
        assert send(intake, arrival(0)) == [BEFORE]

    assert intake.failure is None
    assert send(intake, *group) == [STORED] * len(group)
    assert stored(intake) == [arrival(k).report for k in range(size)]
    intake.check()
    intake.close()


def test_a_short_write_is_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    intake = open_intake(tmp_path)
    real = os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda handle, data: real(handle, data[:7]))
        assert send(intake, *(arrival(k) for k in range(50))) == [STORED] * 50

    assert stored(intake) == [arrival(k).report for k in range(50)]
    intake.close()


def test_a_disk_that_is_full_when_a_segment_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The new segment cannot be made: no file of it is left, and the next try makes it."""
    intake = open_intake(tmp_path, segment_bytes=50)
    send(intake, arrival(0))
    names = segments(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", _short_and_full(os.write))
        with pytest.raises(DiskRefused):
            send(intake, arrival(1))
    assert segments(tmp_path) == names

    assert send(intake, arrival(1)) == [STORED]
    assert stored(intake) == [arrival(0).report, arrival(1).report]
    intake.close()


def test_after_a_failed_fdatasync_nothing_is_taken_until_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The report may be in the log or not: it is not acknowledged, not folded, and sending it again is safe."""
    intake = open_intake(tmp_path)
    send(intake, arrival(0))

    def fails(handle: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fdatasync", fails)
        with pytest.raises(LogUntrusted, match="restart") as raised:
            send(intake, arrival(1))
    for again in (arrival(1), arrival(2)):  # fdatasync works again, and is not believed
        with pytest.raises(LogUntrusted):
            send(intake, again)
    assert (raised.value.reason, intake.failure) == ("restart", raised.value)
    assert stored(intake) == [arrival(0).report]
    intake.close()

    intake = open_intake(tmp_path)
    assert send(intake, arrival(1), arrival(2))[1] == STORED
    assert stored(intake) == [arrival(k).report for k in range(3)]
    intake.check()
    intake.close()


def test_a_log_that_cannot_be_cut_back_is_not_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    intake = open_intake(tmp_path)
    send(intake, arrival(100))

    def fails(handle: int, size: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", _short_and_full(os.write))
        patch.setattr(os, "ftruncate", fails)
        with pytest.raises(LogUntrusted):
            send(intake, *(arrival(k) for k in range(4)))
    with pytest.raises(LogUntrusted):
        send(intake, arrival(9))
    intake.close()

    intake = open_intake(tmp_path)  # a part of the commit is in the log, whole frames of it are kept
    kept = len(stored(intake)) - 1
    assert kept < 4
    assert send(intake, *(arrival(k) for k in range(4))) == [BEFORE] * kept + [STORED] * (4 - kept)
    intake.check()
    intake.close()


def test_an_index_without_memory_is_not_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The report is on the disk, its token in no index: taking more could store it twice."""
    intake = open_intake(tmp_path)

    def fails(*arguments: object) -> None:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(intake._writer._index, "insert_one", fails)
        with pytest.raises(LogUntrusted):
            send(intake, arrival(1))
    with pytest.raises(LogUntrusted):
        send(intake, arrival(1))
    intake.close()

    intake = open_intake(tmp_path)
    assert send(intake, arrival(1)) == [BEFORE]
    intake.close()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 8 MB, where this user may mount one."""
    folder = tmp_path / "small"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=8m", "murmure-test", str(folder)]
    try:
        mounted = subprocess.run(command, capture_output=True).returncode == 0
    except FileNotFoundError:
        mounted = False
    if not mounted:
        pytest.skip("this user may not mount a file system; the tests above replace os.write")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_file_system_that_is_really_full(small_disk: Path) -> None:
    """Reports until nothing fits; space comes back; in the end each acknowledged report is there once."""
    folder = small_disk / "intake"
    intake = open_intake(folder)
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(6_500_000))
    acknowledged, refused = _fill(intake)

    assert acknowledged and refused
    ballast.unlink()
    number = refused[0]
    assert send(intake, arrival(number, b"y" * 1000)) == [STORED]
    acknowledged.append(number)
    intake.close()
    intake = open_intake(folder)
    assert intake.folding_error is None
    assert stored(intake) == [arrival(k, (b"y" if k == number else b"x") * 1000).report for k in acknowledged]
    intake.check()
    intake.close()


def _fill(intake: Intake) -> tuple[list[int], list[int]]:
    acknowledged, refused = [], []
    for k in range(9000):
        try:
            assert send(intake, arrival(k, b"x" * 1000)) == [STORED]
            acknowledged.append(k)
        except DiskRefused:
            refused.append(k)
            if len(refused) == 3:
                break
    return acknowledged, refused


def test_the_real_fdatasync_is_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mutant of the tests above: an intake that forgot fdatasync would pass most of them."""
    calls: list[int] = []
    monkeypatch.setattr(os, "fdatasync", calls.append)
    intake = open_intake(tmp_path)
    send(intake, arrival(1))
    assert len(calls) == 1
    send(intake, arrival(1))
    assert len(calls) == 1  # nothing was written
    intake.close()
    assert report_log.SEGMENT_BYTES == 64 << 20
