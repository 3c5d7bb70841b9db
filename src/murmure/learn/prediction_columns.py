"""Rows to predict: numbers as they are, categories as codes. They belong to the caller, who is told what is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.domain import Categories
from murmure.core.errors import InvalidParameter, Phrase
from murmure.core.schema import Schema

Floats = NDArray[np.float64]


def numbers_to_predict(
    owner: str, schema: Schema, columns: Mapping[str, Any], names: Sequence[str], clip: bool
) -> Floats:
    """One column for each name. A missing number is what the schema says, or refused.

    clip: a number beyond public bounds counts as the nearest one, as it did in learning. Bounds that were read off the
    data, in the clear, bind no other rows.
    """
    parts = [_numbers(owner, schema, name, columns[name]) for name in names]
    if clip:
        bounds: list[Any] = [schema[name] for name in names]
        parts = [np.clip(x, float(domain.low), float(domain.high)) for x, domain in zip(parts, bounds, strict=True)]
    rows = len(next(iter(columns.values()))) if columns else 0
    return np.stack(parts, axis=1) if parts else np.empty((rows, 0))


def _numbers(owner: str, schema: Schema, name: str, values: Any) -> Floats:
    from murmure.core.cells.meaning import numbers_in_cells

    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        array = numbers_in_cells(array.tolist())[0]
    array = array.astype(np.float64)
    about = schema.column_specs[name]
    # As in learning: the schema's constant takes the place of a missing number.
    if about.missing == "constant":
        array[np.isnan(array)] = float(about.missing_value)
    if not np.isfinite(array).all():
        what = "NaN" if np.isnan(array).any() else Phrase("infinity")
        raise InvalidParameter(
            "{owner}: Input X contains {what} in column {name!r}.",
            hint='Column(..., missing="constant", missing_value=...) names what replaces it',
            owner=owner,
            what=what,
            name=name,
        )
    return array


def categories_to_predict(schema: Schema, columns: Mapping[str, Any], name: str) -> NDArray[np.int64]:
    """Codes; a label that the schema does not hold has the code `size`."""
    from murmure.core.cells.lenient_encoding import encode_column_lenient

    return encode_column_lenient(schema, name, columns[name]).astype(np.int64)


def rows_to_predict(owner: str, schema: Schema, columns: Mapping[str, Any], features: Sequence[str]) -> Floats:
    """Numbers as they are, labels as indicators with the first of them left out: (rows, columns of the design)."""
    parts = []
    for name in features:
        domain = schema[name]
        if isinstance(domain, Categories):
            codes = categories_to_predict(schema, columns, name)
            parts.append((codes[:, None] == np.arange(1, domain.size)).astype(np.float64))
        else:
            parts.append(numbers_to_predict(owner, schema, columns, [name], clip=False))
    return np.concatenate(parts, axis=1)
