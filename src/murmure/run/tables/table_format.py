"""A sanitised table, read by anyone: the plan is in its metadata, the reports are its cells."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from murmure.core.errors import InvalidParameter, MurmureError, OutsideDomain, PlanMismatch
from murmure.core.random import Random
from murmure.core.schema import Schema
from murmure.core.types import Release, Total
from murmure.engines.base.progress import with_progress
from murmure.engines.base.task import Task
from murmure.engines.memory import Memory
from murmure.engines.sources.table_reader import TableReader, murmure_metadata
from murmure.engines.sources.tables import open_table
from murmure.laws.records import Records
from murmure.local.base.report_columns import ReportColumnCodec
from murmure.plan.plan import Plan

PLAN_KEY, SEEDED_KEY = "murmure:plan", "murmure:seeded"


def record_schema(plan: Plan) -> Schema:
    """The schema of a plan about records."""
    schema = plan.statistic.domain
    if not isinstance(schema, Schema) or plan.person is None:
        raise InvalidParameter(f"a sanitised table answers a plan about records, got {plan.describe()}.")
    return schema


@dataclass(frozen=True)
class TableFormat:
    """How records of a plan stand in a table."""

    plan: Plan

    @cached_property
    def cells(self) -> tuple[ReportColumnCodec, ...]:
        person = self.plan.person
        return tuple(ReportColumnCodec(name, part) for name, part in zip(person.columns, person.parts, strict=True))

    def schema(self, open_fields: Mapping[str, Any]) -> Any:
        """The Arrow schema: private columns, then public ones."""
        import pyarrow as pa

        fields = [pa.field(c.name, c.type) for c in self.cells]
        return pa.schema([*fields, *(pa.field(name, kind) for name, kind in open_fields.items())])

    def table(self, records: Records, carried: Mapping[str, Any], schema: Any) -> Any:
        import pyarrow as pa

        columns = [
            cells.write(part, records.n, None if records.rows is None else records.rows[i])
            for i, (cells, part) in enumerate(zip(self.cells, records.parts, strict=True))
        ]
        return pa.RecordBatch.from_arrays([*columns, *carried.values()], schema=schema)

    def records(self, batch: Any) -> Records:
        """Back from a table that was written so."""
        parts, rows = [], []
        counted = self.plan.person.shows_some_columns
        for cells in self.cells:
            reports, shown = cells.read(batch.column(cells.name))
            if shown is not None and not counted:
                raise OutsideDomain.at(
                    f"column {cells.name!r}",
                    int(np.setdiff1d(np.arange(batch.num_rows), shown)[0]),
                    "is missing; wanted a report.",
                    "the file was changed after it was sanitised",
                )
            parts.append(reports)
            rows.append(np.arange(batch.num_rows) if shown is None else shown)
        if counted:
            self._refuse_other_draws(rows, batch.num_rows)
        return Records(batch.num_rows, tuple(parts), tuple(rows) if counted else None)

    def _refuse_other_draws(self, rows: list[Any], n: int) -> None:
        take = self.plan.person.channel.draw.take
        shows = np.zeros(n, np.int64)
        for held in rows:
            shows[held] += 1
        if (shows != take).any():
            row = int(np.argmax(shows != take))
            raise OutsideDomain.at(
                "the sanitised table",
                row,
                f"shows {int(shows[row])} columns; wanted {take}.",
                "the file was changed after it was sanitised",
            )

    @property
    def kinds(self) -> dict[str, str]:
        """How the cells stand in a CSV file."""
        import pyarrow as pa

        out = {}
        for cells in self.cells:
            kind = cells.type
            if pa.types.is_dictionary(kind) or cells.width is not None:
                out[cells.name] = "text"
            elif pa.types.is_boolean(kind):
                out[cells.name] = "boolean"
            else:
                out[cells.name] = "integer" if pa.types.is_integer(kind) else "real"
        return out


def plan_in_table(table: TableReader) -> tuple[Plan, bool]:
    """The plan in a sanitised table's metadata, and whether its randomness was seeded."""
    if PLAN_KEY not in table.metadata:
        beside = [f"{path.name}-metadata.json" for path in table.paths if path.suffix == ".csv"]
        raise InvalidParameter(
            f"{table.source_name} carries no plan: it was not written by murmure sanitize, or its metadata was lost.",
            hint=f"the plan of a CSV file stands beside it, in {beside[0]}"
            if beside
            else "in Python: estimate(table, plan), with the plan that it was sanitised with",
        )
    return _read_plan(table.metadata)


def carries_plan(source: Any) -> bool:
    """Whether a table says which plan its cells answer: then this software made them.

    Whatever else is wrong with a table is for its reader to say.
    """
    if type(source).__module__.startswith("pyspark."):
        return PLAN_KEY in _held_by_spark(source)
    if not isinstance(source, str | os.PathLike) and type(source).__module__.partition(".")[0] != "pyarrow":
        return False  # other frames keep no metadata of ours
    if not isinstance(source, str | os.PathLike):
        return PLAN_KEY in murmure_metadata(getattr(getattr(source, "schema", None), "metadata", None))
    try:
        return PLAN_KEY in open_table(source).metadata
    except MurmureError:
        return False


def _read_plan(metadata: Mapping[str, str]) -> tuple[Plan, bool]:
    return Plan.from_json(metadata[PLAN_KEY]), metadata.get(SEEDED_KEY) != "no"


def _held_by_spark(frame: Any) -> dict[str, str]:
    """What `sanitise` wrote to a column of a Spark DataFrame."""
    return next((dict(f.metadata) for f in frame.schema.fields if PLAN_KEY in (f.metadata or {})), {})


@dataclass(frozen=True)
class TableTallyStep:
    """One batch of a sanitised table, added up."""

    plan: Plan

    @property
    def columns(self) -> tuple[str, ...]:
        return self.plan.step.columns or ()

    @cached_property
    def format(self) -> TableFormat:
        return TableFormat(self.plan)

    def __call__(self, task: Task) -> Total:
        try:
            records = self.format.records(task.batch)
        except OutsideDomain as error:
            raise (error if task.first is None else error.later(task.first)) from None
        return Total(records.n, self.plan.tallier.tally(self.plan.weigh(records, task.batch)))


def estimate(source: Any, plan: Plan | None = None, statistic: Any = None, engine: Any = None) -> Release:
    """Figures from a sanitised table. The plan is the table's own, unless it is a frame without metadata.

    statistic: Marginals (the default) or a Pair of two columns that the mechanism reports together.
    """
    on_spark = type(source).__module__.startswith("pyspark.")
    table = None if on_spark else open_table(source)
    metadata = _held_by_spark(source) if table is None else table.metadata
    what, seeded = "the frame" if table is None else table.source_name, False
    if PLAN_KEY in metadata:
        held, seeded = _read_plan(metadata)
        if plan is not None and plan.digest != held.digest:
            raise PlanMismatch(f"{what} answers plan {held.digest[:12]}, not {plan.digest[:12]}.")
        plan = held
    elif plan is None:
        if table is None:
            raise InvalidParameter("this Spark DataFrame carries no plan.", hint="estimate(frame, plan)")
        plan_in_table(table)
    assert plan is not None
    if statistic is not None:
        plan = Plan(statistic, person=plan.person, unit=plan.unit, rows_per_person=plan.rows_per_person)
    step = TableTallyStep(plan)
    if on_spark:
        from murmure.engines.spark import Spark

        total = (engine or Spark()).total(step, source)
    else:
        total = (engine or Memory()).total(step, _read_tasks(open_table(source, step.columns, step.format.kinds)))
    return plan.settle(total, seeded)


def _read_tasks(table: TableReader) -> Iterator[Task]:
    first, rng = 0, Random.secure()  # nothing is drawn
    for batch in with_progress(table.batches(), table.rows, f"reading {table.source_name}"):
        yield Task(batch, rng, first)
        first += batch.num_rows
