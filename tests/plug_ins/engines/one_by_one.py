"""Rows one after the other: an engine that tests/test_plugins.py adds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from murmure.core.catalogue_entries import EngineEntry
from murmure.core.types import Engine, Total
from murmure.engines.memory import Memory


@dataclass(frozen=True)
class OneByOne(Engine):
    """Adds batch after batch on one thread.

    >>> import murmure as mu
    >>> mu.OneByOne()
    OneByOne()
    """

    entry = EngineEntry()

    def total(self, step: Callable[[Any], Total], source: Iterable[Any]) -> Total:
        """As Memory adds it."""
        return Memory(threads=1).total(step, source)


EXAMPLES = (OneByOne(),)
