"""Ctrl-C reaches every process of a terminal: the command says a sentence, and its workers stop without a word."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

CAN_BLOCK = hasattr(signal, "pthread_sigmask")  # not on Windows


@contextmanager
def interrupts_blocked() -> Iterator[None]:
    """Processes that start in here get no interrupt until `stop_silently` is called in them; ours comes afterwards."""
    if not CAN_BLOCK:
        yield
        return
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def stop_silently() -> None:
    """For a worker, first of all: an interrupt ends it at once, where Python's own handler prints a traceback."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if CAN_BLOCK:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
