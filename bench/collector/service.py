"""A real process of `murmure serve`: what it uses of processor and memory, and what it has counted."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from environments import PLACE

HERE = Path(__file__).parent
COMMAND = (str(Path(sys.executable).parent / "murmure"), "serve")  # as people start it
GRANIAN = (sys.executable, str(HERE / "granian_service.py"))  # the same app on another server, for comparison
TICKS = os.sysconf("SC_CLK_TCK")


class Service:
    """A process that serves `folder`. started: seconds until it answered."""

    def __init__(self, folder: Path, command: Sequence[str] = COMMAND) -> None:
        self.folder = folder
        begun = time.perf_counter()
        self.process = subprocess.Popen(
            [*command, "--folder", str(folder), "--port", "0", "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,  # Ctrl-C is for the bench, which stops it in order
            env=os.environ | {"PYTHONPATH": str(PLACE / "granian")} if command == GRANIAN else None,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{' '.join(command)} did not start")
        self.started = time.perf_counter() - begun
        self.url = json.loads(line)["url"]
        self.pid = json.loads(line).get("pid", self.process.pid)  # granian serves from a child

    @property
    def host(self) -> str:
        return urlsplit(self.url).hostname or ""

    @property
    def port(self) -> int:
        return urlsplit(self.url).port or 0

    @property
    def cpu_seconds(self) -> float:
        """Of all its threads, in the system too."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    @property
    def peak(self) -> float:
        """Megabytes of memory at most, since it started."""
        return self._megabytes("VmHWM:")

    @property
    def memory(self) -> float:
        """Megabytes of memory now."""
        return self._megabytes("VmRSS:")

    def _megabytes(self, name: str) -> float:
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(name)) * 1024 / 1e6

    def counted(self) -> int:
        """Reports in all tallies. Read from the file, so that the service has no work with it."""
        with closing(sqlite3.connect(f"{(self.folder / 'reports.db').as_uri()}?mode=ro", uri=True)) as connection:
            return int(connection.execute("SELECT coalesce(sum(n), 0) FROM tallies").fetchone()[0])

    def seconds_until_counted(self, reports: int, patience: float = 120) -> float:
        """How long the tallies take to catch up."""
        begun = time.perf_counter()
        while (counted := self.counted()) < reports:
            if time.perf_counter() - begun > patience:
                raise RuntimeError(f"{counted:,} of {reports:,} reports are counted after {patience} s")
            time.sleep(0.02)
        if counted > reports:
            raise RuntimeError(f"{counted:,} reports are counted, and {reports:,} were acknowledged")
        return time.perf_counter() - begun

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)


@contextmanager
def serving(folder: Path, command: Sequence[str] = COMMAND) -> Iterator[Service]:
    service = Service(folder, command)
    try:
        yield service
    finally:
        service.stop()
