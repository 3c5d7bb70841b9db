"""The sum that a plan asks for, on this machine or on Spark: rows in batches, randomised and added where they lie."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from murmure.core.column import kind_of, lenient_kind_of
from murmure.core.errors import EmptySource, MurmureError, OutsideDomain, Phrase, PlanRefused
from murmure.core.random import Random
from murmure.core.schema import Schema
from murmure.core.types import Total
from murmure.engines.base.progress import with_progress
from murmure.engines.base.task import Task, numbered
from murmure.engines.sources.column_batches import batches, pick_column
from murmure.laws.kernel_loader import threads
from murmure.plan.plan import Plan
from murmure.run.engine_choice import engine_for
from murmure.run.kept_rows import KeptRows


@dataclass(frozen=True)
class SeparateTables:
    """Tables of several parties that one person holds: added up in the clear, each as the table of one party."""

    frames: tuple[Any, ...] = field(repr=False)


def total(plan: Plan, frame: Any, engine: Any, rng: Random, kept: KeptRows | None = None) -> Total:
    """The sum that the plan asks for. Under a curator an empty source is a sum too: it is not revealed that it is.

    kept: what earlier questions of the same run read of the same frames.
    """
    if isinstance(frame, SeparateTables):
        return _total_of_separate(plan, frame, engine, rng, kept)
    engine = engine_for(frame, engine)
    try:
        if engine.accepts(frame):  # it cuts the rows where they are
            if plan.unit != "row":
                frame = _limit_rows_per_person(plan, frame, engine)
            out = engine.total(plan.step, frame, rng.branch())
        elif kept is not None:
            if plan.curator is not None and kept.holds(plan, frame, engine):
                rng.branch()  # as reading them would: noise must not depend on what is kept
            out = kept.total(plan, frame, engine, lambda: tasks(plan, frame, rng))
        else:
            out = engine.total(plan.step, tasks(plan, frame, rng))
    except EmptySource:
        if not plan.lenient:
            raise
        out = Total(0, np.zeros(plan.statistic.width, np.int64))
    return plan.statistic.party_contribution(out)


def _total_of_separate(plan: Plan, tables: SeparateTables, engine: Any, rng: Random, kept: KeptRows | None) -> Total:
    out: Total | None = None
    for i, frame in enumerate(tables.frames):
        try:
            part = total(plan, frame, engine, rng.branch(), kept)
        except MurmureError as error:
            raise at_party(error, i) from None
        out = part if out is None else out + part
    assert out is not None
    return out


def at_party(error: MurmureError, i: int) -> MurmureError:
    """The same error, which says at which party."""
    if isinstance(error, OutsideDomain) and error.row is not None:
        who, row, rest = error.row
        return OutsideDomain.at(Phrase("party {number}: {who}", number=i + 1, who=who), row, rest, error.hint)
    return error.within("party {number}: {message}", number=i + 1)


def _limit_rows_per_person(plan: Plan, frame: Any, engine: Any) -> Any:
    """At the curator rows beyond the bound are left out, which Spark can do; at the person they are refused."""
    columns = plan.step.columns
    if plan.curator is None or columns is None:
        raise PlanRefused(
            "Plan refused: on Spark the unit must be the row; the rows of one person may be on several workers."
        )
    return engine.bounded(frame, columns, plan.unit, int(plan.rows_per_person))


def _is_table(frame: Any) -> bool:
    """Whether it has columns; a list, an array or a series has not."""
    return any(hasattr(frame, name) for name in ("columns", "column_names", "schema"))


def _kind(domain: Any, lenient: bool) -> str:
    return lenient_kind_of(domain) if lenient else kind_of(domain)


def _kinds(plan: Plan, columns: Sequence[str]) -> dict[str, str]:
    """What the cells of the columns are to be, those of the column that names people too."""
    domain = plan.statistic.domain
    if not isinstance(domain, Schema):
        known = {columns[0]: _kind(domain, plan.lenient)}
    else:
        known = domain.lenient_kinds if plan.lenient else domain.kinds
    return {plan.unit: "name"} | known if plan.unit != "row" else known


def tasks(plan: Plan, frame: Any, rng: Random) -> Iterable[Task]:
    """The rows in batches, each with its own generator, so that threads cannot change a seeded run.

    Arrays of numbers that nobody randomises are at hand, all of them: a list.
    """
    from murmure.engines.sources.number_arrays import number_arrays, row_slices

    columns = plan.step.columns
    plain = isinstance(plan.statistic.domain, Schema) and plan.person is None and plan.unit == "row"
    arrays = number_arrays(frame, columns) if plain and columns is not None else None
    if arrays is None:
        return _tasks_of_table(plan, frame, rng)
    rng.branch()  # which is not needed here: noise that is drawn later must not depend on how rows were read
    return list(numbered(row_slices(arrays, threads()), lambda i: rng))


def _tasks_of_table(plan: Plan, frame: Any, rng: Random) -> Iterator[Task]:
    from murmure.engines.sources.data_file import described
    from murmure.engines.sources.rows_per_person import RowsPerPerson, refuse_inexact_names, with_unit
    from murmure.engines.sources.tables import column_names, open_table

    domain, lenient = plan.statistic.domain, plan.lenient
    frame = described(frame, domain)
    source: Iterable[Any]
    rows: Any  # how many, or what they are cut from
    people = None
    if plan.unit != "row":
        over: Literal["drop", "refuse"] = "drop" if lenient else "refuse"
        people = RowsPerPerson(plan.unit, plan.rows_per_person, over, unnamed=over)
    if isinstance(domain, Schema) or people is not None:
        columns = plan.step.columns
        if columns is None:
            raise PlanRefused(
                "Plan refused: its unit is column {unit!r}, but its domain names no column of that table.",
                hint="take the domain from a schema",
                unit=plan.unit,
            )
        table = open_table(frame, with_unit(columns, plan.unit), _kinds(plan, columns), lenient=lenient)
        if people is not None:
            refuse_inexact_names(table, plan.unit)
        # Where nothing is drawn, sums are the same however rows are cut.
        source, rows = table.batches() if plan.person is not None else table.pieces(), table.rows
    elif isinstance(frame, str | os.PathLike | Mapping) or (lenient and _is_table(frame)):
        what = str(frame) if isinstance(frame, str | os.PathLike) else Phrase("the table")
        column = pick_column(column_names(frame), domain.column, what)
        table = open_table(frame, [column], {column: _kind(domain, lenient)}, lenient=lenient)
        source, rows = (batch.column(0) for batch in table.batches()), table.rows
    else:
        source, rows = batches(frame, domain.column), frame
    branch = rng.branch()
    admit = None if people is None else people.admit
    # A source of one batch is randomised with `rng` itself, as `plan.report` would randomise it.
    yield from numbered(with_progress(source, rows, plan.describe()), lambda i: branch.child(i) if i else rng, admit)
