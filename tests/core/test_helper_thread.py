"""Work that is shared with the thread that stays: every item once, in order, and the first error."""

from __future__ import annotations

import os
import threading
from typing import Any

import pytest

from murmure.core.helper_thread import helper, with_helper


def test_every_item_is_worked_on_once_and_results_keep_their_order() -> None:
    begun: list[int] = []
    results = with_helper(lambda i: begun.append(i) or i * i, range(500))

    assert results == [i * i for i in range(500)]
    assert sorted(begun) == list(range(500))


def test_both_threads_work() -> None:
    """Each waits for the other: with one alone the barrier would break."""
    both = threading.Barrier(2, timeout=20)
    names = with_helper(lambda _: both.wait() * 0 or threading.current_thread().name, [1, 2])

    assert len(set(names)) == 2


def test_a_helper_that_is_busy_is_not_waited_for() -> None:
    done = threading.Event()
    busy = helper().submit(done.wait, 20)
    try:
        assert with_helper(str, [1, 2, 3]) == ["1", "2", "3"]
        assert not busy.done()
    finally:
        done.set()


def test_the_error_of_the_first_item_is_raised() -> None:
    """Whoever is first to fail; and what was not begun is not."""
    both, begun = threading.Barrier(2, timeout=20), list[int]()

    def fail(i: int) -> None:
        begun.append(i)
        both.wait()
        raise ValueError(i)

    with pytest.raises(ValueError, match=r"^0$"):
        with_helper(fail, range(100))
    assert sorted(begun) == [0, 1]


def test_work_within_work_ends() -> None:
    """The helper asks itself for help, and does not wait for the answer."""
    inner: Any = with_helper(lambda i: with_helper(lambda j: i * j, range(3)), range(4))

    assert inner == [[i * j for j in range(3)] for i in range(4)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_has_a_helper_of_its_own() -> None:
    with_helper(str, [1, 2])
    child = os.fork()
    if child == 0:
        os._exit(0 if helper().submit(str, 1).result(20) == "1" else 1)

    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
