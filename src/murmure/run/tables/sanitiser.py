"""`sanitise`: a table randomised row by row before it leaves your organisation.

The sanitised table holds one randomised column for each private one, the public columns as they are, and the plan in
its metadata. So anyone who has the file can estimate, and nobody needs the original.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from murmure.core.errors import EmptySource, InvalidParameter, OutsideDomain, shorten
from murmure.core.random import Random, random_or_secure
from murmure.core.schema import Schema
from murmure.core.types import Certificate
from murmure.engines.base.progress import with_progress
from murmure.engines.base.task import Task, numbered
from murmure.engines.memory import Memory
from murmure.engines.sources.arrow_cells import detached, parse_column, parsed_type, plain_type
from murmure.engines.sources.rows_per_person import InvalidPolicy, RowsPerPerson, refuse_inexact_names, with_unit
from murmure.engines.sources.table_reader import TableReader
from murmure.engines.sources.table_writer import METADATA_MARK, write_table
from murmure.engines.sources.tables import open_table
from murmure.plan.plan import Plan
from murmure.run.tables.table_format import TableFormat, metadata_of, record_schema
from murmure.statistics.marginals import Marginals


@dataclass(frozen=True)
class Receipt:
    """What was done to a table: how many rows went in and came out, and what it costs the people in them."""

    rows: int
    dropped: int
    plan: Plan = field(repr=False)
    seeded: bool
    beyond: int = 0  # of those dropped, the rows beyond the bound of their person
    moved: Mapping[str, int] = field(default_factory=dict)  # rows at the nearest bound, by column: for the holder only
    path: str | None = None
    seconds: float = 0.0
    invalid: InvalidPolicy = "refuse"

    @cached_property
    def guarantees(self) -> Mapping[str, Certificate]:
        return self.plan.guarantees()


@dataclass(frozen=True)
class Sanitiser:
    """What happens to one batch; it travels to threads and to Spark's workers."""

    plan: Plan
    open_fields: Mapping[str, Any]
    invalid: InvalidPolicy = "refuse"
    moved: ClampedRows | None = None  # on this machine: how many numbers were moved to the nearest bound

    @property
    def columns(self) -> tuple[str, ...]:
        schema = record_schema(self.plan)
        return (*schema.private, *schema.open)

    @cached_property
    def format(self) -> TableFormat:
        return TableFormat(self.plan)

    @cached_property
    def schema(self) -> Any:
        return self.format.schema(self.open_fields)

    def __call__(self, task: Task) -> Any:
        """The sanitised batch; with invalid="drop" it may hold fewer rows."""
        schema = record_schema(self.plan)
        batch = task.batch
        try:
            if self.invalid == "drop":
                batch = readable_rows(batch, schema)
                codes, kept = schema.encode_valid(batch, public=True)
            else:
                codes, kept = schema.encode_kept(batch, public=schema.drops)
            if self.moved is not None:
                self.moved.add(schema.count_clamped(batch, kept))
            if not kept.all():
                import pyarrow as pa

                batch = batch.filter(pa.array(kept))
            # Arrow dictionaries may hold words that no row uses, and missing cells what was there earlier: `detached`
            # leaves both behind, so that neither gets into the sanitised table.
            kinds = schema.carried_kinds
            carried = {name: detached(parse_column(batch.column(name), kinds[name])[0]) for name in schema.open}
            schema.carry(carried)
        except OutsideDomain as error:
            raise (error if task.first is None else error.later(task.first)) from None
        records = self.plan.person.randomise(codes, task.rng, task.first or 0)
        return self.format.table(records, carried, self.schema)


class ClampedRows:
    """Of every column, how many rows were moved to its nearest bound; several threads add to it.

    An exact count of what rows hold: for their holder, and not for the sanitised table.
    """

    def __init__(self) -> None:
        self.by_column: dict[str, int] = {}
        self._lock = threading.Lock()

    def add(self, more: Mapping[str, int]) -> None:
        with self._lock:
            for name, rows in more.items():
                self.by_column[name] = self.by_column.get(name, 0) + rows


def readable_rows(batch: Any, schema: Schema) -> Any:
    """The rows whose text could be read as what the schema says; of other files than CSV, all."""
    import pyarrow as pa
    import pyarrow.compute as pc

    bad, columns = None, dict(zip(batch.schema.names, batch.columns, strict=True))
    for name, kind in schema.kinds.items():
        columns[name], wrong = parse_column(columns[name], kind)
        if wrong is not None:
            bad = wrong if bad is None else pc.or_(bad, wrong)
    read = pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))
    return read if bad is None else read.filter(pc.invert(bad))


def sanitise(
    source: Any,
    mechanism: Any,
    out: Any = None,
    *,
    invalid: InvalidPolicy = "refuse",
    unit: str = "row",
    rows_per_person: int = 1,
    rng: Random | None = None,
    overwrite: bool = False,
    before_release: Callable[[Receipt], None] | None = None,
) -> Any:
    """Randomise every row of a table with a mechanism of records.

    source: a path, pattern or folder of CSV, Parquet or Arrow files, any frame that Narwhals knows, an Arrow table, a
    Spark DataFrame. out: the path of the sanitised table (then a Receipt is returned), or None for an Arrow table (of a
    Spark DataFrame: a DataFrame). invalid: rows that the schema refuses are refused, or dropped and counted; what the
    schema itself moves or drops is said there, for each column (outside = "clamp", "drop").
    unit, rows_per_person: what one person is (see Plan). before_release is called once all rows are randomised and
    before the result gets its name: the place for a charge.

    >>> import murmure as mu
    >>> schema = mu.Schema({"smoker": mu.Categories(["no", "yes"]), "age": mu.Integers(18, 99)})
    >>> people = {"smoker": ["no", "yes", "no", "no"], "age": [25, 40, 55, 70]}
    >>> table = mu.sanitise(people, mu.Plain(schema, epsilon=4.0), rng=mu.Random.seeded(7))
    >>> print(table.to_pydict())
    {'smoker': ['no', 'yes', 'yes', 'no'], 'age': [77, 24, 99, 65]}
    """
    if invalid not in ("refuse", "drop"):
        raise InvalidParameter('sanitise.invalid must be "refuse" or "drop", got {got}.', got=shorten(invalid))
    schema = getattr(mechanism, "domain", None)
    if not isinstance(schema, Schema):
        raise InvalidParameter(
            "sanitise takes a mechanism of records, got {got}.",
            hint="SMP(schema, epsilon=1.0), SPL, RSFD, Plain ...",
            got=shorten(type(mechanism).__name__),
        )
    rng = random_or_secure(rng, "sanitise")
    plan = Plan(Marginals(schema), person=mechanism, unit=unit, rows_per_person=rows_per_person)
    if type(source).__module__.startswith("pyspark."):
        return _on_spark(source, plan, invalid, rng, out)
    began = time.perf_counter()
    job = _Rows(source, plan, invalid, rng)
    if out is None:
        import pyarrow as pa

        return pa.Table.from_batches(list(job.batches()), job.work.schema).replace_schema_metadata(
            {METADATA_MARK: "1", **job.metadata}
        )
    with write_table(out, job.work.schema, job.metadata, overwrite, job.table.paths) as target:
        for batch in job.batches():
            target.write(batch)
        target.finish()  # a disk that fills does so before anybody is charged
        seconds = time.perf_counter() - began
        moved = {name: rows for name, rows in job.moved.by_column.items() if rows}
        receipt = Receipt(job.rows, job.dropped, plan, rng.is_seeded, job.beyond, moved, str(out), seconds, invalid)
        if before_release is not None:
            before_release(receipt)
    return receipt


class _Rows:
    """The rows of one source on their way through a sanitiser, counted."""

    def __init__(self, source: Any, plan: Plan, invalid: InvalidPolicy, rng: Random) -> None:
        schema, unit = record_schema(plan), plan.unit
        wanted = with_unit((*schema.private, *schema.open), unit)
        kinds = schema.kinds
        if invalid == "drop":  # a CSV is then read as text: what is no number is dropped with its row
            kinds = dict.fromkeys(kinds, "text")
        self.table: TableReader = open_table(source, wanted, kinds if unit == "row" else {unit: "name"} | kinds)
        if unit != "row":
            refuse_inexact_names(self.table, unit)
        types = {name: self.table.schema.field(name).type for name in schema.open}
        open_fields = {name: parsed_type(plain_type(kind), schema.carried_kinds[name]) for name, kind in types.items()}
        self.moved = ClampedRows()
        self.work = Sanitiser(plan, open_fields, invalid, self.moved)
        self.people = None if unit == "row" else RowsPerPerson(unit, plan.rows_per_person, invalid)
        self.rng, self.rows, self.read, self.beyond = rng.branch(), 0, 0, 0
        self.metadata = metadata_of(plan, rng)

    @property
    def dropped(self) -> int:
        return self.read - self.rows

    def batches(self) -> Iterator[Any]:
        for batch in Memory().each(self.work, self._tasks()):
            self.rows += batch.num_rows
            yield batch
        if self.read == 0:
            raise EmptySource("the source has no rows: there is nothing to sanitise.")
        if self.rows == 0:
            raise EmptySource("none of {read} rows fits the schema: there is nothing to write.", read=self.read)

    def _tasks(self) -> Iterator[Task]:
        batches = with_progress(self.table.batches(), self.table.rows, f"sanitising {self.table.source_name}")
        return numbered(batches, self.rng.child, self._admit)

    def _admit(self, batch: Any, first: int) -> Any:
        self.read += batch.num_rows
        if self.people is None:
            return batch
        if self.work.invalid == "drop":  # names are compared as they are written out
            batch = readable_rows(batch, record_schema(self.work.plan))
        admitted = self.people.admit(batch, first)
        self.beyond += batch.num_rows - admitted.num_rows
        return admitted


def _on_spark(frame: Any, plan: Plan, invalid: InvalidPolicy, rng: Random, out: Any) -> Any:
    from murmure.engines.spark import Spark

    if plan.unit != "row":
        raise InvalidParameter("on Spark the unit must be the row: the rows of one person may be on several workers.")
    if out is not None:
        raise InvalidParameter("on Spark sanitise returns a DataFrame; write it with frame.write.parquet(...).")
    schema = record_schema(plan)
    open_fields = {name: plain_type(kind) for name, kind in Spark.arrow_types(frame, schema.open).items()}
    work = Sanitiser(plan, open_fields, invalid)
    out = Spark().map(work, frame, work.schema, rng.branch())
    metadata = {METADATA_MARK: "1", **metadata_of(plan, rng)}
    return out.withMetadata(schema.private[0], metadata)  # it stays with the column, in Spark and in Parquet
