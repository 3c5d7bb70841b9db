"""After any end of the process: what was acknowledged is there once, what was torn is cut off, damage is told."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from tests.collector.intake.intakes import BEFORE, HOUR, STORED, arrival, open_intake, segments, send, stored, write_log

from murmure.collector.intake.errors import FolderLocked, IntakeFailed, LogDamaged
from murmure.collector.intake.frames import decode, encode_commit, frame_end
from murmure.collector.intake.log_reader import LogReader
from murmure.collector.intake.report_store import ReportStore
from murmure.collector.intake.segments import HEADER, header

COMMITS = [[arrival(1), arrival(2)], [arrival(3)], [arrival(4), arrival(5)]]
REPORTS = [a.report for commit in COMMITS for a in commit]


def test_a_log_that_was_not_folded_is_folded_at_the_start(tmp_path: Path) -> None:
    write_log(tmp_path, COMMITS)
    intake = open_intake(tmp_path)

    assert stored(intake) == REPORTS
    assert send(intake, *COMMITS[0]) == [BEFORE, BEFORE]
    intake.check()
    intake.close()


def test_a_log_that_was_read_again_is_on_the_disk_before_a_second_sending_is_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a process that was killed before fdatasync, the last commit may be in the system's memory alone. Folding
    fails here, so the log is all that there is."""
    path = write_log(tmp_path, COMMITS)
    begin = path.stat().st_mtime_ns
    synced: list[int] = []
    real = os.fsync

    def sync(handle: int) -> None:
        # A system whose write failed takes its memory for written: a sync alone would put nothing on the disk.
        assert os.fstat(handle).st_mtime_ns > begin or os.fstat(handle).st_ino != path.stat().st_ino
        synced.append(os.fstat(handle).st_ino)
        real(handle)

    monkeypatch.setattr(os, "fsync", sync)

    def full(*arguments: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(ReportStore, "fold", full)
    intake = open_intake(tmp_path)

    assert path.stat().st_ino in synced
    assert send(intake, *COMMITS[0]) == [BEFORE, BEFORE]
    intake.close()


def test_a_tail_that_is_torn_at_any_byte_is_cut_off(tmp_path: Path) -> None:
    """The last frame cut at each of its bytes: the frames before it stay, and its report can be sent again."""
    whole = write_log(tmp_path / "whole", COMMITS).read_bytes()
    frames, length = decode(whole[HEADER.size :], HEADER.size)
    assert (len(frames), length) == (5, len(whole) - HEADER.size)
    last = len(whole) - 8 - 26 - len(REPORTS[-1])
    for size in range(last, len(whole)):
        folder = shutil.copytree(tmp_path / "whole", tmp_path / str(size))
        os.truncate(segments(folder)[0], size)
        intake = open_intake(folder)
        assert stored(intake) == REPORTS[:-1]
        assert send(intake, *COMMITS[-1]) == [BEFORE, STORED]
        intake.close()


@pytest.mark.parametrize("size", [0, 1, 11, HEADER.size - 1, HEADER.size])
def test_a_segment_whose_creation_was_interrupted_is_made_again(tmp_path: Path, size: int) -> None:
    """Its header is cut, or it was never written to the disk (zeros)."""
    for folder, start in ((tmp_path / "cut", header(0)), (tmp_path / "zeros", bytes(HEADER.size))):
        path = write_log(folder, [])
        path.write_bytes(start[:size])
        intake = open_intake(folder)
        assert send(intake, arrival(1)) == [STORED]
        assert stored(intake) == [arrival(1).report]
        intake.close()


def test_a_bit_flip_before_whole_frames_is_told(tmp_path: Path) -> None:
    """Each bit of a frame in the middle, its length included: the folder is not opened, and nothing is changed."""
    whole = write_log(tmp_path, COMMITS).read_bytes()
    (path,) = segments(tmp_path)
    start = frame_end(whole, HEADER.size, 0)
    assert start is not None
    end = frame_end(whole, start, 0)
    assert end is not None
    for bit in range(8 * start, 8 * end, 5):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        with pytest.raises(LogDamaged, match=f"byte {start} is damaged, and others follow it") as raised:
            open_intake(tmp_path)
        assert raised.value.hint is not None and path.name in str(raised.value)
        assert path.read_bytes() == damaged
    path.write_bytes(whole)
    intake = open_intake(tmp_path)
    assert stored(intake) == REPORTS
    intake.close()


def test_any_bit_flip_of_the_last_frame_cuts_it_off(tmp_path: Path) -> None:
    """No flip passes as another report."""
    whole = write_log(tmp_path, COMMITS).read_bytes()
    last = len(whole) - 8 - 26 - len(REPORTS[-1])
    for bit in range(8 * last, 8 * len(whole)):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        frames, length = decode(bytes(damaged[HEADER.size :]), HEADER.size)
        assert ([frame.report for frame in frames], length) == (REPORTS[:-1], last - HEADER.size)


def test_a_hole_of_zeros_in_the_last_commit_is_a_loss_of_power(tmp_path: Path) -> None:
    """Pages are written in any order before fdatasync returns. A later commit shows that it had returned."""
    big = [arrival(k, b"%d" % k + b"x" * 200) for k in range(60)]
    for later, folder in ((False, tmp_path / "last"), (True, tmp_path / "middle")):
        path = write_log(folder, [[arrival(100)], big, *([[arrival(101)]] if later else [])])
        damaged = bytearray(path.read_bytes())
        damaged[4096:8192] = bytes(4096)
        path.write_bytes(damaged)
        if later:
            with pytest.raises(LogDamaged):
                open_intake(folder)
            continue
        intake = open_intake(folder)
        kept = stored(intake)
        assert kept == [arrival(100).report, *(a.report for a in big)][: len(kept)]
        assert 10 < len(kept) < 30
        assert send(intake, *big) == [BEFORE] * (len(kept) - 1) + [STORED] * (61 - len(kept))
        intake.check()
        intake.close()


def test_a_frame_passes_only_at_its_position() -> None:
    """Shifted by any number of bytes up to a page, by a segment, or by 4 GiB: refused."""
    position = 123_456
    data = b"".join(encode_commit([arrival(1)], HOUR, position))

    assert frame_end(data, 0, position) == len(data)
    shifts = [*range(1, 4097), 64 << 20, 1 << 31, 1 << 32, 1 << 33, 5 << 32, 1 << 40]
    assert [s for s in shifts if frame_end(data, 0, position + s) is not None] == []


def test_the_mark_of_a_commit_is_checked() -> None:
    data = bytearray(b"".join(encode_commit([arrival(1)], HOUR, 24)))
    data[3] ^= 0x80

    assert frame_end(bytes(data), 0, 24) is None


def _damaged_header(folder: Path, path: Path) -> None:
    path.write_bytes(b"\0" + path.read_bytes()[1:])


def _other_version(folder: Path, path: Path) -> None:
    path.write_bytes(header(0, 2) + path.read_bytes()[HEADER.size :])


def _other_place(folder: Path, path: Path) -> None:
    path.rename(folder / "reports-0000000000000100.log")


def _database_is_gone(folder: Path, path: Path) -> None:
    (folder / "reports.db").unlink()
    path.rename(folder / "reports-0000000000000100.log")


def _database_is_cut(folder: Path, path: Path) -> None:
    os.truncate(folder / "reports.db", 3000)


def _database_of_another_program(folder: Path, path: Path) -> None:
    (folder / "reports.db").write_bytes(b"x" * 10_000)


@pytest.mark.parametrize(
    "damage",
    [
        _damaged_header,
        _other_version,
        _other_place,
        _database_is_gone,
        _database_is_cut,
        _database_of_another_program,
    ],
)
def test_a_folder_that_would_lose_reports_is_not_opened(tmp_path: Path, damage: object) -> None:
    path = write_log(tmp_path, COMMITS)
    damage(tmp_path, path)  # type: ignore[operator]

    with pytest.raises(LogDamaged) as raised:
        open_intake(tmp_path)
    assert raised.value.hint is not None


def test_a_missing_segment_in_the_middle_is_told(tmp_path: Path) -> None:
    """Three segments that nothing folded: without the middle one, reports would be missing."""
    from murmure.collector.intake.report_log import ReportLog

    open_intake(tmp_path).close()
    for path in segments(tmp_path):
        path.unlink()
    log = ReportLog(tmp_path, 0, segment_bytes=50)
    for commit in COMMITS:
        log.commit(b"".join(encode_commit(commit, HOUR, log.prepare())))
    log.close()
    _, middle, _ = segments(tmp_path)
    content = middle.read_bytes()
    middle.unlink()

    with pytest.raises(LogDamaged, match="does not end where the next file starts"):
        open_intake(tmp_path)
    middle.write_bytes(content[:-1])
    with pytest.raises(LogDamaged, match="damaged"):
        open_intake(tmp_path)
    middle.write_bytes(content)
    intake = open_intake(tmp_path)
    assert stored(intake) == REPORTS
    intake.close()


def test_a_log_of_several_files_is_read_and_cut_at_places_of_each(tmp_path: Path) -> None:
    """The second file holds two commits: damage in the first of them is told, a torn end of the other is cut off."""
    from murmure.collector.intake.report_log import ReportLog

    open_intake(tmp_path).close()
    for path in segments(tmp_path):
        path.unlink()
    log = ReportLog(tmp_path, 0, segment_bytes=90)
    for commit in COMMITS:
        log.commit(b"".join(encode_commit(commit, HOUR, log.prepare())))
    log.close()
    first, last = segments(tmp_path)
    content, start = last.read_bytes(), first.stat().st_size
    second = frame_end(content, HEADER.size, start)
    assert second is not None
    damaged = content[: second - 1] + bytes([content[second - 1] ^ 1]) + content[second:]
    last.write_bytes(damaged)
    with pytest.raises(LogDamaged, match=rf"{last.name}.*byte {HEADER.size} is damaged, and others follow it"):
        open_intake(tmp_path)
    assert last.read_bytes() == damaged

    last.write_bytes(content[:-3])
    intake = open_intake(tmp_path)
    assert stored(intake) == REPORTS[:-1]
    assert send(intake, *COMMITS[-1]) == [BEFORE, STORED]
    intake.close()


def test_damage_met_while_folding_is_told_by_its_file_and_by_its_byte_there(tmp_path: Path) -> None:
    """A reader that has come to the second file finds its last byte changed: the first frame there is damaged."""
    from murmure.collector.intake.report_log import ReportLog

    log = ReportLog(tmp_path, 0, segment_bytes=50)
    for commit in COMMITS:
        log.commit(b"".join(encode_commit(commit, HOUR, log.prepare())))
    end = log.prepare()
    log.close()
    first, second, *_ = segments(tmp_path)
    content = second.read_bytes()
    second.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    reader = LogReader(tmp_path)
    frames, position = reader.read(0, end)

    assert [frame.report for frame in frames] == REPORTS[:2] and position == first.stat().st_size
    with pytest.raises(LogDamaged, match=rf"{second.name}' is damaged at byte {HEADER.size},"):
        reader.read(position, end)
    reader.close()


def test_only_one_process_writes_to_a_folder(tmp_path: Path) -> None:
    """Another process, and this one a second time."""
    intake = open_intake(tmp_path)
    command = (
        "import sys; from pathlib import Path; from tests.collector.intake.intakes import open_intake\n"
        "open_intake(Path(sys.argv[1]))"
    )
    other = subprocess.run([sys.executable, "-c", command, str(tmp_path)], capture_output=True, text=True)

    assert "FolderLocked" in other.stderr
    with pytest.raises(FolderLocked, match="another process"):
        open_intake(tmp_path)
    intake.close()
    open_intake(tmp_path).close()


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(IntakeFailed, match="cannot be used"):
        open_intake(tmp_path / "file")
