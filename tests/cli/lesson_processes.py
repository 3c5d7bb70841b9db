"""`murmure class` and `murmure demo` as real processes, with a folder for temporary files that tests look into."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Ctrl-C is heard here even if a test runner has it ignored.
HEARD = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\nfrom murmure.cli import main; main()"
SECONDS = 60.0  # for what takes a second on an idle machine
LINK = re.compile(r"http://[\w.:]+/s/\w{12}#p=\w{16}")


def environment(temporary: Path) -> dict[str, str]:
    """No browser is ever opened, whatever the machine has."""
    temporary.mkdir(exist_ok=True)
    kept = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")}
    return {**kept, "TMPDIR": str(temporary), "LANG": "C.UTF-8"}


@dataclass
class Running:
    """One that speaks JSON."""

    process: subprocess.Popen[str]
    temporary: Path

    def event(self, wanted: str) -> dict[str, Any]:
        """The next one of this name."""
        assert self.process.stdout is not None
        while line := self.process.stdout.readline():
            fields: dict[str, Any] = json.loads(line)
            if fields["event"] == wanted:
                return fields
        raise AssertionError(self.process.communicate())

    def stop(self, signal_number: int) -> tuple[str, str]:
        self.process.send_signal(signal_number)
        return self.process.communicate(timeout=SECONDS)

    @property
    def left(self) -> list[str]:
        """What is in the folder of temporary files."""
        return [path.name for path in self.temporary.iterdir()]


@contextmanager
def running(folder: Path, *args: str) -> Iterator[Running]:
    temporary = folder / "temporary"
    process = subprocess.Popen(
        [sys.executable, "-c", HEARD, *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=environment(temporary),
    )
    try:
        yield Running(process, temporary)
    finally:
        process.kill()
        process.communicate()


class Terminal:
    """A command in a terminal of its own."""

    def __init__(self, folder: Path, *args: str) -> None:
        self.temporary, self.shown = folder / "temporary", ""
        variables = environment(self.temporary) | {"TERM": "xterm-256color", "COLUMNS": "120", "LINES": "40"}
        self.pid, self._end = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execve(sys.executable, [sys.executable, "-c", HEARD, *args], variables)

    def wait_for(self, text: str) -> None:
        limit = time.monotonic() + SECONDS
        while text not in self.shown:
            assert time.monotonic() < limit and self._read(), self.shown

    def type(self, keys: bytes) -> None:
        os.write(self._end, keys)

    def exit_code(self) -> int:
        while self._read():
            pass
        os.close(self._end)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def hang_up(self) -> int:
        """The window is closed."""
        os.close(self._end)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def _read(self) -> bool:
        if not select.select([self._end], [], [], SECONDS)[0]:
            return False
        try:
            read = os.read(self._end, 1 << 16)
        except OSError:  # the command has ended
            return False
        self.shown += read.decode(errors="replace")
        return bool(read)


CTRL_C = b"\x03"
