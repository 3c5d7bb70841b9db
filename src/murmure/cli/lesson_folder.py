"""Where a lesson keeps its reports, and how it ends: whatever happens, a temporary folder does not stay behind."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

PREFIX = "murmure-lesson-"
TRIES = 5  # to remove a folder into which another thread still writes
LEFT_AT_ONCE = 130  # the exit code of a second Ctrl-C, as of other programs


class Stop:
    """Whether somebody asked to stop. A plain flag: a signal may come while a lock is session."""

    requested = False


@contextmanager
def lesson_folder(named: Path | None, stop: Stop) -> Iterator[Path]:
    """The folder that was named, else a temporary one that is removed at the end.

    The first Ctrl-C, SIGTERM or SIGHUP sets the flag of `stop`, and the command ends in order; a second Ctrl-C removes
    the temporary folder and leaves at once.
    """
    temporary: list[Path] = []

    def on_signal(number: int, frame: FrameType | None) -> None:
        if stop.requested and number == signal.SIGINT:
            _remove(temporary)
            os._exit(LEFT_AT_ONCE)
        stop.requested = True

    earlier = _set_handlers(on_signal)
    try:
        if named is None:
            temporary.append(Path(tempfile.mkdtemp(prefix=PREFIX)))
        yield named or temporary[0]
    finally:
        _remove(temporary)
        for number, handler in earlier.items():
            signal.signal(number, handler)


def _set_handlers(on_signal: Callable[[int, FrameType | None], None]) -> dict[int, Any]:
    """For the signals that end a command, except those that are ignored (nohup); returns what was there before."""
    if threading.current_thread() is not threading.main_thread():
        return {}
    known = signal.Signals.__members__  # Windows has no SIGHUP
    numbers = [known[name] for name in ("SIGINT", "SIGTERM", "SIGHUP") if name in known]
    earlier = {number: signal.getsignal(number) for number in numbers}
    return {
        number: signal.signal(number, on_signal) for number, handler in earlier.items() if handler is not signal.SIG_IGN
    }


def _remove(folders: list[Path]) -> None:
    for folder in folders:
        for _ in range(TRIES):
            shutil.rmtree(folder, ignore_errors=True)
            if not folder.exists():
                break
