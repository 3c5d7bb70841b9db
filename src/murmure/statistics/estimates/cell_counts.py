"""Counts of cells: an array with an axis for each column, and the noise in it if there is some."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import islice, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.blocks import NoiseLaw
from murmure.core.errors import InvalidParameter, shorten
from murmure.core.estimates.noisy_estimators import variance_of
from murmure.core.types import Floats
from murmure.statistics.estimates.sums_estimate import SumsEstimate, SumsInterface

SHOWN = 20


@dataclass(frozen=True, eq=False)
class CellCounts(SumsInterface):
    """How many rows lie in each cell: counts[i, j] is that of cell i of the first column and cell j of the second.

    Whole numbers where they are exact; with noise, floats that may be negative.
    """

    names: tuple[str, ...]  # of the columns
    axes: tuple[tuple[str, ...], ...]  # the labels of every column's cells
    counts: NDArray[Any]
    n: int | None  # rows; None: not known here
    law: NoiseLaw | None = field(default=None, repr=False)  # of the noise in every cell
    grid: tuple[str, ...] = ()  # columns whose numbers were rounded to a grid

    unit = "value"
    target = "fixed"
    reason = None

    @property
    def noisy(self) -> bool:
        return self.law is not None

    @property
    def noise(self) -> float | None:
        """The variance of the noise in every cell; None: the counts are exact."""
        return None if self.law is None else variance_of(self.law)

    @property
    def laws(self) -> tuple[NoiseLaw | None, ...]:
        return (self.law,)

    @property
    def bits(self) -> int:
        """Of the largest count."""
        return int(np.abs(self.counts).max(initial=0)).bit_length()

    def at(self, *labels: str) -> int | float:
        """The count of the cell with these labels, one for each column."""
        if len(labels) != len(self.axes):
            raise InvalidParameter(
                "Counted.at takes one label for each of {names}, got {got}.", names=list(self.names), got=len(labels)
            )
        for name, axis, label in zip(self.names, self.axes, labels, strict=True):
            if label not in axis:
                raise InvalidParameter(
                    "column {name!r} has no cell {label}; it has {axis}.",
                    name=name,
                    label=shorten(label),
                    axis=shorten(list(axis), 200),
                )
        place = tuple(axis.index(label) for axis, label in zip(self.axes, labels, strict=True))
        return self.counts[place].item()  # type: ignore[no-any-return]

    # -- as any estimate ----------------------------------------------------------------------------------------------

    def _summed(self, most: int | None = None) -> SumsEstimate:
        labels = tuple(", ".join(cell) for cell in islice(product(*self.axes), most))
        whole = tuple(int(v) for v in self.counts.ravel()[:most])
        return SumsEstimate.of(labels, whole, (Fraction(1),) * len(whole), (self.law,) * len(whole), self.n, self.grid)

    @cached_property
    def summed(self) -> SumsEstimate:
        """All cells one after the other, with their error bars."""
        return self._summed()

    @property
    def labels(self) -> tuple[str, ...]:
        return self.summed.labels

    @property
    def mean(self) -> Floats:
        """The counts as floats, cell after cell."""
        return self.counts.ravel().astype(np.float64)

    def __repr__(self) -> str:
        return str(self)
