"""One batch of rows for an engine, with the generator that only this batch uses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from murmure.core.random import Random


@dataclass(frozen=True)
class Task:
    """A batch, the generator that randomises it, and the number of its first row where that is known."""

    batch: Any
    rng: Random
    first: int | None = None

    def __len__(self) -> int:
        return rows_in(self.batch)


class BatchStep:
    """What happens to one batch, as far as an engine must know before it reads. Other functions read all columns."""

    @property
    def columns(self) -> tuple[str, ...] | None:
        """All that is read of a table; None: all columns are."""
        return None

    @property
    def lenient(self) -> bool:
        """Whether no row may decide if there is an error: types are fitted without refusing any number."""
        return False


def rows_in(batch: Any) -> int:
    """How many rows a batch holds: the length of an array, the rows of a table."""
    if hasattr(batch, "num_rows"):
        return int(batch.num_rows)
    if isinstance(batch, Mapping):
        return len(next(iter(batch.values()))) if batch else 0
    return len(batch)


def numbered(
    batches: Iterable[Any], rng_of: Callable[[int], Random], admit: Callable[[Any, int], Any] | None = None
) -> Iterator[Task]:
    """Each batch with its generator and the number of its first row. admit: the rows of a batch that count."""
    first = 0
    for i, batch in enumerate(batches):
        rows = rows_in(batch)
        yield Task(batch if admit is None else admit(batch, first), rng_of(i), first)
        first += rows


def unrandomised(batches: Iterable[Any]) -> Iterator[Task]:
    """Tasks for steps that draw nothing, because the batches hold reports already."""
    rng = Random.secure()
    return numbered(batches, lambda _: rng)


def column_of_batch(batch: Any, column: str | None) -> Any:
    """The column of a table, or the batch itself where it is one column already."""
    if hasattr(batch, "num_rows"):
        return batch.column(0 if column is None else column)
    if isinstance(batch, Mapping):
        return batch[column] if column is not None else next(iter(batch.values()))
    return batch
