"""What else goes on on this machine while something is measured: figures mean little without it."""

from __future__ import annotations

import os
import platform
import sys
import time
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def say(text: str) -> None:
    print(f"bench: {text}", file=sys.stderr, flush=True)


def cpu() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return platform.processor() or platform.machine()


class Machine:
    """load: the load average at the start. others: how many processors were kept busy on average, but not by this
    process and what it started."""

    def __init__(self) -> None:
        self.load, self.others = os.getloadavg()[0], 0.0

    def __enter__(self) -> Machine:
        self._begun, self._before = time.perf_counter(), self._of_others()
        return self

    def __exit__(self, *_: object) -> None:
        seconds = time.perf_counter() - self._begun
        self.others = max(0.0, self._of_others() - self._before) / seconds

    def _of_others(self) -> float:
        """Seconds since the machine started."""
        fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
        user, nice, system, _, _, irq, softirq, steal = map(int, fields[:8])
        return (user + nice + system + irq + softirq + steal - _ticks_of_tree(os.getpid())) / TICKS


def _ticks_of_tree(root: int) -> int:
    """Of a process and all that it started, those that have ended too."""
    parents, ticks = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:  # it has just ended
                continue
            parents[int(entry.name)] = int(fields[1])
            ticks[int(entry.name)] = sum(map(int, fields[11:15]))
    ours, more = {root}, True
    while more:
        found = {pid for pid, parent in parents.items() if parent in ours} - ours
        ours, more = ours | found, bool(found)
    return sum(ticks[pid] for pid in ours if pid in ticks)


def trend(points: list[tuple[float, float]]) -> float:
    """The slope of the straight line through these points."""
    n = len(points)
    x, y = (sum(values) / n for values in zip(*points, strict=True))
    return sum((a - x) * (b - y) for a, b in points) / max(1e-12, sum((a - x) ** 2 for a, _ in points))
