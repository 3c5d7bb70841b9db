"""How tests are dealt to processes (pytest -n 2), no rubbish is looked for while they are collected, and a hang-up is
heard."""

from __future__ import annotations

import gc
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.forked import forking

# Tests that share something dear go to one process, which makes it once: a JVM, and all sentences of the sources.
TOGETHER = {"spark": "spark", "test_catalogues.py": "sentences", "test_every_sentence_is_a_template": "sentences"}

# Under nohup hang-ups are ignored, by every process that tests start too: one that is to end by it would never end.
if getattr(signal, "SIGHUP", None) and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collecting makes some two million objects that stay: Python would search them for rubbish again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.collect()
        gc.freeze()  # pytest itself searches ten times at the end


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """mypy and pyright take many seconds each: as the last tests they would keep one process waiting for the other."""
    items.sort(key=lambda item: not item.nodeid.startswith("tests/typing/"))


@pytest.fixture(scope="session")
def forked_commands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the command `murmure`, for shells that call it often."""
    with forking(tmp_path_factory.mktemp("m")) as folder:
        yield folder


class Positions(list[str]):
    """A list that finds the place of a string at once."""

    def __init__(self, strings: Sequence[str]) -> None:
        super().__init__(strings)
        self._places = {string: place for place, string in enumerate(strings)}

    def index(self, string: str, *bounds: Any) -> int:
        return self._places[string]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Tests of TOGETHER by their groups; all others one by one, wherever there is room.

    The marker for this (xdist_group, with --dist loadgroup) does nothing under pytest 9.2 and xdist 3.8.
    """
    from xdist.scheduler import LoadScopeScheduling

    class OneByOne(LoadScopeScheduling):
        """xdist looks through all that a process has done whenever a test ends, made for few groups of many tests.

        With 17,000 groups that costs a minute of one core, unless what is done is forgotten.
        """

        def _split_scope(self, nodeid: str) -> str:
            return next((group for part, group in TOGETHER.items() if part in nodeid), nodeid)

        def add_node_collection(self, node: Any, collection: Sequence[str]) -> None:
            super().add_node_collection(node, collection)
            if node in self.registered_collections:
                self.registered_collections[node] = Positions(collection)

        def mark_test_complete(self, node: Any, item_index: int, duration: float = 0) -> None:
            scope = self._split_scope(self.registered_collections[node][item_index])
            super().mark_test_complete(node, item_index, duration)
            if all(self.assigned_work[node][scope].values()):
                del self.assigned_work[node][scope]

    return OneByOne(config, log)
