"""A data set of the lectures by name: looked for, checked, and read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from murmure.core.domain import Categories
from murmure.core.errors import InvalidParameter, MissingExtra, suggestion
from murmure.core.schema import Schema
from murmure.core.types import Array
from murmure.lectures.data_sets.data_files import DataNotFound, cached_rows, keep_rows, rows_of_files
from murmure.lectures.data_sets.flowers import IRIS, iris_columns
from murmure.lectures.data_sets.folders import cache_folder, data_folder
from murmure.lectures.data_sets.open_ml import fetched_rows
from murmure.lectures.data_sets.rows import Row, columns_of
from murmure.lectures.data_sets.sources import SOURCES, DataSource
from murmure.lectures.data_sets.stand_ins import invented_columns

NAMES = (IRIS, *SOURCES)


@dataclass(frozen=True)
class DataTable:
    """Columns of a data set, as they are in its file. invented: not the real rows, and called so."""

    name: str
    columns: Mapping[str, Array]
    invented: bool = False

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def codes(self, names: Sequence[str] | None = None) -> dict[str, Array]:
        """Each value by the rank of its sorted distinct values, as the experiments of the literature have it."""
        return {name: np.unique(self.columns[name], return_inverse=True)[1] for name in names or self.columns}

    def schema(self, names: Sequence[str] | None = None) -> Schema:
        """Those codes as categories 0, 1, ..."""
        return Schema({name: Categories(int(codes.max()) + 1) for name, codes in self.codes(names).items()})


def find_table(name: str, invent: bool = False) -> DataTable:
    """iris, pima, adult, nursery or acs-employment. invent: invented rows where the real ones are missing.

    Looked for in MURMURE_DATA and in the cache. What is in neither is fetched if OpenML has it and no stand-in is asked
    for. Adult: both parts, without the rows that miss a value.
    """
    if name not in NAMES:
        raise InvalidParameter(
            "there is no data set {name!r} in the lectures: they have {names}.",
            hint=suggestion(name, NAMES),
            name=name,
            names=", ".join(NAMES),
        )
    columns = iris_columns() if name == IRIS else _on_this_machine(SOURCES[name])
    if columns is None and invent:
        return DataTable(name, invented_columns(name), invented=True)
    if columns is None and name == IRIS:
        raise MissingExtra("Iris", "scikit-learn", "attacks")
    return DataTable(name, columns if columns is not None else _fetched(SOURCES[name]))


_READ: dict[tuple[str, Path | None, Path], dict[str, Array]] = {}  # every cell of an experiment asks for its table


def _on_this_machine(source: DataSource) -> dict[str, Array] | None:
    data, cache = data_folder(), cache_folder()
    key = (source.name, data, cache)
    if key not in _READ:
        rows = _rows(source, data, cache)
        if rows is None:
            return None
        _READ[key] = columns_of(source, rows)
    return _READ[key]


def _rows(source: DataSource, data: Path | None, cache: Path) -> list[Row] | None:
    if data is not None and not data.is_dir():
        raise DataNotFound(
            "MURMURE_DATA names {folder}, which is not a folder.",
            hint="set it to the folder of the data files, or unset it",
            folder=str(data),
        )
    rows = None if data is None else rows_of_files(source, data)
    if rows is None:
        rows = cached_rows(source, cache)
    return rows_of_files(source, cache) if rows is None else rows


def _fetched(source: DataSource) -> dict[str, Array]:
    rows = fetched_rows(source)
    keep_rows(source, rows, cache_folder())
    return columns_of(source, rows)
