"""`run(plan, data)`: the whole way from rows to a release."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from typing import Any

from murmure.core.errors import InvalidParameter, PlanRefused, shorten
from murmure.core.random import Random, random_or_secure
from murmure.core.schema import Schema, kind_of
from murmure.core.types import Release
from murmure.engines.frames import batches, pick
from murmure.engines.memory import Memory
from murmure.engines.progress import rows_of, watched
from murmure.engines.task import Task
from murmure.plan import Plan


def run(plan: Plan, frame: Any, engine: Any = None, ledger: Any = None, rng: Random | None = None) -> Release:
    """Randomise, add up and estimate. Secure randomness unless a seeded generator is passed; then the release says so.

    frame: a list, an array, a pandas, Polars or Arrow table, a DuckDB relation, or the path of a CSV or Parquet file.
    """
    if not isinstance(plan, Plan):
        raise InvalidParameter(
            f"run takes a Plan, got {shorten(type(plan).__name__)}.",
            hint="run(plan, frame), with plan = Plan(Histogram(domain), person=GRR(...))",
        )
    if ledger is not None:
        raise PlanRefused("Plan refused: this version keeps no ledger; at the person each report pays for itself.")
    rng = random_or_secure(rng, "run")
    began = time.perf_counter()
    engine = engine or engine_for(frame)
    if hasattr(engine, "reads") and engine.reads(frame):  # it cuts the rows where they lie
        if plan.unit != "row":
            raise PlanRefused("Plan refused: on Spark the unit is the row; rows of one person lie on several workers.")
        total = engine.total(plan.step, frame, rng.branch())
    else:
        total = engine.total(plan.step, tasks(plan, frame, rng))
    release = plan.settle(total, seeded=rng.is_seeded and plan.person is not None)
    object.__setattr__(release, "seconds", time.perf_counter() - began)
    return release


def engine_for(frame: Any) -> Any:
    """Spark for a Spark frame, this machine for anything else."""
    if type(frame).__module__.startswith("pyspark."):
        from murmure.engines.spark import Spark

        return Spark()
    return Memory()


def tasks(plan: Plan, frame: Any, rng: Random) -> Iterator[Task]:
    """The rows in batches, each with its own generator, so that threads cannot change a seeded run."""
    from murmure.engines.people import RowsPerPerson, with_unit
    from murmure.engines.tables import open_table

    domain = plan.statistic.domain
    source: Iterable[Any]
    people = None
    if plan.unit != "row":
        people = RowsPerPerson(plan.unit, plan.rows_per_person, "refuse")
    if isinstance(domain, Schema) or people is not None:
        columns = plan.step.columns
        if columns is None:
            raise PlanRefused(
                f"Plan refused: its unit is column {plan.unit!r}, and its domain names no column of that table.",
                hint="take the domain from a schema",
            )
        kinds = domain.kinds if isinstance(domain, Schema) else {columns[0]: kind_of(domain)}
        table = open_table(frame, with_unit(columns, plan.unit), kinds)
        source, rows = table.batches(), table.rows
    elif isinstance(frame, str | os.PathLike):
        column = pick(list(open_table(frame).names), domain.column, str(frame))
        table = open_table(frame, [column], {column: kind_of(domain)})
        source, rows = (batch.column(0) for batch in table.batches()), table.rows
    else:
        source, rows = batches(frame, domain.column), rows_of(frame)
    first, branch = 0, rng.branch()
    for i, batch in enumerate(watched(source, rows, plan.describe())):
        if people is not None:
            batch = people.admit(batch, first)
        task = Task(batch, branch.child(i) if i else rng, first)  # one batch alone is what plan.report would make of it
        yield task
        first += len(task)
