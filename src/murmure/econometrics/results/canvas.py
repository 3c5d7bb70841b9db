"""An axis to draw on: the given one, or that of a new figure, which is saved if a file was given."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from murmure.core.show import drawing, save_figure


@contextmanager
def canvas(target: Any, size: tuple[float, float]) -> Iterator[Any]:
    """target: an axis, the path of a file, or None for a new figure."""
    ax, figure = drawing(target, size)
    yield ax
    if figure is not None:
        save_figure(figure, target)
