"""What `fit` and `predict` are given, as a table with named columns: frames, paths, or arrays as for scikit-learn."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from murmure.core.domain import Categories, Interval
from murmure.core.errors import InvalidParameter, MissingColumn, Phrase, shorten
from murmure.core.schema import Schema
from murmure.run.engine_choice import is_elsewhere

READ_OFF_CELLS = 1 << 16  # of a number whose bounds come from the data, in the clear only


@dataclass(frozen=True)
class TrainingTable:
    """A table, the schema of all its columns that are used, and the names of the features."""

    frame: Any  # between parties: a list of tables, one for each
    schema: Schema
    features: tuple[str, ...]
    named: bool  # the names came with the data


def named_columns(frame: Any) -> list[str] | None:
    """The names of a table's columns; None where it is an array, or lies elsewhere."""
    if hasattr(frame, "toarray"):  # a sparse matrix, one kind of which is a mapping: refused where arrays are
        return None
    if isinstance(frame, Mapping):
        return [str(name) for name in frame]
    if isinstance(frame, str | os.PathLike) or is_elsewhere(frame):
        return None
    names = getattr(frame, "column_names", None)  # Arrow
    if names is None and isinstance(getattr(getattr(frame, "schema", None), "names", None), list):
        names = frame.schema.names  # an Arrow batch
    if names is None:
        names = getattr(frame, "columns", None)
    return None if names is None else [str(name) for name in names]


def columns_by_name(frame: Any) -> dict[str, Any]:
    """The columns of a table by name; pandas may have numbers for names."""
    if isinstance(frame, Mapping):
        return {str(name): values for name, values in frame.items()}
    if hasattr(frame, "iloc"):
        return {str(name): frame[name] for name in frame.columns}
    return {str(name): frame[name] for name in named_columns(frame) or ()}


def array_of(X: Any, owner: str) -> Any:
    """Two dimensions of numbers, as scikit-learn takes them."""
    if hasattr(X, "toarray"):
        raise TypeError(f"{owner} takes dense data; a sparse matrix was passed. Use X.toarray().")
    array = np.asarray(X)
    if array.ndim != 2:
        raise InvalidParameter(
            "{owner}: Expected 2D array, got {ndim}D array instead. Reshape your data with X.reshape(-1, 1) or "
            "pass a table with named columns.",
            owner=owner,
            ndim=array.ndim,
        )
    if np.iscomplexobj(array):
        raise InvalidParameter("{owner}: Complex data not supported.", owner=owner)
    return array


def training_table(
    owner: str, X: Any, y: Any, schema: Schema | None, target: str | None, classes: bool
) -> TrainingTable:
    """The table to learn from. Without a schema, which only learning in the clear allows, it is read off the data."""
    elsewhere = isinstance(X, str | os.PathLike) or is_elsewhere(X)
    names = named_columns(X)
    if elsewhere or (names is not None and y is None):
        if schema is None:
            raise InvalidParameter(
                "{owner}.schema is missing: it must list the columns and their public bounds.",
                hint="schema=mu.Schema({{...}}), or Schema.load(path)",
                owner=owner,
            )
        features = tuple(name for name in schema.private if name != target)
        return TrainingTable(X, schema, features, True)
    if names is not None:
        frame = {name: values for name, values in columns_by_name(X).items() if name != target}
    # Lists keep the type of each cell. An array has one type for all, so one odd cell would change the others.
    elif schema is not None and _is_plain(X):
        frame = _columns_of_rows(list(X), [name for name in schema.private if name != target])
    else:
        array = array_of(X, owner)
        known = None if schema is None else [name for name in schema.private if name != target]
        if known is not None and len(known) != array.shape[1]:
            raise InvalidParameter(
                "X has {shape} features, but {owner} is expecting {known_count} features as input: the schema "
                "has {known}.",
                shape=array.shape[1],
                owner=owner,
                known_count=len(known),
                known=shorten(known, 120),
            )
        frame = dict(zip(known or [f"x{j}" for j in range(array.shape[1])], array.T, strict=True))
    features = tuple(frame) if schema is None else tuple(n for n in schema.private if n != target)
    for name in features:
        if name not in frame:
            raise MissingColumn(
                "the data have no column {name!r}; they have {frame}.", name=name, frame=shorten(list(frame), 120)
            )
    if not features:
        rows = len(X)
        raise InvalidParameter(
            "{owner}: Found array with 0 feature(s) (shape=({rows}, 0)) while a minimum of 1 is required.",
            owner=owner,
            rows=rows,
        )
    table = {name: frame[name] for name in features}
    lengths = {len(column) for column in table.values()}
    if target is not None:
        if y is None:
            raise InvalidParameter(
                "{owner} requires y to be passed, but the target y is None.",
                hint="or pass a table that holds the target",
                owner=owner,
            )
        table[target] = _object_array(list(y)) if schema is not None and _is_plain(y) else _target_column(y, owner)
        lengths.add(len(table[target]))
    if len(lengths) > 1:
        raise InvalidParameter(
            "{owner}: Found input variables with inconsistent numbers of samples: {lengths}.",
            owner=owner,
            lengths=lengths,
        )
    if schema is None:
        schema = schema_from_data(owner, table, target, classes)
    return TrainingTable(table, schema, features, names is not None)


def rows_of_parties(owner: str, tables: Any, y: Any, schema: Schema, target: str | None) -> TrainingTable:
    """The parties' tables as they are: each is opened where it lies, and each holds its own target."""
    several = isinstance(tables, Sequence) and not isinstance(tables, str | bytes)
    if not several or any(isinstance(table, list | tuple | np.ndarray) for table in tables):
        got = type(tables).__name__ if not several else Phrase("a list of rows or arrays")
        raise InvalidParameter(
            "{owner}: between parties fit takes a list of tables with named columns, one for each party, got {got}.",
            hint="fit([table_1, table_2, table_3]); None for a party that drops out",
            owner=owner,
            got=got,
        )
    if y is not None:
        raise InvalidParameter(
            "{owner}: between parties the target must be in each party's own table, got a y for all of them.",
            hint="fit([table_1, table_2, table_3]), each with the target among its columns",
            owner=owner,
        )
    features = tuple(name for name in schema.private if name != target)
    return TrainingTable(list(tables), schema, features, True)


def _is_plain(values: Any) -> bool:
    """Python's own values, each of a type of its own; an array has one type for all."""
    return not hasattr(values, "dtype") and not hasattr(values, "__array__") and not hasattr(values, "toarray")


def _object_array(cells: Any) -> Any:
    """Each cell as it is: NumPy would make one type of all of them, and one row would change what the others hold."""
    out = np.empty(len(cells), object)
    for i, cell in enumerate(cells):
        out[i] = cell
    return out


def _columns_of_rows(rows: Any, names: list[str]) -> dict[str, Any]:
    """A list of rows, column by column. A cell that is not there is missing: no row decides about an error."""

    def cell(row: Any, j: int) -> Any:
        return row[j] if isinstance(row, list | tuple | np.ndarray) and j < len(row) else None

    return {name: _object_array([cell(row, j) for row in rows]) for j, name in enumerate(names)}


def _target_column(y: Any, owner: str) -> Any:
    array = y if hasattr(y, "dtype") and getattr(y, "ndim", 1) == 1 else np.asarray(y)
    if getattr(array, "ndim", 1) == 2 and array.shape[1] == 1:
        import warnings

        told = Phrase("A column-vector y was passed when a 1d array was expected.")
        warnings.warn(told, _conversion_warning(), stacklevel=4)
        array = np.asarray(array).reshape(-1)
    if getattr(array, "ndim", 1) != 1:
        raise InvalidParameter(
            "{owner}: y should be a 1d array, got an array of shape {shape} instead.", owner=owner, shape=array.shape
        )
    return array


def _conversion_warning() -> type[Warning]:
    import sys

    known = sys.modules.get("sklearn.exceptions")
    return UserWarning if known is None else known.DataConversionWarning


def schema_from_data(owner: str, table: Mapping[str, Any], target: str | None, classes: bool) -> Schema:
    """Bounds and classes as the data have them. In the clear only: the model then shows the extremes."""
    columns: dict[str, Any] = {}
    for name, values in table.items():
        array = np.asarray(values)
        if array.size == 0:
            raise InvalidParameter(
                "{owner}: Found array with 0 sample(s) (shape={value}) while a minimum of 1 is required.",
                owner=owner,
                value=(0, len(table)),
            )
        if name == target and classes:
            labels = np.unique(array[~_missing(array)]).tolist()
            if array.dtype.kind == "f" and np.isinf(array).any():
                raise InvalidParameter("{owner}: Input y contains infinity.", owner=owner)
            if array.dtype.kind == "f" and any(v != round(v) for v in labels):
                raise InvalidParameter(
                    "{owner}: Unknown label type: continuous. The target must name classes.", owner=owner
                )
            if len(labels) < 2:
                raise InvalidParameter(
                    "{owner} needs at least two classes in the data; there is one class: {labels}.",
                    hint="a schema may name classes that nobody in the data has",
                    owner=owner,
                    labels=labels,
                )
            columns[name] = Categories(labels)
            continue
        if array.dtype.kind not in "biuf":
            try:
                array = array.astype(float)
            except (TypeError, ValueError):
                if array.dtype.kind == "O" and any(isinstance(v, dict | list) for v in array):
                    raise TypeError(f"{owner}: argument must be a string or a number in column {name!r}.") from None
                columns[name] = Categories(sorted({str(v) for v in array}, key=str))
                continue
        array = array.astype(float)
        if _missing(array).any():
            raise InvalidParameter(
                "{owner}: Input {name!r} contains NaN; a schema says what replaces it.", owner=owner, name=name
            )
        if np.isinf(array).any():
            raise InvalidParameter(
                "{owner}: Input {name!r} contains infinity; a schema has bounds to move it to.", owner=owner, name=name
            )
        low, high = float(array.min()), float(array.max())
        columns[name] = Interval(low, high if high > low else low + 1.0, cells=READ_OFF_CELLS)
    return Schema(columns)


def _missing(array: Any) -> Any:
    if array.dtype.kind == "f":
        return np.isnan(array)
    if array.dtype.kind == "O":
        return np.array([v is None or v != v for v in array], bool)
    return np.zeros(len(array), bool)
