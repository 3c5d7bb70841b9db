"""What an engine does with one batch of rows under a plan: randomise and tally at once, so that no report is kept."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from murmure.core.errors import OutsideDomain
from murmure.core.schema import Schema
from murmure.core.types import Total
from murmure.engines.base.task import BatchStep, Task, column_of_batch

if TYPE_CHECKING:
    from murmure.plan.plan import Plan


@dataclass(frozen=True)
class BatchColumns:
    """What sums need of the rows of one batch, how many there were, and how many of them count."""

    rows: int
    counted: int
    columns: Any

    def __len__(self) -> int:
        return self.rows

    @property
    def nbytes(self) -> int:
        return int(self.columns.nbytes)


@dataclass(frozen=True)
class TallyStep(BatchStep):
    """One batch: randomised and added up where it lies. It travels to other threads, processes and machines."""

    plan: Plan

    @property
    def columns(self) -> tuple[str, ...] | None:
        """All that is read of a table; None where the plan names no column."""
        domain = self.plan.statistic.domain
        if isinstance(domain, Schema):
            return domain.private if self.plan.statistic.weights is None else (*domain.private, *domain.open)
        return None if domain.column is None else (domain.column,)

    @property
    def lenient(self) -> bool:
        """Whether rows are read whatever they hold."""
        return self.plan.lenient

    @property
    def column_key(self) -> Hashable:
        """Two steps with this key read the same columns of a batch; None: they cannot be kept apart from the sums."""
        plan, key = self.plan, self.plan.statistic.column_key
        return None if key is None or plan.person is not None or plan.unit != "row" else (key, plan.lenient, plan.drops)

    def columns_of(self, task: Task) -> BatchColumns:
        """What the sums need of a batch, where there is a key."""
        try:
            n, codes = self._codes(task)
        except OutsideDomain as error:
            raise (error if task.first is None else error.later(task.first)) from None
        return BatchColumns(len(task), n, self.plan.statistic.columns_of(codes))

    def tally_columns(self, batch: BatchColumns) -> Total:
        return Total(batch.counted, self.plan.statistic.tally_columns(batch.columns))

    def _codes(self, task: Task) -> tuple[int, Any]:
        """Of rows that nobody randomised: how many count, and their codes."""
        plan = self.plan
        domain = plan.statistic.domain
        rows = task.batch if isinstance(domain, Schema) else column_of_batch(task.batch, domain.column)
        if plan.lenient:  # whatever a row holds, it is added, and nothing is refused
            return len(task), plan.statistic.encode_lenient(rows)
        codes = plan.statistic.encode(rows)
        n = len(codes[0]) if isinstance(codes, tuple) and codes else len(codes)
        return (n if plan.drops else len(task)), codes

    def __call__(self, task: Task) -> Total:
        plan = self.plan
        try:
            if plan.lenient or plan.person is None:
                n, codes = self._codes(task)
                return Total(n, plan.statistic.tally(codes))
            domain = plan.statistic.domain
            rows = task.batch if isinstance(domain, Schema) else column_of_batch(task.batch, domain.column)
            if not isinstance(domain, Schema):
                reports = plan.person.report(rows, task.rng)
                return Total(len(reports) if plan.drops else len(task), plan.tallier.tally(reports))
            public = plan.drops and plan.statistic.weights is not None  # then these columns are read too
            codes, kept = domain.encode_kept(rows, public)
            records = plan.person.randomise(codes, task.rng, task.first or 0)
            return Total(len(records), plan.tallier.tally(plan.weigh(records, rows, kept)))
        except OutsideDomain as error:  # the row of the whole source, not of its batch
            raise (error if task.first is None else error.later(task.first)) from None
