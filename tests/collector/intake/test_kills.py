"""kill -9 at any moment: every acknowledged report is there exactly once, and tallies equal a rebuild."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from tests.collector.intake.intakes import BEFORE, arrival, open_intake, send, stored

ROOT = Path(__file__).parents[3]


def killed_run(folder: Path, first: int, seed: int, mutant: str = "") -> set[int]:
    """Start a child, kill it at a random moment, and return the numbers that it acknowledged."""
    command = [sys.executable, "-m", "tests.collector.intake.killed_child", str(folder), str(first), str(seed), mutant]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT)
    assert child.stdout is not None and child.stderr is not None
    with child, child.stdout, child.stderr:
        data = child.stdout.readline()
        end = time.monotonic() + random.Random(seed).expovariate(1 / 0.2)
        while time.monotonic() < end:
            data += child.stdout.read1(1 << 16)
        child.kill()
        data += child.stdout.read()
        assert child.stderr.read() == b""
    return {int(line) for line in data[: data.rfind(b"\n") + 1].split()}


def losses(folder: Path, acknowledged: set[int]) -> tuple[list[int], list[bytes]]:
    """Acknowledged reports that are missing, and reports that are there twice; the tallies are checked."""
    intake = open_intake(folder)
    counts = Counter(stored(intake))
    intake.check()
    assert intake.tally_of(1, 1)[0] == counts.total()
    missing = [k for k in sorted(acknowledged) if counts[arrival(k).report] == 0]
    if not missing:
        some = sorted(acknowledged)[:: max(1, len(acknowledged) // 500)]
        assert send(intake, *(arrival(k) for k in some)) == [BEFORE] * len(some)
    intake.close()
    return missing, [report for report, count in counts.items() if count > 1]


def kill_often(folder: Path, times: int) -> set[int]:
    acknowledged: set[int] = set()
    for seed in range(times):
        fresh = killed_run(folder, 10_000_000 * seed, seed)
        assert fresh
        acknowledged |= fresh
        assert losses(folder, acknowledged) == ([], [])
    return acknowledged


def test_five_kills(tmp_path: Path) -> None:
    assert len(kill_often(tmp_path, 5)) > 100


@pytest.mark.slow
def test_fifty_kills(tmp_path: Path) -> None:
    assert len(kill_often(tmp_path, 50)) > 5_000


def test_kills_find_an_intake_that_acknowledges_too_early(tmp_path: Path) -> None:
    """A mutant that writes each commit when the next one comes loses the last one."""
    assert any(_loses(tmp_path / str(seed), seed) for seed in range(10))  # on a busy machine not at the first kill


def _loses(folder: Path, seed: int) -> bool:
    missing, _ = losses(folder, killed_run(folder, 0, seed, "late"))
    return missing != []
