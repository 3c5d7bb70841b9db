"""`sanitise`: a table randomised row by row before it leaves your organisation.

The sanitised table holds one randomised column for each private one, the public columns as they are, and the plan in
its metadata. So anyone who has the file can estimate, and nobody needs the original.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import add
from typing import Any, NamedTuple, TypedDict, Unpack, overload

from murmure.core.domain import Dates
from murmure.core.errors import EmptySource, InvalidParameter, OutsideDomain, shorten
from murmure.core.random import Random, random_or_secure
from murmure.core.schema import Schema
from murmure.core.types import Certificate, Mechanism, Release, Total
from murmure.engines.base.progress import with_progress
from murmure.engines.base.task import BatchStep, Task, numbered
from murmure.engines.sources.arrow_cells import detached, parse_column, parsed_type, plain_type, unmarked
from murmure.engines.sources.data_file import described
from murmure.engines.sources.rows_per_person import InvalidPolicy, RowsPerPerson, refuse_inexact_names, with_unit
from murmure.engines.sources.table_reader import TableReader
from murmure.engines.sources.table_writer import METADATA_MARK, write_table
from murmure.engines.sources.tables import open_table
from murmure.plan.plan import Plan
from murmure.run.billing import TablePayment
from murmure.run.engine_choice import engine_for, is_on
from murmure.run.tables.asked_plans import asked_plan, asked_plans
from murmure.run.tables.table_format import PLAN_KEY, SEEDED_KEY, TableFormat, record_schema
from murmure.show.document import Document, Shown
from murmure.statistics.marginals import Marginals


@dataclass(frozen=True)
class Receipt(Shown):
    """What was done to a table: how many rows went in and came out, and what it costs the people in them.

    Of a frame that stays on its engine nobody counted them: rows and dropped are then 0.
    """

    rows: int
    dropped: int
    plan: Plan = field(repr=False)
    seeded: bool
    beyond: int = 0  # of those dropped, the rows beyond the bound of their person
    moved: Mapping[str, int] = field(default_factory=dict)  # rows at the nearest bound, by column: for the holder only
    path: str | None = None
    seconds: float = 0.0
    invalid: InvalidPolicy = "refuse"
    charge: Any = field(default=None, repr=False)  # what a ledger charged
    # of each statistic that was asked for, what the written reports add up to
    sums: tuple[tuple[Plan, Total], ...] = field(default=(), repr=False, compare=False)

    @cached_property
    def guarantees(self) -> Mapping[str, Certificate]:
        return self.plan.guarantees()

    def estimate(self, statistic: Any = None) -> Release[Any]:
        """The figures of the table as it was written, which `murmure.estimate` would read off the file.

        statistic: one that `sanitise(estimate=...)` counted; the first of them if none is named.
        """
        wanted = self.sums[0][0] if self.sums and statistic is None else asked_plan(self.plan, statistic)
        for plan, total in self.sums:
            if plan.digest == wanted.digest:
                return plan.settle(total, self.seeded)
        raise InvalidParameter(
            "this run did not count {question} while it wrote the table.",
            hint="murmure.estimate(path, statistic=...) reads the file; sanitise(..., estimate=...) says in advance "
            "what is to be counted",
            question=wanted.statistic.in_words(),
        )

    def document(self) -> Document:
        from murmure.run.tables.receipt_document import receipt_document

        return receipt_document(self)


class SanitisedBatch(NamedTuple):
    """Reports in Arrow; how many rows were moved to the nearest bound of each column; and what the reports add up to.

    The second is an exact count of what rows hold: for their holder, and not for the sanitised table.
    """

    batch: Any
    moved: dict[str, int]
    totals: tuple[Total, ...]


@dataclass(frozen=True)
class Sanitiser(BatchStep):
    """What happens to one batch; it travels to threads and to the workers of an engine."""

    plan: Plan
    schema: Any  # Arrow's, of the sanitised table
    invalid: InvalidPolicy = "refuse"
    asked: tuple[Plan, ...] = ()  # whose sums are counted while the reports are at hand

    @property
    def columns(self) -> tuple[str, ...]:
        schema = record_schema(self.plan)
        return (*schema.private, *schema.open)

    @cached_property
    def format(self) -> TableFormat:
        return TableFormat(self.plan)

    def __call__(self, task: Task) -> Any:
        """The sanitised batch; with invalid="drop" it may hold fewer rows."""
        return self.counted(task).batch

    def counted(self, task: Task) -> SanitisedBatch:
        schema = record_schema(self.plan)
        batch = task.batch
        try:
            if self.invalid == "drop":
                batch = readable_rows(batch, schema)
                codes, kept = schema.encode_valid(batch, public=True)
            else:
                codes, kept = schema.encode_kept(batch, public=schema.drops)
            moved = schema.count_clamped(batch, kept)
            if not kept.all():
                import pyarrow as pa

                batch = batch.filter(pa.array(kept))
            # Arrow dictionaries may hold words that no row uses, and missing cells what was there earlier: `detached`
            # leaves both behind, so that neither gets into the sanitised table.
            kinds = schema.carried_kinds
            carried = {name: detached(parse_column(batch.column(name), kinds[name])[0]) for name in schema.open}
            carried |= {name: unmarked(carried[name]) for name in carried if isinstance(schema[name], Dates)}
            schema.carry(carried)
        except OutsideDomain as error:
            raise (error if task.first is None else error.later(task.first)) from None
        records = self.plan.person.randomise(codes, task.rng, task.first or 0)
        written = self.format.table(records, carried, self.schema)
        totals = tuple(Total(len(records), p.tallier.tally(p.weigh(records, written))) for p in self.asked)
        return SanitisedBatch(written, moved, totals)


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


class SanitiseSettings(TypedDict, total=False):
    """The other arguments of `sanitise`, for type checkers."""

    invalid: InvalidPolicy
    unit: str
    rows_per_person: int
    rng: Random | None
    engine: Any
    overwrite: bool
    ledger: Any
    estimate: Any


@overload
def sanitise(source: Any, mechanism: Any, out: None = None, **settings: Unpack[SanitiseSettings]) -> Any: ...


@overload
def sanitise(
    source: Any, mechanism: Any, out: str | os.PathLike[str], **settings: Unpack[SanitiseSettings]
) -> Receipt: ...


def sanitise(
    source: Any,
    mechanism: Any,
    out: Any = None,
    *,
    invalid: InvalidPolicy = "refuse",
    unit: str = "row",
    rows_per_person: int = 1,
    rng: Random | None = None,
    engine: Any = None,
    overwrite: bool = False,
    ledger: Any = None,
    estimate: Any = False,
) -> Any:
    """Randomise every row of a table with a mechanism of records.

    source: a path, pattern or folder of CSV, Parquet or Arrow files, any frame that Narwhals knows, an Arrow table, a
    Spark DataFrame. out: the path of the sanitised table (then a Receipt is returned), or None for an Arrow table (of a
    Spark DataFrame: a DataFrame). engine: where rows are randomised; a seed gives the same table on every engine, but
    for frames that an engine cuts into batches itself. invalid: rows that the schema refuses are refused, or dropped
    and counted; what the schema itself moves or drops is said there, for each column (outside = "clamp", "drop").
    unit, rows_per_person: what one person is (see Plan). ledger: the account that adds up what these people pay, or a
    ledger where the source is a file. It is charged once all rows are randomised, before the result has a name; a
    budget is not needed, and holds if there is one. estimate: True, a statistic (Marginals, a Pair) or several: the
    reports are counted while they are written, and the receipt's `estimate()` has the figures of the file without
    reading it again. No count is left in the file: `murmure.estimate` counts what the file holds when it is read.

    >>> import murmure as mu
    >>> schema = mu.Schema({"smoker": mu.Categories(["no", "yes"]), "age": mu.Integers(18, 99)})
    >>> people = {"smoker": ["no", "yes", "no", "no"], "age": [25, 40, 55, 70]}
    >>> table = mu.sanitise(people, mu.Plain(schema, epsilon=4.0), rng=mu.Random.seeded(7))
    >>> print(table.to_pydict())
    {'smoker': ['no', 'yes', 'yes', 'no'], 'age': [77, 24, 99, 65]}
    """
    if invalid not in ("refuse", "drop"):
        raise InvalidParameter('sanitise.invalid must be "refuse" or "drop", got {got}.', got=shorten(invalid))
    schema = mechanism.domain if isinstance(mechanism, Mechanism) else None
    if not isinstance(schema, Schema):
        raise InvalidParameter(
            "sanitise takes a mechanism of records, got {got}.",
            hint="SMP(schema, epsilon=1.0), SPL, RSFD, Plain ...",
            got=shorten(type(mechanism).__name__),
        )
    source = described(source, schema)
    rng = random_or_secure(rng, "sanitise")
    plan = Plan(Marginals(schema), person=mechanism, unit=unit, rows_per_person=rows_per_person)
    asked = asked_plans(plan, estimate)
    if asked and out is None:
        raise InvalidParameter(
            "sanitise.estimate is for tables that are written to a path: without one no receipt is returned.",
            hint="murmure.estimate(table) counts a table that is in memory or on an engine",
        )
    payment = TablePayment.open(ledger, source, plan, rng, out)
    job = SanitiseJob(source, plan, invalid, rng, engine_for(source, engine), out, overwrite, asked)
    with job.randomised() as (receipt, table):
        # All rows are randomised, and nothing has its name yet, whatever the engine and the output.
        charge = payment.pay()
    return replace(receipt, charge=charge) if table is None else table


@dataclass(frozen=True)
class SanitiseJob:
    """One source on its way to a sanitised table."""

    source: Any
    plan: Plan
    invalid: InvalidPolicy
    rng: Random
    engine: Any
    out: Any
    overwrite: bool
    asked: tuple[Plan, ...] = ()

    @contextmanager
    def randomised(self) -> Iterator[tuple[Receipt, Any]]:
        """What was done, and the table, if it is no file; a file gets its name when the context ends without error."""
        began, seeded = time.perf_counter(), self.rng.is_seeded
        metadata = {PLAN_KEY: self.plan.to_json(), SEEDED_KEY: "yes" if seeded else "no"}
        if is_on(self.engine, self.source):
            table = self._map(metadata)
            yield Receipt(0, 0, self.plan, seeded, seconds=time.perf_counter() - began, invalid=self.invalid), table
            return
        rows = _Rows(self.source, self.plan, self.invalid, self.rng, self.engine, self.asked)
        if self.out is None:
            import pyarrow as pa

            table = pa.Table.from_batches(list(rows.batches()), rows.work.schema)
            yield rows.receipt(None, began), table.replace_schema_metadata({METADATA_MARK: "1", **metadata})
            return
        reports = record_schema(self.plan).private
        with write_table(self.out, rows.work.schema, metadata, self.overwrite, rows.table.paths, reports) as target:
            for batch in rows.batches():
                target.write(batch)
            target.finish()  # a disk that fills does so before anybody is charged
            yield rows.receipt(str(self.out), began), None

    def _map(self, metadata: Mapping[str, str]) -> Any:
        """Of a frame of the engine, another frame of the engine."""
        name, schema = type(self.engine).__name__, record_schema(self.plan)
        if self.plan.unit != "row":
            raise InvalidParameter(
                "on {name} the unit must be the row: the rows of one person may be on several workers.", name=name
            )
        if self.out is not None:
            raise InvalidParameter(
                "on {name} sanitise returns a frame, and writes no file.",
                hint="leave out the path, and write the frame: on Spark with frame.write.parquet(...)",
                name=name,
            )
        types = self.engine.arrow_types(self.source, schema.open)
        written = TableFormat(self.plan).schema({column: plain_type(kind) for column, kind in types.items()})
        work = Sanitiser(self.plan, written, self.invalid)
        return self.engine.map(work, self.source, written, self.rng.branch(), metadata)


class _Rows:
    """The rows of one source on their way through a sanitiser, counted."""

    def __init__(
        self, source: Any, plan: Plan, invalid: InvalidPolicy, rng: Random, engine: Any, asked: tuple[Plan, ...]
    ) -> None:
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
        self.work = Sanitiser(plan, TableFormat(plan).schema(open_fields), invalid, asked)
        self.people = None if unit == "row" else RowsPerPerson(unit, plan.rows_per_person, invalid)
        self.rng, self.engine, self.seeded = rng.branch(), engine, rng.is_seeded
        self.rows, self.read, self.beyond = 0, 0, 0
        self.moved: Counter[str] = Counter()
        self.totals: tuple[Total, ...] = ()

    def batches(self) -> Iterator[Any]:
        rows = with_progress(self.table.batches(), self.table.rows, f"sanitising {self.table.source_name}")
        for batch, moved, totals in self.engine.each(self.work.counted, numbered(rows, self.rng.child, self._admit)):
            self.rows += batch.num_rows
            self.moved.update(moved)
            self.totals = tuple(map(add, self.totals, totals)) if self.totals else totals
            yield batch
        if self.read == 0:
            raise EmptySource("the source has no rows: there is nothing to sanitise.")
        if self.rows == 0:
            raise EmptySource("none of {read} rows fits the schema: there is nothing to write.", read=self.read)

    def _admit(self, batch: Any, first: int) -> Any:
        self.read += batch.num_rows
        if self.people is None:
            return batch
        if self.work.invalid == "drop":  # names are compared as they are written out
            batch = readable_rows(batch, record_schema(self.work.plan))
        admitted = self.people.admit(batch, first)
        self.beyond += batch.num_rows - admitted.num_rows
        return admitted

    def receipt(self, path: str | None, began: float) -> Receipt:
        moved, dropped = {name: rows for name, rows in self.moved.items() if rows}, self.read - self.rows
        seconds, work = time.perf_counter() - began, self.work
        sums = tuple(zip(work.asked, self.totals, strict=True))
        return Receipt(
            self.rows, dropped, work.plan, self.seeded, self.beyond, moved, path, seconds, work.invalid, sums=sums
        )
