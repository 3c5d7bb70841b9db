"""The sum on one machine: batches in, one total out; no batch is kept."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, TypeVar

from murmure.core.catalogue_entries import EngineEntry
from murmure.core.errors import EmptySource, InvalidParameter, shorten
from murmure.core.helper_thread import with_helper
from murmure.core.types import Engine, Total
from murmure.laws.kernel_loader import as_one_of_several, one_thread_here, threads

T = TypeVar("T")


def with_rows(batches: Iterable[T]) -> Iterable[T]:
    """The batches that have rows; a list stays one."""
    found = (batch for batch in batches if len(batch))  # type: ignore[arg-type]
    return list(found) if isinstance(batches, list) else found


@dataclass(frozen=True)
class Memory(Engine):
    """Adds batch after batch; by default on two threads where there are cores for them.

    >>> import numpy as np
    >>> import murmure as mu
    >>> from murmure.core.types import Engine, Total
    >>> ages = np.array([20, 30, 40])
    >>> total = mu.Memory().total(lambda batch: Total(len(batch), np.array([batch.sum()])), [ages[:1], ages[1:]])
    >>> print(total.n, total.sum.tolist())
    3 [90]
    """

    threads: int | None = None

    entry = EngineEntry(order=10)

    def __post_init__(self) -> None:
        if self.threads is not None and (isinstance(self.threads, bool) or not 1 <= self.threads <= 64):
            raise InvalidParameter(
                "Memory.threads must be a whole number from 1 to 64, got {got}.", got=shorten(self.threads)
            )

    def accepts(self, frame: Any) -> bool:
        """Nothing is cut into batches here: whatever this process can read comes as batches."""
        return False

    def total(self, step: Callable[[Any], Total], source: Iterable[Any]) -> Total:
        out: Total | None = None
        for part in self.each(step, with_rows(source)):
            out = part if out is None else out + part
        if out is None:
            raise EmptySource(
                "the source has no rows: there is nothing to add up.",
                hint="check the path, the filter or the join",
            )
        return out

    def each(self, work: Callable[[Any], T], source: Iterable[Any]) -> Iterator[T]:
        """work(batch) for every batch, in order. Memory is a few batches, whatever the number of people.

        A list has all batches at hand, and gets all results before the first is returned.
        """
        count = self.threads or threads()
        if isinstance(source, list) and len(source) > 1 and count == 2:
            yield from with_helper(as_one_of_several(work), source)
            return
        batches = iter(source)
        # Two batches are taken to see whether there is more than one.
        head = deque(islice(batches, 2))
        # Popped one after the other, so that none is kept alive.
        several, all_batches = len(head) > 1, chain((head.popleft() for _ in range(len(head))), batches)
        if count == 1 or not several:  # a single batch may use all cores inside its kernels
            yield from map(work, all_batches)
            return
        waiting: deque[Future[T]] = deque()
        pool = ThreadPoolExecutor(count, "murmure-batch", one_thread_here)
        try:
            for batch in all_batches:
                waiting.append(pool.submit(work, batch))
                del batch  # the future holds it as long as it is needed
                if len(waiting) > count:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


EXAMPLES = (Memory(), Memory(threads=1), Memory(threads=3))
