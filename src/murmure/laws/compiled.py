"""Numba kernels: the same reports from the same words as the NumPy reference, bit for bit.

Optional (the `fast` extra) and imported at the first large batch only: importing Numba costs half a
second. MURMURE_FAST=0 switches it off.
"""

from __future__ import annotations

import importlib.util
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from types import ModuleType
from typing import Any

SMALL = 8192  # people; below, loading a kernel costs more than it saves


@cache
def available() -> bool:
    return os.environ.get("MURMURE_FAST", "1") != "0" and importlib.util.find_spec("numba") is not None


@cache
def _module() -> ModuleType:
    from murmure.laws import kernels

    for kernel in vars(kernels).values():
        if hasattr(kernel, "_cache") and hasattr(kernel._cache, "save_overload"):
            kernel._cache.save_overload = _or_not(kernel._cache.save_overload)
    return kernels


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
