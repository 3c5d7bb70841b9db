"""The command `murmure` for shells, by a process that has imported everything and forks for each call.

A page runs up to forty commands, and most of their time went into importing. Tests whose subject is the process itself,
and what it imports, start one: tests/cli and tests/engines. `python -m tests.forked SOCKET` serves.
"""

from __future__ import annotations

import atexit
import importlib
import io
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
NOT_IMPORTED = ("murmure.__main__",)
# Hands over its words, folder, environment and streams; passes signals on, and ends as the command did.
COMMAND = """#!{python} -IS
import json, os, signal, socket, sys
line = socket.socket(socket.AF_UNIX)
line.connect({address!r})
words = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
socket.send_fds(line, [len(words).to_bytes(4, "little")], [0, 1, 2])
line.sendall(words)
pid = int.from_bytes(line.recv(4), "little")
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, lambda number, frame: os.kill(pid, number))
sys.exit((line.recv(1) or b"\\xff")[0])
"""


@contextmanager
def forking(folder: Path) -> Iterator[Path]:
    """A folder with the command, to come first in PATH."""
    address, here = str(folder / "s"), folder / "bin"
    here.mkdir()
    command = here / "murmure"
    command.write_text(COMMAND.format(python=sys.executable, address=address), encoding="utf-8")
    command.chmod(0o755)
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-m", "tests.forked", address], cwd=ROOT, stdin=pipe, stdout=pipe) as server:
        assert server.stdout is not None
        try:
            assert server.stdout.readline() == b"ready\n"
            yield here
        finally:
            server.kill()


def serve(address: str) -> None:
    import murmure

    for module in pkgutil.walk_packages(murmure.__path__, "murmure."):
        if module.name not in NOT_IMPORTED:
            with suppress(ImportError):  # of an extra that is not there
                importlib.import_module(module.name)
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(address)
    listening.listen(64)
    print("ready", flush=True)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those who wait for commands
    while listening in select.select([listening, sys.stdin], [], [])[0]:  # until its parent has ended
        line, _ = listening.accept()
        if os.fork() == 0:
            listening.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            answer(line)
            os._exit(0)
        line.close()


def answer(line: socket.socket) -> None:
    """One call: its process, and at the end its exit code. If the caller was killed, so is the process."""
    head, streams, _, _ = socket.recv_fds(line, 4, 3)
    asked = b""
    while len(asked) < int.from_bytes(head, "little"):
        asked += line.recv(1 << 16)
    if (pid := os.fork()) == 0:
        line.close()
        run(streams, *json.loads(asked))
    for stream in streams:
        os.close(stream)
    line.sendall(pid.to_bytes(4, "little"))
    while (status := os.waitpid(pid, os.WNOHANG))[0] == 0:
        if select.select([line], [], [], 0.01)[0]:  # it says nothing more: it is gone
            os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)
    code = os.waitstatus_to_exitcode(status[1])
    with suppress(OSError):
        line.sendall(bytes([code if code >= 0 else 128 - code]))


def run(streams: list[int], words: list[str], folder: str, environment: dict[str, str]) -> None:
    """What the interpreter does for a fresh process; never returns."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["murmure", *words]
    sys.stdin = _text(0, "strict")
    sys.stdout = sys.__stdout__ = _text(1, "strict")
    sys.stderr = sys.__stderr__ = _text(2, "backslashreplace")
    code: Any = 1
    try:
        from murmure.cli import main

        main(prog_name="murmure")
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def _text(number: int, errors: str) -> io.TextIOWrapper:
    stream: Any = io.FileIO(number, "wb" if number else "rb", closefd=False)
    held = io.BufferedWriter(stream) if number else io.BufferedReader(stream)
    return io.TextIOWrapper(held, "utf-8", errors, line_buffering=number == 2 or os.isatty(number))


if __name__ == "__main__":
    serve(sys.argv[1])
