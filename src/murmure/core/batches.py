"""The columns of a batch of rows, and their codes as a column of a schema reads them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from murmure.core.cells.parsed_columns import Codes, ParsedColumn, either
from murmure.core.column import Column
from murmure.core.domain import Categories, Domain, with_column
from murmure.core.errors import InvalidParameter, MissingColumn, OutsideDomain, shorten, suggestion
from murmure.core.types import Mask


def select_columns(batch: Any, wanted: tuple[str, ...]) -> dict[str, Any]:
    """The wanted columns of a mapping, an Arrow batch or a frame; the others are not touched."""
    take = getattr(batch, "__getitem__", None)
    if isinstance(batch, Mapping):
        names = list(batch)
    elif type(batch).__module__.partition(".")[0] == "pyarrow" and hasattr(batch, "num_columns"):
        names, take = list(batch.schema.names), batch.column
    elif hasattr(batch, "columns") and take is not None:  # a frame of pandas or Polars
        names = list(batch.columns)
    else:
        raise InvalidParameter(
            "a batch of rows must be a mapping from column names to values, got {got}.",
            hint='{{"age": [30, 41], "smoker": ["no", "yes"]}}, an Arrow batch or a frame',
            got=type(batch).__name__,
        )
    # Frames may have two columns of one name, and would return both.
    for name in wanted:
        if names.count(name) == 0:
            raise MissingColumn(
                "the data have no column {name!r}; they have {names}.",
                hint=suggestion(name, names) or "column names in the schema must match those of the data",
                name=name,
                names=shorten(names, 120),
            )
        if names.count(name) > 1:
            raise InvalidParameter(
                "the data have {names_count} columns {name!r}.",
                hint="rename all but one",
                names_count=names.count(name),
                name=name,
            )
    assert take is not None
    return {name: take(name) for name in wanted}


def check_equal_lengths(rows: Mapping[str, int]) -> int:
    """The number of rows, which all columns share."""
    if len(set(rows.values())) > 1:
        raise InvalidParameter(
            "the columns have different lengths: {rows}.",
            hint="every column must have one value per row",
            rows=shorten(dict(rows), 120),
        )
    return next(iter(rows.values()), 0)


def parse_column(column: Column, coded: Domain, values: Any) -> tuple[Domain, ParsedColumn]:
    """The values as parsed, and the domain that parsed them. `coded`: the domain of the codes, which has a name."""
    # The label of missing answers may occur in the data: it is an answer like any other. Numbered categories are
    # parsed as numbers, which have no such label.
    numbered = isinstance(column.domain, Categories) and isinstance(column.domain.values, int)
    domain = with_column(column.domain, coded.column) if numbered else coded
    return domain, domain.parse(values)


def encode_column(column: Column, coded: Domain, values: Any, strict: bool) -> tuple[Codes, Mask | None]:
    """Codes, with missing values replaced as the column says, and the rows that have no code (None: all have one).

    strict: rows without a code are refused, except those that the column drops.
    """
    domain, parsed = parse_column(column, coded, values)
    if strict:
        if column.missing == "refuse":
            parsed.refuse_missing(domain)
        if domain.outside != "drop":
            parsed.refuse_outside(domain)
    codes, bad = parsed.codes, parsed.outside_mask
    if parsed.missing is None:
        return codes, bad
    if column.missing == "refuse":
        return codes, either(bad, parsed.missing)
    code = coded.size - 1 if column.missing == "value" else int(column.domain.encode([column.missing_value])[0])
    wide = codes.dtype == np.int64  # which holds every code; with uint64 it would become float
    codes = codes.astype(codes.dtype if wide else np.promote_types(codes.dtype, np.min_scalar_type(code)))
    codes[parsed.missing] = code
    return codes, bad


@dataclass(frozen=True)
class ColumnInspection:
    """What becomes of the rows of one column at the person: which are refused, clamped or dropped, and the first error.

    A curator refuses none of them (core/cells/lenient_encoding.py).
    """

    refused: Mask
    missing: Mask
    clamped: Mask
    dropped: Mask
    first: OutsideDomain | None


def inspect_column(column: Column, coded: Domain, values: Any) -> ColumnInspection:
    try:
        domain, parsed = parse_column(column, coded, values)
    except OutsideDomain as refusal:  # of a column of another type no row is valid
        none = np.zeros(len(values), bool)
        return ColumnInspection(~none, none, none, none, refusal)
    none = np.zeros(len(parsed.codes), bool)
    masks = (parsed.missing, parsed.outside_mask, parsed.clamped)
    missing, outside, clamped = (none if mask is None else mask for mask in masks)
    dropped = outside if domain.outside == "drop" else none
    refused = (outside & ~dropped) | (missing if column.missing == "refuse" else none)
    # The first error is that of strict encoding, word for word: people correct their data by it.
    first = None
    if refused.any():
        try:
            encode_column(column, coded, values, strict=True)
        except OutsideDomain as refusal:
            first = refusal
    return ColumnInspection(refused, missing, clamped, dropped, first)
