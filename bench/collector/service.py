"""The service of the bench: a real process of `murmure serve`, with what it uses of processor and memory."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit


@dataclass
class Process:
    process: subprocess.Popen[str]
    base: str

    @property
    def host(self) -> str:
        return urlsplit(self.base).hostname or ""

    @property
    def port(self) -> int:
        return urlsplit(self.base).port or 0

    @property
    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def megabytes(self, peak: bool = False) -> float:
        name = "VmHWM:" if peak else "VmRSS:"
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(name)) / 1024


def start(folder: Path) -> Process:
    command = [Path(sys.executable).parent / "murmure", "serve", "--folder", folder, "--port", "0", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise RuntimeError("murmure serve did not start")
    return Process(process, json.loads(line)["base"])


@contextmanager
def serving(folder: Path) -> Iterator[Process]:
    running = start(folder)
    try:
        yield running
    finally:
        if running.process.poll() is None:
            running.process.send_signal(signal.SIGTERM)
        running.process.wait(60)


def kill(running: Process) -> None:
    running.process.send_signal(signal.SIGKILL)
    running.process.wait(60)
    time.sleep(0)
