"""A server that another thread may stop."""

from __future__ import annotations

import asyncio
import socket
import threading
from types import SimpleNamespace
from typing import Any

import pytest
import uvicorn

from murmure.core.serving.listening import UNLIMITED_FILES, raise_file_limit
from murmure.core.serving.stoppable_server import StoppableServer
from murmure.core.serving.timed_connection import TimedConnection


async def nothing(scope: Any, receive: Any, send: Any) -> None:
    """An application that is never asked."""


def quiet() -> uvicorn.Config:
    return uvicorn.Config(nothing, lifespan="off", log_config=None)


@pytest.mark.parametrize("exits", [False, True])
@pytest.mark.parametrize("stops", [False, True])
def test_it_stops_once_either_side_says_so(exits: bool, stops: bool) -> None:
    """uvicorn itself (a signal, a limit of requests), or the thread that holds `stopping`."""
    stopping = threading.Event()
    server = StoppableServer(quiet(), stopping)
    server.should_exit = exits
    if stops:
        stopping.set()

    assert (exits or stops) == asyncio.run(server.on_tick(1))


@pytest.mark.parametrize(
    ("cycle", "served"),
    [
        (None, False),
        (SimpleNamespace(more_body=True, response_complete=False), False),
        (SimpleNamespace(more_body=False, response_complete=False), True),
        (SimpleNamespace(more_body=False, response_complete=True), False),
        (SimpleNamespace(more_body=True, response_complete=True), False),
    ],
)
def test_a_connection_is_served_from_the_end_of_its_request_to_that_of_its_answer(cycle: Any, served: bool) -> None:
    """Where connections run out, one that is not served makes room: it has asked nothing yet, or has its answer."""
    serves: Any = TimedConnection._served

    assert serves.fget(SimpleNamespace(cycle=cycle)) is served


@pytest.mark.parametrize(
    ("soft", "hard", "raised"),
    [
        (1024, 4096, 4096),
        (4096, 4096, None),
        (1024, -1, UNLIMITED_FILES),
        (UNLIMITED_FILES, -1, None),
        (-1, -1, None),
    ],
)
def test_the_limit_of_open_files_is_raised_as_far_as_the_system_allows(
    soft: int, hard: int, raised: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A limit of -1 means none and is left alone; a soft limit is raised to what is needed."""
    resource = pytest.importorskip("resource", reason="Windows has no such limits")
    assert resource.RLIM_INFINITY == -1
    limits, asked = [soft, hard], []
    monkeypatch.setattr(resource, "getrlimit", lambda which: tuple(limits))

    def set_limit(which: int, wanted: tuple[int, int]) -> None:
        asked.append(wanted)
        limits[:] = wanted

    monkeypatch.setattr(resource, "setrlimit", set_limit)

    assert raise_file_limit() == (raised or (soft if soft != -1 else UNLIMITED_FILES))
    assert asked == ([] if raised is None else [(raised, hard)])


def test_another_thread_stops_it() -> None:
    """What is to happen before happens once, while the socket still listens; then serving is over."""
    stopping, before = threading.Event(), []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def last_words() -> None:
            before.append(socket.create_connection(listening.getsockname(), timeout=5))

        server = StoppableServer(quiet(), stopping, last_words)
        thread = threading.Thread(target=lambda: asyncio.run(server.serve([listening])), daemon=True)
        thread.start()
        assert before == [] and thread.is_alive()
        stopping.set()
        thread.join(timeout=5)

        assert not thread.is_alive()
        (connection,) = before
        connection.close()
