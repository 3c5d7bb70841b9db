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
from typing import Any

from murmure.core.files import locked

SMALL = 8192  # people; below, loading a kernel costs more than it saves
LOCK = "murmure-kernels.lock"  # in the folder of the kept kernels
PATIENCE = 10.0  # seconds for other processes that save; then without the lock


@cache
def available() -> bool:
    return os.environ.get("MURMURE_FAST", "1") != "0" and importlib.util.find_spec("numba") is not None


@cache
def _module() -> ModuleType:
    from murmure.laws import kernels

    return kernels


def cached_kernel(kernel: Any) -> Any:
    """The kernel, whose compiled code `Kept` keeps on disk; where that fails it is compiled again next time."""
    files: Any = getattr(kernel, "_cache", None)
    if hasattr(files, "save_overload") and hasattr(files, "_cache_file"):  # Numba's own matter: it may change
        files.save_overload = _or_not(files.save_overload)
        files._cache_file = KernelCache(files._cache_file, Path(files.cache_path) / LOCK)
    return kernel


class KernelCache:
    """Numba's file of one kernel's compiled signatures, for several processes at a time.

    Numba numbers the compiled code of a signature and writes the number into an index. Two processes that save two
    signatures at once choose the same number, and the index may then name for one signature the code of the other,
    for ever. Here one saves at a time, and what is saved holds its key: what belongs to another key, or to none, as
    what was kept before this class, is not used but compiled again, and written over.

    Reading takes no lock: files are replaced whole, and what does not fit is not used.
    """

    def __init__(self, file: Any, lock: Path) -> None:
        self._file, self._lock = file, lock

    def load(self, key: Any) -> Any:
        try:
            held = self._file.load(key)
        except Exception:  # cut short by a crash, or of another make: unpickling may raise anything
            return None
        return held[1] if isinstance(held, tuple) and len(held) == 2 and held[0] == key else None

    def save(self, key: Any, data: Any) -> None:
        with ExitStack() as stack:
            with suppress(OSError):  # where nothing can be locked an entry may get lost, but no wrong one is used
                stack.enter_context(locked(self._lock, patience=PATIENCE))
            try:
                self._file.save(key, (key, data))
            except OSError:
                raise
            except Exception:  # an index that cannot be read
                self._file.flush()
                self._file.save(key, (key, data))

    def flush(self) -> None:
        self._file.flush()


def _or_not(save: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel that cannot be kept on a full disk is compiled again next time: no reason to stop."""

    def careful(*args: Any) -> Any:
        with suppress(OSError):
            return save(*args)

    return careful


def kernels_for(n: int) -> ModuleType | None:
    """The compiled kernels, when they are installed and n people are worth it."""
    return _module() if n >= SMALL and available() else None


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


def threads() -> int:
    """Two threads at most: the keystream and the kernels release the interpreter's lock."""
    return 1 if getattr(_here, "one", False) else max(1, min(2, cores()))
