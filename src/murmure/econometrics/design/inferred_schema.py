"""A schema that is inferred from the data of a table; in the clear only.

Bounds that are read off the data reveal rows (the largest income belongs to a person), so with privacy a schema must be
given (from_formula.py). In the clear an inferred schema saves the work of writing one. Files are read batch by batch,
once, and are never in memory as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from murmure.core.column import Column
from murmure.core.domain import Categories
from murmure.core.errors import (
    EmptySource,
    InvalidParameter,
    MissingColumn,
    MurmureError,
    OutsideDomain,
    Phrase,
    shorten,
)
from murmure.core.schema import Schema
from murmure.econometrics.design.column_profile import ColumnProfile
from murmure.econometrics.design.constant_columns import CONSTANT_NOTE
from murmure.econometrics.design.number_texts import NUMBER_PATTERN, mixed_column_hint
from murmure.econometrics.design.reference_levels import LISTED, SORTED
from murmure.run.engine_choice import is_elsewhere

MAX_SHOWN = 5  # texts that are not numbers, in a message
DROP_ROWS = Phrase("drop those rows, or give a schema that says what replaces a missing answer")


def infer_schema(
    data: Any, columns: Iterable[str] | None = None, *, labels: Iterable[str] = (), numbers: bool = False
) -> Schema:
    """The schema of these columns (None: all) of a table, or of several tables together, one for each party.

    labels: columns whose numbers are labels, as C(ward) means in a formula. numbers: without `columns`, take only those
    that hold numbers.
    """
    wanted = None if columns is None else list(dict.fromkeys([columns] if isinstance(columns, str) else columns))
    tables = [table for table in data if table is not None] if isinstance(data, list | tuple) else [data]
    if not tables:
        raise EmptySource("there is no table: the list is empty.", hint="give one table for each party")
    if wanted is None and numbers:
        wanted = _number_columns(tables[0])
    as_labels, profiles, rows = set(labels), dict[str, ColumnProfile](), 0
    orders: dict[str, list[Any]] = {}
    for number, table in enumerate(tables, 1):
        try:
            if wanted is None and profiles:
                wanted = list(profiles)
            rows += _profile_table(table, wanted, as_labels, profiles)
            for name, order in _category_orders(table, list(profiles)).items():
                orders.setdefault(name, order)
        except MurmureError as error:
            if len(tables) == 1:
                raise
            raise _error_at_party(number, error) from None
    if not rows:
        raise EmptySource("the table has no rows.", hint="a regression needs rows")
    # Only after the last batch is it known whether most of a column are numbers.
    for column in profiles.values():
        if column.is_mixed:
            _refuse_mixed(tables, column)
    return Schema({name: _column_of(column, orders.get(name)) for name, column in profiles.items()})


def _column_of(column: ColumnProfile, order: list[Any] | None) -> Column:
    """The column of the schema. Its note says if all rows hold one value (the other is then made up), and what ordered
    its labels.
    """
    constant = column.constant
    domain = column.domain(order)
    note = (SORTED if order is None else LISTED) if isinstance(domain, Categories) else ""
    if constant is not None:
        note = CONSTANT_NOTE + (repr(constant) if isinstance(constant, str) else f"{constant:f}".removesuffix(".0"))
    return Column(domain, note=note)


def _refuse_mixed(tables: Sequence[Any], column: ColumnProfile) -> None:
    """Refuse a column of numbers with other texts in some rows; the message says which, how many and where."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from murmure.engines.sources.tables import open_table

    name = column.name
    for number, table in enumerate(tables, 1):
        odd_rows = rows = first = 0
        strange: dict[str, None] = {}
        for batch in open_table(table, columns=[name]).batches():
            texts = batch.column(0).cast(pa.string())
            odd = pc.invert(pc.match_substring_regex(texts, NUMBER_PATTERN))
            odd_here = pc.sum(odd).as_py() or 0
            if odd_here and not odd_rows:
                first = rows + pc.index(odd, True).as_py()
            if odd_here and len(strange) < MAX_SHOWN:
                strange |= dict.fromkeys(texts.filter(odd).unique().to_pylist())
            odd_rows, rows = odd_rows + odd_here, rows + batch.num_rows
        if odd_rows:
            shown = ", ".join(shorten(text, 24) for text in list(strange)[:MAX_SHOWN])
            what = Phrase(
                "is not a number, although most of the column is ({odd_rows} of {rows} rows hold {shown}).",
                odd_rows=odd_rows,
                rows=rows,
                shown=shown,
            )
            error = OutsideDomain.at(
                Phrase("column {name!r}", name=name), first, what, mixed_column_hint(name, strange)
            )
            raise error if len(tables) == 1 else _error_at_party(number, error)


def _number_columns(table: Any) -> list[str]:
    """The columns of a table that hold numbers, by their types; all columns if there are none."""
    from murmure.core.cells.parsed_columns import ARROW_NUMBERS
    from murmure.engines.sources.tables import open_table

    opened = open_table(table)
    return [
        name
        for name, kind in zip(opened.names, opened.schema.types, strict=True)
        if str(kind) in ARROW_NUMBERS or str(kind).startswith("decimal")
    ] or list(opened.names)


def _profile_table(
    table: Any, wanted: Sequence[str] | None, as_labels: set[str], profiles: dict[str, ColumnProfile]
) -> int:
    """Update the profiles with every column of a table; returns the number of rows."""
    from murmure.engines.sources.tables import open_table

    if is_elsewhere(table):
        raise InvalidParameter(
            "a schema cannot be read off a Spark table.", hint="give one: schema=mu.Schema({{...}}), or a schema.toml"
        )
    opened = open_table(table, columns=wanted)
    text = any(path.name.lower().endswith((".csv", ".csv.gz")) for path in opened.paths)
    columns = []
    for name in opened.names:
        columns.append(profiles.setdefault(name, ColumnProfile(name, name in as_labels)))
        columns[-1].from_text = text
    gaps = {name: [0, 0] for name in opened.names}  # how many are missing, and the row of the first
    rows = 0
    for batch in opened.pieces():
        for column, cells in zip(columns, batch.columns, strict=True):
            present = _without_gaps(column.name, cells, gaps[column.name], rows)
            if len(present):
                column.update(present)
        rows += batch.num_rows
    for name, (missing, first) in gaps.items():
        if missing:
            raise OutsideDomain.at(
                Phrase("column {name!r}", name=name),
                first,
                Phrase("is missing ({missing} of {rows} rows in all).", missing=missing, rows=rows),
                DROP_ROWS,
            )
    return rows


def _without_gaps(name: str, cells: Any, gaps: list[int], rows_before: int) -> Any:
    """The values that are present. Missing ones, NaN too, are counted in `gaps`; infinity is refused."""
    import pyarrow as pa
    import pyarrow.compute as pc

    floating = pa.types.is_floating(cells.type)
    clean = not cells.null_count
    if floating and clean and len(cells):
        x = cells.to_numpy(zero_copy_only=False)
        clean = bool(x.min() > -np.inf) and bool(x.max() < np.inf)  # with a NaN among them both are NaN
    if clean:
        return cells
    missing = pc.is_null(cells, nan_is_null=True)
    missing_count = pc.sum(missing).as_py() or 0
    if missing_count and not gaps[0]:
        gaps[1] = rows_before + pc.index(missing, True).as_py()
    gaps[0] += missing_count
    out = cells.filter(pc.invert(missing))
    if floating and not pc.all(pc.is_finite(out)).as_py():
        infinite = pc.fill_null(pc.is_inf(cells), False)
        row = rows_before + pc.index(infinite, True).as_py()
        raise OutsideDomain.at(
            Phrase("column {name!r}", name=name),
            row,
            Phrase("is infinite; a finite number is needed."),
            Phrase("drop or correct those rows"),
        )
    return out


def _category_orders(table: Any, names: list[str]) -> dict[str, list[Any]]:
    """The labels of pandas' categorical columns in the order of the column; the first is the base."""
    if not hasattr(table, "iloc") or not hasattr(table, "dtypes"):
        return {}
    kinds = {name: table[name].dtype for name in names}
    return {name: list(kind.categories) for name, kind in kinds.items() if hasattr(kind, "categories")}


def _error_at_party(number: int, error: MurmureError) -> MurmureError:
    kind = type(error) if isinstance(error, EmptySource | MissingColumn | OutsideDomain) else InvalidParameter
    return kind("party {number}: {message}", hint=error.hint, number=number, message=error.message)
