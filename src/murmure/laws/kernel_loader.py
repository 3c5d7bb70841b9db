"""Numba kernels: the same reports from the same words as the NumPy reference, bit for bit.

Optional (the `fast` extra) and imported at the first large batch only: importing Numba costs half a
second. MURMURE_FAST=0 switches it off.
"""

from __future__ import annotations

import importlib.util
import os
import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from murmure.core.files import locked

T = TypeVar("T")
R = TypeVar("R")

SMALL = 8192  # reports; for fewer, loading a kernel costs more than it saves
MANY = 1 << 20  # random words that reports take: few reports, but long ones
LOCK = "murmure-kernels.lock"  # in the folder of the compiled kernels
PATIENCE = 10.0  # seconds to wait for other processes that save; then it saves without the lock


@cache
def available() -> bool:
    return os.environ.get("MURMURE_FAST", "1") != "0" and importlib.util.find_spec("numba") is not None


@cache
def _module() -> ModuleType:
    from murmure.laws import kernels

    return kernels


@cache
def _sum_module() -> ModuleType:
    from murmure.laws import sum_kernels

    return sum_kernels


def cached_kernel(kernel: Any) -> Any:
    """The kernel, with its compiled code on disk in a `KernelCache`; if that fails it is compiled again next time."""
    files: Any = getattr(kernel, "_cache", None)
    if hasattr(files, "save_overload") and hasattr(files, "_cache_file"):  # private to Numba, and may change
        files.save_overload = _ignore_disk_errors(files.save_overload)
        files._cache_file = KernelCache(files._cache_file, Path(files.cache_path) / LOCK)
    return kernel


class KernelCache:
    """Numba's file of one kernel's compiled signatures, for several processes at a time.

    Numba numbers the compiled code of a signature and writes the number into an index. Two processes that save two
    signatures at once choose the same number, and the index may then name for one signature the code of the other,
    for ever. Here one process saves at a time, and every entry holds its key: an entry with another key, or without one
    (written before this class existed), is not used but compiled again and overwritten.

    Reading takes no lock: files are replaced whole, and entries that do not fit are not used.
    """

    def __init__(self, file: Any, lock: Path) -> None:
        self._file, self._lock = file, lock

    def load(self, key: Any) -> Any:
        try:
            entry = self._file.load(key)
        except Exception:  # truncated by a crash, or of another version: unpickling may raise anything
            return None
        return entry[1] if isinstance(entry, tuple) and len(entry) == 2 and entry[0] == key else None

    def save(self, key: Any, data: Any) -> None:
        with ExitStack() as stack:
            with suppress(OSError):  # without a lock an entry may get lost, but no wrong one is used
                stack.enter_context(locked(self._lock, patience=PATIENCE))
            try:
                self._file.save(key, (key, data))
            except OSError:
                raise
            # An index that cannot be read: unpickling may raise anything. It is emptied and written again.
            except Exception:
                self._file.flush()
                self._file.save(key, (key, data))

    def flush(self) -> None:
        self._file.flush()


def _ignore_disk_errors(save: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel that cannot be saved on a full disk is compiled again next time: no reason to stop."""

    def save_if_possible(*args: Any) -> Any:
        with suppress(OSError):
            return save(*args)

    return save_if_possible


def kernels_for(n: int, words: int = 1) -> ModuleType | None:
    """The compiled kernels, when they are installed and n reports, of so many words each, are worth it."""
    return _module() if (n >= SMALL or n * words >= MANY) and available() else None


def sum_kernels_for(n: int) -> ModuleType | None:
    """The compiled kernels that add up codes of n rows, when they are installed and worth it."""
    return _sum_module() if n >= SMALL and available() else None


_small_pieces = 0  # rows that came in pieces too small for a kernel


def kernels_for_pieces(n: int) -> ModuleType | None:
    """As `kernels_for`, for work that comes in small pieces: once all of them together are worth it."""
    global _small_pieces
    _small_pieces += n  # threads may lose a few: a kernel is then loaded a little later
    return kernels_for(max(n, _small_pieces))


def native(codes: Any) -> Any:
    """The same codes in this machine's byte order: compiled kernels read no other."""
    return codes if codes.dtype.isnative else codes.astype(codes.dtype.newbyteorder("="))


@cache
def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_here = threading.local()


def one_thread_here() -> None:
    """Called by a thread that works on one batch of several: the other batches keep the other cores busy."""
    _here.one = True


def as_one_of_several(work: Callable[[T], R]) -> Callable[[T], R]:
    """The same work on one batch of several, in a thread that has other work too."""

    def alone(batch: T) -> R:
        before = getattr(_here, "one", False)
        _here.one = True
        try:
            return work(batch)
        finally:
            _here.one = before

    return alone


def threads() -> int:
    """Two threads at most: the keystream and the kernels release the interpreter's lock."""
    return 1 if getattr(_here, "one", False) else max(1, min(2, cores()))
