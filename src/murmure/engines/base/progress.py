"""A bar for work that takes longer than a second, on a terminal and nowhere else."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any

from murmure.show.language import language

PATIENCE = 1.0  # seconds before a bar appears


def with_progress(batches: Iterable[Any], source: Any, what: str) -> Iterator[Any]:
    """The same batches; counts their rows on standard error once the work has lasted a second.

    source: what the batches are cut from, or how many rows it has, if that is known.
    """
    if not sys.stderr.isatty():
        yield from batches
        return
    began, done, bar, task = time.monotonic(), 0, None, None
    try:
        for batch in batches:
            yield batch
            done += len(batch)
            if bar is None and time.monotonic() - began > PATIENCE:
                from rich.console import Console
                from rich.progress import Progress

                bar = Progress(console=Console(stderr=True), transient=True)
                bar.start()
                task = bar.add_task(language().say(what), total=known_row_count(source))
            if bar is not None and task is not None:
                bar.update(task, completed=done)
    finally:
        if bar is not None:
            bar.stop()


def known_row_count(source: Any) -> int | None:
    """How many rows there will be, where that is known without reading them."""
    if isinstance(source, int):
        return source
    try:
        return len(source) if not isinstance(source, str) else None
    except TypeError:
        return None
