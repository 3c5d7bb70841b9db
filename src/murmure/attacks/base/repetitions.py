"""An experiment again and again, each time with randomness of its own, with a bar for people who wait."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.random import Random
from murmure.engines.base.progress import with_progress

T = TypeVar("T")


def check_count(name: str, value: Any, least: int = 1) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InvalidParameter(
            "{name} must be a whole number from {least:,}, got {got}.", name=name, least=least, got=shorten(value)
        )
    return value


def with_bar(steps: Sequence[T], what: str) -> Iterator[T]:
    """The same steps; on a terminal a bar counts them once they have taken a second."""
    batches: Iterable[list[T]] = ([step] for step in steps)
    for batch in with_progress(batches, len(steps), what):
        yield batch[0]


def repeat(experiment: Callable[[Random], T], repetitions: int, rng: Random, what: str | None = None) -> list[T]:
    """The experiment `repetitions` times; repetition i draws from rng.child(i)."""
    check_count("repetitions", repetitions)
    numbers = with_bar(range(repetitions), what or Phrase("repeating the attack"))
    return [experiment(rng.child(i)) for i in numbers]
