"""The sum on one machine: batches in, one total out, nothing kept between them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from murmure.core.errors import EmptySource
from murmure.core.types import Array, Total


@dataclass(frozen=True)
class Memory:
    """Adds batch after batch; peak memory is one batch, whatever the number of people."""

    def total(self, step: Callable[[Array], Total], source: Iterable[Array]) -> Total:
        out: Total | None = None
        for batch in source:
            if len(batch):
                part = step(batch)
                out = part if out is None else out + part
        if out is None:
            raise EmptySource(
                "the source holds no rows: there is nobody to add up.",
                hint="check the path, the filter or the join",
            )
        return out


EXAMPLES = (Memory(),)
