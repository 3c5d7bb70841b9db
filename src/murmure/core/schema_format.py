"""Columns as they are written down: tables of schema.toml, and objects in JSON."""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from murmure.core.column import DEFAULTS, Column
from murmure.core.domain import Categories, Dates, Decimals, Domain, Integers, Interval, domain_from_dict
from murmure.core.errors import InvalidParameter, MurmureError, Phrase, shorten, suggestion
from murmure.core.file_format import FileFormat
from murmure.show.phrase import Reworded, replaced

DOMAIN_KEYS: dict[str, tuple[str, ...]] = {
    "categories": ("values",),
    "integers": ("low", "high"),
    "real": ("low", "high", "cells"),
    "decimals": ("low", "high", "places", "rounding"),
    "boolean": (),
    "dates": ("first", "last", "unit"),
}
DOMAIN_TYPES: dict[str, Callable[..., Domain]] = {
    "categories": Categories,
    "integers": Integers,
    "real": Interval,
    "decimals": Decimals,
    "boolean": lambda: Categories([False, True]),
    "dates": Dates,
}
DOMAINS = {"Categories", "Integers", "Interval", "Decimals", "Dates", "Column", "Schema"}
OPTIONAL_KEYS = {"cells", "rounding", "unit"}


def error_in_file(where: str, error: MurmureError) -> InvalidParameter:
    """The error of a constructor about its argument, as one about the key of a file."""
    owner, message = error.message.fields.get("owner"), error.message
    if (owner, message.fields.get("name")) == ("Categories", "k"):
        message = replaced(message, name="values")
    classes = "Integers|Interval|Decimals|Dates"
    named = rf"(?:{classes}|Column|Schema" + (r"|\{owner\})" if owner in DOMAINS else ")")
    changes = (
        (r"\bCategories\.k\b", "values"),
        (r"\bFileFormat\.", "file."),
        (rf"(?<![\w.]){named}\.(\w+|\{{name\}})", r"\1"),
        (r"\bCategories (labels|takes|needs)", r"values: \1"),
        (rf"\b(?:{classes}) needs low < high", "low must be below high"),
        (r"\bDates needs first before last", "first must be before last"),
        (rf"\b(?:{classes}) (holds|is)", r"a column \1"),
    )
    return InvalidParameter("{where}: {message}", hint=error.hint, where=where, message=Reworded(message, changes))


# -- JSON


def columns_from_dict(fields: Any) -> dict[str, Column]:
    """The columns of a schema, in its order."""
    if (
        not isinstance(fields, Mapping)
        or fields.get("type") != "Schema"
        or fields.keys() - {"type", "columns", "order"}
    ):
        raise InvalidParameter("this is not the JSON of a schema: {fields}.", fields=shorten(fields, 120))
    columns = fields.get("columns")
    if not isinstance(columns, Mapping):
        raise InvalidParameter("a schema's columns must be a JSON object, got {got}.", got=shorten(columns))
    order = fields.get("order", list(columns))
    if (
        not isinstance(order, list)
        or len(order) != len(columns)
        or not all(isinstance(name, str) and name in columns for name in order)
        or len(set(order)) != len(order)
    ):
        raise InvalidParameter("a schema's order must name its columns, each once, got {got}.", got=shorten(order))
    return {name: _column_from_dict(name, columns[name]) for name in order}


def _column_from_dict(name: str, fields: Any) -> Column:
    try:
        domain_fields = dict(fields)
        settings = {key: domain_fields.pop(key) for key in DEFAULTS if key in domain_fields}
        return Column(domain_from_dict(domain_fields), **settings)
    except MurmureError as error:
        raise error_in_file(Phrase("column {name!r}", name=name), error) from None
    except (TypeError, ValueError, OverflowError):
        raise InvalidParameter(
            "column {name!r}: this is not the JSON of a column: {fields}.", name=name, fields=shorten(fields, 120)
        ) from None


# -- TOML


def schema_from_toml(text: str, file: str) -> tuple[dict[str, Column], Any, FileFormat]:
    """The columns of schema.toml, its rule for values outside them, and how the file is written."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidParameter(
            "{file} is not TOML: {error}.", hint="each column is [columns.NAME]", file=file, error=error
        ) from None
    except RecursionError:
        raise InvalidParameter("{file} is not a schema: it is nested too deeply.", file=file) from None
    for key in document.keys() - {"columns", "outside", "file"}:
        raise InvalidParameter(
            "{file}: there is no key {key!r}.", hint="each column is [columns.NAME]", file=file, key=key
        )
    columns = document.get("columns")
    if not isinstance(columns, dict) or not columns:
        raise InvalidParameter("{file} has no columns.", hint="each column is [columns.NAME]", file=file)
    parsed = {name: column_from_toml(file, name, table) for name, table in columns.items()}
    try:
        written = FileFormat.from_dict(document.get("file", {}))
    except MurmureError as error:
        raise error_in_file(file, error) from None
    return parsed, document.get("outside", "refuse"), written


def column_from_toml(file: str, name: str, table: Any) -> Column:
    where = Phrase("{file}, column {name!r}", file=file, name=name)
    if not name:
        raise InvalidParameter("{file}: a column has an empty name.", hint="write [columns.NAME]", file=file)
    if not isinstance(table, dict):
        raise InvalidParameter(
            "{where}: wanted a table, got {got}.",
            hint="write [columns.{toml_key}]",
            where=where,
            got=shorten(table),
            toml_key=_toml_key(name),
        )
    kind = table.get("type")
    if not isinstance(kind, str) or kind not in DOMAIN_KEYS:
        got = Phrase("it is left out") if "type" not in table else Phrase("got {kind}", kind=shorten(kind))
        hint = suggestion(kind, DOMAIN_KEYS) if isinstance(kind, str) else None
        raise InvalidParameter(
            "{where}: type must be one of {domain_keys}; {got}.",
            hint=hint,
            where=where,
            domain_keys=", ".join(DOMAIN_KEYS),
            got=got,
        )
    allowed = [*DOMAIN_KEYS[kind], *DEFAULTS]
    for key in table.keys() - {"type", *allowed}:
        of_another_type = any(key in keys for keys in DOMAIN_KEYS.values())
        raise InvalidParameter(
            "{where}: {detail} {key!r}.",
            hint=suggestion(key, allowed) or Phrase("it takes {allowed}", allowed=", ".join(allowed)),
            where=where,
            detail=Phrase("a column of type {kind} takes no", kind=kind)
            if of_another_type
            else Phrase("there is no key"),
            key=key,
        )
    for key in DOMAIN_KEYS[kind]:
        if key not in table and key not in OPTIONAL_KEYS:
            raise InvalidParameter(
                "{where}: {key} is missing.",
                hint="bounds and labels are public: write them in the schema",
                where=where,
                key=key,
            )
    arguments = [table[key] for key in DOMAIN_KEYS[kind] if key in table]
    try:
        return Column(DOMAIN_TYPES[kind](*arguments), **{key: table[key] for key in DEFAULTS if key in table})
    except MurmureError as error:
        raise error_in_file(where, error) from None


def file_to_toml(file: FileFormat) -> str:
    """The table [file]."""
    return "\n".join(["[file]", *(f"{key} = {_toml_value(value)}" for key, value in file.to_dict().items())]) + "\n"


def column_to_toml(name: str, column: Column) -> str:
    domain, lines = column.domain, [f"[columns.{_toml_key(name)}]"]
    kinds = {Integers: "integers", Interval: "real", Decimals: "decimals", Dates: "dates"}
    kind = kinds.get(type(domain), "categories")
    # 0 and False are equal to Python, and different labels: only booleans compare equal here.
    if domain == Categories([False, True]):
        kind = "boolean"
    lines.append(f'type = "{kind}"')
    if column.from_data:
        what = {"categories": "public labels", "boolean": "what is public"}.get(kind, "public bounds")
        lines.append(f"# READ OFF THE DATA: replace by {what}, then remove from_data")
    dated = isinstance(domain, Dates) and domain.unit == "day"  # TOML has dates, but no weeks and no months
    bare = ("first", "last") if dated else ()
    fields = {key: getattr(domain, key) for key in DOMAIN_KEYS[kind]}
    lines += [f"{key} = {value if key in bare else _toml_value(value)}" for key, value in fields.items()]
    settings = {key: getattr(column, key) for key in DEFAULTS if getattr(column, key) != DEFAULTS[key]}
    lines += [f"{key} = {_toml_value(value)}" for key, value in settings.items()]
    return "\n".join(lines) + "\n"


def _toml_key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _toml_value(name)


def _toml_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):  # TOML's numbers are floats, which hold fifteen digits of any decimal
        return str(value) if len(value.as_tuple().digits) <= 15 or value % 1 == 0 else f'"{value}"'
    if isinstance(value, str):
        # JSON escapes as TOML does, except for DEL; characters beyond U+FFFF need no escape in TOML
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else str(value)
    if isinstance(value, tuple | list):
        items = [_toml_value(v) for v in value]
        line = f"[{', '.join(items)}]"
        return line if len(line) <= 100 else "[\n" + "".join(f"    {v},\n" for v in items) + "]"
    return str(value)
