"""One thread that stays: starting one costs as much as randomising 50,000 answers."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


@cache
def helper() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, "murmure")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=helper.cache_clear)  # threads do not survive a fork


def with_helper(work: Callable[[T], R], items: Sequence[T]) -> list[R]:
    """work(item) of all items, in their order. Each thread takes the next item when it is done with one.

    So a helper that is busy elsewhere, or that no core is free for, costs no time. After an error no item is begun;
    the error of the first item that had one is raised.
    """
    found: dict[int, R] = {}
    errors: dict[int, BaseException] = {}
    left = iter(range(len(items)))  # threads of Python take turns at it

    def work_on() -> None:
        for i in left:
            try:
                found[i] = work(items[i])
            except BaseException as error:  # raised below, in the thread that asked
                errors[i] = error
            if errors:
                return

    other = helper().submit(work_on)
    work_on()
    if not other.cancel():
        other.result()
    if errors:
        raise errors[min(errors)]
    return [found[i] for i in range(len(items))]
