"""How reports are written in a table: the plan in its metadata, a report in each cell.

Records have a column for each attribute that is randomised. Reports to one question are one column, named after the
column that the question is about.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from murmure.core.errors import InvalidParameter, MurmureError, OutsideDomain, Phrase
from murmure.core.schema import Schema
from murmure.core.types import Array
from murmure.engines.sources.table_reader import TableReader, murmure_metadata
from murmure.engines.sources.tables import open_table
from murmure.laws.records import Records
from murmure.local.base.report_columns import ReportColumnCodec
from murmure.plan.plan import Plan

PLAN_KEY, SEEDED_KEY = "murmure:plan", "murmure:seeded"
OUTSIDE_KEY = "murmure:randomised_outside"  # "yes" where devices of other people drew the reports
QUESTION_COLUMN = "report"  # where the question names no column


def record_schema(plan: Plan) -> Schema:
    """The schema of a plan about records."""
    schema = plan.statistic.domain
    if not isinstance(schema, Schema) or plan.person is None:
        raise InvalidParameter("a sanitised table answers a plan about records, got {got}.", got=plan.describe())
    return schema


def question_column(plan: Plan) -> str:
    """The column of a table that holds the reports to one question."""
    domain: Any = plan.statistic.domain
    return domain.column or QUESTION_COLUMN


@dataclass(frozen=True)
class TableFormat:
    """How the reports of a plan are written in the columns of a table, and read back."""

    plan: Plan

    @cached_property
    def cells(self) -> tuple[ReportColumnCodec, ...]:
        person = self.plan.person
        if person is None:
            raise InvalidParameter(
                "a table of reports answers a plan with a mechanism at the person, got {got}.", got=self.plan.describe()
            )
        if not self.plan.of_records:
            return (ReportColumnCodec(question_column(self.plan), person),)
        return tuple(ReportColumnCodec(name, part) for name, part in zip(person.columns, person.parts, strict=True))

    def schema(self, open_fields: Mapping[str, Any]) -> Any:
        """The Arrow schema: private columns, then public ones."""
        import pyarrow as pa

        fields = [pa.field(c.name, c.type) for c in self.cells]
        return pa.schema([*fields, *(pa.field(name, kind) for name, kind in open_fields.items())])

    def table(self, reports: Array | Records, carried: Mapping[str, Any], schema: Any) -> Any:
        import pyarrow as pa

        records = reports if isinstance(reports, Records) else Records(len(reports), (reports,))
        columns = [
            cells.write(part, records.n, None if records.rows is None else records.rows[i])
            for i, (cells, part) in enumerate(zip(self.cells, records.parts, strict=True))
        ]
        return pa.RecordBatch.from_arrays([*columns, *carried.values()], schema=schema)

    def reports(self, batch: Any) -> Array | Records:
        """Back from a table that was written so: records, or the reports to one question."""
        records = self.records(batch)
        return records if self.plan.of_records else records.parts[0]

    def records(self, batch: Any) -> Records:
        """The same; to one question, records of one attribute."""
        parts, rows = [], []
        counted = self.plan.of_records and self.plan.person.shows_some_columns
        for cells in self.cells:
            reports, shown = cells.read(batch.column(cells.name))
            if shown is not None and not counted:
                raise OutsideDomain.at(
                    Phrase("column {name!r}", name=cells.name),
                    int(np.setdiff1d(np.arange(batch.num_rows), shown)[0]),
                    Phrase("is missing; wanted a report."),
                    Phrase("the file was changed after it was sanitised"),
                )
            parts.append(reports)
            rows.append(np.arange(batch.num_rows) if shown is None else shown)
        if counted:
            self._refuse_other_draws(rows, batch.num_rows)
        return Records(batch.num_rows, tuple(parts), tuple(rows) if counted else None)

    def _refuse_other_draws(self, rows: list[Any], n: int) -> None:
        take = self.plan.person.channel.draw.take
        shows = np.zeros(n, np.int64)
        for shown_rows in rows:
            shows[shown_rows] += 1
        if (shows != take).any():
            row = int(np.argmax(shows != take))
            raise OutsideDomain.at(
                Phrase("the sanitised table"),
                row,
                Phrase("shows {show} columns; wanted {take}.", show=int(shows[row]), take=take),
                Phrase("the file was changed after it was sanitised"),
            )

    @property
    def kinds(self) -> dict[str, str]:
        """What the cells of each column are in a CSV file."""
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
            "{source_name} carries no plan: it was not written by murmure sanitise, or its metadata was lost.",
            hint=Phrase("the plan of a CSV file is beside it, in {beside}", beside=beside[0])
            if beside
            else "in Python: estimate(table, plan), with the plan that it was sanitised with",
            source_name=table.source_name,
        )
    return stored_plan(table.metadata)


def carries_plan(source: Any, engine: Any) -> bool:
    """Whether a table says which plan its cells answer: then this software made them.

    Whatever else is wrong with a table is for its reader to say.
    """
    if not isinstance(source, str | os.PathLike):
        if engine.accepts(source):
            return PLAN_KEY in engine.metadata(source)
        if type(source).__module__.partition(".")[0] != "pyarrow":
            return False  # other frames keep no metadata of ours
        return PLAN_KEY in murmure_metadata(getattr(getattr(source, "schema", None), "metadata", None))
    try:
        return PLAN_KEY in open_table(source).metadata
    except MurmureError:
        return False


def stored_plan(metadata: Mapping[str, str]) -> tuple[Plan, bool]:
    return Plan.from_json(metadata[PLAN_KEY]), metadata.get(SEEDED_KEY) != "no"
