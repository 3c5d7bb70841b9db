"""Rows that several questions of one run are about: read and decoded once while memory allows, else for each question.

An iterated regression asks for sums of the same columns at other parameters, round after round. What its sums read of a
row does not depend on the parameters, so it is kept, as floats, up to BUDGET bytes for all tables of a run together. A
table that does not fit is read again for each question, a batch at a time. The sums are the same whole numbers.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any

from murmure.core.types import Total
from murmure.engines.memory import Memory, with_rows
from murmure.plan.plan import Plan

BUDGET = 1 << 29  # bytes: five million rows of a regression on ten columns


@dataclass
class KeptTable:
    """What is kept of one table; batches is None if that was too much."""

    frame: Any  # held, so that no other object gets its number
    key: Hashable
    batches: list[Any] | None = field(default_factory=list)

    @property
    def nbytes(self) -> int:
        return sum(batch.nbytes for batch in self.batches or ())


class KeptRows:
    """The tables of one run, by what its last question read of them."""

    def __init__(self, budget: int = BUDGET) -> None:
        self.budget = budget
        self._tables: dict[int, KeptTable] = {}

    def total(self, plan: Plan, frame: Any, engine: Any, read: Callable[[], Iterable[Any]]) -> Total:
        """The sum that the plan asks for; `read` gives the tasks of an engine."""
        key = plan.step.column_key
        if key is None or not isinstance(engine, Memory):
            return engine.total(plan.step, read())  # type: ignore[no-any-return]
        table = self._table(plan, frame)
        if table is None:
            return self._first(plan, engine, self._begin(frame, key), read())
        if table.batches is None:
            return engine.total(plan.step, read())
        return engine.total(plan.step.tally_columns, table.batches)

    def holds(self, plan: Plan, frame: Any, engine: Any) -> bool:
        """Whether `total` will not read."""
        table = self._table(plan, frame) if isinstance(engine, Memory) else None
        return table is not None and table.batches is not None

    def _table(self, plan: Plan, frame: Any) -> KeptTable | None:
        key, table = plan.step.column_key, self._tables.get(id(frame))
        return table if table is not None and key is not None and table.key == key else None

    def _begin(self, frame: Any, key: Hashable) -> KeptTable:
        self._tables[id(frame)] = KeptTable(frame, key)  # other columns of the same table are not kept any longer
        return self._tables[id(frame)]

    def _first(self, plan: Plan, engine: Memory, table: KeptTable, tasks: Iterable[Any]) -> Total:
        room = self.budget - sum(other.nbytes for other in self._tables.values())
        step = plan.step

        lock = threading.Lock()

        def work(task: Any) -> tuple[Any, Total]:
            """What is kept of a batch, None where it does not fit; and its sums."""
            nonlocal room
            columns = step.columns_of(task)
            with lock:  # here and not below: an engine may do all batches before it returns the first
                room -= columns.nbytes
                fits = room >= 0
            return columns if fits else None, step.tally_columns(columns)

        out: Total | None = None
        try:
            for columns, part in engine.each(work, with_rows(tasks)):
                out = part if out is None else out + part
                if columns is None:
                    table.batches = None
                elif table.batches is not None:
                    table.batches.append(columns)
        except BaseException:
            del self._tables[id(table.frame)]
            raise
        return engine.total(step, ()) if out is None else out  # which refuses an empty source
