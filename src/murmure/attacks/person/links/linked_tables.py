"""Both tables of a linkage, read: reports with the plan that made them, and people with the codes of their rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from murmure.core.errors import InvalidParameter, MurmureError, OutsideDomain, PlanMismatch, shorten
from murmure.core.schema import Schema
from murmure.core.types import Array, Ints
from murmure.engines.sources.arrow_cells import parse_column
from murmure.engines.sources.data_file import described
from murmure.engines.sources.tables import column_names, open_table
from murmure.laws.records import Records
from murmure.local.base.record_mechanism import RecordMechanism
from murmure.plan.plan import Plan
from murmure.run.tables.table_format import PLAN_KEY, TableFormat, plan_in_table, record_schema


@dataclass(frozen=True)
class SanitisedRows:
    plan: Plan  # that made them
    reports: Records
    public: tuple[Any, ...]  # Arrow columns


@dataclass(frozen=True)
class IdentifiedRows:
    codes: tuple[Array, ...]  # of every private column
    public: tuple[Any, ...]  # Arrow columns

    def __len__(self) -> int:
        return len(self.codes[0])


def read_sanitised(source: Any, plan: Plan | None, public: tuple[str, ...] | None = None) -> SanitisedRows:
    """The reports of a sanitised table; the plan is the table's, unless it carries none."""
    table = open_table(source)
    if PLAN_KEY in table.metadata or plan is None:
        stored, _ = plan_in_table(table)
        if plan is not None and plan.digest != stored.digest:
            raise PlanMismatch(
                "{what} answers plan {digest}, not {plan_digest}.",
                what=table.source_name,
                digest=stored.digest[:12],
                plan_digest=plan.digest[:12],
            )
        plan = stored
    schema = record_schema(plan)
    if not isinstance(plan.person, RecordMechanism):
        raise InvalidParameter("linkage takes a table of randomised records, got {got}.", got=plan.describe())
    written, open_names = TableFormat(plan), schema.open if public is None else public
    wanted = open_table(source, (*schema.private, *open_names), written.kinds)
    batches: list[Records] = []
    opened: list[list[Any]] = [[] for _ in open_names]
    first = 0
    for batch in wanted.batches():
        try:
            batches.append(written.records(batch))
        except OutsideDomain as error:
            raise error.later(first) from None
        for cells, name in zip(opened, open_names, strict=True):
            cells.append(parse_column(batch.column(name), schema.carried_kinds[name])[0])
        first += batch.num_rows
    if not first:
        raise InvalidParameter("{what} has no rows: there is nobody to link.", what=table.source_name)
    return SanitisedRows(plan, _joined(batches), tuple(map(_column, opened)))


def _joined(batches: list[Records]) -> Records:
    parts = tuple(np.concatenate(pieces) for pieces in zip(*(b.parts for b in batches), strict=True))
    n = sum(b.n for b in batches)
    if batches[0].rows is None:
        return Records(n, parts)
    first = np.cumsum([0, *(b.n for b in batches[:-1])])
    shifted = [[rows + at for rows in b.rows or ()] for b, at in zip(batches, first, strict=True)]
    return Records(n, parts, tuple(np.concatenate(rows) for rows in zip(*shifted, strict=True)))


def read_identified(source: Any, schema: Schema) -> tuple[IdentifiedRows, tuple[str, ...]]:
    """The codes of people's rows, and of the public columns those that the table has."""
    try:
        names = set(column_names(source))
    except MurmureError:  # of a path: it says what is wrong with the file
        raise
    except (TypeError, ValueError):
        raise InvalidParameter("linkage.identified must be a table, got {got}.", got=shorten(source)) from None
    public = tuple(name for name in schema.open if name in names)
    wanted = open_table(described(source, schema), (*schema.private, *public), schema.kinds)
    codes: list[tuple[Array, ...]] = []
    opened: list[list[Any]] = [[] for _ in public]
    first = 0
    for batch in wanted.batches():
        try:
            encoded, kept = schema.encode_kept(batch)
        except OutsideDomain as error:
            raise error.later(first) from None
        codes.append(encoded)
        import pyarrow as pa

        for cells, name in zip(opened, public, strict=True):
            cells.append(parse_column(batch.column(name), schema.carried_kinds[name])[0].filter(pa.array(kept)))
        first += batch.num_rows
    if not first:
        raise InvalidParameter("{what} has no rows: there is nobody to link.", what=wanted.source_name)
    joined = tuple(np.concatenate(pieces) for pieces in zip(*codes, strict=True))
    return IdentifiedRows(joined, tuple(map(_column, opened))), public


def _column(cells: list[Any]) -> Any:
    import pyarrow as pa

    return pa.chunked_array([cell.cast(pa.string()) for cell in cells])


def public_codes(reports: tuple[Any, ...], people: tuple[Any, ...], n: int, m: int) -> tuple[Ints, Ints]:
    """A number for what n reports and m people show openly: equal where all public columns agree."""
    import pyarrow as pa

    number = np.zeros(n + m, np.int64)
    for ours, theirs in zip(reports, people, strict=True):
        both = pa.chunked_array([*ours.chunks, *theirs.chunks], pa.string()).fill_null("\0").combine_chunks()
        codes = both.dictionary_encode().indices.to_numpy(zero_copy_only=False).astype(np.int64)
        _, number = np.unique(number * (codes.max() + 1) + codes, return_inverse=True)
    return number[:n], number[n:]
