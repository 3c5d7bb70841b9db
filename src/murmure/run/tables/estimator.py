"""Figures from a file of reports: anyone who has it can estimate, because the plan is in it.

A sanitised table, or what a collector exports: tables of records or of the reports to one question, with the plan in
their metadata, and JSON (sent_file.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

from murmure.core.errors import EmptySource, InvalidParameter, OutsideDomain, Phrase, PlanMismatch
from murmure.core.estimates.column_estimates import Estimates
from murmure.core.types import Answer, Release, Statistic, Total
from murmure.engines.base.progress import with_progress
from murmure.engines.base.task import BatchStep, Task, unrandomised
from murmure.engines.sources.table_reader import TableReader
from murmure.engines.sources.tables import open_table
from murmure.laws.records import Records
from murmure.plan.plan import Plan
from murmure.run.engine_choice import engine_for, is_on
from murmure.run.tables.asked_plans import asked_plan
from murmure.run.tables.sent_file import SentFile, is_sent_file
from murmure.run.tables.table_format import (
    OUTSIDE_KEY,
    PLAN_KEY,
    TableFormat,
    plan_in_table,
    question_column,
    stored_plan,
)


@dataclass(frozen=True)
class TableTallyStep(BatchStep):
    """One batch of a sanitised table, added up."""

    plan: Plan

    @property
    def columns(self) -> tuple[str, ...]:
        if not self.plan.of_records:
            return (question_column(self.plan),)
        return self.plan.step.columns or ()

    @cached_property
    def format(self) -> TableFormat:
        return TableFormat(self.plan)

    def __call__(self, task: Task) -> Total:
        try:
            reports = self.format.reports(task.batch)
        except OutsideDomain as error:
            raise (error if task.first is None else error.later(task.first)) from None
        if isinstance(reports, Records):
            reports = self.plan.weigh(reports, task.batch)
        return Total(len(reports), self.plan.tallier.tally(reports))


@overload
def estimate(source: Any, plan: None = None, statistic: None = None, engine: Any = None) -> Release[Estimates]: ...


@overload
def estimate(source: Any, plan: Plan[Answer], statistic: None = None, engine: Any = None) -> Release[Answer]: ...


@overload
def estimate(
    source: Any, plan: Plan | None = None, statistic: Statistic[Answer] = ..., engine: Any = None
) -> Release[Answer]: ...


def estimate(source: Any, plan: Plan | None = None, statistic: Any = None, engine: Any = None) -> Release:
    """Figures from a sanitised table, or from the reports that a collector exported (Parquet, CSV or JSON).

    The plan is the table's own, unless it is a frame without metadata. Of records the figures are Estimates, of one
    question they are its Estimate. statistic: Marginals (the default for records) or a Pair of two columns that the
    mechanism reports together.

    >>> import murmure as mu
    >>> schema = mu.Schema({"smoker": mu.Categories(["no", "yes"]), "region": mu.Categories(3)})
    >>> people = {"smoker": ["no", "no", "no", "yes"] * 500, "region": [0, 0, 1, 2] * 500}
    >>> table = mu.sanitise(people, mu.SPL(schema, epsilon=2.0), rng=mu.Random.seeded(7))
    >>> print(mu.estimate(table).estimate["smoker"])
            share       low      high
    no     0.7315    0.6895    0.7740
    yes    0.2685    0.2260    0.3105
    <BLANKLINE>
    2,000 people; 95% intervals by exact inversion (every share under which such a count is not rare),
      for these people (fixed population)
    >>> print(mu.estimate(table, statistic=mu.Pair(schema, "smoker", "region")).estimate)
               share       low      high
    no, 0     0.5253    0.4474    0.6042
    no, 1     0.2292    0.1598    0.2997
    no, 2    -0.0229    0.0000    0.0460
    yes, 0    0.0461    0.0000    0.1137
    yes, 1   -0.0272    0.0000    0.0324
    yes, 2    0.2496    0.1881    0.3122
    <BLANKLINE>
    2,000 people; 95% intervals by score (every value under which such reports are not rare, by a normal
      curve), for these people (fixed population)
    An unbiased estimate can fall outside what is possible; its interval keeps to what is possible, so
      here an estimate lies outside its interval.
    """
    if is_sent_file(source):
        return _estimate_sent(SentFile(source), plan, statistic, engine)
    engine = engine_for(source, engine)
    table = None if is_on(engine, source) else open_table(source)
    metadata = engine.metadata(source) if table is None else table.metadata
    what, seeded = Phrase("the frame") if table is None else table.source_name, False
    if PLAN_KEY in metadata:
        stored, seeded = stored_plan(metadata)
        _refuse_other_plan(what, stored, plan)
        plan = stored
    elif plan is None:
        if table is None:
            raise InvalidParameter("this frame carries no plan.", hint="estimate(frame, plan)")
        plan_in_table(table)
    assert plan is not None
    plan = asked_plan(plan, statistic)
    step = TableTallyStep(plan)
    rows = source if engine.accepts(source) else _tasks(open_table(source, step.columns, step.format.kinds))
    release = plan.settle(engine.total(step, rows), seeded)
    return _outside(release) if metadata.get(OUTSIDE_KEY) == "yes" else release


def _refuse_other_plan(what: str, stored: Plan, plan: Plan | None) -> None:
    if plan is not None and plan.digest != stored.digest:
        raise PlanMismatch(
            "{what} answers plan {digest}, not {plan_digest}.",
            what=what,
            digest=stored.digest[:12],
            plan_digest=plan.digest[:12],
        )


def _estimate_sent(file: SentFile, plan: Plan | None, statistic: Any, engine: Any) -> Release:
    if engine is not None:
        raise InvalidParameter("estimate takes no engine for reports in JSON.", hint="leave the engine out")
    _refuse_other_plan(file.name, file.plan, plan)
    plan = asked_plan(file.plan, statistic)
    total = None
    for reports in file.blocks():
        part = Total(len(reports), plan.tallier.tally(reports.data))
        total = part if total is None else total + part
    if total is None:
        raise EmptySource("{name!r} has no reports: there is nobody to add up.", name=file.name)
    return _outside(plan.settle(total, file.seeded))  # sent by devices of other people


def _outside(release: Release) -> Release:
    from murmure.run.outside_reports import mark_outside  # which reads tables itself

    return mark_outside(release)


def _tasks(table: TableReader) -> Iterator[Task]:
    return unrandomised(with_progress(table.batches(), table.rows, f"reading {table.source_name}"))
