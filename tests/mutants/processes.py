"""Runs inside.py in a checkout, with a limit for each test, and leaves no process behind."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.mutants.checkout import Checkout

INSIDE = Path(__file__).with_name("inside.py")
MARK = "MURMURE_MUTANTS_RUN"  # a variable of the environment by which all processes of a run are found
POLL = 0.1  # seconds
TO_START = 300.0  # seconds until the first test: imports and collection, on a busy machine
BETWEEN = 120.0  # between two tests, and when Python ends
MEMORY = 0.4  # of the machine's memory, for one run


class Stopped(Exception):
    """Somebody pressed Ctrl-C."""


@dataclass
class Job:
    files: list[str]
    tests: list[str] | None = None
    slow: bool = False
    coverage: str | None = None  # the text of a configuration; COVERAGE_FILE stands for the file of its data
    limit: Callable[[str], float] = field(default=lambda test: 600.0)  # seconds for a test
    patience: float = 0.0  # seconds at least until the first test, and between two


@dataclass
class Outcome:
    """code: pytest's exit code, negative for a signal, None where a limit was reached; test: the last one that
    started."""

    code: int | None
    test: str
    seconds: float
    durations: dict[str, float] = field(default_factory=dict)
    outcomes: dict[str, str] = field(default_factory=dict)
    why: dict[str, str] = field(default_factory=dict)
    lines: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    output: str = ""
    waited: float = 0.0  # seconds since the last test had started or ended

    @property
    def failed(self) -> str:
        """The test that failed, or what could not be collected; the last one that started where Python itself ended."""
        return next((test for test in self.why), self.test)


class Processes:
    """All that a campaign starts. `stop` ends them at once."""

    def __init__(self) -> None:
        self.stop = threading.Event()

    def run(self, checkout: Checkout, job: Job, kernels: Path) -> Outcome:
        folder = Path(tempfile.mkdtemp(prefix="mutate-"))  # short: sockets have at most 108 characters
        try:
            return self._run(checkout, job, kernels, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _run(self, checkout: Checkout, job: Job, kernels: Path, folder: Path) -> Outcome:
        status, out, rc, log = (folder / name for name in ("status", "out", "rc", "log"))
        status.touch()
        if job.coverage is not None:
            rc.write_text(job.coverage.replace("COVERAGE_FILE", str(folder / "coverage")))
        content = {"files": job.files, "tests": job.tests, "slow": job.slow, "status": str(status), "out": str(out)}
        content |= {"coverage": str(rc) if job.coverage is not None else None, "temp": str(folder / "t")}
        (folder / "job").write_text(json.dumps(content))
        environment = os.environ | {MARK: folder.name, "NUMBA_CACHE_DIR": str(kernels), "TMPDIR": str(folder)}
        began = time.monotonic()
        with log.open("wb") as sink:
            process = subprocess.Popen(
                [checkout.python, INSIDE, folder / "job"],
                cwd=checkout.root,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=sink,
                start_new_session=True,
            )
            try:
                code, waited = self._wait(process, status, job)
            finally:
                end_all(process, folder.name)
        test, output = last_line(status)[1:], log.read_text(errors="replace")[-4000:]
        if code == 0 and out.exists():
            found = json.loads(out.read_text())
            return Outcome(found.pop("code"), test, time.monotonic() - began, output=output, **found)
        ended = None if code is None else code or -1
        return Outcome(ended, test, time.monotonic() - began, output=output, waited=waited)

    def _wait(self, process: subprocess.Popen[bytes], status: Path, job: Job) -> tuple[int | None, float]:
        size, since, test = 0, time.monotonic(), ""
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return process.wait(POLL), time.monotonic() - since
            if self.stop.is_set():
                raise Stopped
            if (now := status.stat().st_size) != size:
                size, since, test = now, time.monotonic(), last_line(status)
            allowed = job.limit(test[1:]) if test.startswith("+") else max(job.patience, BETWEEN if test else TO_START)
            if time.monotonic() - since > allowed or memory_of(process.pid) > MEMORY:
                return None, time.monotonic() - since


def last_line(path: Path) -> str:
    lines = path.read_text(encoding="utf-8").splitlines()
    return lines[-1] if lines else ""


def memory_of(pid: int) -> float:
    """Which part of the machine's memory the process has; 0 where the system does not say."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        resident = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        return resident / os.sysconf("SC_PHYS_PAGES")
    return 0.0


def end_all(process: subprocess.Popen[bytes], mark: str) -> None:
    """The process, its group, and what left the group but inherited the mark: servers and Java machines of tests."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    wanted = re.compile(rf"(^|\0){MARK}={re.escape(mark)}(\0|$)".encode())
    for environ in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError, ProcessLookupError):
            if wanted.search(environ.read_bytes()):
                os.kill(int(environ.parent.name), signal.SIGKILL)
