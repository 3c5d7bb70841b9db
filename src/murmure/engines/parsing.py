"""Text as numbers, row by row: what cannot be read is marked, so that it can be dropped and counted."""

from __future__ import annotations

from typing import Any

PATTERNS = {"integer": r"^[+-]?[0-9]+$", "real": r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"}
TRUE, FALSE = ("1", "true", "True", "TRUE"), ("0", "false", "False", "FALSE")  # as pyarrow reads a CSV


def parse(column: Any, kind: str) -> tuple[Any, Any]:
    """The column as this kind, and which rows hold text that is no such thing (None: none)."""
    import pyarrow as pa
    import pyarrow.compute as pc

    wanted = parsed_type(column.type, kind)
    if wanted == column.type:
        return column, None
    column = pc.utf8_trim_whitespace(decoded(column))
    if kind == "boolean":
        yes, no = pc.is_in(column, pa.array(TRUE)), pc.is_in(column, pa.array(FALSE))
        good, values = pc.or_(yes, no), yes
    else:
        # eighteen digits always fit; a longer number belongs to no domain
        short = pc.less_equal(pc.utf8_length(column), 18 if kind == "integer" else 400)
        good = pc.and_(pc.match_substring_regex(column, PATTERNS[kind]), short)
        text = pc.replace_substring(pc.if_else(good, column, pa.scalar(None, column.type)), "+", "", max_replacements=1)
        values = text.cast(wanted)
    good = pc.if_else(column.is_null(), True, good)  # missing is another matter
    values = pc.if_else(pc.and_(good, column.is_valid()), values, pa.scalar(None, wanted))
    bad = pc.invert(good)
    return values, bad if pc.any(bad).as_py() else None


def parsed_type(held: Any, kind: str) -> Any:
    """The Arrow type of a column of this kind once it is read: its own, unless it is text that stands for numbers."""
    import pyarrow as pa

    types = {"integer": pa.int64(), "real": pa.float64(), "boolean": pa.bool_()}
    return types[kind] if kind in types and _is_text(held) else held


def plain_type(kind: Any) -> Any:
    """The type of what a dictionary holds; any other type as it is."""
    import pyarrow as pa

    return kind.value_type if pa.types.is_dictionary(kind) else kind


def decoded(column: Any) -> Any:
    """The same cells without a dictionary."""
    return column if plain_type(column.type) == column.type else column.dictionary_decode()


def laid_bare(column: Any) -> Any:
    """The same cells in memory of their own: no dictionary, and nothing under the missing ones."""
    import pyarrow as pa

    column = decoded(column)
    if not column.null_count:
        return column
    valid = column.is_valid().to_numpy(zero_copy_only=False)
    places = valid.cumsum() - 1
    return column.drop_null().take(pa.array(places, mask=~valid))


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    kind = plain_type(kind)
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
