"""Columns of text as the kinds that a schema names: strictly, where a cell may be refused, or leniently."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from murmure.core.cells.meaning import numbers_in_text
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.engines.sources.arrow_cells import decimal_type, is_text, parse_column

WANTED = {
    "integer": Phrase("a whole number"),
    "real": Phrase("a number"),
    "decimal": Phrase("a number below 10**18"),
    "boolean": Phrase("true or false"),
}


def arrow_types(kinds: Mapping[str, str], lenient: bool) -> dict[str, Any]:
    """The Arrow type of each kind."""
    import pyarrow as pa

    types = {
        "text": pa.dictionary(pa.int32(), pa.string()),
        "integer": pa.int64(),
        "real": pa.float64(),
        "decimal": decimal_type(),
        "boolean": pa.bool_(),
        "name": pa.string(),
    }
    for name, kind in kinds.items():
        if kind not in types:
            raise InvalidParameter(
                "kinds[{name!r}] must be one of {types}, got {got}.",
                name=name,
                types=", ".join(types),
                got=shorten(kind),
            )
    if lenient:
        types |= dict.fromkeys(("integer", "boolean", "decimal"), pa.float64())  # one row may hold a fraction
    return types


def arrow_schema(names: list[str], kinds: Mapping[str, str], lenient: bool) -> Any:
    """The columns in their kinds; one whose kind is not given is text."""
    import pyarrow as pa

    types = arrow_types(kinds, lenient)
    return pa.schema([(name, types[kinds[name]] if name in kinds else pa.string()) for name in names])


def parse_lenient(batch: Any, schema: Any) -> Any:
    """The cells as numbers, null where a cell is not a number."""
    import pyarrow as pa

    columns = [
        as_text(column, f.type) if is_text(f.type) else numbers_in_text(column)[0]
        for column, f in zip(batch.columns, schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def parse_strict(
    batches: Iterable[Any], schema: Any, kinds: Mapping[str, str], file_name: str, rows_before: int
) -> Iterator[Any]:
    """The columns that are still text, parsed as their kinds; the first cell that cannot be parsed is refused."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for batch in batches:
        columns = []
        for column, f in zip(batch.columns, schema, strict=True):
            if is_text(f.type):
                column = as_text(column, f.type)
            elif column.type != f.type:
                text, (column, bad) = column, parse_column(column, kinds[f.name])
                if bad is not None:
                    row = pc.index(bad, True).as_py()
                    cell = shorten(text[row].as_py())
                    raise InvalidParameter(
                        "{name!r}: row {row_of_file}, column {f_name!r} holds {cell}, wanted {wanted}.",
                        hint=Phrase(
                            "{way_out}; rows count from 0, after the header",
                            way_out=Phrase("a missing value is an empty field"),
                        ),
                        name=file_name,
                        row_of_file=rows_before + row,
                        f_name=f.name,
                        cell=cell,
                        wanted=WANTED[kinds[f.name]],
                    )
            columns.append(column)
        rows_before += batch.num_rows
        yield pa.RecordBatch.from_arrays(columns, schema=schema)


def as_text(column: Any, wanted: Any) -> Any:
    """Text as the type that is wanted: plain, or with a dictionary."""
    import pyarrow as pa

    if column.type == wanted:
        return column
    return column.dictionary_encode() if pa.types.is_dictionary(wanted) else column.cast(wanted)
